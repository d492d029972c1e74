package lorebook

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// ruleNoMarks is the rule that hides text of formats without marks of secrets.
const ruleNoMarks = "no marks of secrets"

// Names of the things that the rule hides.
const (
	hidesEntries = "entries of lorebooks"
	hidesPrompts = "prompts of characters"
)

// fieldEntry is the field of a card with the entry as written, and fieldHints the one with its rules.
const (
	fieldEntry = "lorebook"
	fieldHints = "activation"
)

// Import imports lorebooks: each becomes a card, and its entries become facts of type Lore with their
// keys as aliases and the rules of their activation in the field activation.
func Import(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o exchange.Options) (exchange.Summary,
	error) {
	return record.Import(ctx, c, g, "lorebook", o, func(s *record.Source) error {
		s.Relabel("") // a book is identified by its name, wherever its file lies
		for _, name := range sourceFiles(files, o, ".json", ".story", ".lorebook") {
			data, ok := s.ReadFile(files, name)
			if !ok {
				continue
			}
			b, err := parseBook(stemOf(name), data)
			if err != nil {
				return err
			}
			if b != nil {
				if _, err := addBook(ctx, s, name, b); err != nil {
					return err
				}
			} else {
				s.AddProblem(name, 0, "is not a lorebook; left out")
			}
		}
		if !s.HasCards() {
			return s.EmptyError("no file is a lorebook")
		}
		return nil
	})
}

// sourceFiles returns the files of the given endings, or the only file of the options.
func sourceFiles(files fs.FS, o exchange.Options, suffixes ...string) []string {
	if o.File != "" {
		return []string{o.File}
	}
	return exchange.NewPeek(files, "").WithSuffix(suffixes...)
}

func stemOf(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// parseBook returns the book in a JSON file, or nil. The error is that of a file with too many values.
func parseBook(name string, data []byte) (*book, error) {
	v, err := exchange.DecodeValue(name, bytes.TrimPrefix(data, []byte("\ufeff")))
	if fault.KindOf(err) == fault.TooLarge {
		return nil, err
	}
	dialect := ""
	switch v := v.(type) {
	case map[string]any:
		dialect = bookDialect(v)
	case []any:
		dialect = listDialect(v)
	}
	if dialect == "" {
		return nil, nil
	}
	return readBook(dialect, name, v), nil
}

// addBook adds the cards of a book.
func addBook(ctx context.Context, s *record.Source, file string, b *book) (*exchange.Sheet, error) {
	marks := []secrecy.Mark{{Rule: ruleNoMarks, What: hidesEntries, Doubt: true}}
	head, err := s.Add(ctx, record.Card{Key: []string{"book", b.name}, File: file, Name: b.name,
		Suffixes: []string{"lorebook"}, Type: "Document", Form: record.Plain, Marks: marks,
		Text:   record.Text(b.text),
		Fields: map[string]any{fieldEntry: map[string]any{"dialect": b.dialect, "rest": b.rest, "text": b.text}}})
	if err != nil {
		return nil, err
	}
	empty := 0
	for _, e := range b.entries {
		if strings.TrimSpace(e.text) == "" && len(e.keys) == 0 {
			empty++
			continue
		}
		if err := addEntry(ctx, s, file, head, b, e, marks); err != nil {
			return nil, err
		}
	}
	if empty > 0 {
		s.AddProblem(file, 0, "%d entries have neither text nor keys; left out", empty)
	}
	return head, nil
}

func addEntry(ctx context.Context, s *record.Source, file string, head *exchange.Sheet, b *book, e *entry,
	marks []secrecy.Mark) error {
	title := e.title
	if record.CardName(title) == "" {
		title = b.name + " " + e.id
	}
	fields := map[string]any{fieldHints: e.hints, fieldEntry: map[string]any{"book": b.name, "dialect": b.dialect,
		"entry": e.raw, "text": e.text}}
	if aliases := nameKeys(e.keys, title); len(aliases) > 0 {
		fields["aliases"] = aliases
	}
	if long := decoded.EncodeFields(fields); len(long) > canon.MaxFields {
		s.AddProblem(file, 0, "the entry %q has more data than a card holds; its rules are left out", title)
		fields = map[string]any{}
	}
	r := record.Card{Key: []string{"entry", b.name, e.id}, File: file, Name: title,
		Suffixes: []string{b.name, b.name + " " + e.id}, Type: "Lore", Codename: "lore-" + b.name + "-" + e.id,
		Form: record.Plain, Fields: fields, Marks: marks, Text: record.Text(e.text)}
	r.Narrow(record.Visibility(e.raw))
	sh, err := s.Add(ctx, r)
	if err == nil {
		s.AddEdge(file, "member_of", sh, head, nil)
	}
	return err
}

// nameKeys returns the keys that can be names of the card, without its title.
func nameKeys(keys []string, title string) (names []string) {
	seen, own := map[string]bool{}, markup.KeyOf(title)
	for _, k := range keys {
		if !seen[k] && markup.CheckName(k) == nil && len(markup.Parts(k)) == 1 && markup.KeyOf(k) != own {
			names = append(names, k)
		}
		seen[k] = true
	}
	return names
}
