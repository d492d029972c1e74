package world

import (
	"strings"

	"github.com/google/uuid"

	"loregate/internal/canon"
)

// Scope is the subject of an event: "loc:<id>", "player:<id>" or "global:world".
type Scope string

// GlobalScope is the scope of the whole world.
const GlobalScope Scope = "global:world"

// LocationScope returns the scope of a place.
func LocationScope(id canon.CardID) Scope { return Scope("loc:" + id.String()) }

// PlayerScope returns the scope of a player.
func PlayerScope(id canon.CardID) Scope { return Scope("player:" + id.String()) }

// ParseScope parses a scope. It also returns the card of the scope, or the zero id for the whole
// world.
func ParseScope(s string) (Scope, canon.CardID, bool) {
	if Scope(s) == GlobalScope {
		return GlobalScope, canon.CardID{}, true
	}
	kind, id, _ := strings.Cut(s, ":")
	u, err := uuid.Parse(id)
	ok := err == nil && len(id) == 36 && (kind == "loc" || kind == "player")
	return Scope(kind + ":" + u.String()), canon.CardID(u), ok
}
