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

// Minute is the granularity of world time: contexts that are read in the same minute are equal, and
// two clocks less than a minute apart count as equal.
const Minute = int64(time.Minute / time.Millisecond)

// MaxTick keeps world time within the integers that JSON clients read exactly.
const MaxTick = int64(1) << 52

// clockLine is a stretch of the world's clock: it was at Tick at the real time At, and runs on from
// there at Rate.
type clockLine struct {
	Tick int64   `json:"tick"`
	At   int64   `json:"at"` // Unix milliseconds
	Rate float64 `json:"rate"`
}

// ClockStep is the payload of World.Clock.Advanced.
type ClockStep struct {
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

// Clock holds the values that the world's time is computed from.
type Clock struct {
	clockLine
	known  bool      // there was a step; else Tick is the start of the clock
	step   uuid.UUID // the last one
	seq    canon.Seq // its commit
	played int64     // Unix milliseconds of the last act that everyone sees
}

// firstTick returns the start of the clock of a world that has had no step: the latest of its
// players' clocks.
func (m *AsOf) firstTick(ctx context.Context, open *canon.Snapshot) (highest int64, err error) {
	if m.Seq == 0 {
		highest, _, err = open.LinkMax(ctx, LinkAt, attrClock)
		return min(max(highest, 0), MaxTick), err
	}
	for l, err := range open.AllLinks(ctx, canon.LinkQuery{Kinds: []string{LinkAt}, AsOf: m.Seq}) {
		if err != nil {
			return 0, err
		}
		highest = max(highest, PresenceOf(l).Clock)
	}
	return min(highest, MaxTick), nil
}

// TickAt returns the world time at a real time. It advances in whole minutes from the line's start,
// and stops playPause after the last act.
func (c Clock) TickAt(now time.Time) int64 {
	ran := min(now.UnixMilli(), c.played+playPause.Milliseconds()) - c.At
	if !c.known || ran <= 0 {
		return c.Tick
	}
	gained := math.Min(float64(ran)*c.Rate, float64(MaxTick))
	return min(c.Tick+int64(gained)/Minute*Minute, MaxTick)
}

// DueStep returns the reason of the step that the clock needs before an act, or "" if it needs
// none.
func (c Clock) DueStep(now time.Time, settings canon.Settings) string {
	switch {
	case !c.known:
		return stepBegun
	case now.UnixMilli() > c.played+playPause.Milliseconds():
		return stepResumed
	case rateOf(settings) != c.Rate:
		return stepRate
	}
	return ""
}

// HasLeft reports whether a player with this link at has been away: a step came after its last act, or
// the act is longer ago than playPause.
func (c Clock) HasLeft(at canon.Link, now time.Time) bool {
	return c.known && (c.seq > at.Since || now.Sub(at.At) > playPause)
}

// LineFor returns the line that an act carries if the clock needs a step that the act cannot
// make, since a commit has only one event. It returns nil if no step is due.
func (c Clock) LineFor(now time.Time, settings canon.Settings) *actLine {
	if c.known && c.DueStep(now, settings) != "" {
		return &actLine{clockLine{c.TickAt(now), now.UnixMilli(), rateOf(settings)}, c.step}
	}
	return nil
}

// WorldTick returns the world's time at the commit that m shows.
func (m *AsOf) WorldTick(ctx context.Context) (int64, error) {
	c, err := m.WorldClock(ctx)
	if err != nil {
		return 0, err
	}
	at, err := m.realTime(ctx)
	return c.TickAt(at), err
}

// realTime returns the real time that m shows. For a past commit that is the time that the caller
// asked for, or the time of the last event up to that commit.
func (m *AsOf) realTime(ctx context.Context) (time.Time, error) {
	if m.Seq == 0 {
		return m.Clock(), nil
	}
	if !m.realThen.IsZero() {
		if now := m.Clock(); now.Before(m.realThen) {
			return now, nil
		}
		return m.realThen, nil
	}
	list, _, err := m.AsAnyPlayer().Events(ctx, canon.EventQuery{AsOf: m.Seq, Page: canon.Page{Limit: 1, Uncounted: true}})
	if err != nil || len(list) == 0 {
		return time.Time{}, err
	}
	return list[0].At, nil
}

// PlanAdvance plans the step with which a game master advances the clock to a tick.
func (c Clock) PlanAdvance(p *canon.Plan, to int64) error {
	return planClockStep(p, c, to, stepAdvanced)
}

// planClockStep plans a step of the world's clock to a tick. If two steps follow the same step, one
// is committed and the other is planned again.
func planClockStep(p *canon.Plan, c Clock, to int64, reason string) error {
	now := p.Clock().UnixMilli()
	s := ClockStep{clockLine: clockLine{min(to, MaxTick), now, rateOf(p.World().Settings)}, FromTick: c.TickAt(p.Clock()),
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

// StepClockIfDue makes the step that the clock needs before play goes on. If several processes try,
// only one of them makes it.
func (w *World) StepClockIfDue(ctx context.Context, g access.Grant) error {
	_, err := w.canon.Update(ctx, g, func(p *canon.Plan) error {
		c, err := w.Current(p.Snapshot).WorldClock(ctx)
		if err != nil {
			return err
		}
		reason := c.DueStep(p.Clock(), p.World().Settings)
		if reason == "" {
			return nil
		}
		return planClockStep(p, c, c.TickAt(p.Clock()), reason)
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
		tick, err = (&AsOf{Snapshot: snap, w: w, Seq: fork.OriginSeq, realThen: fork.CreatedAt}).WorldTick(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return w.setClock(ctx, to, stepForked, func(context.Context, *AsOf) (int64, error) { return tick, nil })
}

// ResetClock sets the clock of a fork back to the time at which the fork was made.
func (w *World) ResetClock(ctx context.Context, g access.Grant) error {
	return w.setClock(ctx, g, stepReset, func(ctx context.Context, m *AsOf) (int64, error) {
		list, _, err := m.AsAnyPlayer().Events(ctx, canon.EventQuery{Types: []string{string(ClockAdvanced)}, Oldest: true,
			Page: canon.Page{Limit: 1, Uncounted: true}})
		if err != nil {
			return 0, err
		}
		var first ClockStep
		if len(list) > 0 {
			DecodeFields(list[0].Payload, &first)
		}
		if first.Reason == stepForked {
			return first.Tick, nil
		}
		return m.firstTick(ctx, m.AsAnyPlayer())
	})
}

// setClock steps the clock to a tick, which may be earlier or later than its present one.
func (w *World) setClock(ctx context.Context, g access.Grant, reason string,
	tick func(context.Context, *AsOf) (int64, error)) error {
	_, err := w.canon.Update(ctx, g, func(p *canon.Plan) error {
		m := w.Current(p.Snapshot)
		c, err := m.WorldClock(ctx)
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

const (
	Hour = int64(time.Hour / time.Millisecond)
	Day  = 24 * Hour
)

// TimeOfDay returns the time of day at a tick. Tick 0 is midnight.
func TimeOfDay(tick int64) string {
	switch h := (tick % Day) / Hour; {
	case h < 5:
		return "night"
	case h < 8:
		return "dawn"
	case h < 12:
		return "morning"
	case h < 17:
		return "afternoon"
	case h < 20:
		return "dusk"
	}
	return "night"
}

// FormatDuration formats a length of world time for use in a sentence.
func FormatDuration(ms int64) string {
	d := (time.Duration(ms) * time.Millisecond).Round(time.Minute)
	switch {
	case d < 2*time.Minute:
		return "a minute"
	case d >= 50*time.Minute && d < 90*time.Minute:
		return "an hour"
	case d < 50*time.Minute:
		return strconv.Itoa(int(d/time.Minute)) + " minutes"
	case d < 36*time.Hour:
		return strconv.Itoa(int((d+30*time.Minute)/time.Hour)) + " hours"
	}
	return strconv.Itoa(int((d+12*time.Hour)/(24*time.Hour))) + " days"
}
