package rules

import (
	"context"
	"encoding/json"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/ruleset/fifth"
)

// Types of the events of an encounter's ledger.
const (
	typeStarted = "encounter.started"
	typeActed   = "encounter.acted"
)

// maxActs bounds the acts of an encounter: each call computes the state from all of them.
const maxActs = 2000

// started is the payload of the first event.
type started struct {
	Setup   fifth.Setup `json:"setup"`
	Players []string    `json:"players,omitempty"` // sides that callers below game master act for
	System  string      `json:"system"`
}

// encounter is the state of an encounter as of a record.
type encounter struct {
	id     string
	seq    canon.Seq // of the last record
	acts   int
	state  *fifth.Encounter
	events []fifth.Event // all so far
	last   int           // index in events of the first event of the last act
	started
}

func ledgerOf(world access.WorldID, id string) canon.StreamID {
	return canon.LedgerStream(Ledger, world.String()+"/"+id)
}

// idPrefix begins the ids of encounters.
const idPrefix = "e-"

// load computes an encounter from its ledger, up to a record; 0: up to the last. One in which players act
// for no side is the game masters' alone.
func (s *Service) load(ctx context.Context, g access.Grant, id string, upTo canon.Seq) (*encounter, error) {
	missing := fault.New(fault.NotFound, "there is no encounter %q in this world", id)
	if !canon.IsLedgerName(idPrefix, id) {
		return nil, missing
	}
	e := &encounter{id: id}
	for rec, err := range s.cfg.Canon.Records(ctx, g, ledgerOf(g.World(), id), 1) {
		if err != nil {
			return nil, err
		}
		if upTo > 0 && rec.Seq > upTo {
			break
		}
		if rec.Event == nil {
			continue
		}
		if err := s.fold(g.World(), e, rec); err != nil {
			return nil, err
		}
	}
	if e.state == nil || len(e.Players) == 0 && g.Role() < access.RoleGM {
		return nil, missing
	}
	return e, nil
}

// fold applies a record.
func (s *Service) fold(world access.WorldID, e *encounter, rec canon.Record) (err error) {
	var events []fifth.Event
	e.seq = rec.Seq
	switch rec.Event.Type {
	case typeStarted:
		if err := json.Unmarshal(rec.Event.Payload, &e.started); err != nil {
			return err
		}
		events, err = s.begin(world, e)
	case typeActed:
		var a fifth.Act
		if err := json.Unmarshal(rec.Event.Payload, &a); err != nil {
			return err
		}
		e.acts++
		events, err = e.state.Do(a)
	}
	e.last = len(e.events)
	e.events = append(e.events, events...)
	return err
}

// begin starts the encounter of a setup.
func (s *Service) begin(world access.WorldID, e *encounter) (events []fifth.Event, err error) {
	e.state, events, err = fifth.Start(e.Setup, s.seedOf(world, e.id).Stream())
	return events, err
}

type actIn struct {
	ID      string   `json:"id" maxlen:"20" jsonschema:"The encounter's id."`
	Kind    string   `json:"kind" enum:"attack,cast,move,dash,dodge,disengage,help,hide,ready,react,stand,stabilize,end" jsonschema:"Act of the combatant; end ends its turn."`
	Actor   string   `json:"actor,omitzero" maxlen:"100" jsonschema:"The combatant; the one whose turn it is if omitted."`
	Targets []string `json:"targets,omitzero" maxitems:"60" jsonschema:"Names of combatants."`
	Zone    string   `json:"zone,omitzero" maxlen:"100" jsonschema:"Where to move, or the zone that a spell's area fills."`
	With    string   `json:"with,omitzero" maxlen:"100" jsonschema:"The attack or spell; the first attack, or the creature's multiattack, if omitted."`
	Slot    int      `json:"slot,omitzero" min:"0" max:"9" jsonschema:"Level of the slot; default the spell's."`
	Trigger string   `json:"trigger,omitzero" maxlen:"200" jsonschema:"Of ready: the event to wait for."`
	Then    string   `json:"then,omitzero" enum:"attack,cast" jsonschema:"Of ready: the act to wait with, which takes with, targets and slot. react carries it out."`
}

func (in *actIn) toAct(e *encounter) fifth.Act {
	a := fifth.Act{Kind: in.Kind, Actor: in.Actor, Targets: in.Targets, Zone: in.Zone, With: in.With, Slot: in.Slot,
		Trigger: in.Trigger}
	if a.Actor == "" {
		a.Actor = e.state.Current()
	}
	if in.Then != "" {
		then := a
		then.Kind, then.Trigger = in.Then, ""
		a = fifth.Act{Kind: in.Kind, Actor: a.Actor, Trigger: in.Trigger, Then: &then}
	}
	return a
}

