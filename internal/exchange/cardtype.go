package exchange

import (
	"context"
	"path"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// typeWords are the words by which vaults say what a note is about, by the type of card
// that it becomes. They are compared as parts of names are, so that plurals count too.
var typeWords = map[string][]string{
	"Location": {"location", "place", "city", "town", "village", "hamlet", "settlement", "building", "room", "tavern", "inn", "shop", "dungeon", "site", "landmark",
		"poi", "point of interest", "district", "ward", "fortress", "castle", "temple", "ruin", "port", "lieu", "ville", "endroit", "ort", "schauplatz", "stadt", "dorf", "lugar", "ciudad", "ubicacion"},
	"Realm":        {"realm", "region", "country", "kingdom", "nation", "continent", "province", "empire", "royaume", "reino", "pais"},
	"Character":    {"character", "npc", "person", "people", "pc", "player character", "villain", "ally", "personnage", "pnj", "nsc", "personaje", "figur", "charakter"},
	"Faction":      {"faction", "guild", "cult", "gang", "clan", "noble house", "fraktion", "gilde", "guilde", "faccion"},
	"Organization": {"organization", "organisation", "company", "organisation secrete"},
	"Item":         {"item", "object", "equipment", "weapon", "armor", "armour", "treasure", "magic item", "magical item", "objet", "gegenstand", "objeto"},
	"Artifact":     {"artifact", "artefact", "relic"},
	"Creature":     {"creature", "monster", "beast", "bestiary", "monstre", "kreatur", "ungeheuer", "criatura", "monstruo"},
	"Event":        {"event", "battle", "ereignis", "evenement", "evento"},
	"Quest":        {"quest", "side quest", "main quest", "auftrag", "quete", "mision"},
	"Lore":         {"lore", "history", "legend", "myth", "deity", "god", "religion", "pantheon"},
	"Document":     {"document", "letter", "handout", "book"},
}

// typeKeys are the keys of front matter that say what a note is about, first ones first.
var typeKeys = []string{"type", "note_type", "notetype", "card_type", "cardtype", "kind", "category", "categories", "class", "fileclass", "noteicon"}

// TypeUse is how many notes became a type of card by a word.
type TypeUse struct {
	By   string // as folder "03 Locations"
	Type string
	Many int
}

// typer finds the types of notes.
type typer struct {
	known  map[string]string // type by key of a word
	own    map[string]bool   // keys that the import was given
	used   map[string]bool
	counts map[TypeUse]int
	order  []TypeUse
}

// newTyper reads the words that an import was given over those of the table; a word of ""
// makes its notes RichText.
func newTyper(ctx context.Context, l *canon.Snapshot, given map[string]string) (*typer, error) {
	t := &typer{known: map[string]string{}, own: map[string]bool{}, used: map[string]bool{}, counts: map[TypeUse]int{}}
	for typ, list := range typeWords {
		for _, word := range list {
			t.known[markup.PartKey(word)] = typ
		}
	}
	for _, word := range sorted(given) {
		typ, key := given[word], markup.PartKey(word)
		if key == "" {
			return nil, fault.New(fault.Invalid, "types: %q is no folder, tag or type; give WORD=TYPE, as Settlements=Location", word)
		}
		if typ != "" {
			found, err := l.Type(ctx, typ)
			if err != nil || found.Text != canon.TextHTML || among(programTypes, markup.PartKey(typ)) {
				return nil, fault.New(fault.Invalid, "types: there is no type of card %q for notes; there are %s and the world's own", typ, strings.Join(sorted(typeWords), ", "))
			}
			typ = found.Name
		}
		t.known[key], t.own[key] = typ, true
	}
	return t, nil
}

// of is the type of a note; ok is whether anything says it.
func (t *typer) of(n *note) (typ string, ok bool) {
	for _, key := range typeKeys {
		for _, k := range sorted(n.meta) {
			if markup.PartKey(k) != key {
				continue
			}
			for _, value := range n.list(k) {
				if typ, ok := t.word(tagName(value)); ok {
					return t.count(k+": "+value, typ), true
				}
			}
		}
	}
	for _, tag := range n.allTags() {
		if typ, ok := t.word(tag); ok {
			return t.count("#"+tag, typ), true
		}
	}
	for dir := path.Dir(n.path); dir != "."; dir = path.Dir(dir) {
		name := path.Base(dir)
		if markup.PartKey(name) == markup.PartKey(path.Base(n.stem())) || indexNote(path.Base(n.stem())) {
			continue // it is about the folder
		}
		if typ, ok := t.folder(name); ok {
			return t.count("folder "+name, typ), true
		}
	}
	return "", false
}

func indexNote(name string) bool {
	return slices.Contains([]string{"index", "_index", "readme", "home", "overview", "moc", "template"}, strings.ToLower(name))
}

// word is the type that a word means, or the first of its parts between slashes that
// means one.
func (t *typer) word(word string) (typ string, ok bool) {
	for _, part := range append([]string{word}, strings.Split(word, "/")...) {
		key := markup.PartKey(part)
		if typ, ok = t.known[key]; ok {
			t.used[key] = true
			return typ, true
		}
	}
	return "", false
}

// folder is the type that a folder's name means: all of it, without numbers, the only one
// of the parts that it lists, or its last word where that is a plural, as in Magic Items
// and Towns of the Coast.
func (t *typer) folder(name string) (typ string, ok bool) {
	if t.collects(name) {
		if typ, ok = t.word(name); ok {
			return typ, ok
		}
	}
	parted, _, _ := spelled(name)
	words := strings.Fields(parted)
	for len(words) > 0 && len(words[0]) == 1 && strings.ContainsAny(name, "0123456789") {
		words = words[1:] // 01b Places
	}
	if len(words) == 0 {
		return "", false
	}
	if whole := strings.Join(words, " "); t.collects(whole) {
		if typ, ok = t.word(whole); ok {
			return typ, ok
		}
	}
	if i := slices.IndexFunc(words, func(w string) bool { return slices.Contains([]string{"of", "in", "from", "de", "du", "von", "del"}, w) }); i > 0 {
		words = words[:i]
	}
	if slices.ContainsFunc(words, func(w string) bool { return w == "and" || w == "und" || w == "et" || w == "y" }) || strings.ContainsAny(name, "&,") {
		found := map[string]bool{}
		for _, w := range words {
			if one, is := t.word(w); is {
				typ, found[one] = one, true
			}
		}
		return typ, len(found) == 1
	}
	last := words[len(words)-1]
	if markup.PartKey(last) == last {
		return "", false
	}
	return t.word(last)
}

// kinds are words that a folder of many things is called by in the singular too.
var kinds = []string{"location", "place", "realm", "region", "character", "npc", "pc", "nsc", "pnj", "person", "people", "faction", "organization", "item", "equipment",
	"treasure", "artifact", "creature", "monster", "bestiary", "event", "quest", "lore", "history", "religion", "pantheon", "document"}

// collects reports whether a folder of that name is of many things: a plural, a kind, or
// a word that the import was given. A folder Town is one town, with all sorts of notes.
func (t *typer) collects(name string) bool {
	key := markup.PartKey(name)
	plain := strings.ToLower(strings.Join(strings.Fields(name), "_"))
	return t.own[key] || slices.Contains(kinds, key) || key != plain && key != lettersKey(name)
}

// lettersKey is the key of a name as it would be if no word of it were a plural.
func lettersKey(name string) string {
	return strings.ReplaceAll(strings.TrimSpace(lettersOf(markup.Fold(name))), " ", "_")
}

func (t *typer) count(by, typ string) string {
	use := TypeUse{By: by, Type: typ}
	if t.counts[use]++; t.counts[use] == 1 {
		t.order = append(t.order, use)
	}
	return typ
}

// list is how many notes became which type by what, most first.
func (t *typer) list() []TypeUse {
	all := slices.Clone(t.order)
	for i := range all {
		all[i].Many = t.counts[all[i]]
	}
	slices.SortStableFunc(all, func(a, b TypeUse) int { return b.Many - a.Many })
	return all
}

// unmatched refuses words that an import was given and that nothing bears.
func (t *typer) unmatched() error {
	for _, key := range sorted(t.own) {
		if !t.used[key] {
			return fault.New(fault.Invalid, "types: no folder, tag or type here is called %q", key)
		}
	}
	return nil
}
