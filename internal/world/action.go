package world

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/world/command"
)

// Action is an act of a player: the payload of Player.Move, Player.Look and Player.Act. Its
// narration is made from this and from the data that the reader may see at present.
type Action struct {
	PlayerID  canon.CardID      `json:"playerId"`
	Verb      command.Verb      `json:"verb"`
	Direction command.Direction `json:"direction,omitempty"`
	From      *canon.CardID     `json:"fromLocationId,omitempty"`
	To        *canon.CardID     `json:"toLocationId,omitempty"`
	Objects   []ObjectRef       `json:"objects,omitempty"`
	Target    *ObjectRef        `json:"target,omitempty"`
	Detail    string            `json:"detail,omitempty"` // a word of the place's description, or the words said
	// Private is set if the player's words are kept beside the event, for those who may know them; see Perceive.
	Private    bool      `json:"private,omitempty"`
	Answer     string    `json:"answer,omitempty"` // the line that answers private words; not stored here
	Line       int       `json:"line,omitempty"`   // which of a character's lines answers, from 1
	Effect     string    `json:"effect,omitempty"`
	Check      *ActCheck `json:"check,omitempty"`    // that decided a free act
	Trade      *Trade    `json:"trade,omitempty"`    // the figures of a trade
	Handling   *Handling `json:"handling,omitempty"` // the outcome of an act on a thing
	DurationMs int64     `json:"durationMs"`
	// part of the cost that was cut: no player gets further ahead of the world
	CutMs  int64    `json:"cutMs,omitempty"`
	Clock  int64    `json:"clock"`            // the player's clock afterwards
	Anchor *int64   `json:"anchor,omitempty"` // the time of the place afterwards; absent from older events
	World  *actLine `json:"world,omitempty"`  // set if the clock needed a step that the act could not make
}

// ActCheck is the check of an uncertain act. Its dice follow from the seed; see package ruleset.
type ActCheck struct {
	Skill  string `json:"skill"`
	Total  int    `json:"total"`
	Target int    `json:"target"`
	Seed   string `json:"seed"`
}

// Trade has the figures of a trade of the action's object with its target.
type Trade struct {
	Total     int64     `json:"total"`
	ListPrice int64     `json:"listPrice"`         // of a unit at the seller's usual stock
	Bargain   int64     `json:"bargain,omitempty"` // percentage that the player had haggled for
	Money     ObjectRef `json:"money"`             // its quantity is the total
}

// Tick returns the world time that the narration of the act is about.
func (d Action) Tick() int64 {
	if d.Anchor != nil {
		return *d.Anchor
	}
	return d.Clock
}

// ObjectRef refers to a card in an action.
type ObjectRef struct {
	ID       canon.CardID `json:"id"`
	Name     string       `json:"name"`
	Quantity int64        `json:"quantity,omitempty"`
}

// NewObjectRef refers to n of a card, or to the card itself if n is 0.
func NewObjectRef(t Card, n int64) ObjectRef { return ObjectRef{t.ID, t.Title(), n} }

// ObjectNames returns the names of the objects as used in a sentence: "Copper Coin (3) and Iron Key".
func (d Action) ObjectNames() string {
	names := make([]string, len(d.Objects))
	for i, o := range d.Objects {
		names[i] = DefiniteName(o.Name)
		if o.Quantity > 1 {
			names[i] = fmt.Sprintf("%s (%d)", names[i], o.Quantity)
		}
	}
	return JoinNames(names, "and")
}

// JoinNames joins names as used in a sentence: "a, b and c".
func JoinNames(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + last + " " + names[len(names)-1]
}

// Speaker holds the fields of a character that define its answers.
type Speaker struct {
	Says   []string          `json:"says"`   // lines, used in turn
	Topics map[string]string `json:"topics"` // lines by the topic that they answer
}

// readAnswer returns the line with which a character answered, or "" if it has none.
func (m *AsOf) readAnswer(ctx context.Context, d Action) (string, error) {
	if d.Private {
		return d.Answer, nil
	}
	t, ok, err := m.CardByID(ctx, d.Target.ID)
	if err != nil || !ok {
		return "", err
	}
	line, _ := AnswerOf(t, d.Detail, d.Line)
	return line, nil
}

// AnswerOf returns the line with which a character answers words: its own for them, which ofWords reports, or the one
// of that number. It is "" for players: the people who play them answer.
func AnswerOf(t Card, said string, number int) (line string, ofWords bool) {
	if t.IsType(TypePlayer) {
		return "", false
	}
	var f Speaker
	DecodeFields(t.Fields, &f)
	for topic, line := range sortedByKey(f.Topics) {
		if command.Mentions(said, topic) {
			return line, true
		}
	}
	if number > 0 && number <= len(f.Says) {
		return f.Says[number-1], false
	}
	return "", false
}

// Quote returns the line that somebody says, as a sentence.
func Quote(who, line string) string {
	line, _ = CutText(markup.Clean(line), MaxText)
	return who + " says: “" + line + "”"
}

// sortedByKey yields the entries of a map in the order of its keys.
func sortedByKey[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
