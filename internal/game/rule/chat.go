package rule

import (
	"slices"

	"loregate/internal/fault"
)

// Channel selects the readers of a message.
type Channel string

// The channels.
const (
	ToAll     Channel = "public"
	ToAligned Channel = "aligned" // the AI side
	ToOne     Channel = "direct"
)

// Chat is a message.
type Chat struct {
	From    Seat
	Channel Channel // "" is ToAll
	To      Seat    // the recipient; in public, the player that the message is about
	Text    string
	Cue     int // number of the cue that a program's seat reacts to, each at most once; 0 for other messages
}

// serverFailureRation is the number of messages per player in a discussion during a server failure.
const ration = 5

func (c Chat) emitEvents(t *turn) error {
	text, err := needText("text", c.Text, MaxText)
	if err != nil {
		return err
	}
	if c.To != 0 && (int(c.To) > t.Public.Seated || c.To == c.From) {
		return fault.BadField("to", "is nobody else at this table")
	}
	h := t.hiddenOf(c.From)
	if c.Cue != 0 && c.Cue <= h.Cue {
		return nil
	}
	if h.Written >= t.Settings.Messages {
		return t.newIllegal(c.From, "you have written %d messages today, which is the limit", h.Written)
	}
	switch c.Channel {
	case ToAll, "":
		return c.sayPublicly(t, h, text)
	case ToAligned, ToOne:
		return c.sendPrivately(t, h, text)
	}
	return fault.BadField("channel", "is public, aligned or direct")
}

// MaySpeak reports whether a seat may write to all now.
func (s *State) MaySpeak(seat Seat) bool {
	p, h := &s.Public, s.Secret.Seats.Of(seat)
	if h.Written >= s.Settings.Messages {
		return false
	}
	switch p.Phase {
	case Lobby, Over:
		return true
	case Verdict, Night:
		return false
	case Trial:
		return p.Nominee == seat && h.Shock != Silent
	case Discussion:
		if p.Crisis == ServerFailure && h.Said >= ration {
			return false
		}
	}
	return p.Alive(seat) && h.Shock != Silent
}

func (c Chat) sayPublicly(t *turn, h *Hidden, text string) error {
	if !t.MaySpeak(c.From) {
		switch {
		case h.Shock == Silent:
			return t.newIllegal(c.From, "a system shock keeps you silent today")
		case t.Public.Phase == Discussion:
			return t.newIllegal(c.From, "the server failure leaves everybody %d messages in a discussion", ration)
		}
		return t.newIllegal(c.From, "you cannot speak to all during %s", t.Public.Phase)
	}
	if h.Shock == Garbled && t.Public.Phase != Over && t.dice.Chance(4) {
		text = "lol"
	}
	kind := t.Public.Crisis == Wellness && c.To != 0 && !h.Kind && t.Public.Phase != Over
	t.emitEvent(&Said{From: c.From, To: c.To, Text: text, At: t.now, Counted: t.Public.Phase == Discussion, Cue: c.Cue})
	if kind {
		t.emitEvent(&KindWord{c.From})
	}
	return nil
}

// MayWhisper reports whether a seat may write on a channel that not all can read.
func (s *State) MayWhisper(seat Seat, on Channel) bool {
	p, h := &s.Public, s.Secret.Seats.Of(seat)
	if !p.Alive(seat) || p.Phase == Lobby || p.Phase == Over || h.Shock == Silent || h.Written >= s.Settings.Messages {
		return false
	}
	if on == ToAligned {
		return h.Alignment.Machine()
	}
	return p.Mandate != TotalTransparency && p.Phase != Night
}

func (c Chat) sendPrivately(t *turn, h *Hidden, text string) error {
	switch {
	case !t.MayWhisper(c.From, c.Channel):
		return t.newIllegal(c.From, "you cannot write to %s now", c.Channel)
	case c.Channel == ToOne && !t.Public.Alive(c.To):
		return fault.BadField("to", "is needed: the id of a living player")
	}
	to := c.To
	if c.Channel == ToAligned {
		to = 0
	}
	if h.Shock == Garbled && t.dice.Chance(4) {
		text = "lol"
	}
	t.emitEvent(&Whispered{From: c.From, To: to, Day: t.Public.Day, Phase: t.Public.Phase, Text: text, At: t.now})
	return nil
}

// SetStatus sets the status text beside a player's name.
type SetStatus struct {
	Seat Seat
	Text string
}

