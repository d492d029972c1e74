package campaign

import (
	"slices"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// kind is an entity type with the types of card that are read as one; the first is the one
// written.
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

// The types of the other cards of a campaign.
const (
	typeTimeline = "Timeline Event"
	typeSession  = "Session"
	typeRelation = "Relationship Type"
	typeConflict = "Canon Conflict"
	typeData     = "JSON"
	typeNotes    = "Markdown"
)

// kindByType and every are kinds by the key of a card's type, and all their types.
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
	every = func() (all []string) {
		for _, k := range kinds {
			all = append(all, k.types...)
		}
		return all
	}()
)

// kindOf is the entity type of a card; "" for what is no entity.
func kindOf(c canon.Card) string { return kindByType[markup.KeyOf(c.Type)] }

// typesOf are the types of card of an entity type; of all for "".
func typesOf(kind string) []string {
	for _, k := range kinds {
		if k.name == kind {
			return k.types
		}
	}
	return every
}

// isType reports whether a card is of a type.
func isType(c canon.Card, name string) bool { return markup.KeyOf(c.Type) == markup.KeyOf(name) }

// keepsType reports whether a card's type already says an entity type.
func keepsType(c canon.Card, kind string) bool {
	return slices.ContainsFunc(typesOf(kind), func(t string) bool { return isType(c, t) })
}
