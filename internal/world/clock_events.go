package world

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/slicesx"
)

// clockBasis holds the events that a world's clock is computed from: its last step, and the last
// act that everyone sees.
type clockBasis struct {
	step lastStep
	act  lastAct
}

// lastStep is the last World.Clock.Advanced event. seq is 0 if there was none.
type lastStep struct {
	seq canon.Seq
	id  uuid.UUID
	ClockStep
}

// lastAct is the last event that shows that somebody plays. seq is 0 if there was none.
type lastAct struct {
	seq canon.Seq
	id  uuid.UUID
	at  int64    // Unix milliseconds
	run *actLine // the line that the event carries
}

// addEvent replaces the last step or the last act by an event, if the event is later.
func (b *clockBasis) addEvent(e canon.StoredEvent) {
	if event.Type(e.Type) == ClockAdvanced {
		if e.Seq > b.step.seq {
			b.step = lastStep{seq: e.Seq, id: e.ID}
			DecodeFields(e.Payload, &b.step.ClockStep)
		}
		return
	}
	if e.Seq > b.act.seq {
		var d Action
		DecodeFields(e.Payload, &d)
		b.act = lastAct{e.Seq, e.ID, e.At.UnixMilli(), d.World}
	}
}

// lastEvent returns the later one of the last step and the last act.
func (b clockBasis) lastEvent() (canon.Seq, uuid.UUID) {
	if b.act.seq > b.step.seq {
		return b.act.seq, b.act.id
	}
	return b.step.seq, b.step.id
}

// toClock computes the clock of a world that has had a step.
func (b clockBasis) toClock() Clock {
	c := Clock{clockLine: b.step.clockLine, known: true, step: b.step.id, seq: b.step.seq, played: b.step.Played}
	if b.act.seq == 0 {
		return c
	}
	c.played = max(c.played, b.act.at)
	if run := b.act.run; run != nil && run.Step == c.step {
		c.clockLine = run.clockLine
	}
	return c
}

// clockCache caches the last computed clock of each world. It is computed only from events that
// every player sees, so it is the same for all callers. The zero clockCache is empty. It is safe
// for concurrent use.
type clockCache struct {
	mu   sync.Mutex // guards kept
	kept map[access.WorldID]keptClock
}

// keptClock is a world's clock as computed from its stream up to head.
type keptClock struct {
	head  canon.Head
	basis clockBasis
	clock Clock
}

// maxClocks bounds the number of cached clocks.
const maxClocks = 1024

func (k *clockCache) get(w access.WorldID) keptClock {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kept[w]
}

func (k *clockCache) put(w access.WorldID, c keptClock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = map[access.WorldID]keptClock{}
	}
	if _, known := k.kept[w]; !known && len(k.kept) >= maxClocks {
		for other := range k.kept { // drop any one: it is computed again when needed
			delete(k.kept, other)
			break
		}
	}
	k.kept[w] = c
}

// playTypes are the types of events that show that somebody plays. clockTypes are the types
// that the clock is computed from; the type of steps is the first of them.
var (
	playTypes  = slicesx.Map(ActTypes, func(t event.Type) string { return string(t) })
	clockTypes = append([]string{string(ClockAdvanced)}, playTypes...)
)

// WorldClock returns the world's clock. It is computed only from events that every player sees, so
// it is the same for all callers and reveals nothing about hidden players. It is cached by the head
// of the world's stream: the head changes whenever any process writes an event that the clock
// depends on.
func (m *AsOf) WorldClock(ctx context.Context) (Clock, error) {
	open := m.AsAnyPlayer()
	head, settled := canon.Head{}, false
	if v := open.View(); m.w != nil && m.Seq == 0 && v.Level == access.LevelUser && v.Subject == "" {
		head, settled = m.Head()
	}
	if !settled {
		_, c, err := m.readClock(ctx, open)
		return c, err
	}
	id := m.World().ID
	kept := m.w.clocks.get(id)
	if kept.head == head {
		return kept.clock, nil
	}
	now := keptClock{head: head}
	followed, err := false, error(nil)
	if now.basis, followed, err = m.followClock(ctx, open, kept.basis, head.Seq); err != nil {
		return Clock{}, err
	}
	if followed {
		now.clock = now.basis.toClock()
	} else if now.basis, now.clock, err = m.readClock(ctx, open); err != nil {
		return Clock{}, err
	}
	m.w.clocks.put(id, now)
	return now.clock, nil
}

// readClock computes the clock from the last event of each clock type.
func (m *AsOf) readClock(ctx context.Context, open *canon.Snapshot) (b clockBasis, c Clock, err error) {
	for _, t := range clockTypes {
		list, _, err := open.Events(ctx, canon.EventQuery{Types: []string{t}, AsOf: m.Seq,
			Page: canon.Page{Limit: 1, Uncounted: true}})
		if err != nil {
			return b, c, err
		}
		for _, e := range list {
			b.addEvent(e)
		}
		if b.step.seq == 0 { // no step, and steps are the first type: nobody has played yet
			c.Tick, err = m.firstTick(ctx, open)
			return b, c, err
		}
	}
	return b, b.toClock(), nil
}

// maxFollowed bounds how many commits a cached clock may be behind to be updated instead of being
// computed from scratch.
const maxFollowed = 256

// followClock adds the events since the last one to a cached basis. It returns false if the clock
// must be computed from scratch: nothing was cached, there are too many commits, or the stream no
// longer contains the last cached event, which happens when a database has lost commits.
func (m *AsOf) followClock(ctx context.Context, open *canon.Snapshot, b clockBasis,
	head canon.Seq) (clockBasis, bool, error) {
	seq, id := b.lastEvent()
	if b.step.seq == 0 || head < seq || head-seq > maxFollowed {
		return b, false, nil
	}
	list, _, err := open.Events(ctx, canon.EventQuery{Types: clockTypes, After: seq - 1,
		Page: canon.Page{Limit: maxFollowed + 2, Uncounted: true}})
	if err != nil || !slices.ContainsFunc(list, func(e canon.StoredEvent) bool { return e.ID == id }) {
		return b, false, err
	}
	for _, e := range list {
		b.addEvent(e)
	}
	return b, true, nil
}