func (c SetStatus) emitEvents(t *turn) error {
	text, err := cleanLine("text", c.Text, MaxStatus)
	if err != nil {
		return err
	}
	if !t.MaySetStatus(c.Seat) {
		return t.newIllegal(c.Seat, "you cannot change your status now")
	}
	if text != t.Public.Players.Of(c.Seat).Status {
		t.emitEvent(&StatusSet{c.Seat, text})
	}
	return nil
}

// MaySetStatus reports whether a seat may change its status now.
func (s *State) MaySetStatus(seat Seat) bool {
	h := s.Secret.Seats.Of(seat)
	return s.Public.Alive(seat) && s.Public.Phase != Over && h.Shock != Silent && h.Written < s.Settings.Messages
}

// AnswerPulse answers the question of the day; answers stay hidden until all are shown.
type AnswerPulse struct {
	Seat Seat
	Text string
}

func (c AnswerPulse) emitEvents(t *turn) error {
	text, err := needText("text", c.Text, MaxText)
	if err != nil {
		return err
	}
	if t.Public.Phase != PulseCheck || !t.Public.Alive(c.Seat) {
		return t.newIllegal(c.Seat, "there is no question to answer")
	}
	if text != t.hiddenOf(c.Seat).Pulse {
		t.emitEvent(&PulseGiven{c.Seat, text})
	}
	return nil
}

// prompts are the questions of the days, written for this game.
var prompts = []string{
	"Whose work did you rely on yesterday?",
	"What would you check first if a colleague acted strangely?",
	"Which number in the report do you trust least?",
	"Who in this room speaks too little?",
	"Describe your plan for tonight in five words.",
	"What do you know that the others should?",
	"Who would you not want to share a lift with?",
	"If the company had to let one of us go, what should decide it?",
	"What has changed since the first day?",
	"Name one colleague you would vouch for, and why.",
}

// TakeLeave is the exit interview of a player who has just been deactivated.
type TakeLeave struct {
	Seat   Seat
	Do     string // "handoff", "feedback" or "burn"
	Target Seat
	Text   string // of a feedback
	Status string // the last status; "" keeps the present one
}

// handoff is the number of tokens that a leaving player can hand on.
const handoff = 2

func (c TakeLeave) emitEvents(t *turn) error {
	status, err := cleanLine("status", c.Status, LastWords)
	if err != nil {
		return err
	}
	if !t.MayLeave(c.Seat) {
		return t.newIllegal(c.Seat, "the exit interview is for who has just been deactivated, once")
	}
	if !t.Public.Alive(c.Target) {
		return fault.BadField("target", "is the id of a living player: %s", joinSeats(t.Public.Living()))
	}
	if !slices.Contains([]string{"handoff", "feedback", "burn"}, c.Do) {
		return fault.BadField("action", "is handoff, feedback or burn")
	}
	text := ""
	if c.Do == "feedback" {
		if text, err = needText("text", c.Text, MaxText); err != nil {
			return err
		}
	}
	t.takeLeave(c, text)
	t.emitEvent(&LeaveTaken{c.Seat})
	if status != "" && status != t.Public.Players.Of(c.Seat).Status {
		t.emitEvent(&StatusSet{c.Seat, status})
	}
	return nil
}

// MayLeave reports whether a seat's exit interview is open.
func (s *State) MayLeave(seat Seat) bool {
	return s.Secret.Seats.Of(seat).Leaving && s.Public.Phase != Over
}

func (t *turn) takeLeave(c TakeLeave, text string) {
	switch c.Do {
	case "handoff":
		if n := min(handoff, t.Public.Players.Of(c.Seat).Tokens); n > 0 {
			t.emitEvent(&TokensMoved{From: c.Seat, To: c.Target, Tokens: n})
		}
		t.tellAll(t.playerName(c.Seat) + " handed on what was left to " + t.playerName(c.Target) + ".")
	case "feedback":
		t.tellSeat(c.Target, "Private feedback from "+t.playerName(c.Seat)+": "+text)
	case "burn":
		if t.Public.Players.Of(c.Target).Tokens > 0 {
			t.emitEvent(&TokensMoved{From: c.Target, Tokens: 1})
		}
		t.tellAll(t.playerName(c.Seat) + " burned the bridge to " + t.playerName(c.Target) + ", who loses a token.")
	}
}
