package fifth

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/ruleset"
)

// Sheet describes a character of one class.
type Sheet struct {
	Name  string
	Race  string // a race or a subrace
	Class string
	Level int
	// Method is how the scores were made: array, points or rolled. Only the first two are checked.
	Method string
	Scores Scores // before the race and the increases
	// Chosen are the abilities that a race of choice increases by 1.
	Chosen []Ability
	// Increases are the increases by level, two points each.
	Increases map[Ability]int
	Skills    []string // proficiencies, those of the background included
	Expertise []string
	Armor     string
	Shield    bool
	Weapons   []string
}

// Character is a checked sheet with its numbers.
type Character struct {
	Creature
	Class, Race       string
	Size              string
	Proficiency       int
	HitDie            int
	HitDice           int
	Skills            []string // proficiencies
	PassivePerception int
	Cantrips          int      // known
	Features, Traits  []string // names; the numbers count those that countedFeatures lists
	Citation          string
}

// countedFeatures are the features and traits that change a number of the character.
var countedFeatures = []string{"Unarmored Defense", "Extra Attack", "Fast Movement", "Unarmored Movement",
	"Jack of All Trades", "Expertise", "Primal Champion", "Dwarven Toughness", "Keen Senses", "Menacing",
	"Skill Versatility"}

// CountedFeatures returns the features and traits that the numbers of a Character contain. All
// others are for the table to apply.
func CountedFeatures() []string { return slices.Clone(countedFeatures) }

// builder collects the parts of a character.
type builder struct {
	Sheet
	class  *class
	race   *race // with the parent's bonuses and traits
	scores Scores
	traits []string
	gained []string // features
}

// Build checks a sheet against the SRD's classes, races and equipment, and computes its numbers.
// Its errors name the field.
func Build(s Sheet) (*Character, error) {
	b := &builder{Sheet: s}
	for _, step := range []func() error{b.findClass, b.findRace, b.checkScores, b.addIncreases, b.checkSkills} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	c := &Character{Class: b.class.Name, Race: b.race.Name, Size: b.race.Size, Proficiency: ProficiencyBonus(s.Level),
		HitDie: b.class.HitDie, HitDice: s.Level, Skills: b.Skills, Features: b.gained, Traits: b.traits,
		Citation: "SRD 5.1: Classes; Races; Beyond 1st Level"}
	c.Creature = Creature{Name: s.Name, Level: s.Level, Scores: b.scores, Speed: b.race.Speed}
	if len(b.class.Cantrips) >= s.Level {
		c.Cantrips = b.class.Cantrips[s.Level-1]
	}
	b.addHitPoints(c)
	b.addBonuses(c)
	b.addSpells(c)
	if err := b.addArmor(c); err != nil {
		return nil, err
	}
	if err := b.addWeapons(c); err != nil {
		return nil, err
	}
	return c, nil
}

func (b *builder) hasFeature(feature string) bool {
	return slices.Contains(b.gained, feature) || slices.Contains(b.traits, feature)
}

func (b *builder) findClass() error {
	found, all := findNamed(srd().Classes, func(c class) string { return c.Name }, b.Sheet.Class)
	if found == nil {
		return fmt.Errorf("class must be one of %s", strings.Join(all, ", "))
	}
	if b.Level < 1 || b.Level > maxLevel {
		return fmt.Errorf("level must be from 1 to %d", maxLevel)
	}
	b.class = found
	for _, names := range found.Features[:b.Level] {
		for _, name := range names {
			if !slices.Contains(b.gained, name) {
				b.gained = append(b.gained, name)
			}
		}
	}
	return nil
}

