// Package accesstest implements the ports of package access in memory, for tests. It also holds the
// suite that every access.SegmentStore must pass.
package accesstest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
)

// Segments is an access.SegmentStore in memory. The zero Segments is empty and ready to use.
type Segments struct {
	mu        sync.Mutex // guards all fields below
	processes []string
	kept      map[string][]access.Segment
	failure   error
	lost      bool
	progress  map[string]access.SeenProgress
	counts    []access.SeenCount
}

var _ access.SegmentStore = (*Segments)(nil)

// Fail makes every method return err from now on; nil ends that.
func (s *Segments) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
}

// LoseAnswer makes the next append store its segment and still return an error.
func (s *Segments) LoseAnswer() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = true
}

// Change passes a process's segments to f and stores the result. f may change them.
func (s *Segments) Change(process string, f func([]access.Segment) []access.Segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[process] = f(s.kept[process])
}

// AppendSegment stores a segment.
func (s *Segments) AppendSegment(_ context.Context, one access.Segment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return s.failure
	}
	if s.kept == nil {
		s.kept = map[string][]access.Segment{}
	}
	for _, old := range s.kept[one.Process] {
		if old.Seq == one.Seq {
			if old.Hash == one.Hash {
				return nil
			}
			return fmt.Errorf("accesstest: segment %d of %s is taken", one.Seq, one.Process)
		}
	}
	if !slices.Contains(s.processes, one.Process) {
		s.processes = append(s.processes, one.Process)
	}
	s.kept[one.Process] = append(s.kept[one.Process], one)
	if s.lost {
		s.lost = false
		return errors.New("accesstest: the answer was lost")
	}
	return nil
}

// Segments yields a process's segments.
func (s *Segments) Segments(_ context.Context, process string, from uint64) iter.Seq2[access.Segment, error] {
	return func(yield func(access.Segment, error) bool) {
		s.mu.Lock()
		all, err := slices.Clone(s.kept[process]), s.failure
		s.mu.Unlock()
		if err != nil {
			yield(access.Segment{}, err)
			return
		}
		for _, one := range all {
			if one.Seq >= from && !yield(one, nil) {
				return
			}
		}
	}
}

// Processes lists the processes that have segments.
func (s *Segments) Processes(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.processes), s.failure
}

// TestSegmentStore checks a store against the contract of access.SegmentStore. s must be empty.
func TestSegmentStore(t *testing.T, s access.SegmentStore) {
	ctx := context.Background()
	segment := func(process string, seq uint64, body string) access.Segment {
		return access.Segment{Process: process, Seq: seq, At: time.Unix(0, int64(seq)).UTC(), Count: len(body),
			Body: []byte(body), Prev: [32]byte{byte(seq)}, Hash: sha256.Sum256([]byte(body))}
	}
	long := strings.Repeat(`{"operation":"get_card","target":"Hall"}`+"\n", 50_000)
	want := []access.Segment{segment("zeta", 1, "a"), segment("zeta", 2, long), segment("zeta", 3, "(\xb5/\xfdccc")}
	for _, one := range append(want, segment("alpha", 1, "d"), want[1]) {
		if err := s.AppendSegment(ctx, one); err != nil {
			t.Fatalf("append %d of %s: %v", one.Seq, one.Process, err)
		}
	}
	if err := s.AppendSegment(ctx, segment("zeta", 2, "other")); err == nil {
		t.Error("another segment under a taken number was taken")
	}
	for from, want := range map[uint64][]access.Segment{0: want, 2: want[1:], 4: nil} {
		var got []access.Segment
		for one, err := range s.Segments(ctx, "zeta", from) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, one)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("from %d\n%+v, want\n%+v", from, got, want)
		}
	}
	processes, err := s.Processes(ctx)
	if want := []string{"zeta", "alpha"}; err != nil || !slices.Equal(processes, want) {
		t.Errorf("Processes: %v, %v, want %v", processes, err, want)
	}
}

// Rehash returns a segment with another body and the matching hash, like a forgery by an attacker
// who knows the format.
func Rehash(s access.Segment, body []byte) access.Segment {
	s.Body = body
	s.Hash = sha256.Sum256(slices.Concat(s.Prev[:], body))
	return s
}
