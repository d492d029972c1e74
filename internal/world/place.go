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
	"loregate/internal/slicesx"
)

// Names of card types, links and attributes, as described in the package doc.
const (
	TypeLocation = "Location"
	TypeRealm    = "Realm"
	TypePlayer   = "Player"

	LinkExit  = "exit"
	LinkAt    = "at"
	LinkHolds = "holds"

	attrClock = "clock"
)

// location is a place as contexts show it.
type location struct {
	ID               canon.CardID   `json:"id"`
	Name             string         `json:"name"`
	Description      string         `json:"description"`
	Tags             []string       `json:"tags"`
	Version          uint32         `json:"version" jsonschema:"Rises when name, description or tags change, and only then."`
	FieldTruncations map[string]int `json:"fieldTruncations,omitempty" jsonschema:"Fields that were cut, with their full length in characters."`
}

// FindPlace returns the place that an id means; "" means the world's starting place.
func (m *AsOf) FindPlace(ctx context.Context, id string) (Card, bool, error) {
	var t Card
	var ok bool
	var err error
	if id != "" {
		t, ok, err = m.FindCard(ctx, id)
	} else {
		t, ok, err = m.findStarter(ctx)
	}
	return t, ok && t.IsType(TypeLocation), err
}

// toLocation returns a place as contexts show it, with at most max characters of its description.
func (m *AsOf) toLocation(ctx context.Context, t Card, max int) (location, error) {
	text, err := m.ReadText(ctx, t)
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

// readTags returns the tags of a card: those of its field tags, then those of the wiki's card
// X+tags. on is that card if there is a visible one.
func (m *AsOf) readTags(ctx context.Context, t Card) (tags []string, on *Card, err error) {
	var own struct {
		Tags []string `json:"tags"`
	}
	DecodeFields(t.Fields, &own)
	tags = append([]string{}, own.Tags...)
	name := t.Name
	if m.Seq != 0 { // keys are looked up at present; the card may have been renamed since
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
	list, ok, err := m.CardByID(ctx, card.ID)
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
func (m *AsOf) placeVersion(ctx context.Context, t Card, tags *Card) (uint32, error) {
	n, err := m.countStates(ctx, t.ID, func(v canon.Version) string {
		var own struct {
			Tags json.RawMessage `json:"tags"`
		}
		DecodeFields(v.Fields, &own)
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
func (m *AsOf) countStates(ctx context.Context, id canon.CardID, look func(canon.Version) string) (uint32, error) {
	var n uint32
	last := ""
	for v, err := range m.AllVersions(ctx, id) { // latest first: a change is where a state differs from its successor
		if err != nil {
			return 0, err
		}
		if m.Seq != 0 && v.From > m.Seq {
			continue
		}
		if state := look(v); n == 0 || state != last {
			n, last = n+1, state
		}
	}
	return n, nil
}

// placeByID returns the place with an id, or nil if that card is not a visible place.
func (m *AsOf) placeByID(ctx context.Context, id canon.CardID) (*Card, error) {
	t, ok, err := m.CardByID(ctx, id)
	if err != nil || !ok || !t.IsType(TypeLocation) {
		return nil, err
	}
	return &t, nil
}

// citedLocation is a place that is itself the answer of a tool.
type citedLocation struct {
	Citation
	location
}

func plainLocation(ctx context.Context, m *AsOf, in aboutPlace) (out Item[citedLocation], err error) {
	t, ok, err := m.FindPlace(ctx, in.LocationID)
	if err != nil || !ok {
		return out, err
	}
	l, err := m.toLocation(ctx, t, in.maxChars())
	return Item[citedLocation]{&citedLocation{location: l}}, err
}

// findStarter returns the place where players begin.
func (m *AsOf) findStarter(ctx context.Context) (Card, bool, error) {
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
		if ok && CardOf(c).IsType(TypeLocation) {
			return nil
		}
		if ok {
			return fault.BadField("starter_location", "%q is of type %s; players begin at a card of type %s", name, c.Type,
				TypeLocation)
		}
	}
	if _, ok, err := snap.Exists(ctx, name); err != nil || ok {
		if err != nil {
			return err
		}
		return fault.BadField("starter_location", "players do not see %q; lower its level, or choose another place", name)
	}
	places, _, err := seen.Cards(ctx, canon.Filter{Type: TypeLocation, Sort: canon.SortName}, canon.Page{Limit: 5})
	if err != nil {
		return err
	}
	names := slicesx.Map(places, func(p canon.Card) string { return p.Name })
	if len(names) == 0 {
		return fault.BadField("starter_location",
			"there is no place called %q, and no place that players see; create a card of type %s first", name, TypeLocation)
	}
	return fault.BadField("starter_location", "there is no place called %q; there are %s", name, strings.Join(names, ", "))
}
