package fifth

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/ruleset"
)

// recordRef is a reference to another record of 5e-bits.
type recordRef struct {
	Index string `json:"index"`
	Name  string `json:"name"`
}

type recordDamage struct {
	Dice string    `json:"damage_dice"`
	Type recordRef `json:"damage_type"`
}

type recordDC struct {
	Type    recordRef       `json:"dc_type"`
	Value   int             `json:"dc_value"`
	Success json.RawMessage `json:"success_type"`
	Spell   string          `json:"dc_success"`
}

// monsterRecord has the members of a monster of 5e-bits that an encounter needs.
type monsterRecord struct {
	ArmorClass []struct {
		Value int `json:"value"`
	} `json:"armor_class"`
	HitPoints     int                        `json:"hit_points"`
	Speed         map[string]json.RawMessage `json:"speed"`
	Strength      int                        `json:"strength"`
	Dexterity     int                        `json:"dexterity"`
	Constitution  int                        `json:"constitution"`
	Intelligence  int                        `json:"intelligence"`
	Wisdom        int                        `json:"wisdom"`
	Charisma      int                        `json:"charisma"`
	Proficiencies []struct {
		Value int       `json:"value"`
		Of    recordRef `json:"proficiency"`
	} `json:"proficiencies"`
	Vulnerabilities []string    `json:"damage_vulnerabilities"`
	Resistances     []string    `json:"damage_resistances"`
	Immunities      []string    `json:"damage_immunities"`
	Conditions      []recordRef `json:"condition_immunities"`
	Rating          float64     `json:"challenge_rating"`
	XP              int         `json:"xp"`
	Abilities       []struct {
		Name string `json:"name"`
	} `json:"special_abilities"`
	Actions []struct {
		Name    string         `json:"name"`
		Desc    string         `json:"desc"`
		Bonus   *int           `json:"attack_bonus"`
		Damage  []recordDamage `json:"damage"`
		DC      *recordDC      `json:"dc"`
		Usage   *struct{}      `json:"usage"`
		Actions []struct {
			Name  string          `json:"action_name"`
			Count json.RawMessage `json:"count"`
		} `json:"actions"`
	} `json:"actions"`
}

var (
	reachPattern = lazyregexp.New(`reach (\d+) ft`)
	rangePattern = lazyregexp.New(`range (\d+)(?:/(\d+))? ft`)
	feetPattern  = lazyregexp.New(`(\d+)[- ](?:foot|feet|ft)`)
	badPattern   = lazyregexp.New(`\b(?:be|become|becomes|is|fall|falls) (` + strings.Join(conditionNames, "|") + `)\b`)
)

// Monster makes a creature from a monster's record of 5e-bits. notes say which parts of the record
// its numbers leave to the table.
func Monster(name string, record []byte) (c Creature, notes []string, err error) {
	var r monsterRecord
	if err := json.Unmarshal(record, &r); err != nil || len(r.ArmorClass) == 0 || r.HitPoints == 0 {
		return Creature{}, nil, errors.New("is not a monster with an armor class and hit points")
	}
	c = Creature{Name: name, ArmorClass: r.ArmorClass[0].Value, HitPoints: r.HitPoints, Mortal: true, XP: r.XP,
		Scores: Scores{r.Strength, r.Dexterity, r.Constitution, r.Intelligence, r.Wisdom, r.Charisma},
		Saves:  map[string]int{}, Checks: map[string]int{}}
	for _, way := range r.Speed {
		if m := feetPattern.FindSubmatch(way); m != nil {
			n, _ := strconv.Atoi(string(m[1]))
			c.Speed = max(c.Speed, n)
		}
	}
	for _, p := range r.Proficiencies {
		if a, ok := strings.CutPrefix(p.Of.Index, "saving-throw-"); ok {
			if ability, err := ParseAbility(a); err == nil {
				c.Saves[ability.String()] = p.Value
			}
		} else if skill, ok := strings.CutPrefix(p.Of.Index, "skill-"); ok {
			c.Checks[strings.ReplaceAll(skill, "-", " ")] = p.Value
		}
	}
	for _, list := range []struct {
		from []string
		to   *[]string
	}{{r.Resistances, &c.Resistances}, {r.Immunities, &c.Immunities}, {r.Vulnerabilities, &c.Vulnerabilities}} {
		for _, kind := range list.from {
			if kind = strings.ToLower(kind); slices.Contains(damageTypes, kind) {
				*list.to = append(*list.to, kind)
			} else {
				notes = append(notes, "damage: "+kind)
			}
		}
	}
	for _, con := range r.Conditions {
		c.ConditionImmunities = append(c.ConditionImmunities, con.Index)
	}
	for _, a := range r.Abilities {
		notes = append(notes, a.Name)
	}
	return c, append(notes, c.addActions(&r)...), c.Check()
}

