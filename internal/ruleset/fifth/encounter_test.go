package fifth_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"loregate/internal/ruleset"
	"loregate/internal/ruleset/fifth"
)

func dice(s string) ruleset.Dice { return ruleset.MustDice(s) }

// party returns a setup of soldiers against goblins in three zones.
func party(soldiers, goblins int) fifth.Setup {
	wis := fifth.Wisdom
	dex := fifth.Dexterity
	s := fifth.Setup{Zones: []fifth.Zone{{Name: "gate", Next: []string{"yard"}}, {Name: "yard", Next: []string{"hall"}},
		{Name: "hall", Cover: 2}}}
	for i := range soldiers {
		s.Fighters = append(s.Fighters, fifth.Combatant{Side: "soldiers", Zone: "gate", Creature: fifth.Creature{
			Name: fmt.Sprintf("Soldier %d", i+1), ArmorClass: 16, HitPoints: 38, Speed: 30, Level: 5,
			Scores: fifth.Scores{16, 12, 14, 10, 11, 10}, Multiattack: []string{"Sword", "Sword"},
			Attacks: []fifth.Attack{{Name: "Sword", Bonus: 6, Reach: 5, Hits: []fifth.Damage{{Dice: dice("1d8+3"), Type: "slashing"}}},
				{Name: "Bow", Bonus: 4, Range: 80, Long: 320, Hits: []fifth.Damage{{Dice: dice("1d8+1"), Type: "piercing"}}}},
			Slots: fifth.Slots{4, 3, 2}, SpellAttack: 6, SpellDC: 14, SpellBonus: 3,
			Spells: []fifth.Spell{
				{Name: "Fire ball", Level: 3, Range: 150, Area: true, Save: &dex, Half: true,
					Damage: []fifth.Damage{{Dice: dice("8d6"), Type: "fire"}}, Upcast: dice("1d6")},
				{Name: "Hold", Level: 2, Range: 60, Concentration: true, Rounds: 10, Save: &wis, SaveAgain: true,
					Condition: "paralyzed"},
				{Name: "Word", Level: 1, Range: 60, Time: "bonus action", Heal: true, Healing: fifth.Damage{Dice: dice("1d4")}},
				{Name: "Spark", Level: 0, Range: 120, Attack: true, Damage: []fifth.Damage{{Dice: dice("1d10"), Type: "fire"}},
					Cantrip: []ruleset.Dice{dice("2d10")}}},
		}})
	}
	for i := range goblins {
		s.Fighters = append(s.Fighters, fifth.Combatant{Side: "goblins", Zone: "hall", Creature: fifth.Creature{
			Name: fmt.Sprintf("Goblin %d", i+1), ArmorClass: 15, HitPoints: 27, Speed: 30, Mortal: true,
			Scores: fifth.Scores{8, 14, 10, 10, 8, 8}, Checks: map[string]int{"stealth": 6}, Resistances: []string{"piercing"},
			Attacks: []fifth.Attack{{Name: "Scimitar", Bonus: 4, Reach: 5, Hits: []fifth.Damage{{Dice: dice("1d6+2"), Type: "slashing"}}},
				{Name: "Bow", Bonus: 4, Range: 80, Long: 320, Hits: []fifth.Damage{{Dice: dice("1d6+2"), Type: "piercing"}}}},
		}})
	}
	return s
}

// randomAct returns an act that may or may not be allowed.
func randomAct(r *rand.Rand, e *fifth.Encounter, names []string) fifth.Act {
	kinds := fifth.ActKinds()
	any := func(list ...string) string { return list[r.IntN(len(list))] }
	a := fifth.Act{Kind: kinds[r.IntN(len(kinds))], Actor: e.Current(), Targets: []string{any(names...)},
		Zone: any("gate", "yard", "hall", "moon"), With: any("", "Sword", "Bow", "Fire ball", "Hold", "Word", "Spark"),
		Slot: r.IntN(4), Trigger: "somebody moves"}
	a.Then = &fifth.Act{Kind: any("attack", "cast"), With: a.With, Targets: a.Targets, Zone: a.Zone}
	if a.Kind == "react" || r.IntN(20) == 0 {
		a.Actor = any(names...)
	}
	return a
}

