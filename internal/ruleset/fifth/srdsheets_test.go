package fifth_test

import (
	"fmt"
	"strings"

	"loregate/internal/ruleset/fifth"
)

// The slots of each class by level from 1 to 20; a row of 42 means four of the first level and two of the second.
const (
	noSlots   = "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
	fullSlots = "2 3 42 43 432 433 4331 4332 43331 43332 433321 433321 4333211 4333211 " +
		"43332111 43332111 433321111 433331111 433332111 433332211"
	halfSlots = "0 2 3 3 42 42 43 43 432 432 433 433 4331 4331 4332 4332 43331 43331 43332 43332"
	pactSlots = "1 2 02 02 002 002 0002 0002 00002 00002 00003 00003 00003 00003 00003 00003 00004 00004 00004 00004"
)

func listSlotCases() (cases []srdCase) {
	for _, c := range []struct {
		class, slots string
		cantrips     [3]int // from level 1, 4 and 10
	}{
		{"Barbarian", noSlots, [3]int{}}, {"Bard", fullSlots, [3]int{2, 3, 4}}, {"Cleric", fullSlots, [3]int{3, 4, 5}},
		{"Druid", fullSlots, [3]int{2, 3, 4}}, {"Fighter", noSlots, [3]int{}}, {"Monk", noSlots, [3]int{}},
		{"Paladin", halfSlots, [3]int{}},
		{"Ranger", halfSlots, [3]int{}}, {"Rogue", noSlots, [3]int{}}, {"Sorcerer", fullSlots, [3]int{4, 5, 6}},
		{"Warlock", pactSlots, [3]int{2, 3, 4}}, {"Wizard", fullSlots, [3]int{3, 4, 5}},
	} {
		for i, slots := range strings.Fields(c.slots) {
			cantrips := c.cantrips[0]
			switch {
			case i+1 >= 10:
				cantrips = c.cantrips[2]
			case i+1 >= 4:
				cantrips = c.cantrips[1]
			}
			sheet := fifth.Sheet{Name: "A", Race: "Human", Class: c.class, Level: i + 1,
				Scores: fifth.Scores{10, 10, 10, 10, 10, 10}}
			cases = append(cases, srdCase{"The " + c.class, fmt.Sprint("slots at level ", i+1), func() string {
				b, err := fifth.Build(sheet)
				if err != nil {
					panic(err)
				}
				return fmt.Sprint(describeSlots(b.Slots), " cantrips ", b.Cantrips)
			}, fmt.Sprint(slots, " cantrips ", cantrips)})
		}
	}
	return cases
}

func describeSlots(s fifth.Slots) string {
	text := strings.TrimRight(strings.Trim(strings.ReplaceAll(fmt.Sprint(s), " ", ""), "[]"), "0")
	if text == "" {
		return "0"
	}
	return text
}

// sheetCase is a line of testdata/srd/sheets.jsonl: a sheet and the numbers that Show names, or whether the sheet is
// refused and for which field.
type sheetCase struct {
	Heading, Case, Show, Want string
	Sheet                     fifth.Sheet
}

func listSheetCases() (cases []srdCase) {
	for _, c := range readCases[sheetCase]("sheets.jsonl") {
		cases = append(cases, srdCase{c.Heading, c.Case, func() string { return describeSheet(c) }, c.Want})
	}
	return cases
}

func describeSheet(c sheetCase) string {
	c.Sheet.Name = "A"
	built, err := fifth.Build(c.Sheet)
	switch {
	case err != nil:
		field, _, _ := strings.Cut(strings.ReplaceAll(err.Error(), ":", ""), " ")
		return "refused: " + field
	case c.Show == "":
		return "allowed"
	}
	var out []string
	for number := range strings.SplitSeq(c.Show, ",") {
		out = append(out, number+" "+describeNumber(built, number))
	}
	return strings.Join(out, ", ")
}

// describeNumber returns a number of a character; hit, attacks, bonus and first are about the first attack.
func describeNumber(c *fifth.Character, number string) string {
	switch number {
	case "hp":
		return fmt.Sprint(c.HitPoints)
	case "ac":
		return fmt.Sprint(c.ArmorClass)
	case "speed":
		return fmt.Sprint(c.Speed)
	case "size":
		return strings.ToLower(c.Size)
	case "scores":
		return strings.Trim(fmt.Sprint(c.Scores), "[]")
	case "saves":
		saves := make([]int, 6)
		for a := range saves {
			saves[a] = c.SaveBonus(fifth.Ability(a))
		}
		return strings.Trim(fmt.Sprint(saves), "[]")
	case "passive":
		return fmt.Sprint(c.PassivePerception)
	case "hit":
		return fmt.Sprintf("%+d %s", c.Attacks[0].Bonus, c.Attacks[0].Hits[0].Dice)
	case "bonus":
		return fmt.Sprint(c.Attacks[0].Bonus)
	case "first":
		return c.Attacks[0].Name
	case "attacks":
		return fmt.Sprint(max(1, len(c.Multiattack)))
	case "weapons":
		return describeAttacks(c.Attacks)
	case "slots":
		return describeSlots(c.Slots)
	case "dc":
		return fmt.Sprint(c.SpellDC)
	case "spell":
		return fmt.Sprintf("%+d", c.SpellAttack)
	}
	if _, ok := fifth.SkillAbility(number); !ok {
		panic("no number " + number)
	}
	return fmt.Sprint(c.CheckBonus(number))
}

func describeAttacks(attacks []fifth.Attack) string {
	var out []string
	for _, a := range attacks {
		least, most := a.Hits[0].Dice.Bounds()
		text := fmt.Sprintf("%s %+d %d-%d", a.Name, a.Bonus, least, most)
		if a.Reach > 0 {
			text += fmt.Sprint(" reach ", a.Reach)
		}
		if a.Range > 0 {
			text += fmt.Sprintf(" range %d/%d", a.Range, a.Long)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func listArmorCases() (cases []srdCase) {
	for _, c := range []struct {
		armor         string
		plain, nimble int // with Dexterity 9 and 16
	}{
		{"", 9, 13}, {"Padded Armor", 10, 14}, {"Leather Armor", 10, 14}, {"Studded Leather Armor", 11, 15},
		{"Hide Armor", 11, 14}, {"Chain Shirt", 12, 15}, {"Scale Mail", 13, 16}, {"Breastplate", 13, 16},
		{"Half Plate Armor", 14, 17}, {"Ring Mail", 14, 14}, {"Chain Mail", 16, 16}, {"Splint Armor", 17, 17},
		{"Plate Armor", 18, 18},
	} {
		for _, shield := range []int{0, 2} {
			for dexterity, want := range map[int]int{9: c.plain, 16: c.nimble} {
				name := fmt.Sprintf("armor class with %q, Dexterity %d and a shield's %d", c.armor, dexterity, shield)
				cases = append(cases, srdCase{"Armor", name, func() string {
					b, err := fifth.Build(fifth.Sheet{Name: "A", Race: "Human", Class: "Fighter", Level: 1, Armor: c.armor,
						Shield: shield > 0, Scores: fifth.Scores{15, dexterity - 1, 10, 10, 10, 10}})
					if err != nil {
						return err.Error()
					}
					return fmt.Sprint(b.ArmorClass)
				}, fmt.Sprint(want + shield)})
			}
		}
	}
	return cases
}
