package player

import (
	"time"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// Reason is a reason to consider speaking.
type Reason string

// The reasons to speak.
const (
	PhaseBegan Reason = "phase"
	Mentioned  Reason = "mentioned"
	Accused    Reason = "accused"
	Nominated  Reason = "nominated"
	Plan       Reason = "plan"
)

// Cue is an occasion to speak. It is the only thing that a Brain learns from the Core, and contains
// no secret.
type Cue struct {
	Number int // increases through a game; the table accepts one message per cue
	Reason Reason
	After  time.Duration // the delay that a person would need before answering
}

// phasePlaces maps the phases in which a seat considers speaking to their place in a day.
var phasePlaces = map[string]int{string(rule.PulseCheck): 1, string(rule.Discussion): 2, string(rule.Nomination): 4,
	string(rule.Trial): 5}

// overtimePlace is the place of a discussion that was extended.
const overtimePlace = 3

// Cues returns the seat's occasions to speak in this phase so far, at most two: one when the phase
// begins, one when something calls for an answer. length is the length of the phase.
func (c *Core) Cues(v *view.Own, extended bool, length time.Duration) []Cue {
	place, ok := phasePlaces[v.Phase]
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
	if r, ok := c.openingCue(v, place); ok {
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

// openingCue reports whether the seat speaks at the beginning of a phase, and for which reason.
func (c *Core) openingCue(v *view.Own, place int) (Reason, bool) {
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

// PulseCue returns the number of the cue to answer the question of a day.
func PulseCue(day int) int { return day*100 + 5 }
