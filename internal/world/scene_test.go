package world

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

// scene is a world with people in it, for tests that read as a story. Each change by its keeper
// moves its clock by a second.
type scene struct {
	t     testing.TB
	world *World
	canon *canon.Canon
	ops   *op.Local
	id    access.WorldID
	now   time.Time
	ids   optest.IDs
	admin access.Grant
}

// newScene returns a small town on disk: a quay where players begin, a square north of it with a
// well, a locked chapel, and a cellar that only the GM knows of.
func newScene(t testing.TB, change ...func(*Config)) *scene {
	s := emptyScene(t, sqlitetest.Open(t), change...)
	s.build()
	return s
}

func inMemory() canon.Store { return memory.New() }

func emptyScene(t testing.TB, store canon.Store, change ...func(*Config)) *scene {
	t.Helper()
	s := &scene{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s.canon = canon.New(canon.Config{Store: store, Now: func() time.Time { return s.now },
		NewID: func(canon.StreamID) uuid.UUID { return s.ids.Next() }})
	guard := access.NewGuard(access.Config{Now: func() time.Time { return s.now }})
	admit := func(world access.WorldID) access.Grant {
		a, err := guard.Admit(context.Background(), access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin,
			Operator: true},
			access.Request{Operation: "scene", Effect: access.Write, World: world})
		if err != nil {
			t.Fatal(err)
		}
		return a.Grant
	}
	w, err := s.canon.CreateWorld(t.Context(), admit(access.WorldID{}),
		canon.NewWorld{Slug: "main", Title: "Main", Settings: canon.Settings{Starter: "Quay"}})
	if err != nil {
		t.Fatal(err)
	}
	s.id, s.admin = w.ID, admit(w.ID)
	c := Config{Canon: s.canon, Now: func() time.Time { return s.now }, Tokens: tokens{}}
	for _, f := range change {
		f(&c)
	}
	if s.world, err = New(c); err != nil {
		t.Fatal(err)
	}
	if s.ops, err = op.NewLocal(op.Config{Guard: guard, Surfaces: s.world.Surfaces(),
		Worlds: optest.SoleWorld(w.ID)}); err != nil {
		t.Fatal(err)
	}
	return s
}

// tokens issues tokens that contain the id of the player.
type tokens struct{}

func (tokens) IssuePlayer(_ context.Context, _ access.Grant, player canon.CardID) (string, error) {
	return "token of " + player.String(), nil
}

// change makes and commits a plan as the keeper of the world.
func (s *scene) change(plan func(*canon.Plan) error) {
	s.t.Helper()
	s.now = s.now.Add(time.Second)
	if _, err := s.canon.Update(s.t.Context(), s.admin, plan); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) card(c canon.NewCard) {
	s.t.Helper()
	s.change(func(p *canon.Plan) error { _, err := p.Create(c); return err })
}

// place creates a place; fields is JSON.
func (s *scene) place(name, description, fields string) {
	s.t.Helper()
	s.card(canon.NewCard{Name: name, Type: typeLocation, Content: description, Fields: json.RawMessage(fields),
		Codename: "loc-" + slug(name)})
}

