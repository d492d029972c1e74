package access_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"loregate/internal/access"
	"loregate/internal/access/accesstest"
)

func TestMemorySegmentStore(t *testing.T) {
	accesstest.TestSegmentStore(t, &accesstest.Segments{})
}

func TestMemorySeenStore(t *testing.T) {
	accesstest.TestSeenStore(t, &accesstest.Segments{})
}

// chain returns a store with three segments of two records each.
func chain(t *testing.T) *accesstest.Segments {
	t.Helper()
	s := &accesstest.Segments{}
	l := newLog(t, s, 0)
	for range 3 {
		if err := errors.Join(record(l, "a", "b"), l.Flush(context.Background())); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestVerifyNamesTheFirstBrokenSegment(t *testing.T) {
	for name, row := range map[string]struct {
		change func([]access.Segment) []access.Segment
		broken uint64 // 0: no segment is broken
	}{
		"untouched":         {func(s []access.Segment) []access.Segment { return s }, 0},
		"a byte flipped":    {func(s []access.Segment) []access.Segment { s[1].Body = flip(s[1].Body, 40); return s }, 2},
		"the first flipped": {func(s []access.Segment) []access.Segment { s[0].Body = flip(s[0].Body, 0); return s }, 1},
		"the hash flipped":  {func(s []access.Segment) []access.Segment { s[1].Hash[5] ^= 1; return s }, 2},
		"one taken out":     {func(s []access.Segment) []access.Segment { return slices.Delete(s, 1, 2) }, 2},
		"the first taken":   {func(s []access.Segment) []access.Segment { return s[1:] }, 1},
		"two swapped":       {func(s []access.Segment) []access.Segment { s[1], s[2] = s[2], s[1]; return s }, 2},
		"renumbered": {func(s []access.Segment) []access.Segment {
			s[2].Seq = 2
			return slices.Delete(s, 1, 2)
		}, 2},
		"number changed": {func(s []access.Segment) []access.Segment { s[1].Seq = 9; return s }, 2},
		"count changed":  {func(s []access.Segment) []access.Segment { s[2].Count = 1; return s }, 3},
		"body and hash changed": {func(s []access.Segment) []access.Segment {
			s[1] = accesstest.Rehash(s[1], flip(s[1].Body, 40))
			return s
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := chain(t)
			s.Change("p", row.change)
			v, err := access.VerifySegments(context.Background(), s, nil)
			var broken *access.BrokenSegment
			switch {
			case row.broken == 0 && (err != nil || v != access.Verified{Processes: 1, Segments: 3, Records: 6}):
				t.Errorf("%+v, %v", v, err)
			case row.broken > 0 && (!errors.As(err, &broken) || broken.Seq != row.broken || broken.Process != "p"):
				t.Errorf("%v, want segment %d", err, row.broken)
			}
		})
	}
}

func flip(b []byte, at int) []byte {
	c := slices.Clone(b)
	c[at] ^= 1
	return c
}

func TestRecordsComeBackAsTheyWere(t *testing.T) {
	var s accesstest.Segments
	l := newLog(t, &s, 0)
	want := access.Record{
		At: time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC), Correlation: "c", Subject: "anna", Key: "k", Role: access.RoleNone,
		World: access.WorldID{1}, Surface: "archive", Operation: "get_card", Target: "A+<B>\n\u2028", Outcome: "ok",
		Duration: time.Millisecond, Bytes: 7,
	}
	if err := l.Reserve(); err != nil {
		t.Fatal(err)
	}
	l.Record(want)
	if err := l.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for one := range s.Segments(context.Background(), "p", 1) {
		got, err := one.Records()
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
}

func TestTail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		s := &accesstest.Segments{}
		l := newLog(t, s, 0)
		defer l.Close(context.Background())
		for _, o := range []string{"a", "b", "c", "d"} {
			if err := record(l, o); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		go func() {
			time.Sleep(5 * time.Second)
			if err := record(l, "e"); err != nil {
				t.Error(err)
			}
		}()
		got := ""
		for r, err := range access.Tail(ctx, s, access.TailOptions{Last: 2, Follow: true}) {
			if err != nil {
				t.Fatal(err)
			}
			if got += r.Operation; r.Operation == "e" {
				cancel()
			}
		}
		if got != "cde" {
			t.Errorf("tail shows %q, want cde", got)
		}
	})
}

func TestTailWithoutFollowEnds(t *testing.T) {
	s := chain(t)
	for last, want := range map[int]int{0: 6, 1: 1, 3: 3, 5: 5, 6: 6, 7: 6, -1: 0} {
		n := 0
		for _, err := range access.Tail(context.Background(), s, access.TailOptions{Last: last}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != want {
			t.Errorf("Last %d shows %d records, want %d", last, n, want)
		}
	}
	s.Fail(errors.New("gone"))
	for _, err := range access.Tail(context.Background(), s, access.TailOptions{}) {
		if err == nil {
			t.Error("a failing store does not show")
		}
	}
}
