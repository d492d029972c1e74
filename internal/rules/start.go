package rules

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/ruleset/fifth"
)

type zoneIn struct {
	Name  string   `json:"name" minlen:"1" maxlen:"100" jsonschema:"Name of the zone."`
	Next  []string `json:"next,omitzero" maxitems:"30" jsonschema:"Neighbouring zones; being neighbours is mutual."`
	Cover int      `json:"cover,omitzero" enum:"0,2,5" jsonschema:"Bonus to the armor class of those within against attacks from other zones: 2 is half cover, 5 three-quarters."`
}

type combatantIn struct {
	Card       string          `json:"card,omitzero" maxlen:"255" jsonschema:"A monster's card; or give creature."`
	Creature   json.RawMessage `json:"creature,omitzero" jsonschema:"Numbers, as build_character answers them."`
	Name       string          `json:"name,omitzero" maxlen:"100" jsonschema:"Name at the table; default the creature's."`
	Count      int             `json:"count,omitzero" min:"1" max:"20" default:"1" jsonschema:"How many."`
	Side       string          `json:"side" minlen:"1" maxlen:"40" jsonschema:"Those of one side do not fight each other."`
	Zone       string          `json:"zone,omitzero" maxlen:"100" jsonschema:"Default: the first."`
	Spells     []string        `json:"spells,omitzero" maxitems:"40" jsonschema:"Spells with cards, added to its own."`
	Hurt       int             `json:"hurt,omitzero" min:"0" max:"10000" jsonschema:"Hit points that it lacks."`
	Temporary  int             `json:"temporary,omitzero" min:"0" max:"10000" jsonschema:"Temporary hit points."`
	Conditions []string        `json:"conditions,omitzero" maxitems:"14" jsonschema:"Such as prone or poisoned."`
	Exhaustion int             `json:"exhaustion,omitzero" min:"0" max:"5" jsonschema:"Level of exhaustion."`
	Surprised  bool            `json:"surprised,omitzero" jsonschema:"Cannot act in the first round."`
}

type startIn struct {
	Fighters []combatantIn `json:"fighters" minitems:"2" maxitems:"60" jsonschema:"Combatants, or groups of equal ones."`
	Players  []string      `json:"player_sides,omitzero" maxitems:"6" jsonschema:"Sides that players act for."`
	Zones    []zoneIn      `json:"zones,omitzero" maxitems:"30" jsonschema:"Places of the encounter; one if omitted."`
	ZoneFeet int           `json:"zone_feet,omitzero" min:"5" max:"200" default:"25" jsonschema:"Between neighbouring zones."`
}

func (s *Service) startEncounter() *op.Operation {
	return define(op.Spec{
		Name: "start_encounter", Title: "Start an encounter", Route: "POST /api/rules/encounters", Status: 201,
		Effect: access.Write, MinRole: access.RoleGM,
		Asked: []string{
			"begin a fight", "roll initiative", "monsters attack the group", "set up a battle",
			"a fight breaks out", "battle begins", "enemies attack", "roll for who goes first",
		},
		Doc: "Begin a fight by the rules of the fifth edition: creatures from cards or numbers, on sides and in " +
			"zones; it rolls initiative. " +
			"The answer has a commitment to all dice; the seed that it commits to is shown at the end.",
		Examples: []op.Example{{Title: "Two guards against each other", Input: `{"player_sides":["party"],` +
			`"fighters":[` +
			`{"side":"party","creature":{"name":"Guard","armor_class":16,"hit_points":11,"speed":30,"scores":[13,` +
			`12,12,10,11,10],` +
			`"attacks":[{"name":"Spear","bonus":3,"reach":5,"hits":[{"dice":"1d6+1","type":"piercing"}]}]}},` +
			`{"side":"thieves","creature":{"name":"Thief","armor_class":14,"hit_points":9,"speed":30,` +
			`"mortal":true,"scores":[10,15,10,10,10,10],` +
			`"attacks":[{"name":"Dagger","bonus":4,"reach":5,"hits":[{"dice":"1d4+2","type":"piercing"}]}]}}]}`}},
	}, s.start)
}

