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

// RateSetting is the world's setting (among its extra ones) for how much world time passes
// in a unit of real time: "1" unless set; "0" where a GM advances the clock by hand.
const RateSetting = "clock.rate"

// maxRate bounds the rate: an hour of play is then a year.
const maxRate = 8760

// ParseRate reads the setting clock.rate.
func ParseRate(text string) (float64, bool) {
	rate, err := strconv.ParseFloat(text, 64)
	ok := err == nil && rate >= 0 && rate <= maxRate // NaN is neither
	return rate, ok
}

// rateOf is the rate of a world. A setting that is no rate, which an import may bring,
// counts as none.
func rateOf(s canon.Settings) float64 {
	if rate, ok := ParseRate(s.Extra[RateSetting]); ok {
		return rate
	}
	return 1
}

// playPause is how long the world's clock runs on after the last act of any player.
const playPause = 30 * time.Minute

// minute is what world time is computed in, so that contexts read in one minute are the
// same, and the distance up to which two clocks count as the same.
const minute = int64(time.Minute / time.Millisecond)

// maxTick keeps world time in the integers that JSON clients read exactly.
const maxTick = int64(1) << 52

// clockLine is a run of the world's clock: it stood at Tick at a real time, and goes on from there.
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
	Played   int64  `json:"played,omitempty"` // when somebody last played, in Unix milliseconds
}

// Reasons of a step.
const (
	stepBegun    = "begun"    // the first act of a world
	stepResumed  = "resumed"  // somebody plays after a pause
	stepRate     = "rate"     // the world's rate was changed
	stepAdvanced = "advanced" // a GM advanced the clock
	stepForked   = "forked"   // the world was made from another
	stepReset    = "reset"    // the world was brought back
)

// actLine is the run that a player's act saw, where that is not the one of the step that
// it followed. It counts as long as that step is the last one: a GM may have advanced the
// clock between the act's plan and its commit.
type actLine struct {
	clockLine
	Step uuid.UUID `json:"step"`
}

// worldClock is what the world's time is computed from.
type worldClock struct {
	clockLine
	known  bool      // there is a step; else Tick is where the clock begins
	step   uuid.UUID // the last one
	seq    canon.Seq // its commit
	played int64     // Unix milliseconds of the last act in sight of all
}

// firstTick is where the clock of a world begins that has had no step: at the latest of
// its players' clocks.
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

// tickAt is world time at a real time: whole minutes on from the line's beginning, as long
// as somebody plays.
func (c worldClock) tickAt(now time.Time) int64 {
	ran := min(now.UnixMilli(), c.played+playPause.Milliseconds()) - c.At
	if !c.known || ran <= 0 {
		return c.Tick
	}
	gained := math.Min(float64(ran)*c.Rate, float64(maxTick))
	return min(c.Tick+int64(gained)/minute*minute, maxTick)
}

// dueStep says which step the clock needs before an act counts: "" for none.
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

// actLineFor is what an act carries that needs a step and cannot make one, since a commit has
// one event.
func (c worldClock) actLineFor(now time.Time, rate float64) *actLine {
	if c.known && c.dueStep(now, rate) != "" {
		return &actLine{clockLine{c.tickAt(now), now.UnixMilli(), rate}, c.step}
	}
	return nil
}

// worldTick is the world's time at the moment.
func (m *asOf) worldTick(ctx context.Context) (int64, error) {
	c, err := m.worldClock(ctx)
	if err != nil {
		return 0, err
	}
	at, err := m.realTime(ctx)
	return c.tickAt(at), err
}

// realTime is the real time of the moment: for one that has passed, the time asked for, or
// that of the last event before it.
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

// planClockStep plans a step of the world's clock to a tick. Of two that follow the same step one
// is committed, and the other is planned anew.
func planClockStep(p *canon.Plan, c worldClock, to int64, reason string) error {
	now := p.Clock().UnixMilli()
	s := clockStep{clockLine: clockLine{min(to, maxTick), now, rateOf(p.World().Settings)}, FromTick: c.tickAt(p.Clock()), Reason: reason, Played: c.played}
	if reason == stepBegun || reason == stepResumed {
		s.Played = now
	}
	payload, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, _, err = p.EventOnce(canon.Event{Type: string(ClockAdvanced), Scope: string(GlobalScope), Payload: payload, Version: 1,
		Actor: canon.EventActor{Kind: "system"}, Key: "clock:" + c.step.String()})
	return err
}

// stepClockIfDue makes the step that the clock needs before somebody plays on. Of several
// processes one makes it.
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

// CarryClock gives a world that was forked the time that the one that it was made from had
// when it was read.
func (w *World) CarryClock(ctx context.Context, from, to access.Grant) error {
	var fork canon.World
	err := w.canon.Read(ctx, to, func(l *canon.Snapshot) error { fork = l.World(); return nil })
	if err != nil {
		return err
	}
	var tick int64
	err = w.canon.Read(ctx, from, func(l *canon.Snapshot) (err error) {
		tick, err = (&asOf{Snapshot: l, w: w, seq: fork.OriginSeq, realThen: fork.CreatedAt}).worldTick(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return w.setClock(ctx, to, stepForked, func(context.Context, *asOf) (int64, error) { return tick, nil })
}

// ResetClock brings the clock of a fork back to where the fork was made.
func (w *World) ResetClock(ctx context.Context, g access.Grant) error {
	return w.setClock(ctx, g, stepReset, func(ctx context.Context, m *asOf) (int64, error) {
		list, _, err := m.AsAnyPlayer().Events(ctx, canon.EventQuery{Types: []string{string(ClockAdvanced)}, Oldest: true, Page: canon.Page{Limit: 1, Uncounted: true}})
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

// setClock steps to a tick, wherever the clock is.
func (w *World) setClock(ctx context.Context, g access.Grant, reason string, tick func(context.Context, *asOf) (int64, error)) error {
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
