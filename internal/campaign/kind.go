package campaign

import (
	"slices"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// kind is an entity type with the card types that count as it. New entities get the first card
// type.
type kind struct {
	name  string
	types []string
}

var kinds = []kind{
	{"npc", []string{"Character"}},
	{"location", []string{"Location", "Realm"}},
	{"item", []string{"Item", "Artifact"}},
	{"faction", []string{"Faction"}},
	{"clue", []string{"Clue"}},
	{"creature", []string{"Creature"}},
	{"organization", []string{"Organization"}},
	{"event", []string{"Event"}},
	{"document", []string{"Document"}},
	{"other", []string{"Entity"}},
}

// The types of a campaign's other cards.
const (
	typeTimeline = "Timeline Event"
	typeSession  = "Session"
	typeRelation = "Relationship Type"
	typeConflict = "Canon Conflict"
	typeData     = "JSON"
	typeNotes    = "Markdown"
)

// kindByType maps the key of a card type to its entity type, and entityTypes are all card types of
// entities.
var (
	kindByType = func() map[markup.Key]string {
		m := map[markup.Key]string{}
		for _, k := range kinds {
			for _, t := range k.types {
				m[markup.KeyOf(t)] = k.name
			}
		}
		return m
	}()
	entityTypes = func() (all []string) {
		for _, k := range kinds {
			all = append(all, k.types...)
		}
		return all
	}()
)

// kindOf returns the entity type of a card, or "" if the card is not an entity.
func kindOf(c canon.Card) string { return kindByType[markup.KeyOf(c.Type)] }

// typesOf returns the card types of an entity type, or all of them if there is no such entity type.
func typesOf(kind string) []string {
	for _, k := range kinds {
		if k.name == kind {
			return k.types
		}
	}
	return entityTypes
}

// isType reports whether a card is of a type.
func isType(c canon.Card, name string) bool { return markup.KeyOf(c.Type) == markup.KeyOf(name) }

// hasKind reports whether a card's type belongs to an entity type.
func hasKind(c canon.Card, kind string) bool {
	return slices.ContainsFunc(typesOf(kind), func(t string) bool { return isType(c, t) })
}