// addActions adds the actions of a record, and returns the names of those that it cannot read.
func (c *Creature) addActions(r *monsterRecord) (notes []string) {
	for _, a := range r.Actions {
		hits := readDamage(a.Damage)
		switch {
		case a.Bonus != nil && len(hits) > 0:
			w := Attack{Name: a.Name, Bonus: *a.Bonus, Hits: hits}
			if m := reachPattern.FindStringSubmatch(a.Desc); m != nil {
				w.Reach, _ = strconv.Atoi(m[1])
			} else if m := rangePattern.FindStringSubmatch(a.Desc); m != nil {
				w.Range, _ = strconv.Atoi(m[1])
				w.Long, _ = strconv.Atoi(m[2])
			}
			c.Attacks = append(c.Attacks, w)
		case a.DC != nil && len(hits) > 0:
			s := Spell{Name: a.Name, Damage: hits, DC: a.DC.Value, Half: strings.Contains(string(a.DC.Success), "half"), Area: true}
			if ability, err := ParseAbility(a.DC.Type.Index); err == nil {
				s.Save = &ability
			}
			if m := feetPattern.FindStringSubmatch(a.Desc); m != nil {
				s.Range, _ = strconv.Atoi(m[1])
			}
			c.Spells = append(c.Spells, s)
			if a.Usage != nil {
				notes = append(notes, a.Name+": how often")
			}
		case len(a.Actions) == 0:
			notes = append(notes, a.Name)
		}
	}
	for _, a := range r.Actions {
		for _, part := range a.Actions {
			n, err := strconv.Atoi(strings.Trim(string(part.Count), `"`))
			if w := c.attack(part.Name); w != nil && err == nil && len(c.Multiattack) == 0 || w != nil && a.Name == "Multiattack" {
				c.Multiattack = append(c.Multiattack, slices.Repeat([]string{w.Name}, min(max(n, 1), 5))...)
			}
		}
	}
	if len(c.Multiattack) > 10 {
		c.Multiattack = c.Multiattack[:10]
	}
	return notes
}

func readDamage(list []recordDamage) (out []Damage) {
	for _, d := range list {
		if dice, err := ruleset.ParseDice(d.Dice); err == nil && slices.Contains(damageTypes, d.Type.Index) {
			out = append(out, Damage{Dice: dice, Type: d.Type.Index})
		}
	}
	return out
}

// spellRecord has the members of a spell of 5e-bits that an encounter needs.
type spellRecord struct {
	Level         int      `json:"level"`
	Range         string   `json:"range"`
	Components    []string `json:"components"`
	Material      string   `json:"material"`
	Duration      string   `json:"duration"`
	Concentration bool     `json:"concentration"`
	Time          string   `json:"casting_time"`
	Attack        string   `json:"attack_type"`
	Damage        *struct {
		Type  recordRef         `json:"damage_type"`
		Slot  map[string]string `json:"damage_at_slot_level"`
		Level map[string]string `json:"damage_at_character_level"`
	} `json:"damage"`
	Heal map[string]string `json:"heal_at_slot_level"`
	DC   *recordDC         `json:"dc"`
	Area *struct{}         `json:"area_of_effect"`
}

