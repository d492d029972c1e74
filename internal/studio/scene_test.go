package studio_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"loregate/internal/access"
	"loregate/internal/blob"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/store/sqlite"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/studio"
	"loregate/internal/studio/native"
)

// desk is a studio with a paper adapter and callers of every role, for tests that read as
// scenarios.
type desk struct {
	t      testing.TB
	data   string
	canon  *canon.Canon
	guard  *access.Guard
	world  access.WorldID
	studio *studio.Studio
	ops    *op.Local
	paper  *paper
	log    *bytes.Buffer
	roots  map[string]string
	allow  bool
	store  *sqlite.Store
	model  studio.Model
	asker  op.Asker

	soleAdapter bool // without an engine
}

func newDesk(t testing.TB) *desk { return newDeskWith(t, false) }

func newDeskWith(t testing.TB, allow bool) *desk {
	t.Helper()
	d := &desk{t: t, data: t.TempDir(), log: &bytes.Buffer{}, allow: allow,
		roots: map[string]string{"out": t.TempDir()},
		paper: &paper{kind: "blender", version: "1"}, guard: access.NewGuard(access.Config{})}
	d.store = sqlitetest.OpenAt(t, filepath.Join(d.data, "canon.db"))
	d.canon = canon.New(canon.Config{Store: d.store, Ledgers: map[string][]string{studio.Ledger: {studio.Surface}}})
	w, err := d.canon.CreateWorld(t.Context(), d.grant(access.RoleAdmin), canon.NewWorld{Slug: "main", Title: "Main"})
	if err != nil {
		t.Fatal(err)
	}
	d.world = w.ID
	d.open()
	t.Cleanup(func() { d.studio.Close() })
	return d
}

// open opens the studio as a process does at its start.
func (d *desk) open() { d.openWith(nil) }

func (d *desk) openWith(q *studio.Queue) {
	d.t.Helper()
	dir := filepath.Join(d.data, "studio")
	blobs, err := blob.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = blobs.Close() })
	adapters := []studio.Adapter{d.paper, &paper{kind: "godot"}, native.New()}
	if d.soleAdapter {
		adapters = adapters[:1]
	}
	d.studio, err = studio.Open(studio.Config{Canon: d.canon, Blobs: blobs, Dir: dir, Adapters: adapters, Queue: q,
		Model:  d.model,
		Policy: studio.Policy{AllowDestructive: d.allow, Roots: d.roots},
		Logger: slog.New(slog.NewTextHandler(d.log, nil))})
	if err != nil {
		d.t.Fatal(err)
	}
	if d.ops, err = op.NewLocal(op.Config{Guard: d.guard, Surfaces: []op.Surface{d.studio.Surface()},
		Worlds: soleWorld(d.world)}); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) grant(role access.Role) access.Grant {
	d.t.Helper()
	a, err := d.guard.Admit(d.t.Context(), d.caller(role),
		access.Request{Operation: "scene", Surface: studio.Surface, Effect: access.Write, World: d.world})
	if err != nil {
		d.t.Fatal(err)
	}
	return a.Grant
}

func (d *desk) caller(role access.Role) access.Caller {
	return access.Caller{Subject: access.Subject(role.String()), EveryRole: role, Operator: role == access.RoleAdmin,
		Actor: access.Person}
}

type soleWorld access.WorldID

func (w soleWorld) Resolve(context.Context, access.Caller, string) (access.WorldID, error) {
	return access.WorldID(w), nil
}
func (w soleWorld) Names(context.Context, access.Caller) ([]string, error) {
	return []string{"main"}, nil
}

// try calls an operation.
func (d *desk) try(role access.Role, name, input string) (map[string]any, error) {
	d.t.Helper()
	answer, err := d.ops.Invoke(d.t.Context(), d.caller(role),
		op.Request{Operation: name, Surface: studio.Surface, Input: []byte(input), Transport: "mcp", Asker: d.asker})
	if err != nil {
		return nil, err
	}
	o, _ := d.ops.Find(name)
	if err := optest.CheckOutput(o, answer.Output); err != nil {
		d.t.Errorf("%s: %v", name, err)
	}
	var out map[string]any
	if err := json.Unmarshal(answer.Output, &out); err != nil {
		d.t.Fatal(err)
	}
	return out, nil
}

// do calls an operation that must succeed.
func (d *desk) do(role access.Role, name, input string) map[string]any {
	d.t.Helper()
	out, err := d.try(role, name, input)
	if err != nil {
		d.t.Fatalf("%s %s: %v", name, input, err)
	}
	return out
}

// wantCode calls an operation that must fail with this code.
func (d *desk) wantCode(code studio.Code, role access.Role, name, input string) *fault.Error {
	d.t.Helper()
	_, err := d.try(role, name, input)
	var known *fault.Error
	if !errors.As(err, &known) {
		d.t.Fatalf("%s %s: %v, not %s", name, input, err, code)
	}
	if known.Code != string(code) {
		d.t.Fatalf("%s %s: %s %v, not %s", name, input, known.Code, known, code)
	}
	return known
}

// names returns the number of objects in the scene, as text.
func (d *desk) names() string {
	d.t.Helper()
	out := d.do(access.RoleGM, "list_objects", `{"target": "blender"}`)
	return fmt.Sprint(out["result"].(map[string]any)["total"])
}

func (d *desk) card(name, typ, text string, level access.Level) {
	d.t.Helper()
	_, err := d.canon.Update(d.t.Context(), d.grant(access.RoleAdmin), func(p *canon.Plan) error {
		if c, ok, err := p.Has(name); err != nil || ok {
			if err == nil {
				_, err = p.Update(c, canon.Edit{Content: &text})
			}
			return err
		}
		label := access.NewLabel(level)
		_, err := p.Create(canon.NewCard{Name: name, Type: typ, Content: text, Label: &label})
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
}
