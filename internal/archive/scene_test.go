package archive

import (
	"encoding/json"
	"slices"
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

// scene is a wiki with its users, for tests that read like a story. Its clock advances by a second
// with every change.
type scene struct {
	t     testing.TB
	canon *canon.Canon
	ops   *op.Local
	world access.WorldID
	now   time.Time
	ids   optest.IDs
	admin access.Grant
}

// newScene returns an empty wiki in memory.
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
	admit := func(world access.WorldID) access.Grant {
		a, err := guard.Admit(t.Context(), access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true},
			access.Request{Operation: "scene", Effect: access.Write, World: world})
		if err != nil {
			t.Fatal(err)
		}
		return a.Grant
	}
	w, err := s.canon.CreateWorld(t.Context(), admit(access.WorldID{}), canon.NewWorld{Slug: "main", Title: "Main"})
	if err != nil {
		t.Fatal(err)
	}
	s.world, s.admin = w.ID, admit(w.ID)
	surface, err := New(Config{Canon: s.canon})
	if err != nil {
		t.Fatal(err)
	}
	if s.ops, err = op.NewLocal(op.Config{Guard: guard, Surfaces: []op.Surface{surface},
		Worlds: optest.SoleWorld(w.ID), GMManages: s.gmManages}); err != nil {
		t.Fatal(err)
	}
	return s
}

// gmManages reports whether game masters manage the wiki's cards.
func (s *scene) gmManages(access.WorldID) bool {
	w, err := s.canon.World(s.t.Context(), s.world)
	return err == nil && w.Settings.ManagerRole() == access.RoleGM
}

// change plans and commits as the wiki's administrator.
func (s *scene) change(plan func(*canon.Plan) error) {
	s.t.Helper()
	s.now = s.now.Add(time.Second)
	if _, err := s.canon.Update(s.t.Context(), s.admin, plan); err != nil {
		s.t.Fatal(err)
	}
}

// wrote creates a card.
func (s *scene) wrote(name, content string) {
	s.t.Helper()
	s.made(canon.NewCard{Name: name, Content: content})
}

// hid creates a card that is visible from a level up, and to named subjects.
func (s *scene) hid(level access.Level, name, content string, subjects ...access.Subject) {
	s.t.Helper()
	label := access.NewLabel(level, subjects...)
	s.made(canon.NewCard{Name: name, Content: content, Label: &label})
}

// typed creates a card of a type.
func (s *scene) typed(typ, name, content string) {
	s.t.Helper()
	s.made(canon.NewCard{Name: name, Type: typ, Content: content})
}

func (s *scene) made(cards ...canon.NewCard) {
	s.t.Helper()
	s.change(func(p *canon.Plan) error {
		for _, c := range cards {
			if _, err := p.Create(c); err != nil {
				return err
			}
		}
		return nil
	})
}

// on changes one card.
func (s *scene) on(name string, f func(*canon.Plan, canon.Card) error) {
	s.t.Helper()
	s.change(func(p *canon.Plan) error {
		c, err := p.Card(name)
		if err != nil {
			return err
		}
		return f(p, c)
	})
}

func (s *scene) edited(name, content string) {
	s.t.Helper()
	s.on(name, func(p *canon.Plan, c canon.Card) error {
		_, err := p.Update(c, canon.Edit{Content: &content})
		return err
	})
}

func (s *scene) renamed(name, to string) {
	s.t.Helper()
	s.on(name, func(p *canon.Plan, c canon.Card) error { _, err := p.Rename(c, to); return err })
}

func (s *scene) trashed(name string) {
	s.t.Helper()
	s.on(name, func(p *canon.Plan, c canon.Card) error { return p.Trash(c) })
}

func (s *scene) leveled(name string, level access.Level) {
	s.t.Helper()
	s.on(name, func(p *canon.Plan, c canon.Card) error {
		_, err := p.SetLabel(c, access.NewLabel(level))
		return err
	})
}

