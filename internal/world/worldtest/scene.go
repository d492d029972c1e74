package worldtest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/world"
	"loregate/internal/world/command"
	"loregate/internal/world/play"
)

// Scene is a world with people in it, for tests that read as a story. Each change by its keeper
// moves its clock by a second.
type Scene struct {
	T     testing.TB
	World *world.World
	Canon *canon.Canon
	Ops   *op.Local
	ID    access.WorldID
	Now   time.Time
	IDs   optest.IDs
	Admin access.Grant
}

// Setup changes the parts of a scene. The zero Setup is a world without handlers of events.
type Setup struct {
	Handled world.Handled
	Pace    play.Pace
	Reader  play.Reader
	Settle  play.Settle
	// Narrator phrases results, within Patience.
	Narrator play.Narrator
	Patience time.Duration
	// More returns a further surface, whose operations the surface world has too; nil for none.
	More func(*world.World, *canon.Canon) op.Surface
}

// New returns a small town on disk: a quay where players begin, a square north of it with a
// well, a locked chapel, and a cellar that only the GM knows of.
func New(t testing.TB, change ...func(*Setup)) *Scene {
	s := Empty(t, sqlitetest.Open(t), change...)
	s.Build()
	return s
}

// Empty returns a scene without cards.
func Empty(t testing.TB, store canon.Store, change ...func(*Setup)) *Scene {
	t.Helper()
	s := &Scene{T: t, Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s.Canon = canon.New(canon.Config{Store: store, Now: func() time.Time { return s.Now },
		NewID: func(canon.StreamID) uuid.UUID { return s.IDs.Next() }, TextsOf: world.TextsOfPlayer})
	guard := access.NewGuard(access.Config{Now: func() time.Time { return s.Now }})
	admit := func(world access.WorldID) access.Grant {
		a, err := guard.Admit(context.Background(), access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin,
			Operator: true},
			access.Request{Operation: "scene", Effect: access.Write, World: world})
		if err != nil {
			t.Fatal(err)
		}
		return a.Grant
	}
	w, err := s.Canon.CreateWorld(t.Context(), admit(access.WorldID{}),
		canon.NewWorld{Slug: "main", Title: "Main", Settings: canon.Settings{Starter: "Quay"}})
	if err != nil {
		t.Fatal(err)
	}
	s.ID, s.Admin = w.ID, admit(w.ID)
	var set Setup
	for _, f := range change {
		f(&set)
	}
	s.World, err = world.New(world.Config{Canon: s.Canon, Now: func() time.Time { return s.Now }, Handled: set.Handled})
	if err != nil {
		t.Fatal(err)
	}
	host, err := play.New(play.Config{World: s.World, Canon: s.Canon, Tokens: tokens{}, Pace: set.Pace,
		Reader: set.Reader, Settle: set.Settle, Narrator: set.Narrator, Patience: set.Patience,
		Now: func() time.Time { return s.Now }})
	if err != nil {
		t.Fatal(err)
	}
	more := []op.Surface{host.Surface()}
	if set.More != nil {
		more = append(more, set.More(s.World, s.Canon))
	}
	surfaces := append([]op.Surface{s.World.Surface(more...)}, more[1:]...)
	if s.Ops, err = op.NewLocal(op.Config{Guard: guard, Surfaces: surfaces, Worlds: optest.SoleWorld(w.ID)}); err != nil {
		t.Fatal(err)
	}
	return s
}

// tokens issues tokens that contain the id of the player.
type tokens struct{}

func (tokens) IssuePlayer(_ context.Context, _ access.Grant, player canon.CardID) (string, error) {
	return "token of " + player.String(), nil
}

// Change makes and commits a plan as the keeper of the world.
func (s *Scene) Change(plan func(*canon.Plan) error) {
	s.T.Helper()
	s.Now = s.Now.Add(time.Second)
	if _, err := s.Canon.Update(s.T.Context(), s.Admin, plan); err != nil {
		s.T.Fatal(err)
	}
}

// Card creates a card.
func (s *Scene) Card(c canon.NewCard) {
	s.T.Helper()
	s.Change(func(p *canon.Plan) error { _, err := p.Create(c); return err })
}

// Place creates a place; fields is JSON.
func (s *Scene) Place(name, description, fields string) {
	s.T.Helper()
	s.Card(canon.NewCard{Name: name, Type: world.TypeLocation, Content: description, Fields: json.RawMessage(fields),
		Codename: "loc-" + slug(name)})
}

