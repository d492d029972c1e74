// Command ruleset makes internal/ruleset/fifth/srd.json from the files of 5e-bits/5e-database, edition of 2014:
// ruleset FOLDER > srd.json. It keeps names and numbers, and no text of rules.
package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ref is a reference to a record.
type ref struct {
	Index string `json:"index"`
	Name  string `json:"name"`
}

func names(list []ref) (out []string) {
	for _, r := range list {
		out = append(out, r.Name)
	}
	return out
}

type class struct {
	Name       string     `json:"name"`
	HitDie     int        `json:"hit_die"`
	Saves      []string   `json:"saves"`
	SkillCount int        `json:"skill_count"`
	Skills     []string   `json:"skills,omitempty"`
	Casts      string     `json:"casts,omitempty"`
	Ability    string     `json:"ability,omitempty"`
	Armor      []string   `json:"armor,omitempty"`
	Weapons    []string   `json:"weapons,omitempty"`
	Increases  []int      `json:"increases"` // ability score increases so far, by level
	Cantrips   []int      `json:"cantrips,omitempty"`
	Features   [][]string `json:"features"` // by level
}

type race struct {
	Name    string         `json:"name"`
	Of      string         `json:"of,omitempty"`
	Speed   int            `json:"speed,omitempty"`
	Size    string         `json:"size,omitempty"`
	Bonuses map[string]int `json:"bonuses,omitempty"`
	Choose  int            `json:"choose,omitempty"` // abilities of choice that get 1
	Traits  []string       `json:"traits,omitempty"`
}

type weapon struct {
	Name       string   `json:"name"`
	Category   string   `json:"category"`
	Ranged     bool     `json:"ranged,omitempty"`
	Dice       string   `json:"dice"`
	Type       string   `json:"type"`
	TwoHanded  string   `json:"two_handed,omitempty"` // dice
	Range      int      `json:"range,omitempty"`
	Long       int      `json:"long,omitempty"`
	Properties []string `json:"properties,omitempty"`
}

type armor struct {
	Name     string `json:"name"`
	Category string `json:"category"`
	Base     int    `json:"base"`
	MaxDex   int    `json:"max_dex"` // -1: no limit
	Strength int    `json:"strength,omitempty"`
	Loud     bool   `json:"loud,omitempty"`
}

type document struct {
	Classes []class  `json:"classes"`
	Races   []race   `json:"races"`
	Weapons []weapon `json:"weapons"`
	Armor   []armor  `json:"armor"`
}

func read(folder, name string, into any) {
	b, err := os.ReadFile(filepath.Join(folder, "5e-SRD-"+name+".json"))
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		log.Fatal(name, ": ", err)
	}
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: ruleset FOLDER")
	}
	var d document
	d.Classes = readClasses(os.Args[1])
	d.Races = readRaces(os.Args[1])
	d.Weapons, d.Armor = readEquipment(os.Args[1])
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", " ")
	if err := out.Encode(d); err != nil {
		log.Fatal(err)
	}
}

func readClasses(folder string) (out []class) {
	var list []struct {
		ref
		HitDie  int `json:"hit_die"`
		Choices []struct {
			Choose int `json:"choose"`
			From   struct {
				Options []struct {
					Item ref `json:"item"`
				} `json:"options"`
			} `json:"from"`
		} `json:"proficiency_choices"`
		Proficiencies []ref `json:"proficiencies"`
		Saves         []ref `json:"saving_throws"`
		Casting       *struct {
			Ability ref `json:"spellcasting_ability"`
		} `json:"spellcasting"`
	}
	var levels []struct {
		Level    int            `json:"level"`
		Class    ref            `json:"class"`
		Subclass *ref           `json:"subclass"`
		Features []ref          `json:"features"`
		Casting  map[string]int `json:"spellcasting"`
	}
	read(folder, "Classes", &list)
	read(folder, "Levels", &levels)
	for _, c := range list {
		k := class{Name: c.Name, HitDie: c.HitDie, SkillCount: c.Choices[0].Choose, Increases: make([]int, 20),
			Features: make([][]string, 20)}
		for _, s := range c.Saves {
			k.Saves = append(k.Saves, strings.ToLower(s.Index))
		}
		for _, o := range c.Choices[0].From.Options {
			if skill, ok := strings.CutPrefix(o.Item.Name, "Skill: "); ok {
				k.Skills = append(k.Skills, strings.ToLower(skill))
			}
		}
		for _, p := range c.Proficiencies {
			switch {
			case strings.HasSuffix(p.Index, "-armor") || p.Index == "shields":
				k.Armor = append(k.Armor, strings.TrimSuffix(p.Index, "-armor"))
			case !strings.HasPrefix(p.Index, "saving") && !strings.HasSuffix(p.Index, "-kit") && !strings.HasSuffix(p.Index, "-tools"):
				k.Weapons = append(k.Weapons, weaponName(p.Index))
			}
		}
		if c.Casting != nil {
			k.Ability, k.Casts = strings.ToLower(c.Casting.Ability.Index), "full"
		}
		for _, l := range levels {
			if l.Class.Index != c.Index || l.Subclass != nil && l.Subclass.Index != "" {
				continue
			}
			k.Features[l.Level-1] = names(l.Features)
			if n := l.Casting["cantrips_known"]; n > 0 {
				k.Cantrips = append(k.Cantrips, n)
			}
		}
		increases := 0 // counted from the features, since the records' own counts are wrong for rogues
		for i, list := range k.Features {
			if slices.Contains(list, "Ability Score Improvement") {
				increases++
			}
			k.Increases[i] = increases
		}
		switch c.Index {
		case "paladin", "ranger":
			k.Casts = "half"
		case "warlock":
			k.Casts = "pact"
		}
		out = append(out, k)
	}
	return out
}

