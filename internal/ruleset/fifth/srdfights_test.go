package fifth_test

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/ruleset"
	"loregate/internal/ruleset/fifth"
)

// A fight case, a line of testdata/srd/fights.jsonl, is a setup, a script and the report that the script leads to. Its
// spells are in spells.jsonl: those of the SRD by their names, and three that test a saving throw alone.
//
// The combatants are Hero and Ally against Foe and Imp; Hero and Foe are always there, the others if the setup names
// them. The setup has a part for each combatant or zone that differs: its name and words such as prone, armor=18 or
// at=far. The zones are near, middle and far, in a row; everybody begins in near. Initiative is in the order Hero, Ally,
// Foe, Imp; first puts one before all. Killer brings a combatant that is down to 0 hit points, and does nothing else.
//
// The script has steps: "Hero attack Foe with Sword: d20=15 d8=4" is an act with the dice that it must roll, no more
// and no less. A step that begins with ! reports whether the act is refused; "show Foe.hp" reports a part of the state.
type fightCase struct {
	Heading, Case, Setup, Script, Want string
}

func listFightCases() (cases []srdCase) {
	for _, c := range readCases[fightCase]("fights.jsonl") {
		cases = append(cases, srdCase{c.Heading, c.Case, func() string { return runFight(c) }, c.Want})
	}
	return cases
}

func runFight(c fightCase) (text string) {
	var step string
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprintf("%q stopped: %v", step, r)
		}
	}()
	setup, dice := readSetup(c.Setup)
	e, _, err := fifth.Start(setup, dice)
	if err != nil {
		return "setup: " + err.Error()
	}
	dice.requireEmpty()
	endKillerTurn := func() {
		if e.Current() == "Killer" {
			doAct(e, "Killer end", &scriptedDice{})
		}
	}
	if e.Current() == "Killer" {
		dice.left = []string{"d20=19"}
		doAct(e, "Killer attack Hero with Touch", dice)
		endKillerTurn()
	}
	var report []string
	for _, step = range splitSteps(c.Script) {
		if what, ok := strings.CutPrefix(step, "show "); ok {
			report = append(report, describeState(e, what))
			continue
		}
		act, refusable := strings.CutPrefix(step, "! ")
		words, faces, _ := strings.Cut(act, ":")
		dice.left = strings.Fields(faces)
		before := e.Statuses()
		_, err := e.Do(readAct(words))
		dice.requireEmpty()
		if err == nil {
			endKillerTurn()
		}
		switch {
		case err != nil && !reflect.DeepEqual(before, e.Statuses()):
			return fmt.Sprintf("%q is refused but changes the state", step)
		case refusable:
			report = append(report, describeRefusal(err))
		case err != nil:
			return fmt.Sprintf("%q: %v", step, err)
		}
	}
	return strings.Join(report, ", ")
}

func doAct(e *fifth.Encounter, words string, dice *scriptedDice) {
	if _, err := e.Do(readAct(words)); err != nil {
		panic(fmt.Sprintf("%q: %v", words, err))
	}
	dice.requireEmpty()
}

func splitSteps(text string) (steps []string) {
	for step := range strings.SplitSeq(text, ";") {
		if step = strings.TrimSpace(step); step != "" {
			steps = append(steps, step)
		}
	}
	return steps
}

// readAct reads an act such as "Hero cast Foe,Imp with Fireball at far slot 4"; after then stands the act that ready
// waits with.
func readAct(text string) (a fifth.Act) {
	words := strings.Fields(text)
	if first, then, ok := strings.Cut(text, " then "); ok {
		a = readAct(first)
		inner := readAct(strings.Fields(first)[0] + " " + then)
		a.Trigger, a.Then = "the foe moves", &inner
		return a
	}
	a.Actor, a.Kind = words[0], words[1]
	rest := strings.TrimPrefix(text, words[0]+" "+words[1])
	for _, key := range []string{" slot ", " at ", " with "} {
		if before, value, ok := strings.Cut(rest, key); ok {
			rest = before
			switch key {
			case " slot ":
				a.Slot, _ = strconv.Atoi(value)
			case " at ":
				a.Zone = value
			case " with ":
				a.With = value
			}
		}
	}
	if rest = strings.TrimSpace(rest); rest != "" {
		a.Targets = strings.Split(rest, ",")
	}
	return a
}

func describeState(e *fifth.Encounter, what string) string {
	switch what {
	case "turn":
		return e.Current()
	case "round":
		return fmt.Sprint(e.Round())
	case "winner":
		_, side := e.Over()
		return side
	}
	name, part, _ := strings.Cut(what, ".")
	for _, s := range e.Statuses() {
		if s.Name != name {
			continue
		}
		switch part {
		case "hp":
			return fmt.Sprint(s.HitPoints)
		case "temporary":
			return fmt.Sprint(s.Temporary)
		case "conditions":
			return strings.Join(slices.Sorted(slices.Values(s.Conditions)), " ")
		case "state":
			return s.State
		case "saves":
			return fmt.Sprintf("%d/%d", s.Saves[0], s.Saves[1])
		case "slots":
			return describeSlots(s.Slots)
		case "spell":
			return s.Concentrates
		case "zone":
			return s.Zone
		case "initiative":
			return fmt.Sprint(s.Initiative)
		}
	}
	panic("no state " + what)
}