func (s *Service) encounterAct() *op.Operation {
	return define(op.Spec{
		Name: "encounter_act", Title: "Act in an encounter", Route: "POST /api/rules/encounters/{id}/acts",
		Effect: access.Write, Plays: true, Class: access.ClassCommand,
		Asked: []string{
			"swing at the ogre", "end my turn in the fight", "run to another part of the battlefield",
			"shoot at an enemy in combat", "hit an enemy", "strike, dodge or flee", "take my turn",
			"move in battle", "attack with a sword",
		},
		Doc: "Let a combatant act in an encounter: attack, cast, move, dash, dodge, help, hide, ready, react, " +
			"disengage, stand up, stabilize, end the turn. An act that the rules do not allow is refused with " +
			"the reason.",
		Examples: []op.Example{{Title: "Attack", Input: `{"id":"e-00112233aabbccdd","kind":"attack",` +
			`"targets":["Goblin 1"]}`},
			{Title: "Wait with a spell", Input: `{"id":"e-00112233aabbccdd","kind":"ready",` +
				`"trigger":"the door opens","then":"cast","with":"Fireball","zone":"hall"}`}},
	}, s.act)
}

type castIn struct {
	ID      string   `json:"id" maxlen:"20" jsonschema:"The encounter's id."`
	Spell   string   `json:"spell" minlen:"1" maxlen:"100" jsonschema:"Name of the spell."`
	Caster  string   `json:"caster,omitzero" maxlen:"100" jsonschema:"The one whose turn it is if omitted."`
	Slot    int      `json:"slot,omitzero" min:"0" max:"9" jsonschema:"Level of the slot; default the spell's."`
	Targets []string `json:"targets,omitzero" maxitems:"60" jsonschema:"Names of combatants."`
	Zone    string   `json:"zone,omitzero" maxlen:"100" jsonschema:"The zone that the spell's area fills."`
}

func (s *Service) castSpell() *op.Operation {
	return define(op.Spec{
		Name: "cast_spell", Title: "Cast a spell in an encounter", Route: "POST /api/rules/encounters/{id}/spells",
		Effect: access.Write, Plays: true, Class: access.ClassCommand,
		Asked: []string{
			"use magic in a fight", "throw fire at them", "heal a companion with an incantation",
			"hurl a fireball", "bless a friend in battle", "magic against a foe",
		},
		Doc: "Cast a spell in an encounter: it checks range, slot, components and the casting time, rolls " +
			"attacks and saving throws, and keeps concentration.",
		Examples: []op.Example{{Title: "An area", Input: `{"id":"e-00112233aabbccdd","spell":"Fireball",` +
			`"zone":"hall"}`},
			{Title: "With a higher slot", Input: `{"id":"e-00112233aabbccdd","spell":"Cure Wounds","slot":2,` +
				`"targets":["Guard"]}`}},
	}, func(ctx context.Context, c *op.Call, in castIn) (encounterOut, error) {
		return s.act(ctx, c, actIn{ID: in.ID, Kind: "cast", Actor: in.Caster, With: in.Spell, Slot: in.Slot,
			Targets: in.Targets, Zone: in.Zone})
	})
}

// actTries is the number of attempts to append an act while others act too.
const actTries = 8

// act carries out an act: it computes the state, tries the act on it, and appends it. If another act
// came first, it begins again.
func (s *Service) act(ctx context.Context, c *op.Call, in actIn) (encounterOut, error) {
	if r, ok, err := s.findRepeat(ctx, c.Grant); ok || err != nil {
		return s.answer(ctx, c, in.ID, r, err)
	}
	for try := 0; ; try++ {
		e, err := s.load(ctx, c.Grant, in.ID, 0)
		if err != nil {
			return encounterOut{}, err
		}
		a := in.toAct(e)
		events, err := tryAct(c.Grant, e, a)
		if err != nil {
			return encounterOut{}, err
		}
		payload, err := json.Marshal(a)
		if err != nil {
			return encounterOut{}, err
		}
		receipt, err := s.cfg.Canon.Append(ctx, c.Grant, ledgerOf(c.Grant.World(), in.ID), e.seq,
			[]canon.Event{{Type: typeActed, Payload: payload, Version: 1}})
		switch {
		case canon.Moved(err) && try < actTries:
			continue
		case err != nil || receipt.Replayed:
			return s.answer(ctx, c, in.ID, receipt, err)
		}
		return s.show(c.Grant, e, events), nil
	}
}

// findRepeat returns the receipt of the earlier use of a grant's idempotency key.
func (s *Service) findRepeat(ctx context.Context, g access.Grant) (r canon.Receipt, ok bool, err error) {
	if g.Request().IdempotencyKey == "" {
		return r, false, nil
	}
	err = s.cfg.Canon.Read(ctx, g, func(l *canon.Snapshot) error {
		r, ok, err = l.Repeated(ctx, g)
		return err
	})
	return r, ok, err
}

// tryAct checks that the caller may act for the actor, and carries the act out on the state.
func tryAct(g access.Grant, e *encounter, a fifth.Act) ([]fifth.Event, error) {
	if side := e.sideOf(a.Actor); side != "" && !e.maySeeAll(g, side) {
		return nil, fault.New(fault.Denied, "only a game master acts for the side %q; players act for "+
			"%s", side, joinNames(e.Players))
	}
	if e.acts >= maxActs {
		return nil, fault.New(fault.Rule, "the encounter has had %d acts, the most that one can have; start "+
			"another", maxActs)
	}
	events, err := e.state.Do(a)
	return events, asFault(err)
}
