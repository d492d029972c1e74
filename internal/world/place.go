package world

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// Names of card types, links and attributes, as described in the package doc.
const (
	typeLocation = "Location"
	typeRealm    = "Realm"
	typePlayer   = "Player"

	linkExit  = "exit"
	linkAt    = "at"
	linkHolds = "holds"

	attrClock = "clock"
)

// isType reports whether a card is of a type.
func (t cardAt) isType(typ string) bool { return markup.KeyOf(t.Type) == markup.KeyOf(typ) }

// location is a place as contexts show it.
type location struct {
	ID               canon.CardID   `json:"id"`
	Name             string         `json:"name"`
	Description      string         `json:"description"`
	Tags             []string       `json:"tags"`
	Version          uint32         `json:"version" jsonschema:"Rises when name, description or tags change, and for nothing else."`
	FieldTruncations map[string]int `json:"fieldTruncations,omitempty" jsonschema:"Fields that were cut, with their whole length in characters."`
}

// findPlace returns the place that an id means; "" means the world's starting place.
func (m *asOf) findPlace(ctx context.Context, id string) (cardAt, bool, error) {
	var t cardAt
	var ok bool
	var err error
	if id != "" {
		t, ok, err = m.findCard(ctx, id)
	} else {
		t, ok, err = m.findStarter(ctx)
	}
	return t, ok && t.isType(typeLocation), err
}

// findStarter returns the place where players begin.
func (m *asOf) findStarter(ctx context.Context) (cardAt, bool, error) {
	return m.resolveID(ctx, "", func() (canon.Card, bool, error) {
		name := m.World().Settings.Starter
		if name == "" {
			return canon.Card{}, false, nil
		}
		c, ok, err := m.Exists(ctx, name)
		if err == nil && !ok {
			c, ok, err = m.Exists(ctx, ":"+name)
		}
		return c, ok, err
	})
}

// CheckStarter returns an error about the field starter_location if players cannot begin at the
// named place: they must see it, and it must be of type Location. "" means no place and is valid.
func CheckStarter(ctx context.Context, snap *canon.Snapshot, name string) error {
	if name == "" {
		return nil
	}
	seen := snap.As(access.LevelUser)
	for _, as := range []string{name, ":" + name} {
		c, ok, err := seen.Exists(ctx, as)
		if err != nil {
			return err
		}
		if ok && toCardAt(c).isType(typeLocation) {
			return nil
		}
		if ok {
			return fault.BadField("starter_location", "%q is of type %s; players begin at a card of type %s", name, c.Type,
				typeLocation)
		}
	}
	if _, ok, err := snap.Exists(ctx, name); err != nil || ok {
		if err != nil {
			return err
		}
		return fault.BadField("starter_location", "players do not see %q; lower its level, or choose another place", name)
	}
	places, _, err := seen.Cards(ctx, canon.Filter{Type: typeLocation, Sort: canon.SortName}, canon.Page{Limit: 5})
	if err != nil {
		return err
	}
	var names []string
	for _, p := range places {
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		return fault.BadField("starter_location",
			"there is no place called %q, and none at all that players see; make a card of type %s first", name, typeLocation)
	}
	return fault.BadField("starter_location", "there is no place called %q; there are %s", name, strings.Join(names, ", "))
}

// toLocation returns a place as contexts show it, with at most max characters of its description.
func (m *asOf) toLocation(ctx context.Context, t cardAt, max int) (location, error) {
	text, err := m.readText(ctx, t)
	if err != nil {
		return location{}, err
	}
	l := location{ID: t.ID, Name: markup.Clean(t.Name)}
	l.Description = cutField(&l.FieldTruncations, "description", text, max)
	tags, on, err := m.readTags(ctx, t)
	if err != nil {
		return location{}, err
	}
	l.Tags = tags
	l.Version, err = m.placeVersion(ctx, t, on)
	return l, err
}

// cutField shortens a field's text. If it does, it notes the full length.
func cutField(noted *map[string]int, field, text string, max int) string {
	short, whole := shortenText(text, max)
	if whole > 0 {
		if *noted == nil {
			*noted = map[string]int{}
		}
		(*noted)[field] = whole
	}
	return short
}

// readText returns a card's content as plain text for a reader: without markup, nests and marks
// that hide text.
func (m *asOf) readText(ctx context.Context, t cardAt) (string, error) {
	content, err := m.Body(ctx, t.Content)
	if err != nil {
		return "", err
	}
	return plainText(ctx, t.Type, content), nil
}

// plainText returns content without markup.
func plainText(ctx context.Context, typ, content string) string {
	if content == "" {
		return ""
	}
	switch canon.TextOf(typ) {
	case canon.TextData, canon.TextFile:
		return ""
	case canon.TextMarkdown:
		if html, err := markup.ToHTML(ctx, content); err == nil {
			content = html
		}
	}
	return strings.TrimSpace(markup.Text(content))
}

// readTags returns the tags of a card: those of its field tags, then those of the wiki's card
// X+tags. on is that card if there is a visible one.
func (m *asOf) readTags(ctx context.Context, t cardAt) (tags []string, on *cardAt, err error) {
	var own struct {
		Tags []string `json:"tags"`
	}
	fieldsOf(t.Fields, &own)
	tags = append([]string{}, own.Tags...)
	name := t.Name
	if m.seq != 0 { // keys are looked up at present; the card may have been renamed since
		today, ok, err := m.ByID(ctx, t.ID)
		if err != nil || !ok {
			return tags, nil, err
		}
		name = today.Name
	}
	card, ok, err := m.ByKey(ctx, markup.KeyOf(markup.Join(name, "tags")))
	if err != nil || !ok {
		return tags, nil, err
	}
	list, ok, err := m.cardAt(ctx, card.ID)
	if err != nil || !ok {
		return tags, nil, err
	}
	content, err := m.Body(ctx, list.Content)
	for _, item := range markup.Items(content) {
		if item = markup.Clean(item); item != "" && !slices.Contains(tags, item) {
			tags = append(tags, item)
		}
	}
	return tags, &list, err
}

// placeVersion counts the states of name, description and tags that the view can see.
func (m *asOf) placeVersion(ctx context.Context, t cardAt, tags *cardAt) (uint32, error) {
	n, err := m.countStates(ctx, t.ID, func(v canon.Version) string {
		var own struct {
			Tags json.RawMessage `json:"tags"`
		}
		fieldsOf(v.Fields, &own)
		return v.Name + "\x00" + v.Content.String() + "\x00" + string(own.Tags)
	})
	if err != nil || tags == nil {
		return n, err
	}
	more, err := m.countStates(ctx, tags.ID, func(v canon.Version) string { return v.Content.String() })
	return n + more, err
}

// countStates counts how often the value of look for a card changed from version to version,
// including the first version.
func (m *asOf) countStates(ctx context.Context, id canon.CardID, look func(canon.Version) string) (uint32, error) {
	var n uint32
	last := ""
	for page := (canon.Page{Limit: 500}); ; page.Offset += page.Limit {
		versions, _, err := m.Versions(ctx, id, page)
		if err != nil {
			return 0, err
		}
		for _, v := range versions { // latest first: a change is where a state differs from its successor
			if m.seq != 0 && v.From > m.seq {
				continue
			}
			if state := look(v); n == 0 || state != last {
				n, last = n+1, state
			}
		}
		if len(versions) < page.Limit {
			return n, nil
		}
	}
}