// idOf returns the id of a card, also of a hidden one.
func (s *scene) idOf(name string) string {
	s.t.Helper()
	var id string
	err := s.canon.Read(s.t.Context(), s.admin, func(l *canon.Snapshot) error {
		c, err := l.Find(s.t.Context(), name)
		id = c.ID.String()
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// actor is a user of the wiki.
type actor struct {
	s      *scene
	caller access.Caller
}

// As returns an actor with the given role, or a user of that name.
func (s *scene) As(who string) actor {
	role, ok := access.ParseRole(who)
	if !ok {
		role = access.RoleUser
	}
	return actor{s, access.Caller{Subject: access.Subject(who), Actor: access.Person,
		Roles: map[access.WorldID]access.Role{s.world: role}}}
}

// Agent returns an agent with a role.
func (s *scene) Agent(role string) actor {
	a := s.As(role)
	a.caller.Actor = access.AI
	return a
}

func (a actor) invoke(name, input string, more ...func(*op.Request)) (*op.Answer, error) {
	r := op.Request{Operation: name, Input: json.RawMessage(input), Transport: "mcp"}
	for _, m := range more {
		m(&r)
	}
	return a.s.ops.Invoke(a.s.t.Context(), a.caller, r)
}

func overREST(r *op.Request)              { r.Transport = "rest" }
func atMost(n int) func(*op.Request)      { return func(r *op.Request) { r.MaxText = n } }
func reached(at string) func(*op.Request) { return func(r *op.Request) { r.BaseURL = at } }

// Call makes a call that must succeed, and checks its output against the schema.
func (a actor) Call(name, input string, more ...func(*op.Request)) answer {
	a.s.t.Helper()
	got, err := a.invoke(name, input, more...)
	if err != nil {
		a.s.t.Fatalf("%s %s as %s: %v", name, input, a.caller.Subject, err)
	}
	return answer{optest.Check(a.s.t, a.s.ops, name, input, got)}
}

// WantFault makes a call that must fail with the given code, and returns the text shown to the
// caller.
func (a actor) WantFault(code, name, input string, more ...func(*op.Request)) string {
	a.s.t.Helper()
	got, err := a.invoke(name, input, more...)
	if err == nil {
		a.s.t.Fatalf("%s %s as %s: want %s, got %s", name, input, a.caller.Subject, code, got.Output)
	}
	shown, _ := json.Marshal(fault.Show(err, "c"))
	if fault.KindOf(err).Code() != code {
		a.s.t.Fatalf("%s %s as %s: want %s, got %s (%v)", name, input, a.caller.Subject, code, shown, err)
	}
	return string(shown)
}

func (a actor) WantNotFound(name, input string) string {
	a.s.t.Helper()
	return a.WantFault("not_found", name, input)
}

// answer is an answer of the wiki.
type answer struct{ optest.Answer }

// TestEveryReadIsDeclared checks the names and routes of all reads against the contract's list.
func TestEveryReadIsDeclared(t *testing.T) {
	s := newScene(t)
	want := map[string]string{
		"get_card": "GET /api/mcp/cards/{name}", "search_cards": "GET /api/mcp/cards",
		"list_children": "GET /api/mcp/cards/{name}/children", "get_card_outline": "GET /api/mcp/cards/{name}/outline",
		"find_in_card": "GET /api/mcp/cards/{name}/find", "get_card_history": "GET /api/mcp/cards/{name}/history",
		"get_revision": "GET /api/mcp/cards/{name}/history/{version}", "diff_card": "GET /api/mcp/cards/{name}/diff",
		"list_trash": "GET /api/mcp/trash", "recent_changes": "GET /api/mcp/changes", "audit_changes": "GET /api/mcp/audit",
		"wanted_cards":      "GET /api/mcp/wanted",
		"get_relationships": "GET /api/mcp/cards/{name}/relations", "get_tags": "GET /api/mcp/tags", "search_by_tags": "",
		"suggest_tags": "",
		"run_query":    "POST /api/mcp/run_query", "list_queries": "GET /api/mcp/queries",
		"run_named_query": "GET /api/mcp/queries/{q}",
		"render_snippet":  "POST /api/mcp/render", "render_markdown": "POST /api/mcp/render/markdown",
		"list_types": "GET /api/mcp/types", "get_type": "GET /api/mcp/types/{name}",
		"get_attachment": "GET /api/mcp/cards/{name}/file",
		"search":         "", "fetch": "",
	}
	for name, route := range want {
		o, ok := s.ops.Find(name)
		if !ok {
			t.Errorf("%s is not declared", name)
			continue
		}
		if o.Route != route || o.Effect != access.Read || !slices.Contains(o.Surfaces, Surface) || len(o.Examples) == 0 {
			t.Errorf("%s: route %q, effect %s, surfaces %v, %d examples", name, o.Route, o.Effect, o.Surfaces, len(o.Examples))
		}
	}
	if o, _ := s.ops.Find("list_trash"); o.MinRole != access.RoleAdmin {
		t.Error("the trash is for admins")
	}
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
