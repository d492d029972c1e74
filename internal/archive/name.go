package archive

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// named is the input of an operation about one card.
type named struct {
	Name string `json:"name" minlen:"1" maxlen:"1020" jsonschema:"Name of the card, such as Games+Hero; ~ID and :codename name it too."`
}

// gate answers a name that the world's name rules put above the caller, before anything
// is looked up: such a name betrays nothing, for it is refused whether or not a card
// bears it. Ids and codenames pass.
func gate(l *canon.Snapshot, name string) error {
	level := l.NameLevel(name)
	if l.View().Level >= level {
		return nil
	}
	return fault.New(fault.Denied, "names with such a part are for the role %s; this call has %s. Ask with a key of that role, or for another card",
		level, l.Grant().Role()).
		With("card", markup.Clean(clip(name, markup.MaxNameLength))).
		With("required_role", access.Role(level).String())
}

// find resolves a name argument, which passes the gate first.
func find(ctx context.Context, l *canon.Snapshot, name string) (canon.Card, error) {
	if err := gate(l, name); err != nil {
		return canon.Card{}, err
	}
	return l.Find(ctx, name)
}

// sighting is a card found by name, and what else is to be said of that name.
type sighting struct {
	card        canon.Card
	others      []canon.Card // further cards in sight that bear the name
	renamedFrom string       // the name asked for, where the card bore it once
}

// sight is find that also knows names from before a rename.
func sight(ctx context.Context, l *canon.Snapshot, name string) (sighting, error) {
	if err := gate(l, name); err != nil {
		return sighting{}, err
	}
	if isHandle(name) {
		card, err := l.Find(ctx, name)
		return sighting{card: card}, err
	}
	cards, err := l.Homonyms(ctx, markup.KeyOf(name))
	if err != nil {
		return sighting{}, err
	}
	if len(cards) > 0 {
		return sighting{card: cards[0], others: cards[1:]}, nil
	}
	if card, ok, err := l.Renamed(ctx, name); err != nil || ok {
		return sighting{card: card, renamedFrom: markup.Clean(clip(name, markup.MaxNameLength))}, err
	}
	_, err = l.Find(ctx, name)
	return sighting{}, err
}

// isHandle reports whether a name argument is an id or a codename.
func isHandle(name string) bool { return name != "" && (name[0] == '~' || name[0] == ':') }

// clip is the first n characters of s.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
