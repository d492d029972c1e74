package world

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// clockBasis is what a world's clock follows from: its last step, and the last act in
// sight of all.
type clockBasis struct {
	step lastStep
	act  lastAct
}

// lastStep is the last World.Clock.Advanced; a seq of 0 is none.
type lastStep struct {
	seq canon.Seq
	id  uuid.UUID
	clockStep
}

// lastAct is the last event that shows that somebody plays; a seq of 0 is none.
type lastAct struct {
	seq canon.Seq
	id  uuid.UUID
	at  int64    // Unix milliseconds
	run *actLine // that it carries
}

// addEvent adds an event where it is later than what is known.
func (b *clockBasis) addEvent(e canon.StoredEvent) {
	if EventType(e.Type) == ClockAdvanced {
		if e.Seq > b.step.seq {
			b.step = lastStep{seq: e.Seq, id: e.ID}
			fieldsOf(e.Payload, &b.step.clockStep)
		}
		return
	}
	if e.Seq > b.act.seq {
		var d action
		fieldsOf(e.Payload, &d)
		b.act = lastAct{e.Seq, e.ID, e.At.UnixMilli(), d.World}
	}
}

// lastEvent is the latest of the events that the clock follows from.
func (b clockBasis) lastEvent() (canon.Seq, uuid.UUID) {
	if b.act.seq > b.step.seq {
		return b.act.seq, b.act.id
	}
	return b.step.seq, b.step.id
}

// toClock computes the clock of a world that has had a step.
func (b clockBasis) toClock() worldClock {
	c := worldClock{clockLine: b.step.clockLine, known: true, step: b.step.id, seq: b.step.seq, played: b.step.Played}
	if b.act.seq == 0 {
		return c
	}
	c.played = max(c.played, b.act.at)
	if run := b.act.run; run != nil && run.Step == c.step {
		c.clockLine = run.clockLine
	}
	return c
}

// clockCache keeps the last clock that was computed of each world. Everything in it follows
// from events that every player sees, so that it is the same for all. The zero clockCache
// is empty, and safe for concurrent use.
type clockCache struct {
	mu   sync.Mutex // guards kept
	kept map[access.WorldID]keptClock
}

// keptClock is a world's clock as it followed from its stream up to a head.
type keptClock struct {
	head  canon.Head
	basis clockBasis
	clock worldClock
}

// maxClocks bounds the worlds whose clocks are kept.
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
		for other := range k.kept { // any will do: it is computed again when asked for
			delete(k.kept, other)
			break
		}
	}
	k.kept[w] = c
}

// playTypes are the events that show that somebody plays, clockTypes those that the clock
// follows from.
var (
	playTypes  = []string{string(PlayerMove), string(PlayerLook), string(PlayerAct)}
	clockTypes = append([]string{string(ClockAdvanced)}, playTypes...)
)

// worldClock gives the clock. It follows from what every player may see, so that it is the
// same for all and tells nothing of players who are hidden. It is kept by the head of the
// world's stream, which has moved where anything has that it follows from, whichever
// process wrote it.
func (m *asOf) worldClock(ctx context.Context) (worldClock, error) {
	open := m.AsAnyPlayer()
	head, settled := canon.Head{}, false
	if v := open.View(); m.w != nil && m.seq == 0 && v.Level == access.LevelUser && v.Subject == "" {
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
		return worldClock{}, err
	}
	if followed {
		now.clock = now.basis.toClock()
	} else if now.basis, now.clock, err = m.readClock(ctx, open); err != nil {
		return worldClock{}, err
	}
	m.w.clocks.put(id, now)
	return now.clock, nil
}

// readClock reads the clock from the events of its types.
func (m *asOf) readClock(ctx context.Context, open *canon.Snapshot) (b clockBasis, c worldClock, err error) {
	for _, t := range clockTypes {
		list, _, err := open.Events(ctx, canon.EventQuery{Types: []string{t}, AsOf: m.seq, Page: canon.Page{Limit: 1, Uncounted: true}})
		if err != nil {
			return b, c, err
		}
		for _, e := range list {
			b.addEvent(e)
		}
		if b.step.seq == 0 { // the first type: nobody has played yet
			c.Tick, err = m.firstTick(ctx, open)
			return b, c, err
		}
	}
	return b, b.toClock(), nil
}

// maxFollowed is up to how many commits are looked through for what a kept clock lacks.
const maxFollowed = 256

// followClock adds to what a kept clock follows from what has happened since. It is false
// where the clock must be read anew: nothing was kept, too much has happened, or the stream
// does not hold the last event that was kept, as after the loss of what a database had
// taken.
func (m *asOf) followClock(ctx context.Context, open *canon.Snapshot, b clockBasis, head canon.Seq) (clockBasis, bool, error) {
	seq, id := b.lastEvent()
	if b.step.seq == 0 || head < seq || head-seq > maxFollowed {
		return b, false, nil
	}
	list, _, err := open.Events(ctx, canon.EventQuery{Types: clockTypes, After: seq - 1, Page: canon.Page{Limit: maxFollowed + 2, Uncounted: true}})
	if err != nil || !slices.ContainsFunc(list, func(e canon.StoredEvent) bool { return e.ID == id }) {
		return b, false, err
	}
	for _, e := range list {
		b.addEvent(e)
	}
	return b, true, nil
}
