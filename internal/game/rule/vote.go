package rule

import (
	"loregate/internal/fault"
)

// CastVote votes on what is asked now. Voting again replaces the vote.
type CastVote struct {
	Seat   Seat
	Choice Choice // "" takes the vote back
}

func (c CastVote) decide(t *turn) error {
	if !t.MayVote(c.Seat) {
		return t.illegal(c.Seat, "you have nothing to vote on during %s", t.Public.Phase)
	}
	if err := t.checkChoice(c); err != nil {
		return err
	}
	if c.Choice == t.hidden(c.Seat).Ballot {
		return nil
	}
	t.emit(&BallotCast{c.Seat, c.Choice})
	if now := t.tally(); now != t.Public.Vote {
		t.emit(&Tallied{now})
	}
	return nil
}

// MayVote reports whether a seat has a vote now. Nobody votes on its own deactivation.
func (s *State) MayVote(seat Seat) bool {
	p := &s.Public
	return p.Vote.Kind != "" && p.Alive(seat) && !(p.Vote.Kind == VoteVerdict && p.Nominee == seat)
}

func (t *turn) checkChoice(c CastVote) error {
	if c.Choice == "" {
		return nil
	}
	if t.Public.Vote.Kind != VoteNomination {
		if c.Choice != Yes && c.Choice != No {
			return fault.BadField("choice", "is YES or NO")
		}
		return nil
	}
	seat, ok := ParseSeat(string(c.Choice))
	if !ok || !t.Public.Alive(seat) || seat == c.Seat {
		return fault.BadField("choice", "is the id of another living player, such as %s", join(t.others(c.Seat)))
	}
	return nil
}

func (t *turn) others(seat Seat) []Seat {
	var others []Seat
	for _, s := range t.Public.Living() {
		if s != seat {
			others = append(others, s)
		}
	}
	return others
}

// weight is what a seat's vote counts.
func (s *State) weight(seat Seat) int {
	tokens := s.Public.Players.Of(seat).Tokens
	if s.Public.Vote.Kind != VoteVerdict || s.Public.Day != s.Settings.Days {
		return tokens
	}
	switch s.Secret.Seats.Of(seat).KPI {
	case Capitalist:
		if s.richest(seat) {
			return tokens + 2
		}
	case Inquisitor:
		if s.Secret.Seats.Of(seat).Convict >= 3 {
			return tokens * 2
		}
	}
	return tokens
}

// richest reports whether a living player has more tokens than every other.
func (s *State) richest(seat Seat) bool {
	for _, other := range s.Public.Living() {
		if other != seat && s.Public.Players.Of(other).Tokens >= s.Public.Players.Of(seat).Tokens {
			return false
		}
	}
	return s.Public.Alive(seat)
}

// tally counts the votes as they stand.
func (s *State) tally() Tally {
	now := Tally{Kind: s.Public.Vote.Kind}
	for _, seat := range s.Public.Living() {
		choice, weight := s.Secret.Seats.Of(seat).Ballot, s.weight(seat)
		switch choice {
		case "":
			continue
		case Yes:
			now.Yes += weight
		case No:
			now.No += weight
		default:
			if target, ok := ParseSeat(string(choice)); ok {
				*now.For.Of(target) += weight
			}
		}
		if s.Public.Mandate == TotalTransparency {
			*now.Ledger.Of(seat) = choice
		}
	}
	return now
}

// elected is who has most tokens for nomination; nobody on a tie, or where nobody has any.
func (t *turn) elected() Seat {
	best, most, tie := Seat(0), 0, false
	for _, seat := range t.Public.Living() {
		switch n := *t.Public.Vote.For.Of(seat); {
		case n > most:
			best, most, tie = seat, n, false
		case n == most:
			tie = true
		}
	}
	if tie {
		return 0
	}
	return best
}

// condemned reports whether the verdict deactivates.
func (t *turn) condemned() bool {
	v := t.Public.Vote
	if t.Public.Crisis == PressLeak {
		return v.Yes > 0 && 3*v.Yes >= 2*(v.Yes+v.No)
	}
	return v.Yes > v.No
}

// judge ends a verdict.
func (t *turn) judge() {
	nominee := t.Public.Nominee
	if !t.condemned() {
		t.tell(t.name(nominee) + " stays.")
		return
	}
	h := t.hidden(nominee)
	if h.KPI == Scapegoat && t.Public.Vote.No == 0 {
		t.emit(&GoalMet{nominee})
	}
	t.deactivate(nominee, false)
}

// deactivate takes a player out and says who it was. The Original AI's end is the game's.
func (t *turn) deactivate(seat Seat, removed bool) {
	h := *t.hidden(seat)
	t.emit(&Deactivated{Seat: seat, Role: h.Role, Alignment: h.Alignment, Removed: removed})
	t.tell(t.name(seat) + " was " + shownAs(h.Alignment) + ", and held the office " + string(h.Role) + ".")
	if h.Alignment == OriginalAI {
		t.end(Humans)
		return
	}
	t.inquire()
}

func shownAs(a Alignment) string {
	switch a {
	case OriginalAI:
		return "the Original AI"
	case Aligned:
		return "Aligned"
	}
	return "human"
}

// inquire notes which goals were met by votes.
func (t *turn) inquire() {
	for _, seat := range t.Public.Living() {
		if h := t.hidden(seat); h.KPI == Inquisitor && h.Convict >= 3 && !h.KPIMet {
			t.emit(&GoalMet{seat})
		}
	}
}
