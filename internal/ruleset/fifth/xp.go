package fifth

import (
	"errors"
	"fmt"
)

const maxLevel = 20

// levelXP is the experience at which each level begins (SRD "Beyond 1st Level").
var levelXP = [maxLevel]int{0, 300, 900, 2700, 6500, 14000, 23000, 34000, 48000, 64000, 85000, 100000, 120000, 140000,
	165000, 195000, 225000, 265000, 305000, 355000}

// LevelAt returns the level of a character with so much experience.
func LevelAt(xp int) int {
	level := 1
	for level < maxLevel && xp >= levelXP[level] {
		level++
	}
	return level
}

// ratingXP is the experience for a defeated monster, by challenge rating: 0, 1/8, 1/4, 1/2, 1, 2 … 30
// (SRD "Experience Points by Challenge Rating").
var ratingXP = []int{10, 25, 50, 100, 200, 450, 700, 1100, 1800, 2300, 2900, 3900, 5000, 5900, 7200, 8400, 10000, 11500,
	13000, 15000, 18000, 20000, 22000, 25000, 33000, 41000, 50000, 62000, 75000, 90000, 105000, 120000, 135000, 155000}

// XPOf returns the experience for a monster of a challenge rating.
func XPOf(rating float64) (int, error) {
	switch rating {
	case 0:
		return ratingXP[0], nil
	case 0.125:
		return ratingXP[1], nil
	case 0.25:
		return ratingXP[2], nil
	case 0.5:
		return ratingXP[3], nil
	}
	if rating != float64(int(rating)) || rating < 1 || rating > 30 {
		return 0, errors.New("must be 0, 0.125, 0.25, 0.5 or a whole number from 1 to 30")
	}
	return ratingXP[int(rating)+3], nil
}

// Danger is the difficulty of an encounter for a party.
type Danger int

// The dangers, from the least.
const (
	Trivial Danger = iota
	Easy
	Medium
	Hard
	Deadly
)

var dangerNames = []string{"trivial", "easy", "medium", "hard", "deadly"}

func (d Danger) String() string { return dangerNames[d] }

// citeThresholds names the source of the thresholds and multipliers, which the SRD lacks.
const citeThresholds = "D&D Basic Rules: Building Combat Encounters"

// thresholds are the experience of an easy, medium, hard and deadly encounter for one character of
// each level ("XP Thresholds by Character Level").
var thresholds = [maxLevel][4]int{
	{25, 50, 75, 100}, {50, 100, 150, 200}, {75, 150, 225, 400}, {125, 250, 375, 500}, {250, 500, 750, 1100},
	{300, 600, 900, 1400}, {350, 750, 1100, 1700}, {450, 900, 1400, 2100}, {550, 1100, 1600, 2400},
	{600, 1200, 1900, 2800}, {800, 1600, 2400, 3600}, {1000, 2000, 3000, 4500}, {1100, 2200, 3400, 5100},
	{1250, 2500, 3800, 5700}, {1400, 2800, 4300, 6400}, {1600, 3200, 4800, 7200}, {2000, 3900, 5900, 8800},
	{2100, 4200, 6300, 9500}, {2400, 4900, 7300, 10900}, {2800, 5700, 8500, 12700},
}

// multipliers are the factors, in halves, of the experience of a number of monsters: 1 monster, 2,
// 3 to 6, 7 to 10, 11 to 14, 15 and more. The first is for one monster against six and more
// characters, the last for many against fewer than three ("Encounter Multipliers").
var multipliers = []int{1, 2, 3, 4, 5, 6, 8, 10}

// Assessment is the danger of monsters for a party.
type Assessment struct {
	Danger     Danger
	XP         int    // for all monsters
	Adjusted   int    // the same, multiplied for their number
	Thresholds [4]int // of the party: easy, medium, hard, deadly
	Citation   string
}

// Assess returns the danger of monsters, given by the experience for each, for characters of levels.
func Assess(levels, xp []int) (a Assessment, err error) {
	if len(levels) == 0 {
		return a, errors.New("needs the level of at least one character")
	}
	for _, l := range levels {
		if l < 1 || l > maxLevel {
			return a, fmt.Errorf("levels must be from 1 to %d", maxLevel)
		}
		for i, n := range thresholds[l-1] {
			a.Thresholds[i] += n
		}
	}
	for _, n := range xp {
		a.XP += n
	}
	a.Adjusted = a.XP * multipliers[multiplierStep(len(xp), len(levels))] / 2
	for i, n := range a.Thresholds {
		if a.Adjusted >= n {
			a.Danger = Danger(i + 1)
		}
	}
	a.Citation = citeThresholds
	return a, nil
}

// multiplierStep returns the index in multipliers for a number of monsters and of characters.
func multiplierStep(monsters, characters int) int {
	step := 1
	for _, from := range []int{2, 3, 7, 11, 15} {
		if monsters >= from {
			step++
		}
	}
	switch {
	case characters < 3:
		step++
	case characters >= 6:
		step--
	}
	return step
}
