package world

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// RateSetting is the key, among the extra settings of a world, of the world time that passes per
// unit of real time. It is "1" unless set; with "0" only a GM advances the clock.
const RateSetting = "clock.rate"

// maxRate bounds the rate. At this rate an hour of play is a year.
const maxRate = 8760

// ParseRate parses the setting clock.rate.
func ParseRate(text string) (float64, bool) {
	rate, err := strconv.ParseFloat(text, 64)
	ok := err == nil && rate >= 0 && rate <= maxRate // false for NaN
	return rate, ok
}

// rateOf returns the rate of a world. An invalid setting, which an import may bring, counts as
// unset.
func rateOf(s canon.Settings) float64 {
	if rate, ok := ParseRate(s.Extra[RateSetting]); ok {
		return rate
	}
	return 1
}

// playPause is the time that the world's clock keeps running after the last act of any player.
const playPause = 30 * time.Minute

// minute is the granularity of world time: contexts that are read in the same minute are equal, and
// two clocks less than a minute apart count as equal.
const minute = int64(time.Minute / time.Millisecond)

// maxTick keeps world time within the integers that JSON clients read exactly.
const maxTick = int64(1) << 52

// clockLine is a stretch of the world's clock: it was at Tick at the real time At, and runs on from
// there at Rate.
type clockLine struct {
	Tick int64   `json:"tick"`
	At   int64   `json:"at"` // Unix milliseconds
	Rate float64 `json:"rate"`
}

// clockStep is the payload of World.Clock.Advanced.
type clockStep struct {
	clockLine
	FromTick int64  `json:"fromTick"`
	Reason   string `json:"reason"`           // a stepReason
	Played   int64  `json:"played,omitempty"` // real time of the last act, in Unix milliseconds
}

// Reasons of a step.
const (
	stepBegun    = "begun"    // the first act of a world
	stepResumed  = "resumed"  // somebody plays after a pause
	stepRate     = "rate"     // the world's rate was changed
	stepAdvanced = "advanced" // a GM advanced the clock
	stepForked   = "forked"   // the world is a fork of another
	stepReset    = "reset"    // the fork was reset
)

// actLine is the stretch of the clock that a player's act saw, if it differs from the one of the
// step before the act. It counts only while Step is the last step: a GM may have advanced the clock
// between the act's plan and its commit.
type actLine struct {
	clockLine
	Step uuid.UUID `json:"step"`
}

// worldClock holds the values that the world's time is computed from.
type worldClock struct {
	clockLine
	known  bool      // there was a step; else Tick is the start of the clock
	step   uuid.UUID // the last one
	seq    canon.Seq // its commit
	played int64     // Unix milliseconds of the last act that everyone sees
}

// firstTick returns the start of the clock of a world that has had no step: the latest of its
// players' clocks.
func (m *asOf) firstTick(ctx context.Context, open *canon.Snapshot) (highest int64, err error) {
	if m.seq == 0 {
		highest, _, err = open.LinkMax(ctx, linkAt, attrClock)
		return min(max(highest, 0), maxTick), err
	}
	for page := (canon.Page{Limit: 1000}); ; page.Offset += page.Limit {
		links, _, err := open.Links(ctx, canon.LinkQuery{Kinds: []string{linkAt}, AsOf: m.seq, Page: page})
		if err != nil {
			return 0, err
		}
		for _, l := range links {
			highest = max(highest, presenceOf(l).Clock)
		}
		if len(links) < page.Limit {
			return min(highest, maxTick), nil
		}
	}
}

// tickAt returns the world time at a real time. It advances in whole minutes from the line's start,
// and stops playPause after the last act.
func (c worldClock) tickAt(now time.Time) int64 {
	ran := min(now.UnixMilli(), c.played+playPause.Milliseconds()) - c.At
	if !c.known || ran <= 0 {
		return c.Tick
	}
	gained := math.Min(float64(ran)*c.Rate, float64(maxTick))
	return min(c.Tick+int64(gained)/minute*minute, maxTick)
}

// dueStep returns the reason of the step that the clock needs before an act, or "" if it needs
// none.
func (c worldClock) dueStep(now time.Time, rate float64) string {
	switch {
	case !c.known:
		return stepBegun
	case now.UnixMilli() > c.played+playPause.Milliseconds():
		return stepResumed
	case rate != c.Rate:
		return stepRate
	}
	return ""
}

// actLineFor returns the line that an act carries if the clock needs a step that the act cannot
// make, since a commit has only one event. It returns nil if no step is due.
func (c worldClock) actLineFor(now time.Time, rate float64) *actLine {
	if c.known && c.dueStep(now, rate) != "" {
		return &actLine{clockLine{c.tickAt(now), now.UnixMilli(), rate}, c.step}
	}
	return nil
}

