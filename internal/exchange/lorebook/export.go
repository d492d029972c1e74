package lorebook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/markup"
)

// exporter gathers the files of an export.
type exporter struct {
	view  *canon.Snapshot
	sum   exchange.Summary
	files map[string][]byte
	names map[string]bool // file names in use, in small letters
}

// export gathers files with write and writes them to a new folder.
func export(ctx context.Context, c *canon.Canon, g access.Grant, dir string,
	write func(*exporter) error) (exchange.Summary, error) {
	x := &exporter{sum: exchange.Summary{Export: true}, files: map[string][]byte{}, names: map[string]bool{}}
	err := c.Read(ctx, g, func(l *canon.Snapshot) error {
		x.view = l
		return write(x)
	})
	if err != nil {
		return x.sum, err
	}
	x.sum.Files = len(x.files)
	return x.sum, exchange.WriteNewFolder(dir, exchange.ModesFor(g.View().Level), x.files)
}

// addFile adds a JSON file of a name that is not used yet.
func (x *exporter) addFile(name string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	if err := e.Encode(v); err != nil {
		return err
	}
	base := exchange.PlainName(name)
	for n := 1; ; n++ {
		file := base
		if n > 1 {
			file += " " + strconv.Itoa(n)
		}
		if key := exchange.FoldCase(file); !x.names[key] {
			x.names[key] = true
			x.files[file+".json"] = b.Bytes()
			return nil
		}
	}
}

// textFor returns a card's text as the source had it if the card was not edited, else as Markdown.
func (x *exporter) textFor(ctx context.Context, c canon.Card, source string) (string, error) {
	texts, err := record.ReadTexts(ctx, x.view, c)
	if err != nil {
		return "", err
	}
	texts.ReportLeft(&x.sum, c)
	whole, err := x.view.WholeText(ctx, c)
	if err != nil || c.Places == nil && len(whole.Parts) == 0 && texts.Fields == "" &&
		whole.Open == record.PlainHTML(source) {
		return source, err
	}
	text, hidden, ok := texts.For(record.Plain, record.Joined)
	if !ok {
		x.sum.Problems = append(x.sum.Problems, record.ProblemLeftOut(c))
	}
	return record.Joined(text, hidden), nil
}

// storedEntry is the field fieldEntry of a card.
type storedEntry struct {
	Book    string         `json:"book"`
	Dialect string         `json:"dialect"`
	Rest    map[string]any `json:"rest"`
	Entry   map[string]any `json:"entry"`
	Text    string         `json:"text"`
}

func storedOf(c canon.Card) (e storedEntry, ok bool) {
	var f struct {
		Entry *storedEntry `json:"lorebook"`
	}
	d := json.NewDecoder(bytes.NewReader(c.Fields))
	d.UseNumber()
	if d.Decode(&f) != nil || f.Entry == nil {
		return e, false
	}
	return *f.Entry, true
}

// Export writes the cards that a grant sees to a folder as world info: one file for each book that was
// imported, and the file World.json for all other cards with a text.
func Export(ctx context.Context, c *canon.Canon, g access.Grant, dir string) (exchange.Summary, error) {
	return export(ctx, c, g, dir, func(x *exporter) error {
		books, heads := map[string]*written{}, map[string]storedEntry{}
		for card, err := range x.view.AllCards(ctx, canon.Filter{}) {
			if err != nil {
				return err
			}
			stored, known := storedOf(card)
			if known && stored.Book == "" {
				heads[card.Name] = stored
				continue
			}
			if !known && !isEntryType(card) {
				continue
			}
			entry, err := x.worldInfoEntry(ctx, card, stored)
			if err != nil {
				return err
			}
			book := cmp.Or(stored.Book, "World")
			if entry == nil {
				continue
			}
			if books[book] == nil {
				books[book] = &written{}
			}
			books[book].add(entry, card)
			x.sum.Cards++
		}
		for _, name := range decoded.SortedKeys(books) {
			if err := x.addFile(name, worldInfoFile(heads[name], books[name].sighted())); err != nil {
				return err
			}
		}
		return nil
	})
}

