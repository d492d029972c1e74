package access

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const (
	// seenEvery is the time after which the records of this process reach the index. A shorter time would write a row
	// that is counted up again and again more often.
	seenEvery = time.Minute
	// maxTally bounds the counts that wait. It is reached only by readers of many different cards.
	maxTally = 1 << 14
	// seenFor is the time for which the index keeps counts.
	seenFor = 2 * 365 * 24 * time.Hour
	// quietFor is the time after which a process without new segments counts as ended.
	quietFor = 7 * 24 * time.Hour
	// indexedSegments bounds the segments of a step.
	indexedSegments = 256
)

// seenIndex keeps the index of the access records by card. The records of this process are counted as they are made,
// and added together. Records of other processes, of a process that was killed, and of a store that was copied, are
// counted from their segments.
//
// countRecords, isFull and step are called by the holder of the Log's flushing token.
type seenIndex struct {
	store    SeenStore
	segments SegmentStore
	process  string
	tally    seenTally // counts of the segments after from
	from     uint64    // the index covers this process's segments up to here
	lost     bool      // tally is not complete

	stalled map[string]uint64 // progress of other processes at the last look; used only by the goroutine of the Log
}

// countRecords counts records that were cut into a segment.
func (x *seenIndex) countRecords(records []Record) {
	if x == nil {
		return
	}
	for i := range records {
		x.tally.add(&records[i])
	}
	if len(x.tally.counts) > 4*maxTally { // the store has refused steps
		x.tally, x.lost = seenTally{}, true
	}
}

func (x *seenIndex) isFull() bool { return x != nil && len(x.tally.counts) >= maxTally }

// step adds the counts to the index. to is this process's last segment, which is durable.
func (x *seenIndex) step(ctx context.Context, to uint64, done bool) error {
	if to == x.from && !(done && to > 0) {
		return nil
	}
	moved := false
	if !x.lost {
		var err error
		moved, err = x.store.AddSeen(ctx, SeenStep{x.process, x.from, to, done, x.tally.sums()})
		if err != nil {
			return err
		}
	}
	if !moved { // another process has counted some of the segments
		at, err := x.store.SeenProgress(ctx)
		if err == nil {
			err = x.catchUp(ctx, x.process, at[x.process], time.Time{})
		}
		if err != nil {
			return err
		}
	}
	x.tally, x.from, x.lost = seenTally{}, to, false
	return nil
}

// catchUp counts the segments of a process that the index does not cover yet. If the last one was made before ended,
// the process counts as done.
func (x *seenIndex) catchUp(ctx context.Context, process string, at SeenProgress, ended time.Time) error {
	s := SeenStep{Process: process, From: at.To, To: at.To}
	var t seenTally
	for one, err := range x.segments.Segments(ctx, process, max(at.To, 1)) {
		if err != nil {
			return err
		}
		if s.Done = one.At.Before(ended); one.Seq <= at.To {
			continue
		}
		if err := one.countShown(&t); err != nil {
			return err
		}
		if s.To = one.Seq; s.To-s.From < indexedSegments && len(t.counts) < maxTally {
			continue
		}
		if s, err = x.takeStep(ctx, s, &t); err != nil {
			return err
		}
	}
	_, err := x.takeStep(ctx, s, &t)
	return err
}

// takeStep takes a step with the counts of a tally, which it empties, and returns the beginning of the next one. If
// another process has taken it, so much the better.
func (x *seenIndex) takeStep(ctx context.Context, s SeenStep, t *seenTally) (SeenStep, error) {
	if s.From == s.To && !s.Done {
		return s, nil
	}
	s.Counts = t.sums()
	*t = seenTally{}
	_, err := x.store.AddSeen(ctx, s)
	return SeenStep{Process: s.Process, From: s.To, To: s.To, Done: s.Done}, err
}

// catchUpAll counts the segments of all other processes that skip does not report.
func (x *seenIndex) catchUpAll(ctx context.Context, ended time.Time, skip func(string, SeenProgress) bool) error {
	processes, err := x.segments.Processes(ctx)
	if err != nil {
		return err
	}
	at, err := x.store.SeenProgress(ctx)
	if err != nil {
		return err
	}
	for _, p := range processes {
		if p == x.process || at[p].Done || skip(p, at[p]) {
			continue
		}
		if err := x.catchUp(ctx, p, at[p], ended); err != nil {
			return err
		}
	}
	return nil
}

// catchUpStalled counts the segments of processes whose progress is the same as at the last look: they do not count
// their segments themselves, or have none.
func (x *seenIndex) catchUpStalled(ctx context.Context, now time.Time) error {
	before := x.stalled
	x.stalled = map[string]uint64{}
	return x.catchUpAll(ctx, now.Add(-quietFor), func(p string, at SeenProgress) bool {
		x.stalled[p] = at.To
		last, known := before[p]
		return !known || last != at.To
	})
}

// countShown counts the cards of a segment's records. Most segments of older programs name none.
func (s Segment) countShown(t *seenTally) error {
	for line := range bytes.Lines(s.Body) {
		if !bytes.Contains(line, []byte(`,"cards":"`)) {
			continue
		}
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("access: segment %d of %s: %w", s.Seq, s.Process, err)
		}
		t.add(&r)
	}
	return nil
}

// SeenBy returns those who were shown cards of a world since a time: whose answers held them, and were given since
// then. The Times of an entry whose First is since may also count answers of the week before it. The calls of this
// process that have ended are all counted, those of other processes up to a second ago. The result is for game
// masters: it names readers.
func (l *Log) SeenBy(ctx context.Context, w WorldID, cards [][16]byte, since time.Time) ([]Seen, error) {
	if l.seen == nil {
		return nil, errNoSeen
	}
	if err := l.Flush(ctx); err != nil {
		return nil, err
	}
	if err := l.stepSeen(ctx, false); err != nil {
		return nil, err
	}
	every := func(string, SeenProgress) bool { return false }
	if err := l.seen.catchUpAll(ctx, time.Time{}, every); err != nil {
		return nil, err
	}
	hashes := []CardHash{AnyCard}
	for _, id := range cards {
		hashes = append(hashes, HashCard(id))
	}
	counts, err := l.cfg.Seen.Seen(ctx, w, hashes, since)
	return groupSeen(cards, counts, since), err
}

var errNoSeen = errors.New("access: the log keeps no index of its records by card")

// stepSeen adds the durable records of this process to the index.
func (l *Log) stepSeen(ctx context.Context, done bool) error {
	select {
	case <-l.flushing:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { l.flushing <- struct{}{} }()
	if l.seen == nil || len(l.unsaved) > 0 {
		return nil
	}
	return l.seen.step(ctx, l.seq, done)
}

// followSeen keeps the index up to date until Close.
func (l *Log) followSeen(ctx context.Context) {
	defer close(l.followed)
	tick := time.NewTicker(seenEvery)
	defer tick.Stop()
	failing := false
	for round := 0; ; {
		var err error
		select {
		case <-l.quit:
			return
		case <-l.full:
			err = l.stepSeen(ctx, false)
		case <-tick.C:
			err = errors.Join(l.stepSeen(ctx, false), l.seen.catchUpStalled(ctx, l.cfg.Now()))
			if round++; round%60 == 1 {
				err = errors.Join(err, l.cfg.Seen.ForgetSeen(ctx, l.cfg.Now().Add(-seenFor)))
			}
		}
		if err != nil && !failing && ctx.Err() == nil {
			l.cfg.Logger.Warn("the index of the access records by card is behind", "error", err)
		}
		failing = err != nil
	}
}
