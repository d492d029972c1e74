package rules

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/ruleset"
	"loregate/internal/ruleset/fifth"
)

// maxRecords is the number of cards of a type that advice reads.
const maxRecords = 500

type monstersIn struct {
	Card  string `json:"card" minlen:"1" maxlen:"255" jsonschema:"Name of the monster's card."`
	Count int    `json:"count,omitzero" min:"1" max:"50" default:"1" jsonschema:"How many."`
}

type suggestIn struct {
	Levels   []int        `json:"levels" minitems:"1" maxitems:"20" jsonschema:"Level of each character."`
	Danger   string       `json:"danger,omitzero" enum:"easy,medium,hard,deadly" default:"medium" jsonschema:"How hard."`
	Monsters []monstersIn `json:"monsters,omitzero" maxitems:"20" jsonschema:"Assess these instead of suggesting some."`
	Kind     string       `json:"kind,omitzero" maxlen:"40" jsonschema:"Only monsters of this kind, such as undead."`
	seedIn
}

type suggestion struct {
	Monsters []monstersIn `json:"monsters"`
	XP       int          `json:"xp"`
	Adjusted int          `json:"adjusted_xp" jsonschema:"Multiplied for the number of monsters."`
	Danger   string       `json:"danger"`
}

type suggestOut struct {
	Thresholds  map[string]int `json:"thresholds" jsonschema:"Experience from which an encounter has each danger."`
	Suggestions []suggestion   `json:"suggestions"`
	Citation    string         `json:"citation"`
	Seed        string         `json:"seed"`
}

func (s *Service) suggestEncounter() *op.Operation {
	return define(op.Spec{
		Name: "suggest_encounter", Title: "Suggest or assess an encounter", Route: "POST /api/rules/suggest",
		Effect: access.Read, MinRole: access.RoleGM,
		Asked: []string{
			"which monsters for four heroes of level three", "is this fight too hard", "balance a battle",
			"random encounter", "opponents for a group", "fair fight for some heroes",
			"how dangerous is this battle", "which beasts could they face", "foes of the right strength",
		},
		Doc: "Suggest monsters from the world's cards for a party and a danger, or assess given monsters, " +
			"by experience thresholds. Advice: it starts nothing.",
		Examples: []op.Example{{Title: "An easy fight", Input: `{"levels":[1],"danger":"easy"}`}},
	}, func(ctx context.Context, c *op.Call, in suggestIn) (out suggestOut, err error) {
		seed, err := s.parseSeed(in.Seed)
		if err != nil {
			return out, err
		}
		out = suggestOut{Seed: seed.String(), Suggestions: []suggestion{}, Thresholds: map[string]int{}}
		a, err := fifth.Assess(in.Levels, nil)
		if err != nil {
			return out, fault.BadField("levels", "%s", err)
		}
		for i, n := range a.Thresholds {
			out.Thresholds[fifth.Danger(i+1).String()] = n
		}
		out.Citation = a.Citation
		err = s.cfg.Canon.Read(ctx, c.Grant, func(l *canon.Snapshot) (err error) {
			if len(in.Monsters) > 0 {
				return in.assess(ctx, l, &out)
			}
			out.Suggestions, err = in.suggest(ctx, l, seed.Stream())
			return err
		})
		return out, err
	})
}

// worth is a monster's card and the experience that it is worth.
type worth struct {
	name string
	xp   int
}

func (in *suggestIn) assess(ctx context.Context, l *canon.Snapshot, out *suggestOut) error {
	var xp []int
	for i, m := range in.Monsters {
		card, record, err := findRecord(ctx, l, "monster", m.Card)
		if err != nil {
			return fault.Below(fmt.Sprintf("monsters[%d].", i), err)
		}
		c, _, err := fifth.Monster(card.Name, record)
		if err != nil {
			return fault.BadField(fmt.Sprintf("monsters[%d].card", i), "%q %s", m.Card, err)
		}
		xp = append(xp, slices.Repeat([]int{c.XP}, max(m.Count, 1))...)
	}
	a, err := fifth.Assess(in.Levels, xp)
	out.Suggestions = []suggestion{{in.Monsters, a.XP, a.Adjusted, a.Danger.String()}}
	return err
}

// suggest returns for several numbers of monsters a kind that gives the danger.
func (in *suggestIn) suggest(ctx context.Context, l *canon.Snapshot, by ruleset.Chance) (list []suggestion, err error) {
	all, err := in.readMonsters(ctx, l)
	if err != nil {
		return nil, err
	}
	list = []suggestion{}
	for _, n := range []int{1, 2, 4, 8, 12} {
		var fitting []suggestion
		for _, m := range all {
			a, err := fifth.Assess(in.Levels, slices.Repeat([]int{m.xp}, n))
			if err != nil {
				return nil, err
			}
			if a.Danger.String() == in.Danger {
				fitting = append(fitting, suggestion{[]monstersIn{{m.name, n}}, a.XP, a.Adjusted, in.Danger})
			}
		}
		if len(fitting) > 0 {
			list = append(list, fitting[by.Roll(len(fitting))-1])
		}
	}
	if len(list) == 0 {
		return nil, fault.New(fault.NotFound, "no monster of this world gives a %s encounter; the import srd "+
			"brings those of the fifth edition", in.Danger)
	}
	return list, nil
}

