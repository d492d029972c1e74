package player

import (
	"strings"
	"time"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// Cue is an occasion to speak. It is the only thing that a Brain learns from the Core, and contains
// no secret: its claim is what the seat wants the table to hear.
type Cue struct {
	Number int           // increases through a game; the table accepts one message per cue
	Claim  Claim         // what to say
	Answer bool          // somebody spoke of the seat
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
	if c.opens(v, place) {
		cues = append(cues, Cue{Number: base + 1, Claim: c.openingClaim(v, place), After: delay("first", 0.05, 0.5)})
	}
	if why := c.heard.named[c.seat]; why.day == v.Day && why.phase == v.Phase && v.Phase != string(rule.Trial) {
		cues = append(cues, Cue{Number: base + 2, Claim: c.reply(v, why), Answer: true, After: delay("second", 0.55, 0.8)})
	}
	return cues
}

// opens reports whether the seat speaks at the beginning of a phase.
func (c *Core) opens(v *view.Own, place int) bool {
	switch rule.Phase(v.Phase) {
	case rule.Trial:
		return v.Nominee != nil && *v.Nominee == c.seat.String()
	case rule.Discussion:
		return c.roll(v.Day, "talk", place) < 0.8
	case rule.Nomination:
		return c.roll(v.Day, "talk", place) < 0.3
	}
	return c.roll(v.Day, "talk", place) < 0.1
}

// PulseClaim returns the player that the seat names if the question of the day asks for one: a
// suspect, one whom it trusts, or a quiet one.
func (c *Core) PulseClaim(v *view.Own) Claim {
	if v.Pulse == nil || len(c.livingOthers(v)) == 0 {
		return Claim{}
	}
	var score func(rule.Seat) float64
	switch q := v.Pulse.Prompt; {
	case strings.Contains(q, "not want"):
		return Claim{About: c.suspectOf(v)}
	case strings.Contains(q, "too little"):
		score = func(s rule.Seat) float64 { return -float64(*c.heard.spoke.Of(s)) }
	case strings.HasPrefix(q, "Whose"), strings.Contains(q, "vouch"):
		score = func(s rule.Seat) float64 { return -c.suspicionOf(v, s) }
	default:
		return Claim{}
	}
	return Claim{About: bestSeat(c.livingOthers(v), score)}
}