// written are the entries of a book that are written, and the labels of their cards.
type written struct {
	entries []any
	labels  []access.Label
}

func (w *written) add(entry map[string]any, card canon.Card) {
	w.entries, w.labels = append(w.entries, entry), append(w.labels, card.Label)
}

// sighted returns the entries. If players see any, each other says that they do not; an import asks whether a book
// without such entries is to be seen.
func (w *written) sighted() []any {
	if slices.ContainsFunc(w.labels, func(l access.Label) bool { return l.Level == access.LevelUser }) {
		for i, entry := range w.entries {
			record.SetVisibility(entry.(map[string]any), w.labels[i])
		}
	}
	return w.entries
}

// isEntryType reports whether the text of a card can be an entry.
func isEntryType(c canon.Card) bool {
	switch canon.TextOf(c.Type) {
	case canon.TextHTML, canon.TextMarkdown, canon.TextPlain:
		return markup.KeyOf(c.Type) != markup.KeyOf(canon.TypeCardtype)
	}
	return false
}

// worldInfoEntry returns the entry of a card, or nil if the card has no text.
func (x *exporter) worldInfoEntry(ctx context.Context, c canon.Card, stored storedEntry) (map[string]any, error) {
	text, err := x.textFor(ctx, c, stored.Text)
	if err != nil || text == "" {
		return nil, err
	}
	entry := map[string]any{"keysecondary": []any{}, "constant": false, "selective": false, "order": 100, "position": 0,
		"disable": false, "comment": c.Name}
	if stored.Dialect == dialectWorldInfo {
		entry = stored.Entry
	} else {
		h := hintsOf(c)
		entry["constant"], entry["disable"], entry["keysecondary"] = h.Constant, h.Disabled, orEmpty(h.Secondary)
		if h.Order != nil {
			entry["order"] = *h.Order
		}
	}
	if entry["key"] == nil {
		if h := hintsOf(c); len(h.Keys) > 0 {
			entry["key"] = h.Keys
		} else {
			entry["key"] = c.Names()
		}
	}
	entry["content"] = text
	return entry, nil
}

func hintsOf(c canon.Card) hints {
	var f struct {
		Hints hints `json:"activation"`
	}
	_ = json.Unmarshal(c.Fields, &f) // fields of another form: no hints
	return f.Hints
}

func orEmpty[T any](list []T) []T { return append([]T{}, list...) }

// worldInfoFile returns the file of a book. An entry keeps its number, and others get free ones.
func worldInfoFile(head storedEntry, list []any) map[string]any {
	entries, next := map[string]any{}, 0
	var free []map[string]any
	for _, v := range list {
		e, _ := v.(map[string]any)
		if id := decoded.TextOf(e["uid"]); id != "" && entries[id] == nil {
			entries[id] = e
		} else {
			free = append(free, e)
		}
	}
	slices.SortStableFunc(free, func(a, b map[string]any) int {
		return cmp.Compare(decoded.TextOf(a["comment"]), decoded.TextOf(b["comment"]))
	})
	for _, e := range free {
		for entries[strconv.Itoa(next)] != nil {
			next++
		}
		e["uid"] = next
		entries[strconv.Itoa(next)] = e
	}
	out := map[string]any{}
	for k, v := range head.Rest {
		out[k] = v
	}
	out["entries"] = entries
	return out
}

// ExportCharacters writes the characters that a grant sees to a folder, as JSON files of version 3 of
// the character card or, for spec "chara_card_v2", of version 2.
func ExportCharacters(ctx context.Context, c *canon.Canon, g access.Grant, dir, spec string) (exchange.Summary,
	error) {
	return export(ctx, c, g, dir, func(x *exporter) error {
		for card, err := range x.view.AllCards(ctx, canon.Filter{Type: "Character"}) {
			if err != nil {
				return err
			}
			data, err := x.characterData(ctx, card)
			if err != nil {
				return err
			}
			version := "2.0"
			if spec == SpecV3 {
				version = "3.0"
				if data["group_only_greetings"] == nil {
					data["group_only_greetings"] = []any{}
				}
			}
			x.sum.Cards++
			if err := x.addFile(card.Name, map[string]any{"spec": spec, "spec_version": version, "data": data}); err != nil {
				return err
			}
		}
		return nil
	})
}

