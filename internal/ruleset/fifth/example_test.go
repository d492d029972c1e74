package fifth_test

import (
	"fmt"

	"loregate/internal/ruleset"
	"loregate/internal/ruleset/fifth"
)

func Example() {
	guard := fifth.Creature{Name: "Guard", ArmorClass: 16, HitPoints: 11, Speed: 30,
		Scores: fifth.Scores{13, 12, 12, 10, 11, 10}, Attacks: []fifth.Attack{{Name: "Spear", Bonus: 3, Reach: 5,
			Hits: []fifth.Damage{{Dice: ruleset.MustDice("1d6+1"), Type: "piercing"}}}}}
	rat := guard
	rat.Name, rat.ArmorClass, rat.Mortal = "Rat", 10, true
	e, _, err := fifth.Start(fifth.Setup{Fighters: []fifth.Combatant{{Creature: guard, Side: "town"},
		{Creature: rat, Side: "cellar"}}}, ruleset.Seed{5}.Stream())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("turn:", e.Current())
	target := map[string]string{"Guard": "Rat", "Rat": "Guard"}[e.Current()]
	events, err := e.Do(fifth.Act{Kind: "attack", Actor: e.Current(), Targets: []string{target}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(events[0].Total, "against", events[0].Against, events[0].Result)
	// Output:
	// turn: Rat
	// 12 against 16 miss
}

func ExampleBuild() {
	c, err := fifth.Build(fifth.Sheet{Name: "Wren", Race: "Human", Class: "Wizard", Level: 3, Method: "array",
		Scores: fifth.Scores{8, 14, 13, 15, 12, 10}, Skills: []string{"arcana", "history"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.HitPoints, c.ArmorClass, c.SpellDC, c.Slots[:2])
	// Output: 20 12 13 [4 2]
}
