package player

import (
	"time"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// Reason is why to consider speaking.
type Reason string

// The reasons.
const (
	PhaseBegan Reason = "phase"
	Mentioned  Reason = "mentioned"
	Accused    Reason = "accused"
	Nominated  Reason = "nominated"
	Plan       Reason = "plan"
)

// Cue is an occasion to speak. It is all that a Brain learns of the Core: nothing in it
// is secret.
type Cue struct {
	Number int // rises through a game; the table takes one message a cue
	Reason Reason
	After  time.Duration // how long a person would take before answering
}

// spoken are the phases in which a seat considers speaking, with their place in a day.
var spoken = map[string]int{string(rule.PulseCheck): 1, string(rule.Discussion): 2, string(rule.Nomination): 4, string(rule.Trial): 5}

// overtimePlace is the place of a discussion that was extended.
const overtimePlace = 3

// Cues are the occasions that the seat has in this phase so far, at most two: one when it
// begins, one when something calls for an answer. length is how long the phase lasts.
func (c *Core) Cues(v *view.Own, extended bool, length time.Duration) []Cue {
	place, ok := spoken[v.Phase]
	if !ok || !v.Players[c.seat.String()].Alive {
		return nil
	}
	if extended && v.Phase == string(rule.Discussion) {
		place = overtimePlace
	}
	base := v.Day*100 + place*10
	delay := func(purpose string, least, most float64) time.Duration {
		share := least + (most-least)*c.roll(v.Day, purpose, place)
		return time.Duration(share * float64(length))
	}
	var cues []Cue
	if r, ok := c.opens(v, place); ok {
		cues = append(cues, Cue{base + 1, r, delay("first", 0.05, 0.5)})
	}
	if c.mentioned.day == v.Day && c.mentioned.phase == v.Phase && v.Phase != string(rule.Trial) {
		r := Mentioned
		if c.mentioned.accuses {
			r = Accused
		}
		cues = append(cues, Cue{base + 2, r, delay("second", 0.55, 0.8)})
	}
	return cues
}

// opens says whether the beginning of a phase makes the seat speak.
func (c *Core) opens(v *view.Own, place int) (Reason, bool) {
	switch rule.Phase(v.Phase) {
	case rule.Trial:
		return Nominated, v.Nominee != nil && *v.Nominee == c.seat.String()
	case rule.Discussion:
		if c.roll(v.Day, "plan", place) < 0.5 {
			return Plan, true
		}
		return PhaseBegan, c.roll(v.Day, "talk", place) < 0.6
	case rule.Nomination:
		return Plan, c.roll(v.Day, "talk", place) < 0.3
	}
	return PhaseBegan, c.roll(v.Day, "talk", place) < 0.1
}

// PulseCue is the number of the occasion to answer the question of a day.
func PulseCue(day int) int { return day*100 + 5 }
