package player

import (
	"slices"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// accusedToday returns the living player that the seat has accused aloud today; 0 if there is none.
func (c *Core) accusedToday(v *view.Own) rule.Seat {
	if s := *c.heard.names.Of(c.seat); s.day == v.Day && v.Players[s.about.String()].Alive {
		return s.about
	}
	return 0
}

// suspectOf returns the player that the seat accuses today: the one that it has accused aloud, or the
// most suspicious one. A member of the AI side plays a human's part: it never names one of its own.
// 0 is nobody.
func (c *Core) suspectOf(v *view.Own) rule.Seat {
	if s := c.accusedToday(v); s != 0 {
		return s
	}
	return bestSeat(c.livingOthers(v), func(s rule.Seat) float64 {
		if c.isFriend(v, s) {
			return -1
		}
		return c.suspicionOf(v, s)
	})
}

// openingClaim chooses what the seat says at the beginning of a phase.
func (c *Core) openingClaim(v *view.Own, place int) Claim {
	if rule.Phase(v.Phase) == rule.Trial {
		return Claim{Kind: Deny}
	}
	r := c.roll(v.Day, "say", place)
	if rule.Phase(v.Phase) == rule.Nomination || r < 0.45 {
		if claim, ok := c.accusation(v); ok {
			return claim
		}
	}
	if night, ok := c.nightClaim(v); ok && r < 0.8 {
		return night
	}
	if s, ok := c.chooseDefended(v); ok && r > 0.9 {
		return Claim{Kind: Defend, About: s}
	}
	if s, ok := c.chooseAsked(v); ok && r > 0.3 {
		return Claim{Kind: Question, About: s}
	}
	return Claim{}
}

// reply chooses the answer to a message that names the seat.
func (c *Core) reply(v *view.Own, why occasion) Claim {
	asked := c.heard.asked[c.seat]
	if night, ok := c.nightClaim(v); ok && (asked.day == v.Day || why.accuses && c.roll(v.Day, "defence") < 0.6) {
		return night
	}
	if !why.accuses {
		return Claim{}
	}
	if claim, ok := c.accusation(v); ok && claim.Basis != ByHunch && c.roll(v.Day, "counter") < 0.4 {
		return claim
	}
	return Claim{Kind: Deny}
}

// boldEnough is the suspicion from which a seat accuses somebody without evidence.
const boldEnough = 0.3

// accusation returns the seat's accusation of its suspect, with the best evidence.
func (c *Core) accusation(v *view.Own) (Claim, bool) {
	s := c.suspectOf(v)
	if s == 0 {
		return Claim{}, false
	}
	f := c.heard.strongest(&v.Table, s)
	if f.basis == ByHunch && c.suspicionOf(v, s) < boldEnough {
		return Claim{}, false
	}
	return Claim{Kind: Accuse, About: s, Basis: f.basis, Third: f.third}, true
}

// chooseDefended returns a player whose claims hold, and whom somebody else accuses today.
func (c *Core) chooseDefended(v *view.Own) (rule.Seat, bool) {
	for _, s := range c.livingOthers(v) {
		accused := slices.ContainsFunc(c.livingOthers(v), func(by rule.Seat) bool {
			return *c.heard.names.Of(by) == stance{v.Day, s}
		})
		if accused && s != c.suspectOf(v) && (c.isFriend(v, s) || c.suspicionOf(v, s) < 0.2) {
			return s, true
		}
	}
	return 0, false
}

// chooseAsked returns a player who has not told of its night.
func (c *Core) chooseAsked(v *view.Own) (rule.Seat, bool) {
	var silent []rule.Seat
	for _, s := range c.livingOthers(v) {
		if _, ok := c.heard.toldOn(s, v.Day); !ok && c.heard.asked[s].day != v.Day {
			silent = append(silent, s)
		}
	}
	if v.Day < 2 || len(silent) == 0 {
		return 0, false
	}
	return silent[int(c.roll(v.Day, "whom")*float64(len(silent)))], true
}

// nightClaim returns what the seat tells of its last night, once a day. A human tells the truth. A
// member of the AI side hides every other gift to its own side, by a story that the report does not
// refute; the one who really gave may.
func (c *Core) nightClaim(v *view.Own) (Claim, bool) {
	if _, told := c.heard.toldOn(c.seat, v.Day); told || v.Day < 2 {
		return Claim{}, false
	}
	claim := c.trueNight(v)
	if !c.isMachine(v) || c.roll(v.Day, "lie") < 0.5 || !slices.Contains([]Kind{Mined, NoSlot}, claim.Kind) || !c.isFriend(v, claim.About) {
		return claim, true
	}
	report := c.heard.nights[v.Day]
	var gained []rule.Seat
	for _, s := range c.livingOthers(v) {
		if *report.gained.Of(s) > 0 && !c.isFriend(v, s) {
			gained = append(gained, s)
		}
	}
	if len(gained) > 0 {
		return Claim{Kind: Mined, About: gained[int(c.roll(v.Day, "story")*float64(len(gained)))]}, true
	}
	return Claim{Kind: Blocked}, true
}

// trueNight returns what the seat did last night.
func (c *Core) trueNight(v *view.Own) Claim {
	if v.Self.Last == nil || c.wasBlocked(v) {
		return Claim{Kind: Blocked}
	}
	target, _ := rule.ParseSeat(v.Self.Last.Target)
	switch v.Self.Last.Action {
	case rule.Mine:
		return Claim{Kind: c.minedAs(v, target), About: target}
	case rule.Project:
		return Claim{Kind: Worked}
	case rule.Bargain:
		return Claim{Kind: Blocked} // nobody admits a bargain with the machine
	}
	return Claim{Kind: Acted}
}

// wasBlocked reports whether the seat could not act last night: the report says so, or it was the
// target of a conversion.
func (c *Core) wasBlocked(v *view.Own) bool {
	return *c.heard.blocked.Of(c.seat) == v.Day || slices.ContainsFunc(v.Self.Notices, func(n view.Notice) bool {
		return n.Day == v.Day-1 && rule.TellsOfConversion(n.Text)
	})
}

// minedAs reads from the notices how last night's mining ended.
func (c *Core) minedAs(v *view.Own, target rule.Seat) Kind {
	name := v.Players[target.String()].Name
	for _, n := range slices.Backward(v.Self.Notices) {
		if n.Day < v.Day-1 {
			break
		}
		switch n.Text {
		case rule.MinedFor(name):
			return Mined
		case rule.FoundNoSlot(name):
			return NoSlot
		}
	}
	return Blocked
}
