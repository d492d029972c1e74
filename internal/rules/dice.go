package rules

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/ruleset"
	"loregate/internal/ruleset/fifth"
)

type seedIn struct {
	Seed string `json:"seed,omitzero" maxlen:"64" jsonschema:"Seed of an earlier answer, to repeat it."`
}

type favourIn struct {
	Advantage    bool `json:"advantage,omitzero" jsonschema:"The better of two rolls counts."`
	Disadvantage bool `json:"disadvantage,omitzero" jsonschema:"The worse of two rolls counts; with advantage, neither."`
}

type rollDiceIn struct {
	Dice string `json:"dice" minlen:"1" maxlen:"200" jsonschema:"Such as 2d6+3, 4d6kh3 (keep 3 highest), d% or 4dF."`
	seedIn
}

type rollDiceOut struct {
	Total  int      `json:"total"`
	Dice   string   `json:"dice"`
	Rolls  []string `json:"rolls" jsonschema:"The faces of each group of dice."`
	Lowest int      `json:"lowest" jsonschema:"The least total that was possible."`
	Most   int      `json:"highest" jsonschema:"The greatest total that was possible."`
	Seed   string   `json:"seed" jsonschema:"With this seed the roll can be repeated and checked."`
}

func (s *Service) rollDice() *op.Operation {
	return define(op.Spec{
		Name: "roll_dice", Title: "Roll dice that can be checked", Route: "POST /api/rules/roll", Effect: access.Read,
		Asked: []string{
			"a throw that can be proved fair afterwards", "fair dice with proof",
			"throw dice that others can check",
		},
		Doc: "Roll dice with a seed, so that everybody can check the result. docs/rules.md describes how dice " +
			"follow from a seed.",
		Examples: []op.Example{{Title: "Damage", Input: `{"dice":"2d6+3"}`},
			{Title: "An ability score", Input: `{"dice":"4d6kh3"}`}},
	}, func(_ context.Context, _ *op.Call, in rollDiceIn) (rollDiceOut, error) {
		seed, err := s.parseSeed(in.Seed)
		if err != nil {
			return rollDiceOut{}, err
		}
		d, err := ruleset.ParseDice(in.Dice)
		if err != nil {
			return rollDiceOut{}, fault.BadField("dice", "%s", err)
		}
		total, thrown := d.Throw(seed.Stream())
		low, high := d.Bounds()
		return rollDiceOut{total, d.String(), showThrown(thrown), low, high, seed.String()}, nil
	})
}

type checkIn struct {
	Skill      string `json:"skill,omitzero" maxlen:"40" jsonschema:"Skill or ability that is tested, such as stealth or strength; for the answer, and for the modifier of a character."`
	Modifier   int    `json:"modifier,omitzero" min:"-100" max:"100" jsonschema:"Number that the person adds to the die; in the free-form system the skill in percent."`
	Difficulty int    `json:"difficulty,omitzero" min:"-100" max:"100" jsonschema:"Difficulty class; in the free-form system the number taken off the skill."`
	Level      string `json:"level,omitzero" maxlen:"20" jsonschema:"Difficulty by name, such as easy or hard."`
	favourIn
	seedIn
}

type checkOut struct {
	Skill  string `json:"skill,omitzero"`
	System string `json:"system"`
	ruleset.Outcome
	Rolls []string `json:"rolls"`
	Seed  string   `json:"seed"`
}

func (s *Service) checkAbility() *op.Operation {
	return define(op.Spec{
		Name: "check_ability", Title: "Test an ability", Route: "POST /api/rules/check", Effect: access.Read,
		Asked: []string{
			"does she manage to climb it", "test of skill against a difficulty", "saving throw",
			"did the attempt work", "does the attempt succeed", "sneak past a guard", "climb, swim or persuade",
			"roll for a skill against a number", "did she make it", "test of strength or wits",
		},
		Doc: "Settle whether somebody succeeds in an uncertain act, by the world's system of rules: a d20 and a " +
			"modifier against a difficulty class, or a share in a hundred.",
		Examples: []op.Example{{Title: "Hide", Input: `{"skill":"stealth","modifier":5,"difficulty":15}`},
			{Title: "A hard act, hindered", Input: `{"skill":"strength","modifier":2,"level":"hard",` +
				`"disadvantage":true}`}},
	}, s.check)
}

func (s *Service) check(ctx context.Context, c *op.Call, in checkIn) (checkOut, error) {
	sys, err := s.systemOf(ctx, c)
	if err != nil {
		return checkOut{}, err
	}
	if in.Level != "" {
		var names []string
		found := false
		for _, d := range sys.Difficulties() {
			if names = append(names, d.Name); d.Name == in.Level {
				in.Difficulty, found = d.Value, true
			}
		}
		if !found {
			return checkOut{}, fault.BadField("level", "must be one of %s", joinNames(names))
		}
	}
	if _, err := fifth.ParseAbility(in.Skill); in.Skill != "" && err != nil && sys.Name() == (fifth.System{}).Name() {
		if _, ok := fifth.SkillAbility(in.Skill); !ok {
			return checkOut{}, fault.BadField("skill", "must be an ability or one of %s", joinNames(fifth.Skills()))
		}
	}
	seed, err := s.parseSeed(in.Seed)
	if err != nil {
		return checkOut{}, err
	}
	o := sys.Check(ruleset.Check{Skill: in.Modifier, Difficulty: in.Difficulty,
		Mode: ruleset.ModeOf(in.Advantage, in.Disadvantage)}, seed.Stream())
	out := checkOut{Skill: in.Skill, System: sys.Name(), Outcome: o, Rolls: showThrown(o.Thrown), Seed: seed.String()}
	out.Thrown = nil
	return out, nil
}

type restIn struct {
	Kind string `json:"kind" enum:"short,long" jsonschema:"A short rest takes an hour, a long one eight."`
	fifth.Resources
	Spend int `json:"spend_dice,omitzero" min:"0" max:"20" jsonschema:"Hit dice to spend in a short rest."`
	seedIn
}

type restOut struct {
	fifth.Rested
	Seed string `json:"seed,omitzero"`
}

func (s *Service) rest() *op.Operation {
	return define(op.Spec{
		Name: "rest", Title: "Rest", Route: "POST /api/rules/rest", Effect: access.Read,
		Asked: []string{
			"camp for the night", "recover by sleeping", "spend hit dice", "sleep and heal", "a night in camp",
			"short break to recover", "get spells back",
		},
		Doc: "Compute a character's hit points, hit dice, spell slots and exhaustion after a short or long " +
			"rest. It changes no card.",
		Examples: []op.Example{
			{Title: "An hour", Input: `{"kind":"short","hit_points":9,"max_hit_points":27,"hit_die":10,` +
				`"hit_dice":3,"level":3,"constitution":2,"spend_dice":2}`},
			{Title: "A night", Input: `{"kind":"long","hit_points":9,"max_hit_points":27,"hit_die":10,` +
				`"hit_dice":0,"level":3,"constitution":2}`}},
	}, func(_ context.Context, _ *op.Call, in restIn) (restOut, error) {
		if in.Kind == "long" {
			out, err := fifth.LongRest(in.Resources)
			return restOut{Rested: out}, asFault(err)
		}
		seed, err := s.parseSeed(in.Seed)
		if err != nil {
			return restOut{}, err
		}
		out, err := fifth.ShortRest(in.Resources, in.Spend, seed.Stream())
		return restOut{out, seed.String()}, asFault(err)
	})
}
