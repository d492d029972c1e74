package player

import (
	"math"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// finding is a piece of public evidence about a player. A positive weight speaks for the AI side.
type finding struct {
	basis  Basis
	third  rule.Seat
	weight float64
}

// The weights of evidence, in units of the logarithm of the odds.
const (
	weightLie      = 3.0  // a claim that the record refutes
	weightDoubt    = 0.7  // a claim that not everybody who makes it can be right about
	weightDefence  = 1.1  // spoke for somebody who was not human
	weightKept     = 0.8  // voted to keep somebody who was not human
	weightPush     = 0.35 // accused somebody who was human
	weightToken    = 0.22 // each token above the average
	weightQuiet    = 0.15 // has said nothing for two days
	weightFound    = -0.9 // accused somebody who was not human
	weightProven   = -0.3 // a claim that the record bears out
	weightGarbled  = -0.6 // resisted a conversion where all could see it
	weightOwnGift  = -0.2 // told of a gift to the one who judges
	weightHunch    = 2.2  // the range of what nothing explains, and everybody feels otherwise about
	mostOfOneKind  = 3    // findings of one kind count so often at most
	quietAfterDays = 2
)

// evidence returns the public evidence about a player.
func (m *memory) evidence(t *view.Table, s rule.Seat) []finding {
	found := append(m.lies(t, s), m.company(t, s)...)
	tokens, living, most := 0, 0, 0
	for _, p := range t.Players {
		if p.Alive {
			tokens, living, most = tokens+p.Tokens, living+1, max(most, p.Tokens)
		}
	}
	own := t.Players[s.String()].Tokens
	if above := float64(own) - float64(tokens)/float64(max(living, 1)); above > 0.5 && own == most {
		found = append(found, finding{ByTokens, 0, weightToken * above})
	}
	if *m.spoke.Of(s)+quietAfterDays < t.Day {
		found = append(found, finding{ByHunch, 0, weightQuiet})
	}
	if *m.garbled.Of(s) > 0 && *m.garbled.Of(s) >= t.Day-1 {
		found = append(found, finding{ByHunch, 0, weightGarbled})
	}
	return found
}

// lies compares a player's claims about nights with the record.
func (m *memory) lies(t *view.Table, s rule.Seat) (found []finding) {
	worked, proven := 0, 0.0
	for _, c := range *m.told.Of(s) {
		report, reported := m.nights[c.day]
		switch {
		case c.claim.Kind == Worked:
			if m.crises[c.day-1] != rule.LegacyCode.Card().Title {
				worked++
			}
		case c.claim.Kind != Mined || !reported || report.crisis == rule.LogForgery.Card().Title:
		case *report.gained.Of(c.claim.About) == 0:
			found = append(found, finding{ByMining, c.claim.About, weightLie})
		case m.countMiners(t, c) > *report.gained.Of(c.claim.About):
			found = append(found, finding{ByMining, c.claim.About, weightDoubt})
		default:
			proven = weightProven
		}
	}
	found = append(found, finding{ByHunch, 0, proven})
	if worked > t.Players[s.String()].Milestones {
		found = append(found, finding{ByMilestones, 0, weightLie})
	}
	return found
}

// countMiners returns the number of players who claim to have mined for the same player that night.
func (m *memory) countMiners(t *view.Table, c told) (n int) {
	for s := rule.Seat(1); int(s) <= len(t.Players); s++ {
		for _, other := range *m.told.Of(s) {
			if other.day == c.day && other.claim.Kind == Mined && other.claim.About == c.claim.About {
				n++
			}
		}
	}
	return n
}

// company judges a player by those whom it accused, defended and voted to keep, once they are
// revealed.
func (m *memory) company(t *view.Table, s rule.Seat) (found []finding) {
	count := map[Basis]int{}
	add := func(f finding) {
		if count[f.basis]++; count[f.basis] <= mostOfOneKind {
			found = append(found, f)
		}
	}
	for other := rule.Seat(1); int(other) <= len(t.Players); other++ {
		alignment := deref(t.Revealed[other.String()].Alignment)
		if alignment == "" || other == s {
			continue
		}
		machine := rule.Alignment(alignment).Machine()
		if m.accused.Of(s).hasSeat(other) {
			if machine {
				add(finding{ByHunch, other, weightFound})
			} else {
				add(finding{ByPush, other, weightPush})
			}
		}
		if machine && m.defended.Of(s).hasSeat(other) {
			add(finding{ByDefence, other, weightDefence})
		}
		if machine && m.kept.Of(s).hasSeat(other) {
			add(finding{ByVote, other, weightKept})
		}
	}
	return found
}

// suspicionOf estimates the chance that a player belongs to the AI side, 0 to 1. The number of
// accusations plays no part in it: only what they rest on does.
func (c *Core) suspicionOf(v *view.Own, s rule.Seat) float64 {
	living := len(c.livingOthers(v))
	share := (float64(v.Machines) + 0.5) / (float64(living) + 1)
	share = min(max(share, 0.05), 0.9)
	x := math.Log(share / (1 - share))
	for _, f := range c.heard.evidence(&v.Table, s) {
		x += f.weight
	}
	if claim, ok := c.heard.toldOn(s, v.Day); ok && claim.Kind == Mined && claim.About == c.seat {
		x += weightOwnGift
	}
	x += weightHunch * (c.roll(0, "prior", int(s)) + 0.5*c.roll(v.Day, "mood", int(s)) - 0.75)
	return 1 / (1 + math.Exp(-x))
}

// strongest returns the best evidence for an accusation of a player; a hunch without any.
func (m *memory) strongest(t *view.Table, s rule.Seat) finding {
	best := finding{}
	for _, f := range m.evidence(t, s) {
		if f.basis != ByHunch && f.weight > best.weight {
			best = f
		}
	}
	return best
}
