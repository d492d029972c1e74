package world

import (
	"context"
	"strconv"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// AsOf is the source that a context is read from: a snapshot, the commit that is shown, and the
// tick of world time that the context is about.
type AsOf struct {
	*canon.Snapshot
	w        *World
	Seq      canon.Seq // commit that is shown; 0 is the newest one of the snapshot
	Tick     int64
	readAt   time.Time // real time of the read; handler statuses are as of this time
	realThen time.Time // past real time that the caller asked for; zero if it gave none

	prefetchedPlace canon.CardID // place whose links are prefetched; see PrefetchPlace
	linksFrom       []canon.Link
	linksTo         []canon.Link           // links of kind at to the place
	prefetched      map[canon.CardID]*Card // cards at the other ends of the links; nil: not visible

	tickFixed bool // tick is set: asked for by the caller, or already taken from a clock

	resolved  map[string]resolvedID // by the id that the caller gave ("" for none); nil: not recorded
	rereading bool                  // an earlier context is read again: ids resolve as they did then
}

// resolvedID records the card that an id resolved to when a context was read. Codenames, and the
// setting of the place where players begin, may refer to another card later. The zero resolvedID
// means that no visible card was found.
type resolvedID struct {
	ID   canon.CardID `json:"i,omitzero"`
	Code string       `json:"c,omitempty"` // the codename of a fact at that time
}

// timeInput is the part of an input that selects the time of a context.
type timeInput struct {
	Tick *int64 `json:"tick,omitzero" min:"0" numeric:"string" jsonschema:"World time in milliseconds; by default now."`
	AsOf string `json:"as_of,omitzero" maxlen:"64" jsonschema:"The state at a time such as 2026-01-31T18:00:00Z; for a GM also the number of a commit."`
}

func (w timeInput) requestedTime() timeInput { return w }

// fixTick sets the input's tick to the one that the context was read at and clears as_of, which a
// sealed reference stores separately.
func (w *timeInput) fixTick(tick int64) { w.Tick, w.AsOf = &tick, "" }

// timedInput is implemented by inputs that select a time, for example by embedding timeInput.
type timedInput interface {
	requestedTime() timeInput
	fixTick(tick int64)
}

// readAsOf returns the source for the time that the caller asks for.
func (w *World) readAsOf(ctx context.Context, snap *canon.Snapshot, ask timeInput) (*AsOf, error) {
	m := &AsOf{Snapshot: snap, w: w, readAt: w.cfg.Now().UTC().Truncate(time.Millisecond),
		resolved: map[string]resolvedID{}}
	if ask.AsOf != "" {
		at, then, err := resolveAsOf(ctx, snap, ask.AsOf)
		if err != nil {
			return nil, err
		}
		m.Seq, m.realThen = at, then
	}
	if ask.Tick != nil {
		m.Tick, m.tickFixed = *ask.Tick, true
	}
	return m, nil
}

// Current returns the source that shows the newest commit of a snapshot. w may be nil: then clocks are
// computed from their events each time.
func (w *World) Current(snap *canon.Snapshot) *AsOf { return &AsOf{Snapshot: snap, w: w} }

// settleTick sets m.tick to the time of a place, or without a place to the time of the world,
// unless the tick is fixed already.
func (m *AsOf) settleTick(ctx context.Context, place *Card) (err error) {
	switch {
	case m.tickFixed:
	case place == nil:
		m.Tick, err = m.WorldTick(ctx)
	default:
		m.Tick, err = m.AnchorAt(ctx, place.ID, func(access.Label) bool { return true })
	}
	m.tickFixed = true
	return err
}

// resolveAsOf returns the commit that as_of means, and the real time if as_of is a time. A time
// before the first commit is an error.
func resolveAsOf(ctx context.Context, snap *canon.Snapshot, text string) (canon.Seq, time.Time, error) {
	if n, err := strconv.ParseUint(text, 10, 63); err == nil && snap.Grant().Role() >= access.RoleGM {
		if n == 0 || canon.Seq(n) > snap.Now() {
			return 0, time.Time{}, fault.BadField("as_of", "is not a commit of this world; the last one is %d", snap.Now())
		}
		return canon.Seq(n), time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		at, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		seq, err := snap.SeqAt(ctx, at)
		if err == nil && seq == 0 {
			err = fault.BadField("as_of", "is before the first commit of the world; give a later time")
		}
		return seq, at, err
	}
	return 0, time.Time{}, fault.BadField("as_of", "must be a time such as 2026-01-31T18:00:00Z")
}

// position returns the commit that m shows.
func (m *AsOf) position() canon.Seq {
	if m.Seq != 0 {
		return m.Seq
	}
	return m.Now()
}