// TestEncounterProperties plays random encounters: an act that is refused changes nothing, hit
// points stay within bounds, and the seed and the acts give the same events again.
func TestEncounterProperties(t *testing.T) {
	for n := range 60 {
		setup := party(4, 6)
		r := rand.New(rand.NewPCG(uint64(n), 1))
		seed := ruleset.Seed{byte(n)}
		e, events, err := fifth.Start(setup, seed.Stream())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range setup.Fighters {
			names = append(names, f.Name)
		}
		var acts []fifth.Act
		for range 3000 {
			if over, _ := e.Over(); over {
				break
			}
			before := e.Statuses()
			a := randomAct(r, e, names)
			more, err := e.Do(a)
			after := e.Statuses()
			if err != nil {
				if !reflect.DeepEqual(before, after) || more != nil {
					t.Fatalf("%+v is refused (%v) and changed the state", a, err)
				}
				continue
			}
			acts, events = append(acts, a), append(events, more...)
			for _, s := range after {
				if s.HitPoints < 0 || s.HitPoints > 38 || s.State == "dead" && s.HitPoints > 0 || s.Slots[0] < 0 {
					t.Fatalf("%+v after %+v", s, a)
				}
			}
		}
		again, same, err := fifth.Start(setup, seed.Stream())
		for _, a := range acts {
			if err != nil {
				break
			}
			var more []fifth.Event
			more, err = again.Do(a)
			same = append(same, more...)
		}
		if err != nil || !reflect.DeepEqual(events, same) || !reflect.DeepEqual(e.Statuses(), again.Statuses()) {
			t.Fatalf("the replay differs: %v", err)
		}
	}
}

// FuzzSetup: no setup from outside panics, hangs or starts an encounter of one side.
func FuzzSetup(f *testing.F) {
	b, err := json.Marshal(party(1, 1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, []byte(`{"kind":"attack","actor":"Soldier 1","targets":["Goblin 1"]}`))
	f.Fuzz(func(t *testing.T, setup, act []byte) {
		var s fifth.Setup
		var a fifth.Act
		if json.Unmarshal(setup, &s) != nil || json.Unmarshal(act, &a) != nil {
			return
		}
		e, _, err := fifth.Start(s, ruleset.Seed{}.Stream())
		if err != nil {
			return
		}
		for range 5 {
			_, _ = e.Do(a)
			_, _ = e.Do(fifth.Act{Kind: "end", Actor: e.Current()})
		}
	})
}

// fight plays one simple act for each turn.
func fight(e *fifth.Encounter, targets map[string]string) (turns int, err error) {
	for {
		if over, _ := e.Over(); over {
			return turns, nil
		}
		name := e.Current()
		if _, err := e.Do(fifth.Act{Kind: "attack", Actor: name, With: "Bow", Targets: []string{targets[name]}}); err != nil {
			return turns, err
		}
		if over, _ := e.Over(); over {
			return turns, nil
		}
		if e.Current() == name {
			if _, err := e.Do(fifth.Act{Kind: "end", Actor: name}); err != nil {
				return turns, err
			}
		}
		if turns++; turns > 20*20 {
			return turns, nil
		}
	}
}

// BenchmarkRounds plays rounds of 8 against 12.
func BenchmarkRounds(b *testing.B) {
	setup := party(8, 12)
	targets := map[string]string{}
	for i := range setup.Fighters {
		f := &setup.Fighters[i]
		f.HitPoints = 10_000
		targets[f.Name] = fmt.Sprintf("Goblin %d", i%12+1)
		if f.Side == "goblins" {
			targets[f.Name] = fmt.Sprintf("Soldier %d", i%8+1)
		}
	}
	rounds := 0
	for b.Loop() {
		e, _, err := fifth.Start(setup, ruleset.Seed{1}.Stream())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := fight(e, targets); err != nil {
			b.Fatal(err)
		}
		rounds += e.Round()
	}
	b.ReportMetric(float64(rounds)/b.Elapsed().Seconds(), "rounds/s")
}
