package rule

import (
	"strconv"

	"loregate/internal/slicesx"
)

// advancePhase ends the phase and begins the next.
func (t *turn) advancePhase() {
	switch t.Public.Phase {
	case Sitrep:
		t.beginPhase(PulseCheck)
		t.emitEvent(&PulseAsked{prompts[(t.Public.Day-1)%len(prompts)]})
	case PulseCheck:
		t.showPulse()
		t.beginPhase(Discussion)
	case Discussion:
		if t.Public.Extended {
			t.beginPhase(Nomination)
			return
		}
		t.beginPhase(Extension)
	case Extension:
		if t.Public.Vote.Yes > t.Public.Vote.No {
			t.beginOvertime()
			return
		}
		t.beginPhase(Nomination)
	case Nomination:
		t.nominatePlayer()
	case Trial:
		t.beginPhase(Verdict)
	case Verdict:
		t.endVerdict()
		t.afterVote()
	case Night:
		t.endNight()
	}
}

func (t *turn) beginPhase(p Phase) {
	t.emitEvent(&PhaseBegan{Phase: p, Day: t.Public.Day, Ends: t.now + t.Settings.lengthOf(p, false)})
}

func (t *turn) beginOvertime() {
	t.emitEvent(&PhaseBegan{Phase: Discussion, Day: t.Public.Day, Ends: t.now + t.Settings.lengthOf(Discussion, true),
		Extended: true})
}

func (t *turn) showPulse() {
	var e PulseShown
	for _, seat := range t.Public.Living() {
		*e.Answers.Of(seat) = t.hiddenOf(seat).Pulse
	}
	if e.Answers != t.Public.Pulse.Answers {
		t.emitEvent(&e)
	}
}

func (t *turn) nominatePlayer() {
	seat := t.electedSeat()
	if seat == 0 {
		t.tellAll("Nobody is nominated.")
		t.afterVote()
		return
	}
	t.emitEvent(&Nominated{seat})
	t.tellAll(t.playerName(seat) + " is nominated and has the floor.")
	t.beginPhase(Trial)
}

// afterVote continues after a deactivation vote, or after a nomination without a nominee. A board
// meeting requires a second vote; a nomination without a nominee counts as one too.
func (t *turn) afterVote() {
	if t.Public.Phase == Over {
		return
	}
	t.updateCounts()
	if t.Public.Crisis == BoardMeeting && t.Public.Rounds < 2 {
		t.beginPhase(Nomination)
		return
	}
	t.beginPhase(Night)
}

// endNight ends the night and the day.
func (t *turn) endNight() {
	t.resolveNight()
	switch {
	case t.hasMajority():
		t.endGame(Machine)
	case t.Public.Day >= t.Settings.Days:
		t.endGame(Draw)
	default:
		t.beginDay()
	}
}

// hasMajority reports whether the AI side holds at least 51% of the tokens of living players.
func (s *State) hasMajority() bool {
	machine, all := 0, 0
	for _, seat := range s.Public.Living() {
		n := s.Public.Players.Of(seat).Tokens
		all += n
		if s.Machine(seat) {
			machine += n
		}
	}
	return 100*machine >= 51*all
}

// beginDay begins a day with the report of the night.
func (t *turn) beginDay() {
	t.emitEvent(&PhaseBegan{Phase: Sitrep, Day: t.Public.Day + 1, Ends: t.now + t.Settings.lengthOf(Sitrep, false)})
	for _, l := range t.lines {
		t.tellAll(l.text)
	}
	t.lines = nil
	t.updateLiaison()
	t.strikeCrisis()
	t.updateCounts()
	t.rewardGuardians()
}

// strikeCrisis begins the crisis of the day.
func (t *turn) strikeCrisis() {
	if len(t.Secret.Deck) == 0 {
		return
	}
	c := t.Secret.Deck[0]
	t.emitEvent(&CrisisStruck{c})
	t.tellAll("Crisis: " + c.Card().Title + ". " + c.Card().Text)
	if c != IndexCorruption {
		return
	}
	hiddenRoles := slicesx.Filter(t.Public.Living(), func(seat Seat) bool { return t.Public.Revealed.Of(seat).Role == "" })
	if len(hiddenRoles) > 0 {
		seat := pickOne(t.dice, hiddenRoles)
		t.emitEvent(&RoleShown{seat, t.hiddenOf(seat).Role})
		t.tellAll("The leaked index says that " + t.playerName(seat) + " holds the office " +
			string(t.hiddenOf(seat).Role) + ".")
	}
}

