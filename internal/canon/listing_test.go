package canon_test

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/memory"
)

// wantSame checks that a sequence yields the rows of a listing, and at least least of them.
func wantSame[T any](t *testing.T, name string, least int, all iter.Seq2[T, error],
	list func(canon.Page) ([]T, canon.Total, error)) {
	t.Helper()
	got, err := canon.Collect(all)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	want, _, err := list(canon.Page{Limit: 10_000})
	if err != nil || len(got) < least || !reflect.DeepEqual(got, want) {
		t.Errorf("%s yields %d rows of %d; %v", name, len(got), len(want), err)
	}
}

// TestAllYieldsEveryRow fills a world with listings of more than one page, and compares each
// sequence with the listing read at once.
func TestAllYieldsEveryRow(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const many = 1003
	s.as("gm").must(func(p *canon.Plan) error {
		town, err := p.Create(canon.NewCard{Name: "Town", Content: "v0"})
		if err != nil {
			return err
		}
		for i := range many {
			c, err := p.Create(canon.NewCard{Name: fmt.Sprintf("Town+House %d", i), Content: "in [[Town]]"})
			if err != nil {
				return err
			}
			if _, err := p.Link(canon.Link{Kind: "owns", From: c.ID, To: town.ID}); err != nil {
				return err
			}
		}
		return p.Event(canon.Event{Type: "built"})
	})
	for i := range 250 {
		s.as("gm").edit("Town", fmt.Sprint("v", i))
	}
	s.as("admin").create("Ruin", "")
	if err := s.as("admin").on("Ruin", func(p *canon.Plan, c canon.Card) error { return p.Trash(c) }); err != nil {
		t.Fatal(err)
	}
	err := s.as("admin").read(func(snap *canon.Snapshot) error {
		ctx := t.Context()
		town, err := snap.Find(ctx, "Town")
		if err != nil {
			return err
		}
		wantSame(t, "AllCards", many, snap.AllCards(ctx, canon.Filter{Sort: canon.SortCreated}),
			func(p canon.Page) ([]canon.Card, canon.Total, error) {
				return snap.Cards(ctx, canon.Filter{Sort: canon.SortCreated}, p)
			})
		wantSame(t, "AllDescendants", many, snap.AllDescendants(ctx, town.ID, 1),
			func(p canon.Page) ([]canon.Card, canon.Total, error) { return snap.Descendants(ctx, town.ID, 1, p) })
		wantSame(t, "AllTrash", 1, snap.AllTrash(ctx),
			func(p canon.Page) ([]canon.Card, canon.Total, error) { return snap.Trash(ctx, p) })
		wantSame(t, "AllVersions", 250, snap.AllVersions(ctx, town.ID),
			func(p canon.Page) ([]canon.Version, canon.Total, error) { return snap.Versions(ctx, town.ID, p) })
		wantSame(t, "AllChanges", many, snap.AllChanges(ctx, canon.FeedQuery{}),
			func(p canon.Page) ([]canon.Version, canon.Total, error) {
				return snap.Feed(ctx, canon.FeedQuery{Page: p})
			})
		wantSame(t, "AllRefs", many, snap.AllRefs(ctx, canon.RefQuery{Target: town.Key}),
			func(p canon.Page) ([]canon.RefRow, canon.Total, error) {
				return snap.Refs(ctx, canon.RefQuery{Target: town.Key, Page: p})
			})
		wantSame(t, "AllLinks", many, snap.AllLinks(ctx, canon.LinkQuery{To: town.ID}),
			func(p canon.Page) ([]canon.Link, canon.Total, error) {
				return snap.Links(ctx, canon.LinkQuery{To: town.ID, Page: p})
			})
		wantSame(t, "AllEvents", 1, snap.AllEvents(ctx, canon.EventQuery{}),
			func(p canon.Page) ([]canon.StoredEvent, canon.Total, error) {
				return snap.Events(ctx, canon.EventQuery{Page: p})
			})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func ExampleSnapshot_AllCards() {
	ctx := context.Background()
	wiki := canon.New(canon.Config{Store: memory.New()})
	guard := access.NewGuard(access.Config{})
	operator := access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true}
	admit := func(w access.WorldID) access.Grant {
		admission, err := guard.Admit(ctx, operator, access.Request{Operation: "example", Effect: access.Write, World: w})
		if err != nil {
			panic(err)
		}
		return admission.Grant
	}
	world, err := wiki.CreateWorld(ctx, admit(access.WorldID{}), canon.NewWorld{Slug: "harbour", Title: "Harbour"})
	if err != nil {
		panic(err)
	}
	_, err = wiki.Update(ctx, admit(world.ID), func(p *canon.Plan) error {
		for _, name := range []string{"Lighthouse", "Quay", "Mole"} {
			if _, err := p.Create(canon.NewCard{Name: name}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	err = wiki.Read(ctx, admit(world.ID), func(s *canon.Snapshot) error {
		for card, err := range s.AllCards(ctx, canon.Filter{Sort: canon.SortName}) {
			if err != nil {
				return err
			}
			fmt.Println(card.Name)
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// Lighthouse
	// Mole
	// Quay
}
