package lorebook

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/decoded"
)

// book is a lorebook of any program.
type book struct {
	name, text string
	dialect    string
	rest       map[string]any // members that are neither entries nor name
	entries    []*entry
}

// entry is one entry of a book.
type entry struct {
	id    string // identity in the book
	title string
	keys  []string
	text  string
	hints hints
	raw   map[string]any // all members except the text, as written
}

// hints are the rules by which a program adds an entry to a prompt.
type hints struct {
	Keys      []string `json:"keys,omitempty"`
	Secondary []string `json:"secondaryKeys,omitempty"`
	Logic     string   `json:"logic,omitempty"` // and-any, not-all, not-any, and-all
	Constant  bool     `json:"constant,omitempty"`
	Disabled  bool     `json:"disabled,omitempty"`
	Order     *int     `json:"order,omitempty"`
	Position  string   `json:"position,omitempty"`
	Depth     *int     `json:"depth,omitempty"`
	Chance    *int     `json:"probability,omitempty"`
	Group     string   `json:"group,omitempty"`
	Sticky    *int     `json:"sticky,omitempty"`
	Cooldown  *int     `json:"cooldown,omitempty"`
	Delay     *int     `json:"delay,omitempty"`
}

// The dialects of books.
const (
	dialectWorldInfo = "world info"
	dialectCard      = "character book"
	dialectV3        = "lorebook_v3"
	dialectNovelAI   = "NovelAI"
	dialectAgnai     = "Agnai"
	dialectRisu      = "Risu"
	dialectDungeon   = "AI Dungeon"
)

// bookDialect returns the dialect of a JSON file, or "" if it is no book.
func bookDialect(m map[string]any) string {
	switch list, isList := m["entries"].([]any); {
	case m["spec"] == "lorebook_v3":
		return dialectV3
	case m["lorebookVersion"] != nil:
		return dialectNovelAI
	case m["kind"] == "memory" && isList:
		return dialectAgnai
	case m["type"] == "risu" && m["data"] != nil:
		return dialectRisu
	case m["storyContainerVersion"] != nil:
		return dialectNovelAI
	case isList && len(list) > 0:
		if first, _ := list[0].(map[string]any); first["keys"] != nil && first["content"] != nil {
			return dialectCard
		}
	}
	entries, _ := m["entries"].(map[string]any)
	for _, v := range entries {
		e, _ := v.(map[string]any)
		if e["content"] == nil || e["key"] == nil && e["uid"] == nil {
			return ""
		}
	}
	if len(entries) > 0 {
		return dialectWorldInfo
	}
	return ""
}

// listDialect returns the dialect of a JSON file that is a list, or "" if it is no book.
func listDialect(list []any) string {
	if len(list) == 0 {
		return ""
	}
	first, _ := list[0].(map[string]any)
	_, keys := first["keys"].(string)
	if keys && (first["value"] != nil || first["entry"] != nil) {
		return dialectDungeon
	}
	return ""
}

// readBook reads a book in the given dialect.
func readBook(dialect, name string, v any) *book {
	b := &book{name: name, dialect: dialect}
	m, _ := v.(map[string]any)
	switch dialect {
	case dialectV3:
		m, _ = m["data"].(map[string]any)
	case dialectNovelAI:
		if content, ok := m["content"].(map[string]any); ok {
			m, _ = content["lorebook"].(map[string]any)
		}
	}
	list := any(m["entries"])
	switch dialect {
	case dialectRisu:
		list = m["data"]
	case dialectDungeon:
		list = v
	}
	if own := decoded.TextOf(m["name"]); own != "" {
		b.name = own
	}
	b.text = decoded.TextOf(m["description"])
	b.rest = without(m, "entries", "data", "name", "description")
	for _, item := range entriesOf(list) {
		b.entries = append(b.entries, readEntry(dialect, item))
	}
	b.identify()
	return b
}

func without(m map[string]any, names ...string) map[string]any {
	rest := map[string]any{}
	for k, v := range m {
		if !slices.Contains(names, k) {
			rest[k] = v
		}
	}
	return rest
}

// entriesOf returns the entries of a list, or of an object in the order of its numbers.
func entriesOf(v any) []map[string]any {
	m, ok := v.(map[string]any)
	if !ok {
		return decoded.ObjectsOf(v)
	}
	keys := decoded.SortedKeys(m)
	slices.SortStableFunc(keys, func(a, b string) int {
		x, errX := strconv.Atoi(a)
		y, errY := strconv.Atoi(b)
		if errX != nil || errY != nil {
			return 0
		}
		return x - y
	})
	var all []map[string]any
	for _, k := range keys {
		if e, ok := m[k].(map[string]any); ok {
			all = append(all, e)
		}
	}
	return all
}

