package campaign

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/store/memory"
	"loregate/internal/store/sqlite/sqlitetest"
)

// slug is the campaign of a scene; the store has another one as well.
const slug = "pass"

// scene is a campaign with its players, for tests that read like a story. Its clock advances by a
// second with every write.
type scene struct {
	t     testing.TB
	canon *canon.Canon
	ops   *op.Local
	world access.WorldID
	other access.WorldID
	now   time.Time
	ids   optest.IDs
}

func newScene(t testing.TB) *scene { return newSceneOn(t, memory.New()) }

// onEachStore runs a scene in memory and in SQLite.
func onEachStore(t *testing.T, play func(s *scene)) {
	t.Run("memory", func(t *testing.T) { play(newScene(t)) })
	t.Run("sqlite", func(t *testing.T) { play(newSceneOn(t, sqlitetest.Open(t))) })
}

func newSceneOn(t testing.TB, store canon.Store) *scene {
	t.Helper()
	s := &scene{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s.canon = canon.New(canon.Config{Store: store, Now: func() time.Time { return s.now },
		NewID: func(canon.StreamID) uuid.UUID { return s.ids.Next() }})
	guard := access.NewGuard(access.Config{Now: func() time.Time { return s.now }})
	a, err := guard.Admit(t.Context(), access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true},
		access.Request{Operation: "scene", Effect: access.Write})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		slug string
		id   *access.WorldID
	}{{slug, &s.world}, {"elsewhere", &s.other}} {
		made, err := s.canon.CreateWorld(t.Context(), a.Grant, canon.NewWorld{Slug: w.slug, Title: "The " + w.slug,
			Settings: canon.Settings{Description: "A campaign.", Extra: map[string]string{settingSystem: "coc-7e"}}})
		if err != nil {
			t.Fatal(err)
		}
		*w.id = made.ID
	}
	surface, err := New(Config{Canon: s.canon})
	if err != nil {
		t.Fatal(err)
	}
	if s.ops, err = op.NewLocal(op.Config{Guard: guard, Surfaces: []op.Surface{surface}, Worlds: worlds{s}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// worlds finds the scene's worlds in the same way as the program.
type worlds struct{ s *scene }

func (w worlds) Resolve(ctx context.Context, c access.Caller, name string) (access.WorldID, error) {
	all, err := w.s.canon.Worlds(ctx)
	for _, o := range all {
		if (o.Slug == name || strings.EqualFold(o.ID.String(), name)) && c.Role(o.ID) > access.RoleNone {
			return o.ID, nil
		}
	}
	if err == nil {
		err = fault.New(fault.NotFound, "no such world for this key; ask for a world that the key opens")
	}
	return access.WorldID{}, err
}

func (w worlds) Names(ctx context.Context, c access.Caller) (names []string, err error) {
	all, err := w.s.canon.Worlds(ctx)
	for _, o := range all {
		if c.Role(o.ID) > access.RoleNone {
			names = append(names, o.Slug)
		}
	}
	return names, err
}

// actor is a member of the campaign, or a stranger.
type actor struct {
	s      *scene
	caller access.Caller
}

// As returns the gm, an admin, a stranger (of another campaign) or a player of that name.
func (s *scene) As(who string) actor {
	c := access.Caller{Subject: access.Subject(who), Actor: access.Person,
		Roles: map[access.WorldID]access.Role{s.world: access.RoleUser}}
	switch who {
	case "gm":
		c.Roles[s.world] = access.RoleGM
	case "admin":
		c.Roles[s.world] = access.RoleAdmin
	case "stranger":
		c.Roles = map[access.WorldID]access.Role{s.other: access.RoleAdmin}
	}
	return actor{s, c}
}

func (a actor) invoke(name, input string, more ...func(*op.Request)) (*op.Answer, error) {
	r := op.Request{Operation: name, Input: json.RawMessage(input), Transport: "mcp"}
	for _, m := range more {
		m(&r)
	}
	if o, ok := a.s.ops.Find(name); ok && o.Writes() {
		a.s.now = a.s.now.Add(time.Second)
	}
	return a.s.ops.Invoke(a.s.t.Context(), a.caller, r)
}

// in adds the campaign to an input.
func in(input string) string {
	sep := ", "
	if strings.TrimSpace(strings.Trim(input, "{}")) == "" {
		sep = ""
	}
	return `{"campaign_id": "` + slug + `"` + sep + strings.TrimPrefix(input, "{")
}

// Call makes a call in the campaign that must succeed, and checks its output against the schema.
func (a actor) Call(name, input string, more ...func(*op.Request)) optest.Answer {
	a.s.t.Helper()
	got, err := a.invoke(name, in(input), more...)
	if err != nil {
		a.s.t.Fatalf("%s %s as %s: %v", name, input, a.caller.Subject, err)
	}
	return optest.Check(a.s.t, a.s.ops, name, input, got)
}

// WantFault makes a call that must fail with the given code, and returns the text shown to the
// caller.
func (a actor) WantFault(code, name, input string) string {
	a.s.t.Helper()
	got, err := a.invoke(name, in(input))
	if err == nil {
		a.s.t.Fatalf("%s %s as %s: want %s, got %s", name, input, a.caller.Subject, code, got.Output)
	}
	e := a.s.ops.Show(name, "", err, "c")
	shown, _ := json.Marshal(e)
	if e.Error.Code != code {
		a.s.t.Fatalf("%s %s as %s: want %s, got %s (%v)", name, input, a.caller.Subject, code, shown, err)
	}
	return string(shown)
}

// Make creates an entity and returns its id.
func (a actor) Make(kind, name, more string) string {
	a.s.t.Helper()
	if more != "" {
		more = ", " + more
	}
	return a.Call("entity_create", `{"entity_type": "`+kind+`", "name": "`+name+`", "allow_similar": true`+more+
		`}`).Text("id")
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// keep creates a card as the world's admin, without the campaign's operations.
func (s *scene) keep(name, typ, fields string, label ...access.Label) {
	s.t.Helper()
	s.change(func(p *canon.Plan) error {
		n := canon.NewCard{Name: name, Type: typ, Fields: json.RawMessage(fields)}
		if len(label) > 0 {
			n.Label = &label[0]
		}
		_, err := p.Create(n)
		return err
	})
}

// change changes the world as its admin, without the campaign's operations.
func (s *scene) change(plan func(*canon.Plan) error) {
	s.t.Helper()
	guard := access.NewGuard(access.Config{})
	a, err := guard.Admit(s.t.Context(), s.As("admin").caller,
		access.Request{Operation: "scene", Effect: access.Write, World: s.world})
	if err != nil {
		s.t.Fatal(err)
	}
	s.now = s.now.Add(time.Second)
	_, err = s.canon.Update(s.t.Context(), a.Grant, plan)
	if err != nil {
		s.t.Fatal(err)
	}
}

func atMost(n int) func(*op.Request) { return func(r *op.Request) { r.MaxText = n } }

func parsed(raw string) (v any) {
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		panic(err)
	}
	return v
}

// adminAlso returns a label for admins and one named subject.
func adminAlso(who access.Subject) access.Label { return access.NewLabel(access.LevelAdmin, who) }
