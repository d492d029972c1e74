package access

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"
)

// Segment is a run of access records of one process that are made durable together.
//
// Body holds one Record per line, as a JSON object; every line ends with a line feed. Hash is the
// SHA-256 of Prev followed by Body. Prev is the Hash of the process's previous segment, or zeros in
// its first one. Seq counts from 1.
type Segment struct {
	Process string
	Seq     uint64
	At      time.Time // time at which it was made; UTC
	Count   int       // records in Body
	Body    []byte
	Prev    [32]byte
	Hash    [32]byte
}

// LogHead identifies a segment of a process.
type LogHead struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"` // in hexadecimal
}

func (s Segment) head() LogHead { return LogHead{s.Seq, hex.EncodeToString(s.Hash[:])} }

// SegmentStore stores segments.
type SegmentStore interface {
	// AppendSegment returns once the segment is durable. Appending a segment again, with the same
	// process, number and hash, does nothing and is no error: the Log repeats an append that it got
	// no answer to. Another hash for a used number is an error.
	AppendSegment(ctx context.Context, s Segment) error
	// Segments yields a process's segments from a number on, in order.
	Segments(ctx context.Context, process string, from uint64) iter.Seq2[Segment, error]
	// Processes lists the processes that have segments, in the order of their first segment.
	Processes(ctx context.Context) ([]string, error)
}

// maxSegmentRecords keeps a segment near 1 MiB at the usual 300 bytes a record.
const maxSegmentRecords = 4096

func newSegment(process string, seq uint64, prev [32]byte, records []Record) (Segment, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i := range records {
		if err := e.Encode(&records[i]); err != nil {
			return Segment{}, fmt.Errorf("access: record of %s: %w", records[i].Operation, err)
		}
	}
	s := Segment{Process: process, Seq: seq, Count: len(records), Body: b.Bytes(), Prev: prev}
	s.Hash = s.computeHash()
	return s, nil
}

func (s Segment) computeHash() [32]byte {
	h := sha256.New()
	h.Write(s.Prev[:])
	h.Write(s.Body)
	return [32]byte(h.Sum(nil))
}

