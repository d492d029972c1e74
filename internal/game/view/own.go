package view

import (
	"time"

	"loregate/internal/game/rule"
)

// Own is a game as a person on a seat sees it: the table, and the seat's own secrets.
type Own struct {
	Table
	Self    Self      `json:"you"`
	Direct  []Whisper `json:"direct"`  // to and from the seat
	Aligned []Whisper `json:"aligned"` // the channel of the AI side; empty for others
}

// Self is the secret state of a seat, for its player.
type Self struct {
	Host      bool        `json:"host"`
	Role      string      `json:"role"` // "" in the lobby
	Ability   string      `json:"ability"`
	Unlocked  bool        `json:"unlocked"`
	Needed    int         `json:"milestones_needed"`
	Alignment string      `json:"alignment"`
	Side      []string    `json:"side"` // the AI side, shown only to its members
	KPI       *Goal       `json:"kpi"`
	Equity    int         `json:"ai_equity"`
	Shock     *string     `json:"shock"`
	Vote      string      `json:"vote"`
	Pulse     string      `json:"pulse"`
	Action    *Action     `json:"night_action"`
	Last      *Action     `json:"last_night_action"`
	Convert   *string     `json:"convert"`
	Notices   []Notice    `json:"notices"`
	Legal     []rule.Move `json:"legal"` // the seat's legal moves
}

// Goal is a personal goal.
type Goal struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Met  bool   `json:"met"`
}

// Action is a player's choice for the night.
type Action struct {
	Action string `json:"action"`
	Target string `json:"target,omitempty"`
	Second string `json:"second,omitempty"`
	Pick   string `json:"pick,omitempty"`
}

// Notice is a line for one player.
type Notice struct {
	Day  int    `json:"day"`
	Text string `json:"text"`
}

// Whisper is a message that not all players read.
type Whisper struct {
	ID    int       `json:"id"` // counts the messages that the seat reads, on both channels
	Day   int       `json:"day"`
	Phase string    `json:"phase"`
	From  string    `json:"from"`
	To    string    `json:"to,omitempty"`
	Text  string    `json:"text"`
	At    time.Time `json:"at"`
}

// OwnOf returns a game as a seat sees it, with the whole chat.
func OwnOf(s *rule.State, seat rule.Seat) Own {
	o := BriefOf(s, seat)
	o.ChatLog = Messages(&s.Public, 0)
	return o
}

// BriefOf is OwnOf with an empty chat log, for readers who get the chat separately.
func BriefOf(s *rule.State, seat rule.Seat) Own {
	o := Own{Table: tableWithoutChat(s.ID, &s.Public, seat), Self: selfOf(s, seat), Direct: []Whisper{},
		Aligned: []Whisper{}}
	side := s.Machine(seat)
	for m := range s.Secret.Whispers.After(0) {
		// The number in the log would tell how many messages others have sent.
		w := Whisper{len(o.Direct) + len(o.Aligned) + 1, m.Day, string(m.Phase), m.From.String(), m.To.String(), m.Text,
			toTime(m.At)}
		switch {
		case m.To == 0 && side:
			o.Aligned = append(o.Aligned, w)
		case m.To != 0 && (m.To == seat || m.From == seat):
			o.Direct = append(o.Direct, w)
		}
	}
	return o
}

func selfOf(s *rule.State, seat rule.Seat) Self {
	h := s.Secret.Seats.Of(seat)
	self := Self{Host: h.Host, Role: string(h.Role), Ability: h.Role.Ability(), Unlocked: s.Public.Unlocked(seat) &&
		h.Role.Ability() != "",
		Needed: s.Public.Needed(), Alignment: string(h.Alignment), Side: sideOf(s, seat), Equity: h.Equity,
		Shock: stringOrNil(string(h.Shock)),
		Vote:  string(h.Ballot), Pulse: h.Pulse, Convert: idOrNil(h.Convert), Notices: []Notice{}, Legal: s.Legal(seat)}
	if h.KPI != "" {
		self.KPI = &Goal{string(h.KPI), h.KPI.Text(), h.KPIMet}
	}
	self.Action, self.Last = actionOrNil(h.Action), actionOrNil(h.Last)
	for _, n := range h.Notices {
		self.Notices = append(self.Notices, Notice{n.Day, n.Text})
	}
	return self
}

func actionOrNil(a rule.Action) *Action {
	if a.Do == "" {
		return nil
	}
	return &Action{a.Do, a.Target.String(), a.Second.String(), a.Pick}
}

// sideOf returns the AI side if the seat belongs to it.
func sideOf(s *rule.State, seat rule.Seat) []string {
	side := []string{}
	if !s.Machine(seat) {
		return side
	}
	for other := rule.Seat(1); int(other) <= s.Public.Seated; other++ {
		if s.Machine(other) {
			side = append(side, other.String())
		}
	}
	return side
}