func (s *Service) start(ctx context.Context, c *op.Call, in startIn) (encounterOut, error) {
	e := &encounter{id: canon.LedgerName(c.Grant, idPrefix, s.cfg.Random), started: started{Players: in.Players, System: (fifth.System{}).Name()}}
	e.Setup.ZoneFeet = in.ZoneFeet
	for _, z := range in.Zones {
		e.Setup.Zones = append(e.Setup.Zones, fifth.Zone{Name: z.Name, Next: z.Next, Cover: z.Cover})
	}
	err := s.cfg.Canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
		for i := range in.Fighters {
			list, err := in.Fighters[i].read(ctx, l)
			if err != nil {
				return fault.Below(fmt.Sprintf("fighters[%d].", i), err)
			}
			e.Setup.Fighters = append(e.Setup.Fighters, list...)
		}
		return nil
	})
	if err != nil {
		return encounterOut{}, err
	}
	events, err := s.begin(c.Grant.World(), e)
	if err != nil {
		return encounterOut{}, asFault(err)
	}
	payload, err := json.Marshal(e.started)
	if err != nil {
		return encounterOut{}, err
	}
	receipt, err := s.cfg.Canon.Append(ctx, c.Grant, ledgerOf(c.Grant.World(), e.id), 0,
		[]canon.Event{{Type: typeStarted, Payload: payload, Version: 1}})
	c.Reply.Location = "/api/rules/encounters/" + e.id
	if err != nil || receipt.Replayed {
		return s.answer(ctx, c, e.id, receipt, err)
	}
	return s.show(c.Grant, e, events), nil
}

// read returns the combatants that an entry describes.
func (in *combatantIn) read(ctx context.Context, l *canon.Snapshot) ([]fifth.Combatant, error) {
	c, err := in.readCreature(ctx, l)
	if err != nil {
		return nil, err
	}
	for _, name := range in.Spells {
		card, record, err := findRecord(ctx, l, "spell", name)
		if err != nil {
			return nil, err
		}
		if !isSeenByAll(card) {
			return nil, fault.BadField("spells", "names %q, whose card players do not see; they would read the name when it "+
				"is cast: lower the card's level first", name)
		}
		text, err := ruleText(ctx, l, card)
		if err != nil {
			return nil, err
		}
		spell, err := fifth.ReadSpell(plainName(card), record, text)
		if err != nil {
			return nil, fault.BadField("spells", "%q %s", name, err)
		}
		c.Spells = append(c.Spells, spell)
	}
	if in.Name != "" {
		c.Name = in.Name
	}
	out := make([]fifth.Combatant, max(in.Count, 1))
	for i := range out {
		out[i] = fifth.Combatant{Creature: c, Side: in.Side, Zone: in.Zone, Hurt: in.Hurt, Temporary: in.Temporary,
			Conditions: in.Conditions, Exhaustion: in.Exhaustion, Surprised: in.Surprised}
		if len(out) > 1 {
			out[i].Name = fmt.Sprintf("%s %d", c.Name, i+1)
		}
	}
	return out, nil
}

// readCreature returns the creature of a card or of given numbers. A card that players cannot see
// needs a name for the table, since everybody at the table reads the names.
func (in *combatantIn) readCreature(ctx context.Context, l *canon.Snapshot) (c fifth.Creature, err error) {
	switch {
	case (in.Card == "") == (in.Creature == nil):
		return c, fault.BadField("card", "must be given, or creature, and not both")
	case in.Creature != nil:
		d := json.NewDecoder(bytes.NewReader(in.Creature))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil {
			return c, fault.BadField("creature", "does not have the form that build_character answers: %s", err)
		}
		return c, nil
	}
	card, record, err := findRecord(ctx, l, "monster", in.Card)
	if err != nil {
		return c, err
	}
	if in.Name == "" && !isSeenByAll(card) {
		return c, fault.BadField("name", "must be given: players do not see the card, and would read its name")
	}
	c, _, err = fifth.Monster(plainName(card), record)
	if err != nil {
		return c, fault.BadField("card", "%q %s", in.Card, err)
	}
	return c, nil
}

// isSeenByAll reports whether all players see a card.
func isSeenByAll(c canon.Card) bool { return c.Label.Covers(access.NewLabel(access.LevelUser)) }

// plainName returns a card's name without the kind in brackets with which the import srd tells cards
// of one name apart.
func plainName(c canon.Card) string {
	name, _, _ := strings.Cut(c.Name, " (")
	return name
}
