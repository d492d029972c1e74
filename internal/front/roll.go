package front

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/ruleset"
	"loregate/internal/slicesx"
)

type rollIn struct {
	Dice   string `json:"dice" minlen:"1" maxlen:"100" jsonschema:"Such as 2d6+3, 4d6kh3 (keep highest), 2d20kl1, d% or 4dF."`
	Reason string `json:"reason,omitzero" maxlen:"200" jsonschema:"Its purpose."`
}

type rollOut struct {
	Total  int      `json:"total"`
	Dice   string   `json:"dice"`
	Rolls  []string `json:"rolls"`
	Reason string   `json:"reason,omitzero"`
}

func (f *Front) rollOp() *op.Operation {
	return op.Define(op.Spec{
		Name: "roll", Title: "Roll dice", Surfaces: []string{Surface}, Effect: access.Read, NoWorld: true, TextOnly: true,
		Asked: []string{"throw some dice", "two six-sided dice and a bonus", "heads or tails", "a random number",
			"cast the dice for luck"},
		Doc: "Roll or throw dice, toss a coin (d2), or draw a random number by chance, with a bonus or malus, " +
			"advantage or disadvantage, for a check, an attack, damage, a saving throw, initiative or luck.",
		Examples: []op.Example{{Title: "Two dice and a bonus", Input: `{"dice": "2d6+3"}`}},
	}, f.roll)
}

func (f *Front) roll(_ context.Context, _ *op.Call, in rollIn) (rollOut, error) {
	d, err := ruleset.ParseDice(in.Dice)
	if err != nil {
		return rollOut{}, fault.BadField("dice", "%s", err)
	}
	var seed ruleset.Seed
	f.cfg.Random(seed[:])
	total, thrown := d.Throw(seed.Stream())
	return rollOut{Total: total, Dice: in.Dice, Rolls: slicesx.Map(thrown, ruleset.Thrown.String), Reason: in.Reason}, nil
}
