package canon_test

import (
	"encoding/json"
	"slices"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// fieldsOf returns the fields that an actor reads in a card.
func (a actor) fieldsOf(name string) (got string) {
	a.s.t.Helper()
	if err := a.read(func(snap *canon.Snapshot) error {
		c, err := snap.Find(a.s.t.Context(), name)
		if err != nil {
			return err
		}
		b, err := snap.Fields(a.s.t.Context(), c)
		got = string(b)
		return err
	}); err != nil {
		a.s.t.Fatal(err)
	}
	return got
}

func (a actor) setFields(name, patch string) {
	a.s.t.Helper()
	if err := a.on(name, func(p *canon.Plan, c canon.Card) error {
		_, err := p.Update(c, canon.Edit{Fields: json.RawMessage(patch)})
		return err
	}); err != nil {
		a.s.t.Fatal(err)
	}
}

// TestAFieldIsToldAndHidden shows a hidden field to a reader, takes it back, opens it and hides it again.
func TestAFieldIsToldAndHidden(t *testing.T) {
	s := newScene(t)
	gm, ada, user := s.as("gm"), s.as("ada"), s.as("user")
	gm.create("Inn", "beer")
	gm.setFields("Inn", `{"beds": 3, "secrets": "a cellar"}`)
	const whole, open = `{"beds":3,"secrets":"a cellar"}`, `{"beds":3}`
	var opened []canon.Opened
	label := func(level access.Level, readers ...access.Subject) func(*canon.Plan, canon.Card) error {
		return func(p *canon.Plan, c canon.Card) error {
			_, err := p.LabelParts(c, []string{"field:secrets"}, access.NewLabel(level, readers...))
			return err
		}
	}
	hide := func(p *canon.Plan, c canon.Card) error {
		_, err := p.HideParts(c, []string{"field:secrets"}, false)
		return err
	}
	for _, step := range []struct {
		what           string
		plan           func(*canon.Plan, canon.Card) error
		gm, ada, user  string
		opens, history int
	}{
		{"told", label(access.LevelGM, "ada"), whole, whole, open, 1, 2},
		{"taken back", hide, whole, open, open, 0, 2},
		{"opened", label(access.LevelUser), whole, whole, whole, 1, 3},
		{"hidden", hide, whole, open, open, 0, 1},
		{"told again", label(access.LevelGM, "ada"), whole, whole, open, 1, 1},
	} {
		opened = gm.must(func(p *canon.Plan) error {
			c, err := p.Card("Inn")
			if err != nil {
				return err
			}
			return step.plan(p, c)
		}).Opened
		opened = slices.DeleteFunc(opened, func(o canon.Opened) bool { return o.Part != "field:secrets" })
		if got := []string{gm.fieldsOf("Inn"), ada.fieldsOf("Inn"), user.fieldsOf("Inn")}; !slices.Equal(got,
			[]string{step.gm, step.ada, step.user}) || len(opened) != step.opens {
			t.Errorf("%s: the game master, ada and others read %q; it opens %v", step.what, got, opened)
		}
		if got := user.history("Inn"); len(got) != step.history {
			t.Errorf("%s: players see the versions %q", step.what, got)
		}
	}
	ada.setFields("Inn", `{"secrets": "a deep cellar"}`)
	gm.setFields("Inn", `{"beds": 4}`)
	for who, want := range map[*actor]string{&gm: `{"beds":4,"secrets":"a deep cellar"}`,
		&ada: `{"beds":4,"secrets":"a deep cellar"}`, &user: `{"beds":4}`} {
		if got := who.fieldsOf("Inn"); got != want {
			t.Errorf("after a change by the reader who was told, somebody reads %s, want %s", got, want)
		}
	}
	s.wantRebuilt()
}

// TestRestoreKeepsHiddenFields restores a version from before a field was hidden.
func TestRestoreKeepsHiddenFields(t *testing.T) {
	s := newScene(t)
	gm, user := s.as("gm"), s.as("user")
	gm.create("Inn", "beer")
	gm.setFields("Inn", `{"beds": 3}`)
	gm.setFields("Inn", `{"beds": 4, "secrets": "a cellar"}`)
	if err := gm.on("Inn", func(p *canon.Plan, c canon.Card) error {
		v, err := p.VersionOf(t.Context(), c, 2)
		if err == nil {
			_, err = p.RevertTo(c, v)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got := gm.fieldsOf("Inn"); got != `{"beds":3,"secrets":"a cellar"}` {
		t.Errorf("the game master reads %s", got)
	}
	if got := user.fieldsOf("Inn"); got != `{"beds":3}` {
		t.Errorf("a player reads %s", got)
	}
	s.wantRebuilt()
}

// TestObjectsInFieldsHide writes fields with objects in them: one with an exact mark hides its field, and one that only
// looks so is asked about. A field that was opened stays open as it is.
func TestObjectsInFieldsHide(t *testing.T) {
	s := newScene(t)
	gm, user := s.as("gm"), s.as("user")
	gm.create("Town", "beer")
	for i, row := range []struct{ field, seen string }{
		{`[{"name": "X", "secret": true, "note": "a"}]`, ""},
		{`{"hidden": true, "note": "a"}`, ""},
		{`[{"visibility": "gm", "note": "a"}]`, ""},
		{`[[{"deep": {"players": false, "note": "a"}}]]`, ""},
		{`[{"level": "admin"}]`, ""},
		{`[{"tags": ["dm/plot"]}]`, ""},
		{`[{"secret plan": "a"}]`, "asked"},
		{`[{"draft": true}]`, "asked"},
		{`[{"name":"X","players":true,"secret":false,"visibility":"all"}]`, `{"crew":[{"name":"X","players":true,` +
			`"secret":false,"visibility":"all"}]}`},
	} {
		name := "Inn " + string(rune('A'+i))
		gm.create(name, "beer")
		err := gm.on(name, func(p *canon.Plan, c canon.Card) error {
			_, err := p.Update(c, canon.Edit{Fields: json.RawMessage(`{"crew": ` + row.field + `}`)})
			return err
		})
		seen := user.fieldsOf(name)
		if isAsked := fault.KindOf(err) == fault.Rule; isAsked {
			seen = "asked" + seen
		} else if err != nil {
			t.Fatal(err)
		}
		if seen != row.seen {
			t.Errorf("%s: players read %q, want %q", row.field, seen, row.seen)
		}
	}
	gm.setFields("Town", `{"crew": [{"secret": true, "note": "a"}]}`)
	if err := gm.on("Town", func(p *canon.Plan, c canon.Card) error {
		_, err := p.LabelParts(c, []string{"field:crew"}, access.NewLabel(access.LevelUser))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	gm.setFields("Town", `{"crew": [{"secret": true, "note": "a"}], "beds": 3}`)
	if got := user.fieldsOf("Town"); got != `{"beds":3,"crew":[{"note":"a","secret":true}]}` {
		t.Errorf("an opened field with the same value is read as %s", got)
	}
	gm.setFields("Town", `{"crew": [{"secret": true, "note": "a"}, {"secret": true, "note": "b"}]}`)
	if got := user.fieldsOf("Town"); got != `{"beds":3}` {
		t.Errorf("with one more object that is marked, players read %s", got)
	}
	s.wantRebuilt()
}