// costPattern finds components that cost money: only they must be carried, as a focus replaces all
// others (SRD "Material (M)").
var costPattern = lazyregexp.New(`\d ?gp`)

// ReadSpell makes a spell from a spell's record of 5e-bits and the text of its rules.
func ReadSpell(name string, record []byte, text string) (s Spell, err error) {
	var r spellRecord
	if err := json.Unmarshal(record, &r); err != nil || r.Range == "" || len(r.Components) == 0 {
		return Spell{}, errors.New("is not a spell with a range and components")
	}
	s = Spell{Name: name, Level: r.Level, Components: strings.Join(r.Components, ""), Concentration: r.Concentration,
		Attack: r.Attack != "", Melee: r.Attack == "melee", Area: r.Area != nil, Rounds: roundsOf(r.Duration)}
	if strings.Contains(text, "spell attack") {
		s.Attack, s.Melee = true, strings.Contains(text, "melee spell attack")
	}
	if costPattern.MatchString(r.Material) {
		s.Material = r.Material
	}
	if s.Time = strings.TrimPrefix(r.Time, "1 "); !slices.Contains([]string{timeAction, timeBonus, timeReaction}, s.Time) {
		return Spell{}, fmt.Errorf("takes %s to cast, which no encounter has room for", r.Time)
	}
	switch m := feetPattern.FindStringSubmatch(r.Range); {
	case r.Range == "Touch":
		s.Range = 5
	case r.Range == "Sight":
		s.Range = maxReach
	case m != nil:
		s.Range, _ = strconv.Atoi(m[1])
	}
	if r.DC != nil {
		if a, err := ParseAbility(r.DC.Type.Index); err == nil {
			s.Save, s.Half = &a, r.DC.Spell == "half"
		}
		if m := badPattern.FindStringSubmatch(strings.ToLower(text)); m != nil && s.Rounds > 0 {
			s.Condition = m[1]
			s.SaveAgain = strings.Contains(text, "end of each of its turns")
		}
	}
	if r.Damage != nil && slices.Contains(damageTypes, r.Damage.Type.Index) {
		dice, up := diceOf(r.Damage.Slot, r.Level)
		if len(r.Damage.Level) > 0 {
			dice, _ = ruleset.ParseDice(r.Damage.Level["1"])
			for _, level := range []string{"5", "11", "17"} {
				if d, err := ruleset.ParseDice(r.Damage.Level[level]); err == nil {
					s.Cantrip = append(s.Cantrip, d)
				}
			}
		}
		if !dice.IsZero() {
			s.Damage, s.Upcast = []Damage{{Dice: dice, Type: r.Damage.Type.Index}}, up
		}
	}
	if len(r.Heal) > 0 {
		s.Healing.Dice, s.Upcast = diceOf(r.Heal, r.Level)
		s.Heal = true
	}
	return s, s.check()
}

// diceOf returns the dice of a spell's own level, and those that the next level adds.
func diceOf(byLevel map[string]string, level int) (dice, up ruleset.Dice) {
	clean := func(n int) string {
		return strings.TrimSuffix(strings.ReplaceAll(byLevel[strconv.Itoa(n)], " ", ""), "+MOD")
	}
	dice, err := ruleset.ParseDice(clean(level))
	if err != nil {
		return ruleset.Dice{}, ruleset.Dice{}
	}
	if next, err := ruleset.ParseDice(clean(level + 1)); err == nil {
		up = next.Minus(dice)
	}
	return dice, up
}

// roundsOf returns a duration in rounds of six seconds; 0 for an instant.
func roundsOf(duration string) int {
	fields := strings.Fields(strings.ToLower(strings.TrimPrefix(duration, "Up to ")))
	if len(fields) < 2 {
		return 0
	}
	n, err := strconv.Atoi(fields[0])
	if err != nil {
		return 0
	}
	for unit, rounds := range map[string]int{"round": 1, "minute": 10, "hour": 600, "day": 14_400} {
		if strings.HasPrefix(fields[1], unit) {
			return n * rounds
		}
	}
	return 0
}