func (b *builder) findRace() error {
	found, all := findNamed(srd().Races, func(r race) string { return r.Name }, b.Sheet.Race)
	if found == nil {
		return fmt.Errorf("race must be one of %s", strings.Join(all, ", "))
	}
	r := *found
	b.traits = slices.Clone(r.Traits)
	b.scores = b.Sheet.Scores
	for a, n := range r.Bonuses {
		b.scores[a] += n
	}
	if r.Of != "" {
		parent, _ := findNamed(srd().Races, func(r race) string { return r.Name }, r.Of)
		r.Speed, r.Size = parent.Speed, parent.Size
		b.traits = slices.Concat(parent.Traits, b.traits)
		for a, n := range parent.Bonuses {
			b.scores[a] += n
		}
	}
	b.race = &r
	chosen := slices.Clone(b.Chosen)
	slices.Sort(chosen)
	if len(slices.Compact(chosen)) != r.Choose {
		return fmt.Errorf("chosen_abilities must be %d different abilities for the race %s", r.Choose, r.Name)
	}
	for _, a := range chosen {
		if r.Bonuses[a] > 0 {
			return fmt.Errorf("chosen_abilities: %s is already increased by the race", a)
		}
		b.scores[a]++
	}
	return nil
}

// standardArray are the scores of the method array, and pointCosts the costs of the scores from 8 with
// the method points, of 27 (SRD "Ability Scores", variant "Customizing Ability Scores").
var (
	standardArray = []int{8, 10, 12, 13, 14, 15}
	pointCosts    = []int{0, 1, 2, 3, 4, 5, 7, 9}
)

const points = 27

func (b *builder) checkScores() error {
	for i, n := range b.Sheet.Scores {
		if n < 3 || n > 18 {
			return fmt.Errorf("scores: %s must be from 3 to 18 before the race's increases", Ability(i))
		}
	}
	switch b.Method {
	case "", "rolled":
	case "array":
		if !slices.Equal(slices.Sorted(slices.Values(b.Sheet.Scores[:])), standardArray) {
			return errors.New("scores must be 15, 14, 13, 12, 10 and 8 in any order with the method array")
		}
	case "points":
		cost := 0
		for i, n := range b.Sheet.Scores {
			if n < 8 || n > 15 {
				return fmt.Errorf("scores: %s must be from 8 to 15 with the method points", Ability(i))
			}
			cost += pointCosts[n-8]
		}
		if cost > points {
			return fmt.Errorf("scores cost %d points, and the method points has %d", cost, points)
		}
	default:
		return errors.New("method must be array, points or rolled")
	}
	return nil
}

func (b *builder) addIncreases() error {
	sum, most := 0, 2*b.class.Increases[b.Level-1]
	for a, n := range b.Increases {
		if n < 0 {
			return fmt.Errorf("increases: %s must not be negative", a)
		}
		sum += n
		b.scores[a] += n
	}
	if sum > most {
		return fmt.Errorf("increases are %d points, and a %s of level %d has %d", sum, b.class.Name, b.Level, most)
	}
	for i, n := range b.scores {
		if n > 20 {
			return fmt.Errorf("increases: %s would be %d, and 20 is the greatest", Ability(i), n)
		}
	}
	if b.hasFeature("Primal Champion") {
		for _, a := range []Ability{Strength, Constitution} {
			b.scores[a] = min(b.scores[a]+4, 24)
		}
	}
	return nil
}

// backgroundSkills is the number of skills of a background, which may be any (SRD "Customizing a
// Background").
const backgroundSkills = 2

func (b *builder) checkSkills() error {
	free, known := backgroundSkills, []string{}
	if b.hasFeature("Skill Versatility") {
		free += 2
	}
	fromClass := 0
	for _, name := range b.Skills {
		name = strings.ToLower(name)
		switch _, ok := SkillAbility(name); {
		case !ok:
			return fmt.Errorf("skills: %q must be one of %s", name, strings.Join(Skills(), ", "))
		case slices.Contains(known, name):
			return fmt.Errorf("skills: %q is named twice", name)
		}
		known = append(known, name)
		switch {
		case name == "perception" && b.hasFeature("Keen Senses"), name == "intimidation" && b.hasFeature("Menacing"):
		case slices.Contains(b.class.Skills, name) && fromClass < b.class.SkillCount:
			fromClass++
		default:
			free--
		}
	}
	if free < 0 {
		return fmt.Errorf("skills: a %s chooses %d of %s, the background gives %d of any, and the race its own; "+
			"these are %d too many",
			b.class.Name, b.class.SkillCount, strings.Join(b.class.Skills, ", "), backgroundSkills, -free)
	}
	for trait, skill := range map[string]string{"Keen Senses": "perception", "Menacing": "intimidation"} {
		if b.hasFeature(trait) && !slices.Contains(known, skill) {
			known = append(known, skill)
		}
	}
	slices.Sort(known)
	b.Skills = known
	return b.checkExpertise()
}

