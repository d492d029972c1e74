package agent

import (
	"context"
	"slices"
	"time"

	"loregate/internal/fault"
)

// traceLife is the world time for which the trace of a fight stays in the air.
const traceLife = time.Hour

// traceLayer is the kind of the layer of a trace.
const traceLayer = "dynamic"

// fightPhrases are traces of a fight that claim nothing.
var fightPhrases = []string{
	"The air has not settled since the blows fell.", "Breath comes short here, and voices stay low.",
	"Something of the struggle hangs on in the quiet.", "Dust turns slowly where feet have scuffed the ground.",
	"The quiet has an edge, as it has after a fight.",
}

// recentEvent is the part of get-recent-events that the pipeline reads.
type recentEvent struct{ Payload struct{ Verb string } }

// runEncounter lays a trace over a place where somebody fought lately.
func runEncounter(ctx context.Context, t *task, o Order) (out Report, err error) {
	p, m, err := t.readPlace(ctx, o.Location)
	if err != nil {
		return out, err
	}
	var events []recentEvent
	if err := t.readContext(ctx, "get-recent-events",
		map[string]any{"scope": "location", "scopeId": p.Location.ID, "limit": 20}, &events); err != nil {
		return out, err
	}
	if !slices.ContainsFunc(events, func(e recentEvent) bool { return e.Payload.Verb == "attack" }) {
		return Report{Status: Skipped, Why: "nobody fought at " + p.Location.Name + " lately"}, nil
	}
	done, err := t.proposeAmbience(ctx, Ambience{LocationID: p.Location.ID}, p, m,
		setting{Layer: traceLayer, ToTick: m.Tick + traceLife.Milliseconds(), Also: fightPhrases})
	return Report{Status: done.Status, Why: done.Why, Result: done}, err
}

// readPlace reads a place and its atmosphere.
func (t *task) readPlace(ctx context.Context, location string) (p locationContext, m atmosphere, err error) {
	var found *locationContext
	if err := t.readContext(ctx, "get-location-context", placeInput(location), &found); err != nil {
		return p, m, err
	}
	if found == nil {
		return p, m, fault.New(fault.NotFound,
			"there is no place %q; give the name of one, or its id as get-spatial-context has it", location)
	}
	return *found, m, t.readContext(ctx, "get-atmosphere", placeInput(found.Location.ID), &m)
}
