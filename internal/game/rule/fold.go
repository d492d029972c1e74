package rule

import "slices"

func (*Created) applyOpen(*Public, *Secret) {}

func (e *Joined) applyOpen(p *Public, _ *Secret) {
	seat := e.Seat
	if seat == 0 {
		p.Seated++
		seat = Seat(p.Seated)
	}
	*p.Players.Of(seat) = Person{Name: e.Name, JobTitle: e.JobTitle, Alive: true}
}

func (e *Seated) applySealed(s *Secret) {
	h := s.Seats.Of(e.Seat)
	h.Owner, h.Recovery, h.Subject, h.Played, h.Host = e.Owner, e.Recovery, e.Subject, e.Played, e.Host
	if e.Again {
		h.Reopened++
	}
}

func (e *Vacated) applyOpen(p *Public, s *Secret) {
	*p.Players.Of(e.Seat), *s.Seats.Of(e.Seat) = Person{}, Hidden{}
}

func (e *Started) applyOpen(p *Public, _ *Secret) {
	p.Mandate = e.Mandate
	for i := range p.Seated {
		p.Players[i].Tokens = e.Tokens
	}
}

func (e *Dealt) applySealed(s *Secret) {
	for i := range e.Roles {
		h := &s.Seats[i]
		h.Role, h.Alignment, h.KPI = e.Roles[i], e.Alignments[i], e.KPIs[i]
	}
	s.Deck = e.Deck
}

func (e *PhaseBegan) applyOpen(p *Public, s *Secret) {
	if e.Day != p.Day {
		newDay(p, s)
	}
	p.Phase, p.Day, p.Ends, p.Vote = e.Phase, e.Day, e.Ends, Tally{Kind: voteKinds[e.Phase]}
	p.Extended = p.Extended || e.Extended
	for i := range s.Seats {
		s.Seats[i].Ballot = ""
	}
	switch e.Phase {
	case Nomination:
		p.Nominee = 0
		p.Rounds++
	case Night:
		p.Nominee = 0
	}
}

// newDay resets the state that lasts for one day.
func newDay(p *Public, s *Secret) {
	p.Crisis, p.Extended, p.Rounds, p.Nominee, p.Pulse = "", false, 0, 0, Pulse{}
	for i := range s.Seats {
		h := &s.Seats[i]
		h.Kind, h.Said, h.Written, h.Pulse, h.Leaving = false, 0, 0, "", false
	}
}

// voteKinds maps the phases that vote to their kind of vote.
var voteKinds = map[Phase]VoteKind{Extension: VoteExtension, Nomination: VoteNomination, Verdict: VoteVerdict}

func (e *Counted) applyOpen(p *Public, _ *Secret) { p.Pool, p.Machines = e.Pool, e.Machines }

func (e *Liaised) applySealed(s *Secret) { s.Liaison = e.On }

func (e *CrisisStruck) applyOpen(p *Public, s *Secret) {
	p.Crisis = e.Crisis
	s.Deck = removeCrisis(s.Deck, e.Crisis)
	s.Tainted = s.Tainted || e.Crisis == TaintedData
}

// removeCrisis returns a copy of the deck without one crisis.
func removeCrisis(deck []Crisis, c Crisis) []Crisis {
	return slices.DeleteFunc(slices.Clone(deck), func(x Crisis) bool { return x == c })
}

func (e *RoleShown) applyOpen(p *Public, _ *Secret) { p.Revealed.Of(e.Seat).Role = e.Role }

func (e *Said) applyOpen(p *Public, s *Secret) {
	p.Log = p.Log.withMessage(Message{Day: p.Day, Phase: p.Phase, From: e.From, To: e.To, Text: e.Text, At: e.At})
	if e.From == 0 {
		return
	}
	h := s.Seats.Of(e.From)
	h.Written++
	h.Cue = max(h.Cue, e.Cue)
	if e.Counted {
		h.Said++
	}
}

