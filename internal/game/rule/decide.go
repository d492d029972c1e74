package rule

import (
	"unicode/utf8"

	"loregate/internal/fault"
	"loregate/internal/markup"
)

// Command is a request to change a game.
type Command interface{ emitEvents(t *turn) error }

// Decide returns the events of a command, for the given time and dice. If the command is illegal
// now, the error is fault.Rule, or fault.Invalid if it could never be legal; its text names the
// legal choices, and there are no events. No events and no error means that the command changes
// nothing.
func Decide(s State, c Command, now Millis, d *Dice) ([]Event, error) {
	_, events, err := Step(s, c, now, d)
	return events, err
}

// Step is Decide, and also returns the state after the events.
func Step(s State, c Command, now Millis, d *Dice) (State, []Event, error) {
	t := &turn{State: s, now: now, dice: d}
	if err := c.emitEvents(t); err != nil {
		return s, nil, err
	}
	return t.State, t.events, nil
}

// turn is one decision in progress: the state so far, and its events.
type turn struct {
	State
	now    Millis
	dice   *Dice
	events []Event
	lines  []line // of the next report
}

// line is one sentence of the morning's report, and the part it belongs to.
type line struct{ part, text string }

func (t *turn) emitEvent(e Event) {
	t.events = append(t.events, e)
	t.applyEvent(e)
}

// tellAll posts a public message from the game itself.
func (t *turn) tellAll(text string) { t.emitEvent(&Said{Text: text, At: t.now}) }

// tellSeat sends a private notice to one player.
func (t *turn) tellSeat(seat Seat, text string) {
	t.emitEvent(&Noted{SeatsNotice{seat, Notice{t.Public.Day, text}}})
}

func (t *turn) playerName(s Seat) string { return t.Public.Players.Of(s).Name }
func (t *turn) hiddenOf(s Seat) *Hidden  { return t.Secret.Seats.Of(s) }

// newIllegal returns the error for a command that is illegal now; it lists the legal moves.
func (t *turn) newIllegal(seat Seat, format string, args ...any) error {
	e := fault.New(fault.Rule, format, args...)
	e.Message += "; legal now: " + t.LegalWords(seat)
	return e.With("legal", t.Legal(seat))
}

// cleanLine turns a player's text into a single line of at most max characters.
func cleanLine(field, text string, max int) (string, error) {
	text = markup.OneLine(text)
	if n := utf8.RuneCountInString(text); n > max {
		return "", fault.BadField(field, "has %d characters; at most %d are allowed", n, max)
	}
	return text, nil
}

func needText(field, text string, max int) (string, error) {
	text, err := cleanLine(field, text, max)
	if err == nil && text == "" {
		err = fault.BadField(field, "is empty; write something")
	}
	return text, err
}

// Tick lets time pass: it ends the phase if its time is up.
type Tick struct{}

func (Tick) emitEvents(t *turn) error {
	if t.Public.Ends != 0 && t.now >= t.Public.Ends {
		t.advancePhase()
	}
	return nil
}

// Advance ends the phase by hand. The caller of Decide must ensure that only a host sends it.
type Advance struct{ By Seat }

func (c Advance) emitEvents(t *turn) error {
	switch t.Public.Phase {
	case Lobby:
		return Start{}.emitEvents(t)
	case Over:
		return t.newIllegal(c.By, "the game is over")
	}
	t.advancePhase()
	return nil
}
