package exchangetest

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/op/optest"
)

// Scene is a world to import into.
type Scene struct {
	T     testing.TB
	Canon *canon.Canon
	Guard *access.Guard
	World access.WorldID
	now   time.Time
}

// NewOn returns a scene with an empty world in a store.
func NewOn(t testing.TB, store canon.Store) *Scene {
	t.Helper()
	ids := optest.IDs{}
	return newOn(t, store, "main", func(canon.StreamID) uuid.UUID { return ids.Next() })
}

// NewNamed returns a scene with an empty world of a slug. Its ids are not those of any other scene.
func NewNamed(t testing.TB, store canon.Store, slug string) *Scene {
	t.Helper()
	return newOn(t, store, slug, nil)
}

func newOn(t testing.TB, store canon.Store, slug string, newID func(canon.StreamID) uuid.UUID) *Scene {
	s := &Scene{T: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	tick := func() time.Time { s.now = s.now.Add(time.Millisecond); return s.now }
	s.Canon = canon.New(canon.Config{Store: store, Now: tick, NewID: newID})
	s.Guard = access.NewGuard(access.Config{Now: tick})
	s.World = s.newWorld(slug)
	return s
}

func (s *Scene) newWorld(slug string) access.WorldID {
	s.T.Helper()
	w, err := s.Canon.CreateWorld(s.T.Context(), s.As("operator"), canon.NewWorld{Slug: slug, Title: slug})
	if err != nil {
		s.T.Fatal(err)
	}
	return w.ID
}

// As returns a grant for a role ("user", "gm", "admin", "operator") or, for any other name, for a
// user of that name.
func (s *Scene) As(who string) access.Grant {
	s.T.Helper()
	c := access.Caller{Subject: access.Subject(who)}
	role, ok := access.ParseRole(who)
	if !ok {
		role = access.RoleUser
	}
	c.EveryRole = role
	if who == "operator" {
		c.EveryRole, c.Operator = access.RoleAdmin, true
	}
	a, err := s.Guard.Admit(context.Background(), c, access.Request{Operation: "test", Effect: access.Write,
		World: s.World})
	if err != nil {
		s.T.Fatal(err)
	}
	return a.Grant
}

// Content reads a card as the given user or role. ok is false if the card is not visible to them.
func (s *Scene) Content(who, name string) (c canon.Card, text string, ok bool) {
	s.T.Helper()
	err := s.Canon.Read(s.T.Context(), s.As(who), func(l *canon.Snapshot) (err error) {
		if c, ok, err = l.Exists(s.T.Context(), name); err == nil && ok {
			text, err = l.Content(s.T.Context(), c)
		}
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return c, text, ok
}

// See returns the type, own level and text of a card as the given user sees it, or "-" if it is not
// visible.
func (s *Scene) See(who, name string) string {
	s.T.Helper()
	c, text, ok := s.Content(who, name)
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%s %s %s", c.Type, c.Label.Level, text)
}

// WantSees compares the results of See, by role and card name: "user Old Mill".
func (s *Scene) WantSees(want map[string]string) {
	s.T.Helper()
	for _, k := range decoded.SortedKeys(want) {
		who, name, _ := strings.Cut(k, " ")
		if got := s.See(who, name); got != want[k] {
			s.T.Errorf("%s sees %q:\n got %q\nwant %q", who, name, got, want[k])
		}
	}
}

// Edit changes a card as an admin.
func (s *Scene) Edit(name string, f func(*canon.Plan, canon.Card) error) {
	s.T.Helper()
	_, err := s.Canon.Update(s.T.Context(), s.As("admin"), func(p *canon.Plan) error {
		c, err := p.Card(name)
		if err != nil {
			return err
		}
		return f(p, c)
	})
	if err != nil {
		s.T.Fatal(err)
	}
}

// Versions returns the texts of the versions of a card that a role sees, newest first.
func (s *Scene) Versions(who, name string) (texts []string) {
	s.T.Helper()
	ctx := s.T.Context()
	err := s.Canon.Read(ctx, s.As(who), func(l *canon.Snapshot) error {
		c, err := l.Find(ctx, name)
		if err != nil {
			return err
		}
		list, _, err := l.Versions(ctx, c.ID, canon.Page{Limit: 100})
		for _, v := range list {
			text, err := l.Body(ctx, v.Content)
			if err != nil {
				return err
			}
			texts = append(texts, text)
		}
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return texts
}

// Create creates a card as an admin.
func (s *Scene) Create(n canon.NewCard) {
	s.T.Helper()
	if _, err := s.Canon.Update(s.T.Context(), s.As("admin"),
		func(p *canon.Plan) error { _, err := p.Create(n); return err }); err != nil {
		s.T.Fatal(err)
	}
}

// Listing describes a world in lines: everything except authors and times of changes.
func (s *Scene) Listing(who string) []string {
	s.T.Helper()
	var lines []string
	add := func(kind string, v any) {
		b, err := json.Marshal(v)
		if err != nil {
			s.T.Fatal(err)
		}
		lines = append(lines, kind+" "+string(b))
	}
	ctx := s.T.Context()
	err := s.Canon.Read(ctx, s.As(who), func(l *canon.Snapshot) error {
		for c, err := range l.AllCards(ctx, canon.Filter{TagLists: true}) {
			if err != nil {
				return err
			}
			text, err := l.Content(ctx, c)
			if err != nil {
				return err
			}
			add("card", []any{c.ID, c.Parent, c.Name, c.Codename, c.Type, c.Fields, c.Own, c.Label, text})
			layers, err := l.Layers(ctx, canon.LayerQuery{Card: c.ID})
			if err != nil {
				return err
			}
			for _, y := range layers {
				add("layer", []any{y.ID, y.Card, y.Kind, y.Text, y.FromTick, y.ToTick, y.Label})
			}
		}
		links, _, err := l.Links(ctx, canon.LinkQuery{Page: canon.Page{Limit: 100_000}})
		for _, k := range links {
			add("link", []any{k.ID, k.Kind, k.From, k.To, k.Attrs, k.Label})
		}
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

// Walk returns the names of the places that exits lead to from a place.
func (s *Scene) Walk(who, from string) map[string]bool {
	s.T.Helper()
	ctx, reached := s.T.Context(), map[string]bool{}
	err := s.Canon.Read(ctx, s.As(who), func(l *canon.Snapshot) error {
		start, err := l.Find(ctx, from)
		for next := []canon.Card{start}; err == nil && len(next) > 0; next = next[1:] {
			if reached[next[0].Name] {
				continue
			}
			reached[next[0].Name] = true
			links, _, err := l.Links(ctx, canon.LinkQuery{From: next[0].ID, Kinds: []string{"exit"},
				Page: canon.Page{Limit: 100}})
			if err != nil {
				return err
			}
			for _, link := range links {
				to, ok, err := l.ByID(ctx, link.To)
				if err != nil || !ok || decoded.TextOf(decoded.ParseObject(string(link.Attrs))["direction"]) == "" {
					s.T.Errorf("an exit of %q: %v %t %s", next[0].Name, err, ok, link.Attrs)
				}
				next = append(next, to)
			}
		}
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return reached
}

// Importer imports the files of a folder.
type Importer = func(context.Context, *canon.Canon, access.Grant, fs.FS, exchange.Options) (exchange.Summary, error)

// Import imports files as an admin. It runs a dry run before and checks that it gives the same summary.
func (s *Scene) Import(read Importer, files fs.FS, o exchange.Options) exchange.Summary {
	s.T.Helper()
	dry, err := read(s.T.Context(), s.Canon, s.As("admin").DryRun(), files, o)
	if err != nil {
		s.T.Fatal(err)
	}
	sum, err := read(s.T.Context(), s.Canon, s.As("admin"), files, o)
	if err != nil {
		s.T.Fatal(err)
	}
	if dry.DryRun = false; dry.String() != sum.String() {
		s.T.Errorf("the dry run says\n%s\nand the import\n%s", dry, sum)
	}
	return sum
}

// CheckHostile imports hostile files for the GM. Errors are welcome: only a panic fails the test, or a card
// that players see.
func CheckHostile(t *testing.T, store canon.Store, files fs.FS, importers ...Importer) {
	t.Helper()
	s := NewOn(t, store)
	for _, read := range importers {
		_, _ = read(t.Context(), s.Canon, s.As("admin"), files, exchange.Options{Level: access.LevelGM})
	}
	if got := s.Listing("user"); len(got) > 0 {
		t.Errorf("a user sees %v", got)
	}
}

// Linked returns the cards to which a card has links of a kind, each with one attribute of its
// link.
func (s *Scene) Linked(who, from, kind, attr string) map[string]string {
	s.T.Helper()
	out := map[string]string{}
	ctx := s.T.Context()
	err := s.Canon.Read(ctx, s.As(who), func(l *canon.Snapshot) error {
		card, err := l.Find(ctx, from)
		if err != nil {
			return err
		}
		list, _, err := l.Links(ctx, canon.LinkQuery{From: card.ID, Kinds: []string{kind}, Page: canon.Page{Limit: 100}})
		for _, link := range list {
			to, _, err := l.ByID(ctx, link.To)
			if err != nil {
				return err
			}
			out[to.Name] = decoded.TextOf(decoded.ParseObject(string(link.Attrs))[attr])
		}
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return out
}

// AddMember makes a person a member of the world.
func (s *Scene) AddMember(who access.Subject) {
	s.T.Helper()
	if _, err := s.Canon.Update(s.T.Context(), s.As("admin"), func(p *canon.Plan) error {
		return p.SetMember(canon.MemberImage{Subject: who, Role: access.RoleUser})
	}); err != nil {
		s.T.Fatal(err)
	}
}