// The versions of character cards that are written.
const (
	SpecV2 = "chara_card_v2"
	SpecV3 = "chara_card_v3"
)

// characterData returns the data of a character card. A character that was imported keeps all members
// that the grant sees.
func (x *exporter) characterData(ctx context.Context, c canon.Card) (map[string]any, error) {
	data := map[string]any{"extensions": map[string]any{}, "alternate_greetings": []any{}, "tags": []any{}}
	for _, m := range []string{"description", "personality", "scenario", "first_mes", "mes_example", "creator_notes",
		"system_prompt", "post_history_instructions", "creator", "character_version"} {
		data[m] = ""
	}
	gm, ok, err := x.view.Exists(ctx, markup.Join(c.Name, exchange.GMPart))
	if err != nil {
		return nil, err
	}
	source := map[string]any{}
	if ok {
		stored, _ := decoded.ParseObject(string(gm.Fields))[fieldCharacter].(map[string]any)
		source, _ = stored["data"].(map[string]any)
		for k, v := range source {
			data[k] = v
		}
	}
	data["name"] = c.Name
	record.SetVisibility(data, c.Label)
	var texts []string
	for _, b := range textsOf(source, publicTexts) {
		texts = append(texts, b.Text)
	}
	was := strings.Join(texts, "\n\n")
	text, err := x.textFor(ctx, c, was)
	if err != nil {
		return nil, err
	}
	if len(source) == 0 || text != was { // an edited text cannot be divided into its parts
		data["description"], data["personality"], data["first_mes"] = text, "", ""
	}
	return data, x.addBookData(ctx, c, data)
}

// addBookData adds the book of a character that was imported with it.
func (x *exporter) addBookData(ctx context.Context, c canon.Card, data map[string]any) error {
	for link, err := range x.view.AllLinks(ctx, canon.LinkQuery{To: c.ID, Kinds: []string{"member_of"}}) {
		if err != nil {
			return err
		}
		head, ok, err := x.view.ByID(ctx, link.From)
		if err != nil || !ok {
			return err
		}
		stored, ok := storedOf(head)
		if !ok || stored.Dialect != dialectCard || stored.Book != "" {
			continue
		}
		entries, err := x.bookEntries(ctx, head)
		if err != nil {
			return err
		}
		out := map[string]any{"name": head.Name, "extensions": map[string]any{}}
		for k, v := range stored.Rest {
			out[k] = v
		}
		out["entries"] = entries
		data["character_book"] = out
	}
	return nil
}

// bookEntries returns the entries of a book as a character book has them, by their ids.
func (x *exporter) bookEntries(ctx context.Context, head canon.Card) ([]any, error) {
	var all written
	for link, err := range x.view.AllLinks(ctx, canon.LinkQuery{To: head.ID, Kinds: []string{"member_of"}}) {
		if err != nil {
			return nil, err
		}
		card, ok, err := x.view.ByID(ctx, link.From)
		if err != nil || !ok {
			return nil, err
		}
		stored, ok := storedOf(card)
		if !ok {
			continue
		}
		text, err := x.textFor(ctx, card, stored.Text)
		if err != nil {
			return nil, err
		}
		stored.Entry["content"] = text
		all.add(stored.Entry, card)
		x.sum.Cards++
	}
	entries := orEmpty(all.sighted())
	slices.SortStableFunc(entries, func(a, b any) int { return cmp.Compare(idOf(a), idOf(b)) })
	return entries, nil
}

func idOf(entry any) int {
	e, _ := entry.(map[string]any)
	if i := intOf(e["id"]); i != nil {
		return *i
	}
	return 0
}