func slug(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

// Link links two cards by name.
func (s *Scene) Link(kind, from, to, attrs string) {
	s.T.Helper()
	s.Change(func(p *canon.Plan) error {
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

// Way creates an exit; more are further attributes as JSON members.
func (s *Scene) Way(from string, d command.Direction, to string, more ...string) {
	s.T.Helper()
	s.Link(world.LinkExit, from, to, `{"direction":"`+string(d)+`"`+strings.Join(append([]string{""}, more...), ",")+`}`)
}

// Layer lays a layer over a card, from one tick to another.
func (s *Scene) Layer(on, kind, text string, from, to int64) {
	s.T.Helper()
	s.Change(func(p *canon.Plan) error {
		c, err := p.Card(on)
		if err != nil {
			return err
		}
		_, err = p.Layer(canon.Layer{Card: c.ID, Kind: kind, Text: text, FromTick: from, ToTick: to})
		return err
	})
}

// Edit edits a card.
func (s *Scene) Edit(name string, e canon.Edit) {
	s.T.Helper()
	s.Change(func(p *canon.Plan) error {
		c, err := p.Card(name)
		if err != nil {
			return err
		}
		_, err = p.Update(c, e)
		return err
	})
}

// Build creates the town.
func (s *Scene) Build() {
	gm := access.NewLabel(access.LevelGM)
	s.Place(
		"Quay",
		"<p>Black stone and wet rope. A tariff board leans here.</p>",
		`{"terrain":"riverbank","tags":["quay"],"exitAvailability":{"pending":{"west":"The mist has not lifted yet."},"forbidden":{"up":"There is only sky."}}}`,
	)
	s.Place("Square", "<p>Market stalls. In the middle stands an old well, and it hums.</p>", `{}`)
	s.Place("Chapel", "<p>Cold pews.</p>", `{}`)
	s.Place("Tower", "<p>Wind.</p>", `{}`)
	s.Card(canon.NewCard{Name: "Cellar", Type: world.TypeLocation, Content: "<p>secretcellar</p>", Label: &gm,
		Codename: "loc-cellar"})
	s.Way("Quay", "north", "Square", `"description":"Up wet steps."`, `"travelDurationMs":120000`)
	s.Way("Square", "south", "Quay")
	s.Way("Square", "east", "Chapel", `"lockState":"locked"`, `"key":"iron key"`)
	s.Way("Chapel", "west", "Square")
	s.Way("Chapel", "up", "Tower")
	s.Way("Tower", "down", "Chapel")
	s.Way("Quay", "down", "Cellar")
	s.Card(canon.NewCard{Name: "Low Ward", Type: world.TypeRealm,
		Fields: json.RawMessage(`{"realmType":"political","scope":"LOCAL","narrativeTags":["tar","gossip"]}`)})
	s.Card(canon.NewCard{Name: "Coast", Type: world.TypeRealm,
		Fields: json.RawMessage(`{"realmType":"weather_zone","scope":"MACRO","narrativeTags":["rain","tar"]}`)})
	s.Card(canon.NewCard{Name: "Secret Order", Type: world.TypeRealm, Label: &gm,
		Fields: json.RawMessage(`{"realmType":"functional","scope":"MICRO","narrativeTags":["secrettag"]}`)})
	s.Link("within", "Quay", "Low Ward", `{}`)
	s.Link("within", "Square", "Low Ward", `{}`)
	s.Link("within", "Low Ward", "Coast", `{}`)
	s.Link("member_of", "Quay", "Secret Order", `{}`)
	s.Card(canon.NewCard{Name: "Iron Key", Type: "Item", Content: "<p>Rust and hope.</p>", Codename: "iron-key"})
	s.Card(canon.NewCard{Name: "Copper Coin", Type: "Item", Content: "<p>Worn.</p>",
		Fields: json.RawMessage(`{"aliases":["penny"]}`)})
	s.Card(canon.NewCard{Name: "Anvil", Type: "Item", Content: "<p>Heavy.</p>", Fields: json.RawMessage(`{"fixed":true}`)})
	s.Card(canon.NewCard{Name: "Oda Tarn", Type: "Character", Content: "<p>She counts everything twice.</p>",
		Fields: json.RawMessage(`{"says":["Mind the third step.","The well hums because it is owed."]}`)})
	s.Card(canon.NewCard{Name: "Salt Hound", Type: "Creature", Content: "<p>All ribs.</p>",
		Fields: json.RawMessage(`{"toughness":2}`)})
	s.Card(canon.NewCard{Name: "Ghost", Type: "Character", Label: &gm, Content: "<p>secretghost</p>"})
	s.Link(world.LinkAt, "Iron Key", "Square", `{}`)
	s.Link(world.LinkHolds, "Square", "Copper Coin", `{"quantity":5}`)
	s.Link(world.LinkAt, "Anvil", "Square", `{}`)
	s.Link(world.LinkAt, "Oda Tarn", "Square", `{}`)
	s.Link(world.LinkAt, "Salt Hound", "Quay", `{}`)
	s.Link(world.LinkAt, "Ghost", "Quay", `{}`)
}

// IDOf returns the id of a card, which may be hidden.
func (s *Scene) IDOf(name string) (id canon.CardID) {
	s.T.Helper()
	err := s.Canon.Read(s.T.Context(), s.Admin, func(snap *canon.Snapshot) error {
		c, err := snap.Find(s.T.Context(), name)
		id = c.ID
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return id
}

// Operator returns a grant of the instance's operator.
func (s *Scene) Operator() access.Grant {
	s.T.Helper()
	a, err := access.NewGuard(access.Config{}).Admit(s.T.Context(),
		access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true},
		access.Request{Operation: "rebuild", Effect: access.Write, World: s.ID, Operator: true})
	if err != nil {
		s.T.Fatal(err)
	}
	return a.Grant
}