// readSetup returns a setup and the dice of its initiative.
func readSetup(text string) (fifth.Setup, *scriptedDice) {
	setup := fifth.Setup{Zones: []fifth.Zone{
		{Name: "near", Next: []string{"middle"}}, {Name: "middle", Next: []string{"far"}}, {Name: "far"}}}
	fighters := map[string]*fifth.Combatant{
		"Hero": makeFighter("Hero", "heroes"), "Foe": makeFighter("Foe", "foes")}
	faces := map[string]string{"Hero": "18", "Ally": "15", "Foe": "10", "Imp": "5", "Killer": "20"}
	for _, step := range splitSteps(text) {
		words := strings.Fields(step)
		switch name := words[0]; name {
		case "near", "middle", "far":
			i := slices.IndexFunc(setup.Zones, func(z fifth.Zone) bool { return z.Name == name })
			setup.Zones[i].Cover = readNumber(words[1], "cover=")
		case "zones":
			setup.ZoneFeet = readNumber(words[1], "feet=")
		default:
			c := fighters[name]
			if c == nil {
				c = makeFighter(name, map[string]string{"Ally": "heroes", "Imp": "foes"}[name])
				fighters[name] = c
			}
			for _, word := range words[1:] {
				switch word {
				case "first":
					faces[name] = "20"
				case "down":
					c.Hurt = c.HitPoints - 1
					fighters["Killer"] = makeFighter("Killer", "foes")
					fighters["Killer"].Scores[fifth.Dexterity] = 30
				default:
					changeFighter(c, word)
				}
			}
		}
	}
	var dice []string
	for _, name := range []string{"Hero", "Ally", "Foe", "Imp", "Killer"} {
		c, there := fighters[name]
		if !there {
			continue
		}
		setup.Fighters = append(setup.Fighters, *c)
		dice = append(dice, "d20="+faces[name])
		// Initiative is an ability check.
		if hindered := []string{"poisoned", "frightened"}; c.Exhaustion > 0 && c.Exhaustion < 6 ||
			slices.ContainsFunc(c.Conditions, func(k string) bool { return slices.Contains(hindered, k) }) {
			dice = append(dice, "d20="+faces[name])
		}
	}
	return setup, &scriptedDice{dice}
}

func readNumber(word, prefix string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(word, prefix))
	if err != nil {
		panic(err)
	}
	return n
}

func makeFighter(name, side string) *fifth.Combatant {
	hit := func(dice, kind string) []fifth.Damage {
		return []fifth.Damage{{Dice: ruleset.MustDice(dice), Type: kind}}
	}
	c := &fifth.Combatant{Side: side, Creature: fifth.Creature{Name: name, ArmorClass: 15, HitPoints: 40, Speed: 30,
		Scores: fifth.Scores{10, 10, 10, 10, 10, 10}, Slots: fifth.Slots{4, 3, 2}, SpellAttack: 6, SpellDC: 14, SpellBonus: 3,
		Spells: readCases[fifth.Spell]("spells.jsonl"), Mortal: side == "foes",
		Attacks: []fifth.Attack{
			{Name: "Sword", Bonus: 5, Reach: 5, Hits: hit("1d8+3", "slashing")},
			{Name: "Bow", Bonus: 4, Range: 80, Long: 320, Hits: hit("1d6+2", "piercing")},
			{Name: "Brand", Bonus: 5, Reach: 5, Hits: append(hit("1d8+3", "slashing"), hit("2d6", "fire")...)},
			{Name: "Club", Bonus: 5, Reach: 5, Hits: hit("10", "bludgeoning")},
			{Name: "Ram", Bonus: 5, Reach: 5, Hits: hit("25", "bludgeoning")},
			{Name: "Touch", Bonus: 5, Reach: 5, Hits: hit("1", "necrotic")},
			{Name: "Dart", Bonus: 5, Range: 30, Hits: hit("10", "piercing")},
		}}}
	if side == "heroes" {
		c.Level = 5
	}
	return c
}

func changeFighter(c *fifth.Combatant, word string) {
	key, value, _ := strings.Cut(word, "=")
	number, _ := strconv.Atoi(value)
	switch key {
	case "armor":
		c.ArmorClass = number
	case "hp":
		c.HitPoints = number
	case "hurt":
		c.Hurt = number
	case "temporary":
		c.Temporary = number
	case "speed":
		c.Speed = number
	case "level":
		c.Level = number
	case "exhaustion":
		c.Exhaustion = number
	case "at":
		c.Zone = value
	case "resists":
		c.Resistances = append(c.Resistances, value)
	case "immune":
		c.Immunities = append(c.Immunities, value)
	case "unaffected":
		c.ConditionImmunities = append(c.ConditionImmunities, value)
	case "vulnerable":
		c.Vulnerabilities = append(c.Vulnerabilities, value)
	case "multiattack":
		c.Multiattack = strings.Split(value, ",")
	case "dexterity":
		c.Scores[fifth.Dexterity] = number
	case "constitution":
		c.Scores[fifth.Constitution] = number
	case "slots":
		c.Slots = fifth.Slots{number}
	case "archer":
		c.Attacks = slices.DeleteFunc(c.Attacks, func(a fifth.Attack) bool { return a.Reach > 0 })
	case "surprised":
		c.Surprised = true
	case "there":
	default:
		c.Conditions = append(c.Conditions, word)
	}
}