// worldTick returns the world's time at the commit that m shows.
func (m *asOf) worldTick(ctx context.Context) (int64, error) {
	c, err := m.worldClock(ctx)
	if err != nil {
		return 0, err
	}
	at, err := m.realTime(ctx)
	return c.tickAt(at), err
}

// realTime returns the real time that m shows. For a past commit that is the time that the caller
// asked for, or the time of the last event up to that commit.
func (m *asOf) realTime(ctx context.Context) (time.Time, error) {
	if m.seq == 0 {
		return m.Clock(), nil
	}
	if !m.realThen.IsZero() {
		if now := m.Clock(); now.Before(m.realThen) {
			return now, nil
		}
		return m.realThen, nil
	}
	list, _, err := m.AsAnyPlayer().Events(ctx, canon.EventQuery{AsOf: m.seq, Page: canon.Page{Limit: 1, Uncounted: true}})
	if err != nil || len(list) == 0 {
		return time.Time{}, err
	}
	return list[0].At, nil
}

// planClockStep plans a step of the world's clock to a tick. If two steps follow the same step, one
// is committed and the other is planned again.
func planClockStep(p *canon.Plan, c worldClock, to int64, reason string) error {
	now := p.Clock().UnixMilli()
	s := clockStep{clockLine: clockLine{min(to, maxTick), now, rateOf(p.World().Settings)}, FromTick: c.tickAt(p.Clock()),
		Reason: reason, Played: c.played}
	if reason == stepBegun || reason == stepResumed {
		s.Played = now
	}
	payload, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, _, err = p.EventOnce(canon.Event{Type: string(ClockAdvanced), Scope: string(GlobalScope), Payload: payload,
		Version: 1,
		Actor:   canon.EventActor{Kind: "system"}, Key: "clock:" + c.step.String()})
	return err
}

// stepClockIfDue makes the step that the clock needs before play goes on. If several processes try,
// only one of them makes it.
func (w *World) stepClockIfDue(ctx context.Context, g access.Grant) error {
	_, err := w.canon.Update(ctx, g, func(p *canon.Plan) error {
		c, err := (&asOf{Snapshot: p.Snapshot, w: w}).worldClock(ctx)
		if err != nil {
			return err
		}
		reason := c.dueStep(p.Clock(), rateOf(p.World().Settings))
		if reason == "" {
			return nil
		}
		return planClockStep(p, c, c.tickAt(p.Clock()), reason)
	})
	return err
}

// CarryClock sets the clock of a fork to the time of its origin at the commit and time at which the
// fork was made.
func (w *World) CarryClock(ctx context.Context, from, to access.Grant) error {
	var fork canon.World
	err := w.canon.Read(ctx, to, func(snap *canon.Snapshot) error { fork = snap.World(); return nil })
	if err != nil {
		return err
	}
	var tick int64
	err = w.canon.Read(ctx, from, func(snap *canon.Snapshot) (err error) {
		tick, err = (&asOf{Snapshot: snap, w: w, seq: fork.OriginSeq, realThen: fork.CreatedAt}).worldTick(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return w.setClock(ctx, to, stepForked, func(context.Context, *asOf) (int64, error) { return tick, nil })
}

// ResetClock sets the clock of a fork back to the time at which the fork was made.
func (w *World) ResetClock(ctx context.Context, g access.Grant) error {
	return w.setClock(ctx, g, stepReset, func(ctx context.Context, m *asOf) (int64, error) {
		list, _, err := m.AsAnyPlayer().Events(ctx, canon.EventQuery{Types: []string{string(ClockAdvanced)}, Oldest: true,
			Page: canon.Page{Limit: 1, Uncounted: true}})
		if err != nil {
			return 0, err
		}
		var first clockStep
		if len(list) > 0 {
			fieldsOf(list[0].Payload, &first)
		}
		if first.Reason == stepForked {
			return first.Tick, nil
		}
		return m.firstTick(ctx, m.AsAnyPlayer())
	})
}

// setClock steps the clock to a tick, which may be earlier or later than its present one.
func (w *World) setClock(ctx context.Context, g access.Grant, reason string,
	tick func(context.Context, *asOf) (int64, error)) error {
	_, err := w.canon.Update(ctx, g, func(p *canon.Plan) error {
		m := &asOf{Snapshot: p.Snapshot, w: w}
		c, err := m.worldClock(ctx)
		if err != nil {
			return err
		}
		to, err := tick(ctx, m)
		if err != nil {
			return err
		}
		return planClockStep(p, c, to, reason)
	})
	return err
}
