package rule

import (
	"strings"

	"loregate/internal/slicesx"
)

// Move is a kind of command that is legal now, and its legal arguments.
type Move struct {
	Type     string   `json:"type"` // the name on the wire
	Channels []string `json:"channels,omitzero"`
	Choices  []string `json:"choices,omitzero"` // of a vote or an exit interview
	Actions  []Option `json:"actions,omitzero"` // of the night
}

func (m Move) String() string {
	words := append(append([]string(nil), m.Channels...), m.Choices...)
	for _, a := range m.Actions {
		words = append(words, a.Action)
	}
	if len(words) == 0 {
		return m.Type
	}
	return m.Type + " (" + strings.Join(words, ", ") + ")"
}

// LegalWords lists a seat's legal moves in a phrase.
func (s *State) LegalWords(seat Seat) string {
	words := slicesx.Map(s.Legal(seat), Move.String)
	if len(words) == 0 {
		return "nothing; wait for the next phase"
	}
	return strings.Join(words, ", ")
}

// Legal returns a seat's legal moves; they are empty for the zero Seat and for seats that are not
// taken.
func (s *State) Legal(seat Seat) []Move {
	moves := []Move{}
	if seat == 0 || int(seat) > s.Public.Seated {
		return moves
	}
	if channels := s.legalChannels(seat); len(channels) > 0 {
		moves = append(moves, Move{Type: "chat", Channels: channels})
	}
	if s.MayVote(seat) {
		moves = append(moves, Move{Type: "vote", Choices: s.legalChoices(seat)})
	}
	if s.Public.Alive(seat) {
		moves = s.phaseMoves(seat, moves)
	}
	if s.MayLeave(seat) {
		moves = append(moves, Move{Type: "exit_interview", Choices: []string{"handoff", "feedback", "burn"}})
	}
	if s.Secret.Seats.Of(seat).Host && s.Public.Phase != Over {
		moves = append(moves, Move{Type: "advance"})
	}
	return moves
}

func (s *State) legalChannels(seat Seat) (channels []string) {
	if s.MaySpeak(seat) {
		channels = append(channels, string(ToAll))
	}
	for _, c := range []Channel{ToOne, ToAligned} {
		if s.MayWhisper(seat, c) {
			channels = append(channels, string(c))
		}
	}
	return channels
}

func (s *State) legalChoices(seat Seat) (choices []string) {
	if s.Public.Vote.Kind != VoteNomination {
		return []string{string(Yes), string(No)}
	}
	for _, other := range s.Public.Living() {
		if other != seat {
			choices = append(choices, other.String())
		}
	}
	return choices
}

func (s *State) phaseMoves(seat Seat, moves []Move) []Move {
	switch s.Public.Phase {
	case Over:
		return moves
	case PulseCheck:
		moves = append(moves, Move{Type: "pulse"})
	case Night:
		actions := s.Options(seat)
		if targets := s.Convertible(seat); len(targets) > 0 {
			actions = append(actions, Option{Action: "convert", Target: targets})
		}
		if len(actions) > 0 {
			moves = append(moves, Move{Type: "night_action", Actions: actions})
		}
	}
	if s.MaySetStatus(seat) {
		moves = append(moves, Move{Type: "status"})
	}
	return moves
}
