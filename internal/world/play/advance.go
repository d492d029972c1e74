package play

import (
	"context"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/world"
)

// advanceOperation declares the operation with which a game master advances the time.
func (h *Host) advanceOperation() *op.Operation {
	return op.Define(op.Spec{
		Name: "advance-time", Title: "Advance world time",
		Asked: []string{
			"let hours pass", "make it morning", "wait until night", "move the clock forward", "sleep till dawn",
			"skip ahead a day", "hours go by for everybody", "turn the clock on", "time passes",
			"an hour goes by", "let the night pass", "wait half a day", "set the clock on", "it is now evening",
			"skip to tomorrow", "move the clock on", "skip to the evening", "some minutes go by",
			"wait until morning",
		},
		Doc: "Advance the world's clock for everybody, by hours and minutes or to a tick. A player's clock follows when " +
			"the player acts again, and the player is told that it waited. " +
			"Nothing else advances the world faster than real time: acts of players move only their own clocks, at most an " +
			"hour ahead.",
		Surfaces: onWorld, Effect: access.Write, MinRole: access.RoleGM, Route: "POST /api/world/time",
		Meta: world.ToolID("World-advanceTime"),
		Examples: []op.Example{{Title: "A night", Input: `{"hours": 8}`},
			{Title: "Noon of the second day", Input: `{"toTick": 129600000}`}},
	}, h.advanceTime)
}

// maxAdvance bounds the advance of one call: a hundred years.
const maxAdvance = 100 * 365 * world.Day

type advanceIn struct {
	Hours   int64  `json:"hours,omitzero" min:"0" max:"876000" numeric:"string" jsonschema:"Hours to advance."`
	Minutes int64  `json:"minutes,omitzero" min:"0" max:"52560000" numeric:"string" jsonschema:"Minutes to advance, in addition to the hours."`
	ToTick  *int64 `json:"toTick,omitzero" min:"0" numeric:"string" jsonschema:"World time to advance to, in milliseconds, instead of hours and minutes."`
	DryRun  bool   `json:"dry_run,omitzero" jsonschema:"Only return the time that the clock would have."`
}

type advanceOut struct {
	FromTick  int64      `json:"fromTick"`
	Tick      int64      `json:"tick" jsonschema:"World time afterwards, in milliseconds."`
	TimeOfDay string     `json:"timeOfDay" enum:"dawn,morning,afternoon,dusk,night"`
	EventID   *uuid.UUID `json:"eventId,omitempty" jsonschema:"The event World.Clock.Advanced of this step."`
}

func (h *Host) advanceTime(ctx context.Context, c *op.Call, in advanceIn) (out advanceOut, err error) {
	receipt, err := h.canon.Update(ctx, c.Grant, func(p *canon.Plan) error {
		k, err := h.world.Current(p.Snapshot).WorldClock(ctx)
		if err != nil {
			return err
		}
		out.FromTick = k.TickAt(p.Clock())
		if out.Tick, err = in.targetTick(out.FromTick); err != nil {
			return err
		}
		return k.PlanAdvance(p, out.Tick)
	})
	if err != nil {
		return out, err
	}
	c.Reply.Replayed = receipt.Replayed
	if !receipt.DryRun {
		out.EventID = &receipt.Change
		err = h.readStep(ctx, c.Grant, receipt.Change, &out)
	}
	out.TimeOfDay = world.TimeOfDay(out.Tick)
	return out, err
}

// targetTick returns the tick that the caller asks for.
func (in advanceIn) targetTick(now int64) (int64, error) {
	to := now + in.Hours*world.Hour + in.Minutes*world.Minute
	switch {
	case in.ToTick != nil && to != now:
		return 0, fault.BadField("toTick", "replaces hours and minutes; give one or the other")
	case in.ToTick != nil:
		to = *in.ToTick
	}
	switch {
	case to <= now && in.ToTick != nil:
		return 0, fault.BadField("toTick", "must be later than the clock, which never goes back: it is at %d", now)
	case to <= now:
		return 0, fault.BadField("hours", "are missing; give hours, minutes or toTick")
	case to-now > maxAdvance || to > world.MaxTick:
		return 0, fault.BadField("hours", "advance at most a hundred years; advance in several steps")
	}
	return to, nil
}

// readStep reads the ticks of the committed step into out, so that a repeated call gets the same
// answer.
func (h *Host) readStep(ctx context.Context, g access.Grant, change uuid.UUID, out *advanceOut) error {
	return h.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		events, _, err := snap.Events(ctx, canon.EventQuery{ID: change, Page: canon.Page{Limit: 1}})
		if len(events) > 0 {
			var s world.ClockStep
			world.DecodeFields(events[0].Payload, &s)
			out.FromTick, out.Tick = s.FromTick, s.Tick
		}
		return err
	})
}