// liaisonPercent is the share of the AI side among the living players, in percent, at which the
// liaison protocol begins; liaisonSlots is the number of mining slots it adds.
const (
	liaisonPercent = 40
	liaisonSlots   = 2
)

// updateLiaison starts or ends the liaison protocol at the start of a day. While the AI side is too
// strong, it reveals one action of the past night; the added slots apply to that day.
func (t *turn) updateLiaison() {
	on := 100*len(t.machineSeats()) >= liaisonPercent*len(t.Public.Living())
	if on != t.Secret.Liaison {
		t.emitEvent(&Liaised{on})
	}
	if !on {
		return
	}
	acted := slicesx.Filter(t.Public.Living(), func(seat Seat) bool { return t.hiddenOf(seat).Last.Do != "" })
	if len(acted) > 0 {
		seat := pickOne(t.dice, acted)
		t.tellAll("Liaison protocol: last night " + t.playerName(seat) + " chose " +
			t.describeAction(t.hiddenOf(seat).Last) + ".")
	}
}

func (t *turn) describeAction(a Action) string {
	words := a.Do
	if a.Target != 0 {
		words += " for " + t.playerName(a.Target)
	}
	if a.Second != 0 {
		words += " and " + t.playerName(a.Second)
	}
	return words
}

// updateCounts updates the size of the AI side and tonight's mining slots.
func (t *turn) updateCounts() {
	machines := len(t.machineSeats())
	slots := (len(t.Public.Living()) - machines) / 2
	if t.Secret.Liaison {
		slots += liaisonSlots
	}
	if t.Public.Mandate == AggressiveGrowth {
		slots--
	}
	if slots = max(slots, 0); slots != t.Public.Pool || machines != t.Public.Machines {
		t.emitEvent(&Counted{Pool: slots, Machines: machines})
	}
}

// rewardGuardians marks the Guardian goal as met if the CISO is alive on day 4.
func (t *turn) rewardGuardians() {
	if t.Public.Day != 4 {
		return
	}
	ciso := false
	for _, seat := range t.Public.Living() {
		ciso = ciso || t.hiddenOf(seat).Role == CISO
	}
	if !ciso {
		return
	}
	for _, seat := range t.Public.Living() {
		if h := t.hiddenOf(seat); h.KPI == Guardian && !h.KPIMet {
			t.emitEvent(&GoalMet{seat})
			t.revealTarget(seat)
		}
	}
}

// revealTarget tells a player one target of the previous night.
func (t *turn) revealTarget(seat Seat) {
	acted := slicesx.Filter(t.otherSeats(seat), func(other Seat) bool { return t.hiddenOf(other).Last.Target != 0 })
	if len(acted) > 0 {
		actor := pickOne(t.dice, acted)
		t.tellSeat(seat, "Your goal is met: last night "+t.playerName(actor)+" chose "+
			t.playerName(t.hiddenOf(actor).Last.Target)+".")
	}
}

// endGame ends the game.
func (t *turn) endGame(winner Side) {
	t.noteGoals(winner)
	e := &Ended{Winner: winner}
	for s := Seat(1); int(s) <= t.Public.Seated; s++ {
		*e.Revealed.Of(s) = Reveal{t.hiddenOf(s).Role, t.hiddenOf(s).Alignment}
	}
	t.emitEvent(e)
	t.tellAll(map[Side]string{Humans: "The Original AI is gone. The humans win.",
		Machine: "The AI side holds the company. The AI wins.",
		Draw:    "Day " + strconv.Itoa(t.Public.Day) + " is over, and nothing is decided. A draw."}[winner])
}

// noteGoals marks the goals that are met at the end.
func (t *turn) noteGoals(winner Side) {
	living := t.Public.Living()
	for _, seat := range living {
		h := t.hiddenOf(seat)
		alone := winner == Humans && len(living) == 2 && len(t.machineSeats()) == 0
		if !h.KPIMet && (h.KPI == Capitalist && t.isRichest(seat) || h.KPI == Survivor && alone) {
			t.emitEvent(&GoalMet{seat})
		}
	}
}
