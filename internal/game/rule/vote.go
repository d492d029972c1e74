package rule

import (
	"loregate/internal/fault"
	"loregate/internal/slicesx"
)

// CastVote votes in the current vote. Voting again replaces the vote.
type CastVote struct {
	Seat   Seat
	Choice Choice // "" withdraws the vote
}

func (c CastVote) emitEvents(t *turn) error {
	if !t.MayVote(c.Seat) {
		return t.newIllegal(c.Seat, "you have nothing to vote on during %s", t.Public.Phase)
	}
	if err := t.checkChoice(c); err != nil {
		return err
	}
	if c.Choice == t.hiddenOf(c.Seat).Ballot {
		return nil
	}
	t.emitEvent(&BallotCast{c.Seat, c.Choice})
	if now := t.countVotes(); now != t.Public.Vote {
		t.emitEvent(&Tallied{now})
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
		return fault.BadField("choice", "is the id of another living player, such as %s", joinSeats(t.otherSeats(c.Seat)))
	}
	return nil
}

func (t *turn) otherSeats(seat Seat) []Seat {
	return slicesx.Filter(t.Public.Living(), func(s Seat) bool { return s != seat })
}

// voteWeight returns the weight of a seat's vote.
func (s *State) voteWeight(seat Seat) int {
	tokens := s.Public.Players.Of(seat).Tokens
	if s.Public.Vote.Kind != VoteVerdict || s.Public.Day != s.Settings.Days {
		return tokens
	}
	switch s.Secret.Seats.Of(seat).KPI {
	case Capitalist:
		if s.isRichest(seat) {
			return tokens + 2
		}
	case Inquisitor:
		if s.Secret.Seats.Of(seat).Convict >= 3 {
			return tokens * 2
		}
	}
	return tokens
}

// isRichest reports whether a living player has more tokens than every other.
func (s *State) isRichest(seat Seat) bool {
	for _, other := range s.Public.Living() {
		if other != seat && s.Public.Players.Of(other).Tokens >= s.Public.Players.Of(seat).Tokens {
			return false
		}
	}
	return s.Public.Alive(seat)
}

// countVotes returns the tally of the current votes.
func (s *State) countVotes() Tally {
	now := Tally{Kind: s.Public.Vote.Kind}
	for _, seat := range s.Public.Living() {
		choice, weight := s.Secret.Seats.Of(seat).Ballot, s.voteWeight(seat)
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

// electedSeat returns the seat with the highest weight of nomination votes; the zero Seat on a tie
// or without votes.
func (t *turn) electedSeat() Seat {
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

// isCondemned reports whether the verdict is to deactivate the nominee.
func (t *turn) isCondemned() bool {
	v := t.Public.Vote
	if t.Public.Crisis == PressLeak {
		return v.Yes > 0 && 3*v.Yes >= 2*(v.Yes+v.No)
	}
	return v.Yes > v.No
}

// endVerdict carries out the verdict.
func (t *turn) endVerdict() {
	nominee := t.Public.Nominee
	t.tellAll(t.describeVerdict())
	if !t.isCondemned() {
		t.tellAll(t.playerName(nominee) + " stays.")
		return
	}
	h := t.hiddenOf(nominee)
	if h.KPI == Scapegoat && t.Public.Vote.No == 0 {
		t.emitEvent(&GoalMet{nominee})
	}
	t.deactivateSeat(nominee, false)
}

// deactivateSeat takes a player out of the game and reveals its role and alignment. The game ends
// if it is the Original AI.
func (t *turn) deactivateSeat(seat Seat, removed bool) {
	h := *t.hiddenOf(seat)
	t.emitEvent(&Deactivated{Seat: seat, Role: h.Role, Alignment: h.Alignment, Removed: removed})
	t.tellAll(t.playerName(seat) + " was " + shownAs(h.Alignment) + ", and held the office " + string(h.Role) + ".")
	if h.Alignment == OriginalAI {
		t.endGame(Humans)
		return
	}
	t.noteInquisitors()
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

// noteInquisitors marks the Inquisitor goals that votes have met.
func (t *turn) noteInquisitors() {
	for _, seat := range t.Public.Living() {
		if h := t.hiddenOf(seat); h.KPI == Inquisitor && h.Convict >= 3 && !h.KPIMet {
			t.emitEvent(&GoalMet{seat})
		}
	}
}