func (e *Whispered) applySealed(s *Secret) {
	s.Whispers = s.Whispers.withMessage(Message{Day: e.Day, Phase: e.Phase, From: e.From, To: e.To, Text: e.Text,
		At: e.At})
	s.Seats.Of(e.From).Written++
}

func (e *StatusSet) applyOpen(p *Public, _ *Secret) { p.Players.Of(e.Seat).Status = e.Text }

func (e *PulseAsked) applyOpen(p *Public, _ *Secret) { p.Pulse = Pulse{Prompt: e.Prompt} }

func (e *PulseGiven) applySealed(s *Secret) { s.Seats.Of(e.Seat).Pulse = e.Text }

func (e *PulseShown) applyOpen(p *Public, _ *Secret) { p.Pulse.Answers = e.Answers }

func (e *BallotCast) applySealed(s *Secret) { s.Seats.Of(e.Seat).Ballot = e.Choice }

func (e *Tallied) applyOpen(p *Public, _ *Secret) { p.Vote = e.Tally }

func (e *Nominated) applyOpen(p *Public, _ *Secret) { p.Nominee = e.Seat }

func (e *Deactivated) applyOpen(p *Public, s *Secret) {
	p.Players.Of(e.Seat).Alive = false
	*p.Revealed.Of(e.Seat) = Reveal{e.Role, e.Alignment}
	h := s.Seats.Of(e.Seat)
	h.Leaving, h.Action, h.Convert = true, Action{}, 0
	if e.Removed {
		return
	}
	for i := range s.Seats {
		if s.Seats[i].Ballot == Yes {
			s.Seats[i].Convict++
		}
	}
}

func (e *ActionGiven) applySealed(s *Secret) { s.Seats.Of(e.Seat).Action = e.Action }

func (e *ConversionGiven) applySealed(s *Secret) { s.Seats.Of(e.Seat).Convert = e.Target }

func (e *NightResolved) applySealed(s *Secret) {
	for i := range s.Seats {
		h := &s.Seats[i]
		h.Equity += e.Equity[i]
		h.Last, h.Action, h.Convert, h.Failed, h.Shock = h.Action, Action{}, 0, false, ""
	}
	for _, seat := range e.Failed {
		s.Seats.Of(seat).Failed = true
	}
	if e.Converted != 0 {
		h := s.Seats.Of(e.Converted)
		h.Alignment, h.KPI = Aligned, ""
	}
	if e.Shocked != 0 {
		s.Seats.Of(e.Shocked).Shock = e.Shock
	}
	for _, n := range e.Notices {
		s.addNotice(n)
	}
	s.Tainted = e.Tainted
}

func (e *NightReported) applyOpen(p *Public, _ *Secret) {
	for i := range p.Players {
		p.Players[i].Tokens += e.Tokens[i]
		p.Players[i].Milestones += e.Milestones[i]
	}
	p.Mining = e.Mining
}

func (e *TokensMoved) applyOpen(p *Public, _ *Secret) {
	p.Players.Of(e.From).Tokens -= e.Tokens
	if e.To != 0 {
		p.Players.Of(e.To).Tokens += e.Tokens
	}
}

func (e *Noted) applySealed(s *Secret) { s.addNotice(e.SeatsNotice) }

func (s *Secret) addNotice(n SeatsNotice) {
	h := s.Seats.Of(n.Seat)
	h.Notices = append(slices.Clip(h.Notices), n.Notice)
}

func (e *KindWord) applySealed(s *Secret) { s.Seats.Of(e.Seat).Kind = true }

func (e *Pivoted) applySealed(s *Secret) { s.Deck = e.Deck }

func (e *LeaveTaken) applySealed(s *Secret) { s.Seats.Of(e.Seat).Leaving = false }

func (e *GoalMet) applySealed(s *Secret) { s.Seats.Of(e.Seat).KPIMet = true }

func (e *Ended) applyOpen(p *Public, _ *Secret) {
	p.Phase, p.Ends, p.Winner, p.Vote, p.Nominee, p.Revealed = Over, 0, e.Winner, Tally{}, 0, e.Revealed
}