// textMember is the member that holds an entry's text, by dialect.
var textMember = map[string]string{dialectNovelAI: "text", dialectAgnai: "entry"}

func readEntry(dialect string, m map[string]any) *entry {
	member := textMember[dialect]
	if dialect == dialectDungeon {
		if member = "value"; m["value"] == nil {
			member = "entry"
		}
	}
	if member == "" {
		member = "content"
	}
	text, _ := m[member].(string)
	e := &entry{text: text, raw: without(m, member)}
	e.hints.Keys = keysOf(first(m, "keys", "key", "keywords"), dialect)
	e.hints.Secondary = keysOf(first(m, "secondary_keys", "keysecondary", "secondkey"), dialect)
	e.title = decoded.TextOf(first(m, "comment", "name", "displayName", "title"))
	if len(e.hints.Keys) > 0 && e.title == "" {
		e.title = e.hints.Keys[0]
	}
	for _, id := range []string{"uid", "id", "_id"} {
		if e.id == "" {
			e.id = decoded.TextOf(m[id])
		}
	}
	e.hints.readRules(m)
	e.keys = aliasKeys(e.hints.Keys, m["use_regex"] == true)
	return e
}

// first returns the first member that is set.
func first(m map[string]any, names ...string) any {
	for _, n := range names {
		if v := m[n]; v != nil && v != "" {
			return v
		}
	}
	return nil
}

// keysOf returns the keys of an entry: a list, or a text with commas, or with bars in old files of AI
// Dungeon, where a part in square brackets after # follows.
func keysOf(v any, dialect string) []string {
	text, ok := v.(string)
	if !ok {
		return decoded.ListOf(v)
	}
	if dialect == dialectDungeon {
		text, _, _ = strings.Cut(text, "#[")
		text = strings.ReplaceAll(text, "|", ",")
	}
	return decoded.TrimAll(strings.Split(text, ","))
}

// aliasKeys returns the keys that are words and no patterns.
func aliasKeys(keys []string, patterns bool) (words []string) {
	seen := map[string]bool{}
	for _, k := range keys {
		if !patterns && !isPattern(k) && !seen[k] {
			seen[k] = true
			words = append(words, k)
		}
	}
	return words
}

// isPattern reports whether a key is a regular expression, such as /dragons?/i.
func isPattern(key string) bool {
	return len(key) > 2 && key[0] == '/' && strings.LastIndexByte(key, '/') > 0
}

// The words for the numbers in world info.
var (
	logics    = []string{"and-any", "not-all", "not-any", "and-all"}
	positions = []string{"before", "after", "note-top", "note-bottom", "depth", "examples-top", "examples-bottom"}
)

// readRules reads the rules of an entry. Members of the object extensions count too.
func (h *hints) readRules(m map[string]any) {
	more, _ := m["extensions"].(map[string]any)
	get := func(names ...string) any {
		if v := first(m, names...); v != nil {
			return v
		}
		return first(more, names...)
	}
	h.Constant = get("constant") == true || get("alwaysActive") == true || get("forceActivation") == true
	h.Disabled = get("disable") == true || m["enabled"] == false
	h.Order = intOf(get("order", "insertion_order", "insertorder", "priority"))
	h.Depth, h.Chance = intOf(get("depth", "scan_depth")), intOf(get("probability"))
	h.Sticky, h.Cooldown, h.Delay = intOf(get("sticky")), intOf(get("cooldown")), intOf(get("delay"))
	h.Group = decoded.TextOf(get("group"))
	if i := intOf(get("selectiveLogic")); i != nil && *i >= 0 && *i < len(logics) && len(h.Secondary) > 0 {
		h.Logic = logics[*i]
	}
	if i := intOf(get("position")); i != nil && *i >= 0 && *i < len(positions) {
		h.Position = positions[*i]
	} else if i == nil {
		h.Position = decoded.TextOf(get("position"))
	}
}

func intOf(v any) *int {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	i, err := strconv.Atoi(n.String())
	if err != nil {
		return nil
	}
	return &i
}

// identify gives an id to each entry that has none of its own.
func (b *book) identify() {
	seen := map[string]int{}
	for _, e := range b.entries {
		if e.id == "" {
			e.id = e.title
		}
		if seen[e.id]++; seen[e.id] > 1 {
			e.id += "#" + strconv.Itoa(seen[e.id])
		}
	}
}