// Records decodes the records of a segment.
func (s Segment) Records() ([]Record, error) {
	var out []Record
	for line := range bytes.Lines(s.Body) {
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("access: segment %d of %s: %w", s.Seq, s.Process, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// UnmarshalText decodes the output of MarshalText, including "none".
func (r *Role) UnmarshalText(b []byte) error {
	role, ok := ParseRole(string(b))
	if !ok && string(b) != RoleNone.String() {
		return fmt.Errorf("access: %q is not a role; use user, gm or admin", b)
	}
	*r = role
	return nil
}

// BrokenSegment is the error for a segment that is missing or was altered.
type BrokenSegment struct {
	Process string
	Seq     uint64
	Why     string
}

func (b *BrokenSegment) Error() string {
	return fmt.Sprintf("access: segment %d of process %s is broken: %s", b.Seq, b.Process, b.Why)
}

// Verified counts the processes, segments and records that VerifySegments checked.
type Verified struct{ Processes, Segments, Records int }

// VerifySegments checks the chain of every process, and that the chains have the segments in stated,
// by process and in the order of their numbers. Its error is a *BrokenSegment for the first broken
// segment, or the store's. Without stated segments it cannot detect that segments were removed from
// the end of a chain.
func VerifySegments(ctx context.Context, store SegmentStore, stated map[string][]LogHead) (Verified, error) {
	var v Verified
	processes, err := store.Processes(ctx)
	if err != nil {
		return v, err
	}
	for _, p := range slices.Sorted(maps.Keys(stated)) {
		if !slices.Contains(processes, p) {
			return v, &BrokenSegment{p, 1, "the process has no segments, but one was stated outside the store"}
		}
	}
	for _, p := range processes {
		var prev Segment
		left := stated[p]
		for s, err := range store.Segments(ctx, p, 0) {
			if err != nil {
				return v, err
			}
			if why := s.findDefect(prev); why != "" {
				return v, &BrokenSegment{p, prev.Seq + 1, why}
			}
			for len(left) > 0 && left[0].Seq == s.Seq {
				if left[0] != s.head() {
					return v, &BrokenSegment{p, s.Seq, "it is not the segment that was stated outside the store"}
				}
				left = left[1:]
			}
			prev = s
			v.Segments++
			v.Records += s.Count
		}
		if len(left) > 0 {
			return v, &BrokenSegment{p, left[0].Seq, fmt.Sprintf(
				"it was stated outside the store, but the last segment has the number %d", prev.Seq)}
		}
		v.Processes++
	}
	return v, nil
}

// findDefect returns the first defect of s, a segment that should follow prev, or "".
func (s Segment) findDefect(prev Segment) string {
	switch {
	case s.Seq != prev.Seq+1:
		return fmt.Sprintf("it is missing; number %d follows %d", s.Seq, prev.Seq)
	case s.Prev != prev.Hash:
		return "it does not follow the segment before it"
	case s.Hash != s.computeHash():
		return "its records do not match its hash"
	case s.Count != bytes.Count(s.Body, []byte("\n")):
		return "its count does not match its records"
	}
	return ""
}

// TailOptions selects the records that Tail yields.
type TailOptions struct {
	Last   int           // number of existing records; 0 means 20, negative means none
	Follow bool          // continue with new records until the context ends
	Every  time.Duration // interval at which Follow polls the store; 0 means one second
}

// Tail yields the latest records of all processes, oldest first. If Follow is set, it continues
// with new records. It ends without an error when ctx ends.
func Tail(ctx context.Context, store SegmentStore, o TailOptions) iter.Seq2[Record, error] {
	o.Last = cmp.Or(o.Last, 20)
	if o.Every <= 0 {
		o.Every = time.Second
	}
	return func(yield func(Record, error) bool) {
		t := tailReader{store: store, next: map[string]uint64{}}
		keep := max(0, o.Last)
		for {
			records, err := t.read(ctx, keep)
			if ctx.Err() != nil {
				return
			}
			if !yieldRecords(records, err, yield) || !o.Follow {
				return
			}
			keep = -1
			select {
			case <-ctx.Done():
				return
			case <-time.After(o.Every):
			}
		}
	}
}

func yieldRecords(records []Record, err error, yield func(Record, error) bool) bool {
	for _, r := range records {
		if !yield(r, nil) {
			return false
		}
	}
	if err != nil {
		yield(Record{}, err)
	}
	return err == nil
}

type tailReader struct {
	store SegmentStore
	next  map[string]uint64 // first unread segment of each process
}

// read returns the last keep of the new records, or all of them if keep is negative.
func (t *tailReader) read(ctx context.Context, keep int) ([]Record, error) {
	processes, err := t.store.Processes(ctx)
	if err != nil {
		return nil, err
	}
	var all []Record
	for _, p := range processes {
		if err := t.skipOld(ctx, p, keep); err != nil {
			return nil, err
		}
		for s, err := range t.store.Segments(ctx, p, t.next[p]) {
			if err != nil {
				return nil, err
			}
			records, err := s.Records()
			if err != nil {
				return nil, errors.Join(err, errors.New("run `loregate audit verify`"))
			}
			t.next[p] = s.Seq + 1
			all = append(all, records...)
		}
	}
	if keep < 0 {
		keep = len(all)
	}
	return latestRecords(all, keep), nil
}

// skipOld skips all segments of a process except the last keep ones. Each segment has at least one
// record, so these hold enough.
func (t *tailReader) skipOld(ctx context.Context, process string, keep int) error {
	if keep < 0 {
		return nil
	}
	low, high := uint64(0), uint64(1) // a segment exists at low or later; none exists at high or later
	for {
		more, err := t.hasFrom(ctx, process, high)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		low, high = high, 2*high
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		more, err := t.hasFrom(ctx, process, middle)
		if err != nil {
			return err
		}
		if more {
			low = middle
		} else {
			high = middle
		}
	}
	t.next[process] = high - min(high, uint64(keep))
	return nil
}

// hasFrom reports whether a process has a segment with that number or a later one.
func (t *tailReader) hasFrom(ctx context.Context, process string, from uint64) (bool, error) {
	for _, err := range t.store.Segments(ctx, process, from) {
		return err == nil, err
	}
	return false, nil
}

func latestRecords(records []Record, n int) []Record {
	slices.SortStableFunc(records, func(a, b Record) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Correlation, b.Correlation))
	})
	return slices.Clone(records[max(0, len(records)-n):])
}