// readMonsters returns the visible monsters, by experience and name.
func (in *suggestIn) readMonsters(ctx context.Context, l *canon.Snapshot) (all []worth, err error) {
	err = eachRecord(ctx, l, "Creature", func(card canon.Card, record []byte) {
		var r struct {
			Kind string `json:"type"`
			XP   int    `json:"xp"`
		}
		if json.Unmarshal(record, &r) == nil && r.XP != 0 && (in.Kind == "" || r.Kind == in.Kind) {
			all = append(all, worth{card.Name, r.XP})
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b worth) int { return cmp.Or(cmp.Compare(a.xp, b.xp), cmp.Compare(a.name, b.name)) })
	return all, nil
}

type lootIn struct {
	Level int  `json:"level" min:"1" max:"20" jsonschema:"Level of the party, or challenge of the guard."`
	Hoard bool `json:"hoard,omitzero" jsonschema:"A treasure that is kept in a place, instead of a person's purse."`
	seedIn
}

type lootOut struct {
	Coins    map[string]int `json:"coins" jsonschema:"Number of coins by kind: cp, sp, gp, pp."`
	Items    []string       `json:"items" jsonschema:"Names of artifacts of the world."`
	Citation string         `json:"citation"`
	Seed     string         `json:"seed"`
}

// coinDice are the coins that one carries, by steps of five levels. They are Loregate's own: the
// SRD has no tables of treasure.
var coinDice = [4]map[string]ruleset.Dice{
	{"cp": ruleset.MustDice("5d6"), "sp": ruleset.MustDice("4d6"), "gp": ruleset.MustDice("2d6")},
	{"sp": ruleset.MustDice("6d6"), "gp": ruleset.MustDice("6d6")},
	{"gp": ruleset.MustDice("20d6"), "pp": ruleset.MustDice("2d6")},
	{"gp": ruleset.MustDice("60d6"), "pp": ruleset.MustDice("20d6")},
}

// rarities are the rarities of items by steps of five levels.
var rarities = [4][]string{{"Common", "Uncommon"}, {"Uncommon", "Rare"}, {"Rare", "Very Rare"},
	{"Very Rare", "Legendary"}}

// hoardFactor multiplies the coins that a person carries into those of a hoard.
const hoardFactor = 20

func (s *Service) generateLoot() *op.Operation {
	return define(op.Spec{
		Name: "generate_loot", Title: "Generate loot", Route: "POST /api/rules/loot", Effect: access.Read,
		MinRole: access.RoleGM,
		Asked: []string{
			"contents of the chest", "treasure of the dragon", "purses of the bandits", "reward for the fight",
			"gold and treasure", "reward after a battle", "hoard of a dragon", "what the enemies carried",
			"coins in a purse", "plunder",
		},
		Doc: "Draw coins by level, and for a hoard also artifacts of the world by rarity. Advice: it writes " +
			"no card.",
		Examples: []op.Example{{Title: "A chest", Input: `{"level":6,"hoard":true}`}},
	}, func(ctx context.Context, c *op.Call, in lootIn) (out lootOut, err error) {
		seed, err := s.parseSeed(in.Seed)
		if err != nil {
			return out, err
		}
		by, step := seed.Stream(), (in.Level-1)/5
		out = lootOut{Coins: map[string]int{}, Items: []string{}, Citation: "Loregate: loot by level", Seed: seed.String()}
		factor := 1
		if in.Hoard {
			factor = hoardFactor
		}
		for _, kind := range []string{"cp", "sp", "gp", "pp"} {
			if d, ok := coinDice[step][kind]; ok {
				out.Coins[kind] = d.Sum(by, 1) * factor
			}
		}
		if !in.Hoard {
			return out, nil
		}
		err = s.cfg.Canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
			names, err := readArtifacts(ctx, l, rarities[step])
			for range min(by.Roll(4), len(names)) {
				i := by.Roll(len(names)) - 1
				out.Items = append(out.Items, names[i])
				names = slices.Delete(names, i, i+1)
			}
			return err
		})
		return out, err
	})
}

// readArtifacts returns the names of the visible artifacts of some rarities, in order.
func readArtifacts(ctx context.Context, l *canon.Snapshot, of []string) (names []string, err error) {
	err = eachRecord(ctx, l, "Artifact", func(card canon.Card, record []byte) {
		var r struct {
			Rarity struct {
				Name string `json:"name"`
			} `json:"rarity"`
		}
		if json.Unmarshal(record, &r) == nil && slices.Contains(of, r.Rarity.Name) {
			names = append(names, card.Name)
		}
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}

// eachRecord calls f for those of the first maxRecords visible cards of a type that have a record of the rules.
func eachRecord(ctx context.Context, l *canon.Snapshot, typ string, f func(card canon.Card, record []byte)) error {
	read := 0
	for card, err := range l.AllCards(ctx, canon.Filter{Type: typ}) {
		if err != nil {
			return err
		}
		if read++; read > maxRecords {
			break
		}
		if record := recordOf(card); record != nil {
			f(card, record)
		}
	}
	return nil
}
