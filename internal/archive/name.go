package archive

import (
	"context"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// namedCard is the input of an operation about one card.
type namedCard struct {
	Name string `json:"name" minlen:"1" maxlen:"1020" jsonschema:"Name of the card, such as Games+Hero, or ~ID or :codename."`
}

// checkNameRules denies a name that the world's name rules place above the caller's level, before
// any card is read. The refusal reveals nothing, because it does not depend on whether such a card
// exists. Ids and codenames pass.
func checkNameRules(l *canon.Snapshot, name string) error {
	level := l.NameLevel(name)
	if l.View().Level >= level {
		return nil
	}
	return fault.New(fault.Denied,
		"cards with such a name part are for the role %s; this call has the role %s. Use a key with that role, or read another card",
		level, l.Grant().Role()).
		With("card", markup.Clean(markup.Clip(name, markup.MaxNameLength))).
		With("required_role", access.Role(level).String())
}

// findCard checks a name argument against the name rules and finds the card.
func findCard(ctx context.Context, l *canon.Snapshot, name string) (canon.Card, error) {
	if err := checkNameRules(l, name); err != nil {
		return canon.Card{}, err
	}
	return l.Find(ctx, name)
}

// findContent finds a card as findCard does, and reads its content.
func findContent(ctx context.Context, l *canon.Snapshot, name string) (c canon.Card, content string, err error) {
	if c, err = findCard(ctx, l, name); err == nil {
		content, err = contentOf(ctx, l, c)
	}
	return c, content, err
}

// nameMatch is the result of resolving a name.
type nameMatch struct {
	card        canon.Card
	others      []canon.Card // further cards of this name that are visible to the caller
	renamedFrom string       // the requested name, if it is a former name of the card
}

// resolveName is findCard that also returns homonyms and knows former names.
func resolveName(ctx context.Context, l *canon.Snapshot, name string) (nameMatch, error) {
	if err := checkNameRules(l, name); err != nil {
		return nameMatch{}, err
	}
	if isHandle(name) {
		card, err := l.Find(ctx, name)
		return nameMatch{card: card}, err
	}
	cards, err := l.Homonyms(ctx, markup.KeyOf(name))
	if err != nil {
		return nameMatch{}, err
	}
	if len(cards) > 0 {
		return nameMatch{card: cards[0], others: cards[1:]}, nil
	}
	if card, ok, err := l.Renamed(ctx, name); err != nil || ok {
		return nameMatch{card: card, renamedFrom: markup.Clean(markup.Clip(name, markup.MaxNameLength))}, err
	}
	card, err := l.Find(ctx, name) // by an alias, or the error for none
	return nameMatch{card: card}, err
}

// isHandle reports whether a name argument is an id or a codename.
func isHandle(name string) bool { return name != "" && (name[0] == '~' || name[0] == ':') }

// onlyCard finds the card that a write names, as Plan.Card does. A name that the caller sees on several cards is
// refused: a text for a hidden card must not get into one that others read.
func onlyCard(ctx context.Context, p *canon.Plan, name string) (canon.Card, error) {
	card, err := p.Card(name)
	if err != nil || markup.KeyOf(name) != card.Key { // named by its id or codename
		return card, err
	}
	same, err := p.Homonyms(ctx, card.Key)
	if err != nil || len(same) < 2 {
		return card, err
	}
	ids := slicesx.Map(same, func(c canon.Card) string {
		return "~" + c.ID.String() + " (" + c.Label.Level.String() + ")"
	})
	return canon.Card{}, fault.New(fault.Conflict, "%d cards are called %q; give the id of the one you mean: %s",
		len(same), card.Name, strings.Join(ids, ", "))
}
