package accesstest

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"loregate/internal/access"
)

var _ access.SeenStore = (*Segments)(nil)

// AddSeen adds counts to the index by card.
func (s *Segments) AddSeen(_ context.Context, step access.SeenStep) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil || s.progress[step.Process].To != step.From {
		return false, s.failure
	}
	if s.progress == nil {
		s.progress = map[string]access.SeenProgress{}
	}
	s.progress[step.Process] = access.SeenProgress{To: step.To, Done: step.Done}
	s.counts = append(s.counts, step.Counts...)
	return true, nil
}

// SeenProgress returns how far the index covers each process.
func (s *Segments) SeenProgress(context.Context) (map[string]access.SeenProgress, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]access.SeenProgress{}
	for p, at := range s.progress {
		all[p] = at
	}
	return all, s.failure
}

// Seen returns the sums of counts by reader and card.
func (s *Segments) Seen(_ context.Context, w access.WorldID, cards []access.CardHash,
	since time.Time) (all []access.SeenCount, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.counts {
		if n.World != w || !slices.Contains(cards, n.Card) || n.Last.Before(since) {
			continue
		}
		i := slices.IndexFunc(all, func(o access.SeenCount) bool { return o.SeenReader == n.SeenReader && o.Card == n.Card })
		if i < 0 {
			all = append(all, n)
			continue
		}
		all[i].Times += n.Times
		if n.First.Before(all[i].First) {
			all[i].First = n.First
		}
		if n.Last.After(all[i].Last) {
			all[i].Last = n.Last
		}
	}
	return all, s.failure
}

// ForgetSeen removes the counts of answers before a time.
func (s *Segments) ForgetSeen(_ context.Context, before time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts = slices.DeleteFunc(s.counts, func(n access.SeenCount) bool { return n.Last.Before(before) })
	return s.failure
}

// TestSeenStore checks a store against the contract of access.SeenStore. s must be empty.
func TestSeenStore(t *testing.T, s access.SeenStore) {
	ctx, start := context.Background(), time.UnixMilli(1_700_000_000_000).UTC()
	here, there := access.WorldID{1}, access.WorldID{2}
	ada := access.SeenReader{World: here, Subject: "ada", Role: access.RoleUser, Operation: "get_card"}
	search, elsewhere := ada, ada
	search.Operation, elsewhere.World = "search", there
	count := func(who access.SeenReader, card access.CardHash, times int, from, to time.Duration) access.SeenCount {
		return access.SeenCount{SeenReader: who, Card: card, Times: times, First: start.Add(from), Last: start.Add(to)}
	}
	take := func(want bool, process string, from, to uint64, done bool, counts ...access.SeenCount) {
		t.Helper()
		moved, err := s.AddSeen(ctx, access.SeenStep{Process: process, From: from, To: to, Done: done, Counts: counts})
		if err != nil || moved != want {
			t.Fatalf("step of %s from %d: %t, %v", process, from, moved, err)
		}
	}
	want := func(since time.Duration, cards []access.CardHash, want ...access.SeenCount) {
		t.Helper()
		got, err := s.Seen(ctx, here, cards, start.Add(since))
		slices.SortFunc(got, func(a, b access.SeenCount) int {
			return cmp.Or(cmp.Compare(a.Card, b.Card), cmp.Compare(a.Operation, b.Operation))
		})
		if err != nil || !(len(got) == 0 && len(want) == 0) && !reflect.DeepEqual(got, want) {
			t.Fatalf("%v\n%+v, want\n%+v", err, got, want)
		}
	}
	high := access.CardHash(1<<63 + 5) // negative as a signed number
	want(0, []access.CardHash{7})
	take(true, "p", 0, 2, false, count(ada, 7, 2, time.Minute, 2*time.Minute), count(ada, high, 1, 0, 0),
		count(elsewhere, 7, 1, 0, 0))
	take(false, "p", 0, 2, false, count(ada, 7, 9, 0, 0))
	take(true, "p", 2, 3, false, count(ada, 7, 1, 3*time.Minute, 3*time.Minute))
	take(true, "q", 0, 1, true, count(ada, 7, 1, 0, 0), count(search, access.AnyCard, 1, 48*time.Hour, 48*time.Hour))
	want(0, []access.CardHash{7, high}, count(ada, 7, 4, 0, 3*time.Minute), count(ada, high, 1, 0, 0))
	want(0, []access.CardHash{access.AnyCard}, count(search, access.AnyCard, 1, 48*time.Hour, 48*time.Hour))
	want(4*time.Minute, []access.CardHash{7})
	if at, err := s.SeenProgress(ctx); err != nil || fmt.Sprint(at) != "map[p:{3 false} q:{1 true}]" {
		t.Errorf("progress %v, %v", at, err)
	}
	var many []access.SeenCount
	for i := range 200 {
		many = append(many, count(ada, access.CardHash(1000+i), 1, 0, 0))
	}
	take(true, "q", 1, 2, true, many...)
	want(0, []access.CardHash{1000, 1199}, many[0], many[199])
	if err := s.ForgetSeen(ctx, start.Add(100*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	want(0, []access.CardHash{access.AnyCard, 7, high})
}
