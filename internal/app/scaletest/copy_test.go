package scaletest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

// fillStore creates a store that has data of every kind.
func fillStore(t *testing.T, at string) {
	t.Helper()
	src := newIDClock()
	a, shut := openAppOnce(t, at, app.Options{Now: src.Now, NewID: src.NewID})
	defer shut()
	ctx := t.Context()
	w, err := a.CreateWorld(ctx, canon.NewWorld{Slug: "lived", Title: "Žółw"})
	if err != nil {
		t.Fatal(err)
	}
	guard := access.NewGuard(access.Config{Now: src.Now})
	change := func(plan func(*canon.Plan) error) {
		t.Helper()
		ad, err := guard.Admit(ctx, app.Operator(), access.Request{Operation: "test", Surface: "alignment",
			Effect: access.Write, World: w.ID})
		if err == nil {
			src.advance()
			_, err = a.Canon.Update(ctx, ad.Grant, plan)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	change(func(p *canon.Plan) error {
		for _, name := range []string{"Town", "Town+Hall", "Town+GM", "Été", "Gone"} {
			if _, err := p.Create(canon.NewCard{Name: name, Content: "of [[Town]] and " + name,
				Fields: json.RawMessage(`{"sort":3,"aliases":["Alias of ` + name + `"]}`)}); err != nil {
				return err
			}
		}
		return p.Event(canon.Event{Type: "began", Payload: json.RawMessage(`{"n":1}`)})
	})
	change(func(p *canon.Plan) error {
		gone, err := p.Card("Gone")
		if err != nil {
			return err
		}
		hall, err := p.Card("Town+Hall")
		if err != nil {
			return err
		}
		if _, err := p.Link(canon.Link{Kind: "at", From: hall.ID, To: hall.ID,
			Attrs: json.RawMessage(`{"clock":5}`)}); err != nil {
			return err
		}
		if _, err := p.Layer(canon.Layer{Card: hall.ID, Kind: "base", Text: "quiet"}); err != nil {
			return err
		}
		if _, err := p.SetLabel(hall, access.NewLabel(access.LevelGM, "ann")); err != nil {
			return err
		}
		return p.Trash(gone)
	})
	change(func(p *canon.Plan) error { // an erased body
		c, err := p.Card("Été")
		if err != nil {
			return err
		}
		versions, _, err := p.Versions(ctx, c.ID, canon.Page{Limit: 1})
		if err != nil {
			return err
		}
		return p.Purge(c, versions[0])
	})
	ad, err := guard.Admit(ctx, app.Operator(), access.Request{Operation: "test", Surface: "alignment",
		Effect: access.Write, World: w.ID})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Canon.Append(ctx, ad.Grant, canon.LedgerStream("game", "one"), 0,
		[]canon.Event{{Type: "begun"}, {Type: "ended"}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"good", "revoked"} {
		k, _, err := a.Identity.CreateKey(ctx, identity.KeySpec{Name: name, Subject: "bot", Actor: access.AI,
			MaxRole: access.RoleUser, CreatedBy: "test"})
		if err != nil {
			t.Fatal(err)
		}
		if name == "revoked" {
			if err := a.Identity.RevokeKey(ctx, k.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func copyStore(t *testing.T, from, to string) (string, error) {
	t.Helper()
	c, err := app.LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = app.Copy(t.Context(), c, from, to, nil, &out)
	return out.String(), err
}

func TestACopyToPostgresAndBackIsTheSame(t *testing.T) {
	here, there, back := t.TempDir(), database(t), t.TempDir()
	fillStore(t, here)
	for _, way := range [][2]string{{here, there}, {there, back}, {here, back}, {back, there}} {
		// The last two copy nothing new.
		report, err := copyStore(t, way[0], way[1])
		if err != nil {
			t.Fatalf("from %s to %s: %v", way[0], way[1], err)
		}
		if !strings.Contains(report, "verified as equal: 2 chains with 6 commits") {
			t.Errorf("from %s to %s: %s", way[0], way[1], report)
		}
	}
	a := openApp(t, there, app.Options{})
	keys, err := a.Identity.Keys(t.Context())
	if err != nil || len(keys) != 2 || keys[1].Revoked.IsZero() {
		t.Errorf("the keys at the target: %+v, %v", keys, err)
	}
	if report, err := a.Verify(t.Context(), ""); err != nil {
		t.Errorf("%s, %v", report, err)
	}
}

func TestCopyUpdatesAnOlderCopy(t *testing.T) {
	here, there := t.TempDir(), database(t)
	fillStore(t, here)
	if _, err := copyStore(t, here, there); err != nil {
		t.Fatal(err)
	}
	a, shut := openAppOnce(t, here, app.Options{})
	if _, err := a.CreateWorld(t.Context(), canon.NewWorld{Slug: "later"}); err != nil {
		t.Fatal(err)
	}
	shut()
	report, err := copyStore(t, here, there)
	if err != nil || !strings.Contains(report, "verified as equal: 3 chains with 7 commits") {
		t.Errorf("%s, %v", report, err)
	}
}

func TestCopyRefusesOtherStores(t *testing.T) {
	here, other, there := t.TempDir(), t.TempDir(), database(t)
	fillStore(t, here)
	a, shut := openAppOnce(t, other, app.Options{})
	if _, err := a.CreateWorld(t.Context(), canon.NewWorld{Slug: "other"}); err != nil {
		t.Fatal(err)
	}
	shut()
	if _, err := copyStore(t, here, there); err != nil {
		t.Fatal(err)
	}
	for _, way := range [][2]string{{other, there}, {there, other}, {here, here}, {here, "mysql://x"}} {
		var f *fault.Error
		if _, err := copyStore(t, way[0], way[1]); !errors.As(err, &f) || f.Message == "" {
			t.Errorf("from %s to %s: %v", way[0], way[1], err)
		}
	}
	raw, err := pgx.Connect(t.Context(), there)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close(context.Background())
	for _, spoil := range []struct{ sql, mend string }{
		{"UPDATE cards SET name = name || '!' WHERE key = 'town'",
			"UPDATE cards SET name = rtrim(name, '!') WHERE key = 'town'"},
		{"UPDATE docs SET body = body || '!' WHERE name LIKE 'Town%'",
			"UPDATE docs SET body = rtrim(body, '!') WHERE name LIKE 'Town%'"},
		{"UPDATE commits SET body = body || 'x'::bytea", ""},
	} {
		if _, err := raw.Exec(t.Context(), spoil.sql); err != nil {
			t.Fatal(err)
		}
		if report, err := copyStore(t, here, there); err == nil {
			t.Errorf("%s: passes as the same: %s", spoil.sql, report)
		}
		if spoil.mend == "" {
			continue
		}
		if _, err := raw.Exec(t.Context(), spoil.mend); err != nil {
			t.Fatal(err)
		}
		if _, err := copyStore(t, here, there); err != nil {
			t.Errorf("mended: %v", err)
		}
	}
}
