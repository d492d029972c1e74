package canon_test

import (
	"context"
	"slices"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/store/memory"
)

// markedStore counts its reads and changes its mark with each write.
type markedStore struct {
	canon.Store
	reads, writes int
}

func (m *markedStore) Read(ctx context.Context, f func(canon.Reader) error) error {
	m.reads++
	return m.Store.Read(ctx, f)
}

func (m *markedStore) Write(ctx context.Context, f func(canon.Tx) error) error {
	defer func() { m.writes++ }()
	return m.Store.Write(ctx, f)
}

func (m *markedStore) Mark() (canon.Mark, bool) { return canon.Mark{uint32(m.writes + 1)}, true }

// TestWorldsAreReadAgainAfterAWrite lists worlds and finds one by its slug. Without a commit in
// between this reads nothing; after a commit it gives the new state.
func TestWorldsAreReadAgainAfterAWrite(t *testing.T) {
	t.Parallel()
	store := &markedStore{Store: memory.New()}
	s := newSceneOn(t, store)
	ctx := t.Context()
	want := func(slugs ...string) {
		t.Helper()
		list, err := s.canon.Worlds(ctx)
		var got []string
		for _, w := range list {
			got = append(got, w.Slug)
		}
		if err != nil || !slices.Equal(got, slugs) {
			t.Errorf("worlds %v, want %v; %v", got, slugs, err)
		}
		clear(list) // the list belongs to the caller
	}
	list, err := s.canon.Worlds(ctx)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	first := list[0].Slug
	before := store.reads
	want(first)
	if w, ok, err := s.canon.WorldBySlug(ctx, first); err != nil || !ok || w.Slug != first {
		t.Error(w, ok, err)
	}
	if _, ok, err := s.canon.WorldBySlug(ctx, "zz-new"); ok || err != nil {
		t.Error(ok, err)
	}
	if store.reads != before {
		t.Errorf("%d reads, though nothing was written", store.reads-before)
	}
	if _, err := s.canon.CreateWorld(ctx, s.as("operator").grant,
		canon.NewWorld{Slug: "zz-new", Title: "New"}); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.canon.WorldBySlug(ctx, "zz-new"); !ok || err != nil {
		t.Error("the new world is not found by its slug", err)
	}
	want(first, "zz-new")
}
