package exchange

import (
	"crypto/sha256"
	"strconv"
	"strings"

	"loregate/internal/canon"
)

// derivedID returns a UUIDv8 made from the SHA-256 of the parts.
func derivedID(parts ...string) (id [16]byte) {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id
}

// CardID derives the id of a card from its format, the label of the collection that it comes
// from, and its key in that collection.
func CardID(format, label string, key ...string) canon.CardID {
	return canon.CardID(derivedID(append([]string{format, label}, key...)...))
}

// ChildID derives the id of a child card that is written inside its parent's note.
func ChildID(parent canon.CardID, part string) canon.CardID {
	return canon.CardID(derivedID("child", parent.String(), part))
}

// LinkID derives the id of a link that has none. Exits with a direction and "at" links get the same
// ids that play derives, so that an import and a player's move refer to the same exit and the same
// presence.
func LinkID(kind string, from, to canon.CardID, direction string) canon.LinkID {
	switch {
	case kind == "exit" && direction != "":
		return canon.LinkIDOf(kind, from.String(), direction)
	case kind == "at":
		return canon.LinkIDOf(kind, from.String())
	}
	return canon.LinkID(derivedID("link", kind, from.String(), to.String(), direction))
}

// LayerID derives the id of a layer that has none.
func LayerID(card canon.CardID, kind string, from int64, number int) canon.LayerID {
	return canon.LayerID(derivedID("layer", card.String(), kind, strconv.FormatInt(from, 10), strconv.Itoa(number)))
}
