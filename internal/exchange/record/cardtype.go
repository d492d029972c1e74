package record

import "loregate/internal/markup"

// typeWords are the words by which programs call the types of cards, besides the types' own names.
var typeWords = map[string][]string{
	"Character":    {"character", "person", "people", "npc", "pc", "family member", "individual"},
	"Location":     {"location", "place", "city", "town", "village", "settlement", "building", "landmark", "room"},
	"Realm":        {"realm", "region", "country", "kingdom", "nation", "continent", "province", "area"},
	"Faction":      {"faction", "guild", "group", "family", "house"},
	"Organization": {"organization", "organisation", "company", "team", "institution"},
	"Item":         {"item", "object", "equipment", "weapon", "vehicle", "tool"},
	"Artifact":     {"artifact", "artefact", "relic"},
	"Creature":     {"creature", "monster", "animal", "species", "race"},
	"Event":        {"event", "battle", "timeline"},
	"Quest":        {"quest", "plot"},
	"Document":     {"document", "journal", "note", "prose", "book", "article", "page"},
	"Session":      {"session"},
}

// typeOf maps the keys of the words to types.
var typeOf = func() map[string]string {
	m := map[string]string{}
	for typ, words := range typeWords {
		for _, w := range words {
			m[markup.PartKey(w)] = typ
		}
	}
	return m
}()

// TypeFor returns the type of card that a word of a source stands for, or Lore with factType, the field
// that keeps the word. An empty word gives Lore alone.
func TypeFor(word string) (typ string, fields map[string]any) {
	key := markup.PartKey(word)
	if typ = typeOf[key]; typ != "" {
		return typ, map[string]any{}
	}
	if key == "" {
		return "Lore", map[string]any{}
	}
	return "Lore", map[string]any{"factType": key}
}