func (b *builder) checkExpertise() error {
	most := 0
	for _, names := range b.class.Features[:b.Level] {
		if slices.Contains(names, "Expertise") {
			most += 2
		}
	}
	if len(b.Expertise) > most {
		return fmt.Errorf("expertise: a %s of level %d has %d", b.class.Name, b.Level, most)
	}
	for i, name := range b.Expertise {
		b.Expertise[i] = strings.ToLower(name)
		if !slices.Contains(b.Skills, b.Expertise[i]) {
			return fmt.Errorf("expertise: %q is not one of the character's skills", name)
		}
	}
	return nil
}

// addHitPoints takes the greatest roll of the hit die at the first level and the average, rounded
// up, at others; each level gives at least 1.
func (b *builder) addHitPoints(c *Character) {
	con := b.scores.Modifier(Constitution)
	c.HitPoints = max(b.class.HitDie+con, 1) + (b.Level-1)*max(b.class.HitDie/2+1+con, 1)
	if b.hasFeature("Dwarven Toughness") {
		c.HitPoints += b.Level
	}
}

func (b *builder) addBonuses(c *Character) {
	c.Saves, c.Checks = map[string]int{}, map[string]int{}
	for _, a := range b.class.Saves {
		c.Saves[a.String()] = b.scores.Modifier(a) + c.Proficiency
	}
	for name, a := range skills {
		n := b.scores.Modifier(a)
		switch {
		case slices.Contains(b.Expertise, name):
			n += 2 * c.Proficiency
		case slices.Contains(b.Skills, name):
			n += c.Proficiency
		case b.hasFeature("Jack of All Trades"):
			n += c.Proficiency / 2
		}
		c.Checks[name] = n
	}
	c.PassivePerception = Passive(c.Checks["perception"], ruleset.Straight)
}

func (b *builder) addSpells(c *Character) {
	if b.class.Ability == nil || b.class.Casts == castsHalf && b.Level < 2 {
		return
	}
	c.Slots = slotsOf(b.class.Casts, b.Level)
	c.SpellBonus = b.scores.Modifier(*b.class.Ability)
	c.SpellAttack = c.Proficiency + c.SpellBonus
	c.SpellDC = 8 + c.SpellAttack
}

// addArmor computes the armor class and the speed.
func (b *builder) addArmor(c *Character) error {
	dex := b.scores.Modifier(Dexterity)
	c.ArmorClass = 10 + dex
	if b.Armor == "" {
		switch {
		case !b.hasFeature("Unarmored Defense"):
		case b.class.Name == "Barbarian":
			c.ArmorClass += b.scores.Modifier(Constitution)
		case !b.Shield:
			c.ArmorClass += b.scores.Modifier(Wisdom)
		}
	} else {
		worn, all := findNamed(srd().Armor, func(a armor) string { return a.Name }, b.Armor)
		switch {
		case worn == nil || worn.Category == "shield":
			return fmt.Errorf("armor must be one of %s", strings.Join(all[:len(all)-1], ", "))
		case !b.isTrained(b.class.Armor, worn.Category):
			return fmt.Errorf("armor: a %s is not trained in %s armor", b.class.Name, worn.Category)
		}
		switch {
		case worn.MaxDex == 0: // heavy armor ignores Dexterity, also a low one
			dex = 0
		case worn.MaxDex > 0:
			dex = min(dex, worn.MaxDex)
		}
		c.ArmorClass = worn.Base + dex
		if b.scores[Strength] < worn.Strength && !strings.Contains(c.Race, "Dwarf") {
			c.Speed -= 10
		}
	}
	if b.Shield {
		if !b.isTrained(b.class.Armor, "shields") {
			return fmt.Errorf("shield: a %s is not trained in shields", b.class.Name)
		}
		c.ArmorClass += 2
	}
	c.Speed += b.extraSpeed()
	return nil
}

