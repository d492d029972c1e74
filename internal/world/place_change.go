package world

import (
	"fmt"

	"loregate/internal/canon"
	"loregate/internal/event"
)

// PlaceChange describes the event World.Location.Changed, which is recorded for every version of a
// place except its first.
func PlaceChange() *event.CardChange {
	return &event.CardChange{CardType: TypeLocation, Cursor: "world.location-changes", Operation: "location_changed",
		Event: func(v canon.Version) canon.Event {
			return canon.Event{Type: string(LocationChanged), Scope: string(LocationScope(v.Card)), Label: v.Label, Version: 1,
				Key:     "location-changed:" + v.Card.String() + ":" + v.Change.String(),
				Actor:   canon.EventActor{Kind: "system"},
				Payload: fmt.Appendf(nil, `{"locationId":%q,"changeId":%q}`, v.Card, v.Change)}
		}}
}