func slug(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

// link links two cards by name.
func (s *scene) link(kind, from, to, attrs string) {
	s.t.Helper()
	s.change(func(p *canon.Plan) error {
		a, err := p.Card(from)
		if err != nil {
			return err
		}
		b, err := p.Card(to)
		if err != nil {
			return err
		}
		_, err = p.Link(canon.Link{ID: canon.LinkIDOf(kind, from, to, attrs), Kind: kind, From: a.ID, To: b.ID,
			Attrs: json.RawMessage(attrs), Label: a.Label.Meet(b.Label)})
		return err
	})
}

// way creates an exit; more are further attributes as JSON members.
func (s *scene) way(from string, d Direction, to string, more ...string) {
	s.t.Helper()
	s.link(linkExit, from, to, `{"direction":"`+string(d)+`"`+strings.Join(append([]string{""}, more...), ",")+`}`)
}

func (s *scene) layer(on, kind, text string, from, to int64) {
	s.t.Helper()
	s.change(func(p *canon.Plan) error {
		c, err := p.Card(on)
		if err != nil {
			return err
		}
		_, err = p.Layer(canon.Layer{Card: c.ID, Kind: kind, Text: text, FromTick: from, ToTick: to})
		return err
	})
}

func (s *scene) edit(name string, e canon.Edit) {
	s.t.Helper()
	s.change(func(p *canon.Plan) error {
		c, err := p.Card(name)
		if err != nil {
			return err
		}
		_, err = p.Update(c, e)
		return err
	})
}

func (s *scene) build() {
	gm := access.NewLabel(access.LevelGM)
	s.place("Quay", "<p>Black stone and wet rope. A tariff board leans here.</p>",
		`{"terrain":"riverbank","tags":["quay"],"exitAvailability":{"pending":{"west":"The mist has not lifted yet."},"forbidden":{"up":"There is only sky."}}}`)
	s.place("Square", "<p>Market stalls. In the middle stands an old well, and it hums.</p>", `{}`)
	s.place("Chapel", "<p>Cold pews.</p>", `{}`)
	s.place("Tower", "<p>Wind.</p>", `{}`)
	s.card(canon.NewCard{Name: "Cellar", Type: typeLocation, Content: "<p>secretcellar</p>", Label: &gm,
		Codename: "loc-cellar"})
	s.way("Quay", "north", "Square", `"description":"Up wet steps."`, `"travelDurationMs":120000`)
	s.way("Square", "south", "Quay")
	s.way("Square", "east", "Chapel", `"lockState":"locked"`, `"key":"iron key"`)
	s.way("Chapel", "west", "Square")
	s.way("Chapel", "up", "Tower")
	s.way("Tower", "down", "Chapel")
	s.way("Quay", "down", "Cellar")
	s.card(canon.NewCard{Name: "Low Ward", Type: typeRealm,
		Fields: json.RawMessage(`{"realmType":"political","scope":"LOCAL","narrativeTags":["tar","gossip"]}`)})
	s.card(canon.NewCard{Name: "Coast", Type: typeRealm,
		Fields: json.RawMessage(`{"realmType":"weather_zone","scope":"MACRO","narrativeTags":["rain","tar"]}`)})
	s.card(canon.NewCard{Name: "Secret Order", Type: typeRealm, Label: &gm,
		Fields: json.RawMessage(`{"realmType":"functional","scope":"MICRO","narrativeTags":["secrettag"]}`)})
	s.link("within", "Quay", "Low Ward", `{}`)
	s.link("within", "Square", "Low Ward", `{}`)
	s.link("within", "Low Ward", "Coast", `{}`)
	s.link("member_of", "Quay", "Secret Order", `{}`)
	s.card(canon.NewCard{Name: "Iron Key", Type: "Item", Content: "<p>Rust and hope.</p>", Codename: "iron-key"})
	s.card(canon.NewCard{Name: "Copper Coin", Type: "Item", Content: "<p>Worn.</p>",
		Fields: json.RawMessage(`{"aliases":["penny"]}`)})
	s.card(canon.NewCard{Name: "Anvil", Type: "Item", Content: "<p>Heavy.</p>", Fields: json.RawMessage(`{"fixed":true}`)})
	s.card(canon.NewCard{Name: "Oda Tarn", Type: "Character", Content: "<p>She counts everything twice.</p>",
		Fields: json.RawMessage(`{"says":["Mind the third step.","The well hums because it is owed."]}`)})
	s.card(canon.NewCard{Name: "Salt Hound", Type: "Creature", Content: "<p>All ribs.</p>",
		Fields: json.RawMessage(`{"toughness":2}`)})
	s.card(canon.NewCard{Name: "Ghost", Type: "Character", Label: &gm, Content: "<p>secretghost</p>"})
	s.link(linkAt, "Iron Key", "Square", `{}`)
	s.link(linkHolds, "Square", "Copper Coin", `{"quantity":5}`)
	s.link(linkAt, "Anvil", "Square", `{}`)
	s.link(linkAt, "Oda Tarn", "Square", `{}`)
	s.link(linkAt, "Salt Hound", "Quay", `{}`)
	s.link(linkAt, "Ghost", "Quay", `{}`)
}

// idOf returns the id of a card, which may be hidden.
func (s *scene) idOf(name string) (id canon.CardID) {
	s.t.Helper()
	err := s.canon.Read(s.t.Context(), s.admin, func(snap *canon.Snapshot) error {
		c, err := snap.Find(s.t.Context(), name)
		id = c.ID
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// actor is a caller of operations.
type actor struct {
	s      *scene
	caller access.Caller
}

// as returns an actor with the named role, or a user of that name.
func (s *scene) as(who string) actor {
	role, ok := access.ParseRole(who)
	if !ok {
		role = access.RoleUser
	}
	return actor{s, access.Caller{Subject: access.Subject(who), Roles: map[access.WorldID]access.Role{s.id: role}}}
}

func (a actor) invoke(r op.Request) (*op.Answer, error) {
	if r.Transport == "" {
		r.Transport = "rest"
	}
	return a.s.ops.Invoke(a.s.t.Context(), a.caller, r)
}

// call makes a call that must succeed, and checks its output against the schema.
func (a actor) call(name, input string) answer {
	a.s.t.Helper()
	got, err := a.invoke(op.Request{Operation: name, Input: json.RawMessage(input)})
	if err != nil {
		a.s.t.Fatalf("%s %s as %s: %v", name, input, a.caller.Subject, err)
	}
	return a.checked(name, input, got)
}

func (a actor) checked(name, input string, got *op.Answer) answer {
	a.s.t.Helper()
	return answer{optest.Check(a.s.t, a.s.ops, name, input, got)}
}

// fails makes a call that must fail with a code, and returns the error as shown to the caller.
func (a actor) fails(code, name, input string) string {
	a.s.t.Helper()
	got, err := a.invoke(op.Request{Operation: name, Input: json.RawMessage(input)})
	if err == nil {
		a.s.t.Fatalf("%s %s as %s: want %s, got %s", name, input, a.caller.Subject, code, got.Output)
	}
	shown, _ := json.Marshal(fault.Show(err, "c"))
	if fault.KindOf(err).Code() != code {
		a.s.t.Fatalf("%s %s as %s: want %s, got %s (%v)", name, input, a.caller.Subject, code, shown, err)
	}
	return string(shown)
}

// answer is the answer to a call.
type answer struct{ optest.Answer }

func (a answer) at(path string) any {
	a.T.Helper()
	v, _ := a.At(path)
	return v
}

// is checks pairs of a path and its value; values are strings, numbers, bools and nil.
func (a answer) is(pairs ...any) {
	a.T.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		want := pairs[i+1]
		if n, ok := want.(int); ok {
			want = float64(n)
		}
		if got := a.at(pairs[i].(string)); got != want {
			a.T.Errorf("%s is %v, want %v\n%s", pairs[i], got, want, a.Raw)
		}
	}
}

// grant returns a grant that an actor got for another call.
func (s *scene) grant(who string) access.Grant {
	s.t.Helper()
	a, err := access.NewGuard(access.Config{}).Admit(s.t.Context(), s.as(who).caller,
		access.Request{Operation: "another", Effect: access.Write, World: s.id, MinRole: access.RoleUser})
	if err != nil {
		s.t.Fatal(err)
	}
	return a.Grant
}

func resourceAt(uri string) op.ResourceRequest {
	return op.ResourceRequest{Ask: op.Ask{World: "main"}, URI: uri}
}
