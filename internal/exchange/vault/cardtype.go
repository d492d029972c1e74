package vault

import (
	"context"
	"path"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// typeWords lists the words with which vaults classify notes, by the type of card that such a note
// becomes. The words are compared as parts of card names are, so that plurals match too.
var typeWords = map[string][]string{
	"Location": {"location", "place", "city", "town", "village", "hamlet", "settlement", "building", "room", "tavern",
		"inn", "shop", "dungeon", "site", "landmark",
		"poi", "point of interest", "district", "ward", "fortress", "castle", "temple", "ruin", "port", "lieu", "ville",
		"endroit", "ort", "schauplatz", "stadt", "dorf", "lugar", "ciudad", "ubicacion"},
	"Realm": {"realm", "region", "country", "kingdom", "nation", "continent", "province", "empire", "royaume",
		"reino", "pais"},
	"Character": {"character", "npc", "person", "people", "pc", "player character", "villain", "ally", "personnage",
		"pnj", "nsc", "personaje", "figur", "charakter"},
	"Faction":      {"faction", "guild", "cult", "gang", "clan", "noble house", "fraktion", "gilde", "guilde", "faccion"},
	"Organization": {"organization", "organisation", "company", "organisation secrete"},
	"Item": {"item", "object", "equipment", "weapon", "armor", "armour", "treasure", "magic item", "magical item",
		"objet", "gegenstand", "objeto"},
	"Artifact": {"artifact", "artefact", "relic"},
	"Creature": {"creature", "monster", "beast", "bestiary", "monstre", "kreatur", "ungeheuer", "criatura", "monstruo"},
	"Event":    {"event", "battle", "ereignis", "evenement", "evento"},
	"Quest":    {"quest", "side quest", "main quest", "auftrag", "quete", "mision"},
	"Lore":     {"lore", "history", "legend", "myth", "deity", "god", "religion", "pantheon"},
	"Document": {"document", "letter", "handout", "book"},
}

// TypeWord lists the words that make notes cards of a type.
type TypeWord struct {
	Type  string
	Words []string
}

// TypeWords returns the built-in table of types, sorted by type.
func TypeWords() (all []TypeWord) {
	for _, typ := range decoded.SortedKeys(typeWords) {
		all = append(all, TypeWord{typ, slices.Clone(typeWords[typ])})
	}
	return all
}

// typeKeys are the front matter keys that classify a note, in order of precedence.
var typeKeys = []string{"type", "note_type", "notetype", "card_type", "cardtype", "kind", "category", "categories",
	"class", "fileclass", "noteicon"}

// typer determines the card types of notes.
type typer struct {
	known  map[string]string // card type by the key of a word
	given  map[string]bool   // keys of the words given to the import
	used   map[string]bool
	counts map[exchange.TypeUse]int
	order  []exchange.TypeUse
}

// newTyper combines the words given to the import with the built-in table; the given words take
// precedence. A word given with the type "" makes its notes RichText.
func newTyper(ctx context.Context, l *canon.Snapshot, given map[string]string) (*typer, error) {
	t := &typer{known: map[string]string{}, given: map[string]bool{}, used: map[string]bool{},
		counts: map[exchange.TypeUse]int{}}
	for typ, list := range typeWords {
		for _, word := range list {
			t.known[markup.PartKey(word)] = typ
		}
	}
	for _, word := range decoded.SortedKeys(given) {
		typ, key := given[word], markup.PartKey(word)
		if key == "" {
			return nil, fault.New(fault.Invalid,
				"types: %q is not a folder, tag or type; write WORD=TYPE, for example Settlements=Location", word)
		}
		if typ != "" {
			found, err := l.Type(ctx, typ)
			if err != nil || found.Text != canon.TextHTML || markup.HasPart(programTypes, markup.PartKey(typ)) {
				return nil, fault.New(fault.Invalid,
					"types: notes cannot have the card type %q; use one of %s, or a type of the world", typ,
					strings.Join(decoded.SortedKeys(typeWords), ", "))
			}
			typ = found.Name
		}
		t.known[key], t.given[key] = typ, true
	}
	return t, nil
}

// noteType returns the card type of a note. It looks at the note's front matter, then its tags,
// then its folders from the innermost out. ok is false if none of them names a type.
func (t *typer) noteType(n *note) (typ string, ok bool) {
	for _, key := range typeKeys {
		for _, k := range decoded.SortedKeys(n.Meta) {
			if markup.PartKey(k) != key {
				continue
			}
			for _, value := range n.List(k) {
				if typ, ok := t.typeOfWord(exchange.TagName(value)); ok {
					return t.countUse(k+": "+value, typ), true
				}
			}
		}
	}
	for _, tag := range n.AllTags() {
		if typ, ok := t.typeOfWord(tag); ok {
			return t.countUse("#"+tag, typ), true
		}
	}
	for dir := path.Dir(n.Path); dir != "."; dir = path.Dir(dir) {
		name := path.Base(dir)
		if markup.PartKey(name) == markup.PartKey(path.Base(n.Stem())) || isIndexNote(path.Base(n.Stem())) {
			continue // the note describes the folder itself
		}
		if typ, ok := t.typeOfFolder(name); ok {
			return t.countUse("folder "+name, typ), true
		}
	}
	return "", false
}

func isIndexNote(name string) bool {
	return slices.Contains([]string{"index", "_index", "readme", "home", "overview", "moc", "template"},
		strings.ToLower(name))
}

// typeOfWord returns the type that a word stands for. If the whole word is unknown, the first known
// part between slashes counts.
func (t *typer) typeOfWord(word string) (typ string, ok bool) {
	for _, part := range append([]string{word}, strings.Split(word, "/")...) {
		key := markup.PartKey(part)
		if typ, ok = t.known[key]; ok {
			t.used[key] = true
			return typ, true
		}
	}
	return "", false
}

// typeOfFolder returns the type that a folder's name stands for. It tries the whole name, then the
// name without leading numbers. A name that lists several words counts only if they agree on one
// type. Otherwise the last word counts if it is a plural, as in Magic Items and Towns of the Coast.
func (t *typer) typeOfFolder(name string) (typ string, ok bool) {
	if t.isCategoryFolder(name) {
		if typ, ok = t.typeOfWord(name); ok {
			return typ, ok
		}
	}
	parted, _, _ := secrecy.Spellings(name)
	words := strings.Fields(parted)
	for len(words) > 0 && len(words[0]) == 1 && strings.ContainsAny(name, "0123456789") {
		words = words[1:] // as in 01b Places
	}
	if len(words) == 0 {
		return "", false
	}
	if whole := strings.Join(words, " "); t.isCategoryFolder(whole) {
		if typ, ok = t.typeOfWord(whole); ok {
			return typ, ok
		}
	}
	if i := slices.IndexFunc(words,
		func(w string) bool { return slices.Contains([]string{"of", "in", "from", "de", "du", "von", "del"}, w) }); i > 0 {
		words = words[:i]
	}
	if slices.ContainsFunc(words, func(w string) bool { return w == "and" || w == "und" || w == "et" || w == "y" }) ||
		strings.ContainsAny(name, "&,") {
		found := map[string]bool{}
		for _, w := range words {
			if one, is := t.typeOfWord(w); is {
				typ, found[one] = one, true
			}
		}
		return typ, len(found) == 1
	}
	last := words[len(words)-1]
	if markup.PartKey(last) == last {
		return "", false
	}
	return t.typeOfWord(last)
}

// categoryWords are the words that name a category even in the singular.
var categoryWords = []string{"location", "place", "realm", "region", "character", "npc", "pc", "nsc", "pnj", "person",
	"people", "faction", "organization", "item", "equipment",
	"treasure", "artifact", "creature", "monster", "bestiary", "event", "quest", "lore", "history", "religion", "pantheon",
	"document"}

// isCategoryFolder reports whether a folder of that name holds many notes of one type: the name is
// a plural, a category word, or a word given to the import. A folder named Town is about one town
// and holds notes of all types.
func (t *typer) isCategoryFolder(name string) bool {
	key := markup.PartKey(name)
	plain := strings.ToLower(strings.Join(strings.Fields(name), "_"))
	return t.given[key] || slices.Contains(categoryWords, key) || key != plain && key != lettersKey(name)
}

// lettersKey returns the key that a name would have if none of its words were a plural.
func lettersKey(name string) string {
	return strings.ReplaceAll(strings.TrimSpace(secrecy.Letters(markup.Fold(name))), " ", "_")
}

func (t *typer) countUse(by, typ string) string {
	use := exchange.TypeUse{By: by, Type: typ}
	if t.counts[use]++; t.counts[use] == 1 {
		t.order = append(t.order, use)
	}
	return typ
}

// listUses returns the counts of notes by word and type, highest first.
func (t *typer) listUses() []exchange.TypeUse {
	all := slices.Clone(t.order)
	for i := range all {
		all[i].Many = t.counts[all[i]]
	}
	slices.SortStableFunc(all, func(a, b exchange.TypeUse) int { return b.Many - a.Many })
	return all
}

// checkUnusedWords returns an error if a word given to the import matched no folder, tag or type.
func (t *typer) checkUnusedWords() error {
	for _, key := range decoded.SortedKeys(t.given) {
		if !t.used[key] {
			return fault.New(fault.Invalid, "types: the vault has no folder, tag or type %q", key)
		}
	}
	return nil
}
