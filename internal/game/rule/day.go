package rule

import "strconv"

// advance ends the phase and begins the one that follows.
func (t *turn) advance() {
	switch t.Public.Phase {
	case Sitrep:
		t.begin(PulseCheck)
		t.emit(&PulseAsked{prompts[(t.Public.Day-1)%len(prompts)]})
	case PulseCheck:
		t.showPulse()
		t.begin(Discussion)
	case Discussion:
		if t.Public.Extended {
			t.begin(Nomination)
			return
		}
		t.begin(Extension)
	case Extension:
		if t.Public.Vote.Yes > t.Public.Vote.No {
			t.overtime()
			return
		}
		t.begin(Nomination)
	case Nomination:
		t.nominate()
	case Trial:
		t.begin(Verdict)
	case Verdict:
		t.judge()
		t.afterVote()
	case Night:
		t.dawn()
	}
}

func (t *turn) begin(p Phase) {
	t.emit(&PhaseBegan{Phase: p, Day: t.Public.Day, Ends: t.now + t.Settings.length(p, false)})
}

func (t *turn) overtime() {
	t.emit(&PhaseBegan{Phase: Discussion, Day: t.Public.Day, Ends: t.now + t.Settings.length(Discussion, true), Extended: true})
}

func (t *turn) showPulse() {
	var e PulseShown
	for _, seat := range t.Public.Living() {
		*e.Answers.Of(seat) = t.hidden(seat).Pulse
	}
	if e.Answers != t.Public.Pulse.Answers {
		t.emit(&e)
	}
}

func (t *turn) nominate() {
	seat := t.elected()
	if seat == 0 {
		t.tell("Nobody is nominated.")
		t.afterVote()
		return
	}
	t.emit(&Nominated{seat})
	t.tell(t.name(seat) + " is nominated and has the floor.")
	t.begin(Trial)
}

// afterVote goes on after a deactivation vote, or after none where nobody was nominated.
// A board meeting asks for a second one; a nomination that nominates nobody counts too.
func (t *turn) afterVote() {
	if t.Public.Phase == Over {
		return
	}
	t.count()
	if t.Public.Crisis == BoardMeeting && t.Public.Rounds < 2 {
		t.begin(Nomination)
		return
	}
	t.begin(Night)
}

// dawn ends the night, and the day with it.
func (t *turn) dawn() {
	t.resolve()
	switch {
	case t.majority():
		t.end(Machine)
	case t.Public.Day >= t.Settings.Days:
		t.end(Draw)
	default:
		t.day()
	}
}

// majority reports whether the AI side holds 51 of 100 tokens of the living.
func (s *State) majority() bool {
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

// day begins a day with the report of the night.
func (t *turn) day() {
	t.emit(&PhaseBegan{Phase: Sitrep, Day: t.Public.Day + 1, Ends: t.now + t.Settings.length(Sitrep, false)})
	for _, l := range t.lines {
		t.tell(l.text)
	}
	t.lines = nil
	t.liaise()
	t.strike()
	t.count()
	t.guard()
}

// strike is the crisis of the day.
func (t *turn) strike() {
	if len(t.Secret.Deck) == 0 {
		return
	}
	c := t.Secret.Deck[0]
	t.emit(&CrisisStruck{c})
	t.tell("Crisis: " + c.Card().Title + ". " + c.Card().Text)
	if c != IndexCorruption {
		return
	}
	var hiddenRoles []Seat
	for _, seat := range t.Public.Living() {
		if t.Public.Revealed.Of(seat).Role == "" {
			hiddenRoles = append(hiddenRoles, seat)
		}
	}
	if len(hiddenRoles) > 0 {
		seat := pick(t.dice, hiddenRoles)
		t.emit(&RoleShown{seat, t.hidden(seat).Role})
		t.tell("The leaked index says that " + t.name(seat) + " holds the office " + string(t.hidden(seat).Role) + ".")
	}
}

// liaison is how many of a hundred living players are Aligned or the Original AI when
// the liaison protocol begins, and how many slots it adds.
const (
	liaison      = 40
	liaisonSlots = 2
)

// liaise reveals one action of the night where the AI side has grown too strong at a
// day's start. The slots that come with it hold for the day.
func (t *turn) liaise() {
	on := 100*len(t.machines()) >= liaison*len(t.Public.Living())
	if on != t.Secret.Liaison {
		t.emit(&Liaised{on})
	}
	if !on {
		return
	}
	var acted []Seat
	for _, seat := range t.Public.Living() {
		if t.hidden(seat).Last.Do != "" {
			acted = append(acted, seat)
		}
	}
	if len(acted) > 0 {
		seat := pick(t.dice, acted)
		t.tell("Liaison protocol: last night " + t.name(seat) + " chose " + t.words(t.hidden(seat).Last) + ".")
	}
}

func (t *turn) words(a Action) string {
	words := a.Do
	if a.Target != 0 {
		words += " for " + t.name(a.Target)
	}
	if a.Second != 0 {
		words += " and " + t.name(a.Second)
	}
	return words
}

// count tells how many are of the AI side, and how much can be mined tonight.
func (t *turn) count() {
	machines := len(t.machines())
	slots := (len(t.Public.Living()) - machines) / 2
	if t.Secret.Liaison {
		slots += liaisonSlots
	}
	if t.Public.Mandate == AggressiveGrowth {
		slots--
	}
	if slots = max(slots, 0); slots != t.Public.Pool || machines != t.Public.Machines {
		t.emit(&Counted{Pool: slots, Machines: machines})
	}
}

// guard rewards who kept the CISO in the game to day 4.
func (t *turn) guard() {
	if t.Public.Day != 4 {
		return
	}
	ciso := false
	for _, seat := range t.Public.Living() {
		ciso = ciso || t.hidden(seat).Role == CISO
	}
	if !ciso {
		return
	}
	for _, seat := range t.Public.Living() {
		if h := t.hidden(seat); h.KPI == Guardian && !h.KPIMet {
			t.emit(&GoalMet{seat})
			t.learn(seat)
		}
	}
}

// learn tells a player one target of the night before.
func (t *turn) learn(seat Seat) {
	var acted []Seat
	for _, other := range t.others(seat) {
		if t.hidden(other).Last.Target != 0 {
			acted = append(acted, other)
		}
	}
	if len(acted) > 0 {
		actor := pick(t.dice, acted)
		t.note(seat, "Your goal is met: last night "+t.name(actor)+" chose "+t.name(t.hidden(actor).Last.Target)+".")
	}
}

// end is the end of the game.
func (t *turn) end(winner Side) {
	t.goals(winner)
	e := &Ended{Winner: winner}
	for s := Seat(1); int(s) <= t.Public.Seated; s++ {
		*e.Revealed.Of(s) = Reveal{t.hidden(s).Role, t.hidden(s).Alignment}
	}
	t.emit(e)
	t.tell(map[Side]string{Humans: "The Original AI is gone. The humans win.",
		Machine: "The AI side holds the company. The AI wins.",
		Draw:    "Day " + strconv.Itoa(t.Public.Day) + " is over, and nothing is decided. A draw."}[winner])
}

// goals notes which goals the end meets.
func (t *turn) goals(winner Side) {
	living := t.Public.Living()
	for _, seat := range living {
		h := t.hidden(seat)
		alone := winner == Humans && len(living) == 2 && len(t.machines()) == 0
		if !h.KPIMet && (h.KPI == Capitalist && t.richest(seat) || h.KPI == Survivor && alone) {
			t.emit(&GoalMet{seat})
		}
	}
}
