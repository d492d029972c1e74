package lore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/world"
)

// factTypes maps the types of cards that are facts, if they have a codename, to types of
// facts. A card of type Lore may name another type of fact in its field factType.
var factTypes = map[string]string{
	"Faction":   "faction",
	"Artifact":  "artifact",
	"Item":      "artifact",
	"Event":     "historical_event",
	"Character": "character",
	"Creature":  "creature",
	cardType:    defaultFact,
}

const (
	cardType    = "Lore"
	defaultFact = "location_lore"
	fieldFact   = "factType"
)

var factForm = lazyregexp.New(`^[a-z][a-z0-9_]{0,63}$`)

// factsFilter returns a filter for cards with a codename whose type may be that of a fact.
func (l *Lore) factsFilter() canon.Filter { return canon.Filter{Types: l.typeNames, Coded: true} }

// factType returns the type of fact that a card is, or false if its type is not that of a fact.
func (l *Lore) factType(t world.Card) (string, bool) {
	kind, ok := l.types[markup.KeyOf(t.Type)]
	if !ok {
		return "", false
	}
	if t.IsType(cardType) {
		var own struct {
			Fact string `json:"factType"`
		}
		if world.DecodeFields(t.Fields, &own); factForm.MatchString(own.Fact) {
			return own.Fact, true
		}
	}
	return kind, true
}

// fact is a canonical fact as narrators read it.
type fact struct {
	world.Citation
	ID         canon.CardID   `json:"id"`
	Type       string         `json:"type" jsonschema:"faction, artifact, historical_event, character, location_lore, creature, or the factType of a Lore card."`
	FactID     string         `json:"factId"`
	Version    uint32         `json:"version"`
	CreatedUTC time.Time      `json:"createdUtc"`
	UpdatedUTC *time.Time     `json:"updatedUtc,omitempty" jsonschema:"Time of the last change; absent if it has not changed."`
	Fields     map[string]any `json:"fields" jsonschema:"name, text, aliases and the other fields of the card."`
	Cut        map[string]int `json:"fieldTruncations,omitempty" jsonschema:"Fields that were cut, with their full length: characters of a text, members of a list."`
}

// loadFact returns the fact with an id, which is a codename or the card's id. It returns nil for
// archived, hidden and absent facts alike.
func (l *Lore) loadFact(ctx context.Context, m *world.AsOf, id string) (*fact, error) {
	t, ok, err := m.FindCard(ctx, id)
	if err != nil || !ok {
		return nil, err
	}
	c, ok, err := m.ByID(ctx, t.ID)
	if err != nil || !ok {
		return nil, err
	}
	code := m.CodeOf(id, c)
	if code == "" {
		return nil, nil
	}
	kind, ok := l.factType(t)
	if !ok {
		return nil, nil
	}
	f := &fact{ID: c.ID, Type: kind, FactID: code, CreatedUTC: c.CreatedAt}
	updated := c.UpdatedAt
	if f.Version = c.Version(m.View()); m.Seq != 0 {
		v, ok, err := m.CardAt(ctx, c.ID, m.Seq)
		if err != nil || !ok {
			return nil, err
		}
		f.Version, updated = m.Number(c, v), v.At
	}
	if updated.After(f.CreatedUTC) {
		f.UpdatedUTC = &updated
	}
	text, err := m.ReadText(ctx, t)
	f.fillFields(t, text)
	return f, err
}

// fillFields sets the fields of the fact from its card, cut to size.
func (f *fact) fillFields(t world.Card, text string) {
	s := shortener{cut: map[string]int{}}
	f.Fields = map[string]any{}
	var own map[string]any
	world.DecodeFields(t.Fields, &own)
	for _, k := range slices.Sorted(maps.Keys(own)) {
		if k != fieldFact && len(f.Fields) < maxMembers {
			f.Fields[k] = s.shortenValue(k, own[k], 0)
		}
	}
	f.Fields["name"] = markup.Clean(t.Name)
	f.Fields["text"] = s.shortenValue("text", text, 0)
	if len(s.cut) > 0 {
		f.Cut = s.cut
	}
}

type factIn struct {
	FactID string `json:"factId" maxlen:"100" jsonschema:"Id of the fact, such as faction_shadow_council."`
}

func (l *Lore) getFact(ctx context.Context, m *world.AsOf, in factIn) (world.Item[fact], error) {
	f, err := l.loadFact(ctx, m, in.FactID)
	return world.Item[fact]{Item: f}, err
}

// shortener cuts values to the size that contexts allow, and records the original lengths by path.
type shortener struct{ cut map[string]int }

func (s shortener) shortenValue(path string, v any, depth int) any {
	switch v := v.(type) {
	case string:
		text, whole := world.CutText(markup.Clean(v), world.MaxText)
		if whole > 0 {
			s.cut[path] = whole
		}
		return text
	case []any:
		if len(v) > maxMembers || depth > maxNesting {
			s.cut[path] = len(v)
		}
		out := []any{}
		for i := 0; i < min(len(v), maxMembers) && depth <= maxNesting; i++ {
			out = append(out, s.shortenValue(fmt.Sprintf("%s[%d]", path, i), v[i], depth+1))
		}
		return out
	case map[string]any:
		if len(v) > maxMembers || depth > maxNesting {
			s.cut[path] = len(v)
		}
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if len(out) < maxMembers && depth <= maxNesting {
				out[k] = s.shortenValue(path+"."+k, v[k], depth+1)
			}
		}
		return out
	}
	return v
}

// Bounds of a fact's fields, in addition to MaxText.
const (
	maxMembers = 100 // of an object or list
	maxNesting = 8
)