// weaponName returns the name of a proficiency with weapons.
func weaponName(index string) string {
	if index == "crossbows-light" {
		return "light-crossbow"
	}
	return strings.TrimSuffix(strings.TrimSuffix(index, "-weapons"), "s")
}

func readRaces(folder string) (out []race) {
	type bonus struct {
		Ability ref `json:"ability_score"`
		Bonus   int `json:"bonus"`
	}
	type record struct {
		ref
		Speed   int     `json:"speed"`
		Size    string  `json:"size"`
		Bonuses []bonus `json:"ability_bonuses"`
		Options *struct {
			Choose int `json:"choose"`
		} `json:"ability_bonus_options"`
		Traits []ref `json:"traits"`
		Racial []ref `json:"racial_traits"`
		Of     *ref  `json:"race"`
	}
	for _, file := range []string{"Races", "Subraces"} {
		var list []record
		read(folder, file, &list)
		for _, r := range list {
			k := race{Name: r.Name, Speed: r.Speed, Size: strings.ToLower(r.Size), Bonuses: map[string]int{},
				Traits: slices.Concat(names(r.Traits), names(r.Racial))}
			for _, b := range r.Bonuses {
				k.Bonuses[b.Ability.Index] = b.Bonus
			}
			if r.Options != nil {
				k.Choose = r.Options.Choose
			}
			if r.Of != nil {
				k.Of = r.Of.Name
			}
			out = append(out, k)
		}
	}
	return out
}

func readEquipment(folder string) (weapons []weapon, armors []armor) {
	type dice struct {
		Dice string `json:"damage_dice"`
		Type ref    `json:"damage_type"`
	}
	type distance struct {
		Normal int `json:"normal"`
		Long   int `json:"long"`
	}
	var list []struct {
		ref
		Category   string   `json:"weapon_category"`
		Kind       string   `json:"weapon_range"`
		Damage     *dice    `json:"damage"`
		TwoHanded  *dice    `json:"two_handed_damage"`
		Range      distance `json:"range"`
		Throw      distance `json:"throw_range"`
		Properties []ref    `json:"properties"`
		Armor      string   `json:"armor_category"`
		Class      struct {
			Base int  `json:"base"`
			Dex  bool `json:"dex_bonus"`
			Max  int  `json:"max_bonus"`
		} `json:"armor_class"`
		Strength int  `json:"str_minimum"`
		Loud     bool `json:"stealth_disadvantage"`
	}
	read(folder, "Equipment", &list)
	for _, e := range list {
		if e.Armor != "" && e.Armor != "None" {
			a := armor{Name: e.Name, Category: strings.ToLower(e.Armor), Base: e.Class.Base, Strength: e.Strength, Loud: e.Loud}
			if e.Class.Dex {
				if a.MaxDex = -1; e.Class.Max > 0 {
					a.MaxDex = e.Class.Max
				}
			}
			armors = append(armors, a)
		}
		if e.Category == "" {
			continue
		}
		w := weapon{Name: e.Name, Category: strings.ToLower(e.Category), Ranged: e.Kind == "Ranged"}
		if e.Damage != nil { // a net does none
			w.Dice, w.Type = e.Damage.Dice, strings.ToLower(e.Damage.Type.Name)
		}
		if w.Range, w.Long = e.Throw.Normal, e.Throw.Long; w.Ranged {
			w.Range, w.Long = e.Range.Normal, e.Range.Long
		}
		if e.TwoHanded != nil {
			w.TwoHanded = e.TwoHanded.Dice
		}
		for _, p := range e.Properties {
			w.Properties = append(w.Properties, strings.ToLower(p.Index))
		}
		weapons = append(weapons, w)
	}
	return weapons, armors
}
