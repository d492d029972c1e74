package rules

import (
	"context"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/ruleset/fifth"
)

// maxShownEvents is the number of events in an answer; the last ones are shown.
const maxShownEvents = 200

type numbersOut struct {
	HitPoints  int         `json:"hit_points"`
	Temporary  int         `json:"temporary,omitzero"`
	Initiative int         `json:"initiative"`
	Exhaustion int         `json:"exhaustion,omitzero"`
	Slots      fifth.Slots `json:"slots,omitzero" jsonschema:"Spell slots left, by level."`
	Successes  int         `json:"death_save_successes,omitzero"`
	Failures   int         `json:"death_save_failures,omitzero"`
}

type combatantOut struct {
	Name         string      `json:"name"`
	Side         string      `json:"side"`
	Zone         string      `json:"zone"`
	Health       string      `json:"health" jsonschema:"unhurt, hurt, bloodied, down or dead."`
	Numbers      *numbersOut `json:"numbers,omitzero" jsonschema:"Only of sides that the caller plays."`
	Conditions   []string    `json:"conditions,omitzero"`
	Concentrates string      `json:"concentrates,omitzero"`
	Attacks      []string    `json:"attacks,omitzero"`
	Spells       []string    `json:"spells,omitzero"`
}

type encounterOut struct {
	ID         string         `json:"id"`
	Round      int            `json:"round"`
	Turn       string         `json:"turn,omitzero" jsonschema:"The combatant whose turn it is."`
	Over       bool           `json:"over,omitzero"`
	Winner     string         `json:"winner,omitzero"`
	Combatants []combatantOut `json:"combatants"`
	Events     []fifth.Event  `json:"events" jsonschema:"Events of this call; of get_encounter the last ones."`
	Commitment string         `json:"commitment" jsonschema:"SHA-256 hash of the seed of all dice."`
	Seed       string         `json:"seed,omitzero" jsonschema:"The seed; after the end only."`
}

type encounterID struct {
	ID string `json:"id" maxlen:"20" jsonschema:"The encounter's id."`
}

func (s *Service) getEncounter() *op.Operation {
	return define(op.Spec{
		Name: "get_encounter", Title: "See an encounter", Route: "GET /api/rules/encounters/{id}", Effect: access.Read,
		Asked: []string{
			"how is the fight going", "whose turn is it in the battle", "who is still standing",
			"state of the battle", "who is wounded", "order of turns",
		},
		Doc: "Get an encounter: round, turn, combatants and the last events. A player sees numbers of the " +
			"players' sides only.",
		Examples: []op.Example{{Title: "See", Input: `{"id":"e-00112233aabbccdd"}`}},
	}, func(ctx context.Context, c *op.Call, in encounterID) (encounterOut, error) {
		e, err := s.load(ctx, c.Grant, in.ID, 0)
		if err != nil {
			return encounterOut{}, err
		}
		return s.show(c.Grant, e, e.events), nil
	})
}

// answer shows an encounter as the record of an earlier use of the call's idempotency key left it.
func (s *Service) answer(ctx context.Context, c *op.Call, id string, r canon.Receipt, err error) (encounterOut, error) {
	if err != nil {
		return encounterOut{}, err
	}
	c.Reply.Replayed = r.Replayed
	e, err := s.load(ctx, c.Grant, id, r.Seq)
	if err != nil {
		return encounterOut{}, err
	}
	return s.show(c.Grant, e, e.events[e.last:]), nil
}

// maySeeAll reports whether a caller sees the numbers of a side and acts for it.
func (e *encounter) maySeeAll(g access.Grant, side string) bool {
	return g.Role() >= access.RoleGM || slices.Contains(e.Players, side)
}

func (e *encounter) sideOf(name string) string {
	for i := range e.Setup.Fighters {
		if f := &e.Setup.Fighters[i]; strings.EqualFold(f.Name, name) {
			return f.Side
		}
	}
	return ""
}

// show returns the view that a caller has of an encounter.
func (s *Service) show(g access.Grant, e *encounter, events []fifth.Event) encounterOut {
	seed := s.seedOf(g.World(), e.id)
	out := encounterOut{ID: e.id, Round: e.state.Round(), Turn: e.state.Current(), Commitment: seed.Commitment(),
		Combatants: []combatantOut{}, Events: []fifth.Event{}}
	if out.Over, out.Winner = e.state.Over(); out.Over {
		out.Seed = seed.String()
	}
	for i, st := range e.state.Statuses() {
		f := &e.Setup.Fighters[i]
		one := combatantOut{Name: st.Name, Side: st.Side, Zone: st.Zone, Health: healthOf(st, f.HitPoints),
			Conditions: st.Conditions, Concentrates: st.Concentrates}
		if e.maySeeAll(g, st.Side) {
			one.Numbers = &numbersOut{st.HitPoints, st.Temporary, st.Initiative, st.Exhaustion, st.Slots, st.Saves[0], st.Saves[1]}
			for _, a := range f.Attacks {
				one.Attacks = append(one.Attacks, a.Name)
			}
			for _, sp := range f.Spells {
				one.Spells = append(one.Spells, sp.Name)
			}
		}
		out.Combatants = append(out.Combatants, one)
	}
	for _, v := range events[max(len(events)-maxShownEvents, 0):] {
		out.Events = append(out.Events, e.showEvent(g, v))
	}
	return out
}

// showEvent removes the numbers that tell a player about combatants of other sides: armor classes,
// and the bonuses that a total shows.
func (e *encounter) showEvent(g access.Grant, v fifth.Event) fifth.Event {
	hidesActor := !e.maySeeAll(g, e.sideOf(v.Actor))
	if hidesActor && v.Kind != "damage" {
		v.Natural, v.Total = 0, 0
		if v.Kind != "save" {
			v.Amount = 0
		}
	}
	if v.Target != "" && !e.maySeeAll(g, e.sideOf(v.Target)) || v.Kind == "hide" {
		v.Against = 0
	}
	if v.Kind == "ready" && hidesActor {
		v.With = ""
	}
	return v
}

// healthOf returns the state of health that everybody sees.
func healthOf(s fifth.Status, most int) string {
	switch {
	case s.State == "dead":
		return "dead"
	case s.HitPoints == 0:
		return "down"
	case s.HitPoints*2 <= most:
		return "bloodied"
	case s.HitPoints < most:
		return "hurt"
	}
	return "unhurt"
}
