package rule

import (
	"strings"
	"unicode/utf8"

	"loregate/internal/fault"
	"loregate/internal/markup"
)

// Command is something that somebody wants to happen.
type Command interface{ decide(t *turn) error }

// Decide says what a command makes happen, given the time and the randomness of this
// decision. Where the command is not legal now its error is fault.Rule, or fault.Invalid
// where it could never be, and says what is legal; nothing has happened then. No events
// and no error is a command that changes nothing.
func Decide(s State, c Command, now Millis, d *Dice) ([]Event, error) {
	_, events, err := Step(s, c, now, d)
	return events, err
}

// Step is Decide, with the state that the events lead to.
func Step(s State, c Command, now Millis, d *Dice) (State, []Event, error) {
	t := &turn{State: s, now: now, dice: d}
	if err := c.decide(t); err != nil {
		return s, nil, err
	}
	return t.State, t.events, nil
}

// turn is one decision under way: the state as far as it has come, and what happened.
type turn struct {
	State
	now    Millis
	dice   *Dice
	events []Event
	lines  []line // of the next report
}

// line is one sentence of the morning's report, and the part it belongs to.
type line struct{ part, text string }

func (t *turn) emit(e Event) {
	t.events = append(t.events, e)
	t.apply(e)
}

// tell says something to all in the game's own name.
func (t *turn) tell(text string) { t.emit(&Said{Text: text, At: t.now}) }

// note says something to one player alone.
func (t *turn) note(seat Seat, text string) {
	t.emit(&Noted{SeatsNotice{seat, Notice{t.Public.Day, text}}})
}

func (t *turn) name(s Seat) string    { return t.Public.Players.Of(s).Name }
func (t *turn) hidden(s Seat) *Hidden { return t.Secret.Seats.Of(s) }

// illegal is the refusal of a command that does not fit the moment.
func (t *turn) illegal(seat Seat, format string, args ...any) error {
	legal := t.Legal(seat)
	words := make([]string, len(legal))
	for i, l := range legal {
		words[i] = l.String()
	}
	e := fault.New(fault.Rule, format, args...)
	e.Message += "; legal now: " + strings.Join(words, ", ")
	if len(words) == 0 {
		e.Message += "nothing; wait for the next phase"
	}
	return e.With("legal", legal)
}

// line makes one line of a text that a player wrote, at most max characters long.
func oneLine(field, text string, max int) (string, error) {
	text = markup.OneLine(text)
	if n := utf8.RuneCountInString(text); n > max {
		return "", fault.BadField(field, "has %d characters; at most %d are allowed", n, max)
	}
	return text, nil
}

func needText(field, text string, max int) (string, error) {
	text, err := oneLine(field, text, max)
	if err == nil && text == "" {
		err = fault.BadField(field, "is empty; write something")
	}
	return text, err
}

// Tick lets time pass: a phase whose time is up ends.
type Tick struct{}

func (Tick) decide(t *turn) error {
	if t.Public.Ends != 0 && t.now >= t.Public.Ends {
		t.advance()
	}
	return nil
}

// Advance ends the phase by hand. The caller of Decide sees to it that only a host does.
type Advance struct{ By Seat }

func (c Advance) decide(t *turn) error {
	switch t.Public.Phase {
	case Lobby:
		return Start{}.decide(t)
	case Over:
		return t.illegal(c.By, "the game is over")
	}
	t.advance()
	return nil
}