// extraSpeed returns the speed of Fast Movement and Unarmored Movement.
func (b *builder) extraSpeed() int {
	heavy, _ := findNamed(srd().Armor, func(a armor) string { return a.Name }, b.Armor)
	switch {
	case b.hasFeature("Fast Movement") && (heavy == nil || heavy.Category != "heavy"):
		return 10
	case b.class.Name == "Monk" && b.Level >= 2 && b.Armor == "" && !b.Shield:
		return 10 + 5*((b.Level-2)/4)
	}
	return 0
}

func (b *builder) isTrained(list []string, in string) bool {
	return slices.Contains(list, in) || in != "shields" && slices.Contains(list, "all")
}

// addWeapons adds the attacks of the weapons, and as many attacks an action as the class has.
func (b *builder) addWeapons(c *Character) error {
	for _, name := range b.Weapons {
		w, all := findNamed(srd().Weapons, func(w weapon) string { return w.Name }, name)
		if w == nil {
			return fmt.Errorf("weapons: %q must be one of %s", name, strings.Join(all, ", "))
		}
		c.Attacks = append(c.Attacks, b.attackWith(w, c.Proficiency)...)
	}
	if len(c.Attacks) > maxListed {
		return fmt.Errorf("weapons make %d attacks; %d are the most", len(c.Attacks), maxListed)
	}
	if n := b.attackCount(); n > 1 && len(c.Attacks) > 0 && !b.isLoading() {
		c.Multiattack = slices.Repeat([]string{c.Attacks[0].Name}, n)
	}
	return nil
}

// isLoading reports whether the first weapon shoots once an action only.
func (b *builder) isLoading() bool {
	w, _ := findNamed(srd().Weapons, func(w weapon) string { return w.Name }, b.Weapons[0])
	return w != nil && slices.Contains(w.Properties, "loading")
}

func (b *builder) attackCount() int {
	switch {
	case b.class.Name == "Fighter" && b.Level >= 20:
		return 4
	case b.class.Name == "Fighter" && b.Level >= 11:
		return 3
	case b.hasFeature("Extra Attack"):
		return 2
	}
	return 1
}

// attackWith returns the attacks with a weapon: in hand, with both hands, and thrown.
func (b *builder) attackWith(w *weapon, proficiency int) (list []Attack) {
	mod := b.scores.Modifier(Strength)
	if dex := b.scores.Modifier(Dexterity); w.Ranged && !slices.Contains(w.Properties, "thrown") ||
		slices.Contains(w.Properties, "finesse") && dex > mod {
		mod = dex
	}
	bonus := mod
	key := strings.ToLower(strings.ReplaceAll(w.Name, ", ", "-"))
	if parts := strings.Split(key, "-"); len(parts) == 2 {
		key = parts[1] + "-" + parts[0] // "Crossbow, hand" is trained as hand-crossbow
	}
	if slices.Contains(b.class.Weapons, w.Category) || slices.Contains(b.class.Weapons, strings.ReplaceAll(key, " ", "-")) ||
		slices.Contains(b.class.Weapons, strings.ToLower(w.Name)) {
		bonus += proficiency
	}
	a := Attack{Name: w.Name, Bonus: bonus}
	if !w.Dice.IsZero() {
		a.Hits = []Damage{{Dice: w.Dice.Plus(mod), Type: w.Type}}
	}
	if w.Ranged {
		a.Range, a.Long = w.Range, w.Long
		return []Attack{a}
	}
	if a.Reach = 5; slices.Contains(w.Properties, "reach") {
		a.Reach = 10
	}
	list = append(list, a)
	if !w.TwoHanded.IsZero() && !b.Shield {
		both := a
		both.Name, both.Hits = w.Name+" (two-handed)", []Damage{{Dice: w.TwoHanded.Plus(mod), Type: w.Type}}
		list = append(list, both)
	}
	if w.Range > 0 {
		thrown := a
		thrown.Name, thrown.Reach, thrown.Range, thrown.Long = w.Name+" (thrown)", 0, w.Range, w.Long
		list = append(list, thrown)
	}
	return list
}
