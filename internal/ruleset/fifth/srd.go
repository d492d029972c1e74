package fifth

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"loregate/internal/ruleset"
)

//go:embed srd.json
var srdFile []byte

// document has the names and numbers of the SRD that characters are built from. scripts/ruleset
// makes its file.
type document struct {
	Classes []class  `json:"classes"`
	Races   []race   `json:"races"`
	Weapons []weapon `json:"weapons"`
	Armor   []armor  `json:"armor"`
}

type class struct {
	Name       string     `json:"name"`
	HitDie     int        `json:"hit_die"`
	Saves      []Ability  `json:"saves"`
	SkillCount int        `json:"skill_count"`
	Skills     []string   `json:"skills"`
	Casts      casting    `json:"casts"`
	Ability    *Ability   `json:"ability"`
	Armor      []string   `json:"armor"`
	Weapons    []string   `json:"weapons"`
	Increases  []int      `json:"increases"` // ability score increases up to each level
	Cantrips   []int      `json:"cantrips"`  // known at each level
	Features   [][]string `json:"features"`  // gained at each level
}

type race struct {
	Name    string          `json:"name"`
	Of      string          `json:"of"` // of a subrace
	Speed   int             `json:"speed"`
	Size    string          `json:"size"`
	Bonuses map[Ability]int `json:"bonuses"`
	Choose  int             `json:"choose"` // abilities of choice that get 1
	Traits  []string        `json:"traits"`
}

type weapon struct {
	Name       string       `json:"name"`
	Category   string       `json:"category"`
	Ranged     bool         `json:"ranged"`
	Dice       ruleset.Dice `json:"dice"`
	Type       string       `json:"type"`
	TwoHanded  ruleset.Dice `json:"two_handed"`
	Range      int          `json:"range"`
	Long       int          `json:"long"`
	Properties []string     `json:"properties"`
}

type armor struct {
	Name     string `json:"name"`
	Category string `json:"category"`
	Base     int    `json:"base"`
	MaxDex   int    `json:"max_dex"` // -1: no limit
	Strength int    `json:"strength"`
	Loud     bool   `json:"loud"` // disadvantage on Stealth
}

// srd returns the document.
var srd = sync.OnceValue(func() *document {
	var d document
	if err := json.Unmarshal(srdFile, &d); err != nil {
		panic("fifth: srd.json: " + err.Error()) // the file is part of the program
	}
	return &d
})

// findNamed returns the item of a name, and the names of all.
func findNamed[T any](list []T, nameOf func(T) string, name string) (found *T, all []string) {
	for i := range list {
		n := nameOf(list[i])
		if all = append(all, n); strings.EqualFold(n, strings.TrimSpace(name)) {
			found = &list[i]
		}
	}
	return found, all
}
