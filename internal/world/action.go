package world

import (
	"fmt"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/world/command"
)

// Action is an act of a player: the payload of Player.Move, Player.Look and Player.Act. Its
// narration is made from this and from the data that the reader may see at present.
type Action struct {
	PlayerID   canon.CardID      `json:"playerId"`
	Verb       command.Verb      `json:"verb"`
	Direction  command.Direction `json:"direction,omitempty"`
	From       *canon.CardID     `json:"fromLocationId,omitempty"`
	To         *canon.CardID     `json:"toLocationId,omitempty"`
	Objects    []ObjectRef       `json:"objects,omitempty"`
	Target     *ObjectRef        `json:"target,omitempty"`
	Detail     string            `json:"detail,omitempty"` // a word of the place's description, or the words said
	Line       int               `json:"line,omitempty"`   // which of a character's lines answers, from 1
	Effect     string            `json:"effect,omitempty"`
	DurationMs int64             `json:"durationMs"`
	// part of the cost that was cut: no player gets further ahead of the world
	CutMs  int64    `json:"cutMs,omitempty"`
	Clock  int64    `json:"clock"`            // the player's clock afterwards
	Anchor *int64   `json:"anchor,omitempty"` // the time of the place afterwards; absent from older events
	World  *actLine `json:"world,omitempty"`  // set if the clock needed a step that the act could not make
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

func NewObjectRef(t Card, n int64) ObjectRef { return ObjectRef{t.ID, t.Title(), n} }

func (d Action) ObjectNames() string {
	names := make([]string, len(d.Objects))
	for i, o := range d.Objects {
		names[i] = o.Name
		if o.Quantity > 1 {
			names[i] = fmt.Sprintf("%s (%d)", o.Name, o.Quantity)
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
