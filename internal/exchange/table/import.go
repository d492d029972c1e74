package table

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
	"loregate/internal/exchange/record"
	"loregate/internal/exchange/secrecy"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// The uses of a column.
const (
	useName   = "name"
	useType   = "type"
	useText   = "text"
	useGM     = "gm"
	useTags   = "tags"
	useAlias  = "alias"
	useParent = "parent"
	useLink   = "link"
	useField  = "field"
	useSkip   = "skip"
	useSight  = "sight"
)

var uses = []string{useName, useType, useText, useGM, useTags, useAlias, useParent, useLink, useField, useSkip,
	useSight}

// headers maps the names of columns to their uses.
var headers = map[string]string{"name": useName, "title": useName, "label": useName, "page": useName,
	"type": useType, "kind": useType, "category": useType, "class": useType, "entitytype": useType,
	"text": useText, "description": useText, "content": useText, "body": useText, "desc": useText, "summary": useText,
	"tag": useTags, "keyword": useTags, "alias": useAlias, "aka": useAlias, "parent": useParent, "within": useParent}

// columnNotes is the column of notes that need no name of their column.
const columnNotes = "gm_notes"

// mappingSuffix is the ending of the file that says what to do with the columns of a table.
const mappingSuffix = ".mapping.json"

// Import imports tables: files of CSV, TSV and JSON lines with names of columns. The names decide about the
// use of a column; a file such as towns.csv.mapping.json, {"Ruler": "link", "Pop": "field"}, overrides them.
func Import(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o exchange.Options) (exchange.Summary,
	error) {
	var all []*rows
	return record.Walk{Format: "table", Suffixes: suffixes, Empty: "no file is a table with rows",
		Open: func(s *record.Source, files fs.FS, name string) ([]byte, bool) {
			if strings.HasSuffix(name, mappingSuffix) {
				return nil, false
			}
			return s.ReadFile(files, name)
		},
		Add: func(ctx context.Context, s *record.Source, name string, data []byte) error {
			parse := parseDelimited
			if strings.Contains(path.Ext(name), "json") {
				parse = parseLines
			}
			t, err := parse(s, name, data)
			if err != nil {
				return err
			}
			x := &rows{table: t, s: s, use: map[string]string{}, byName: map[markup.Key]*exchange.Sheet{}}
			if err := x.chooseUses(files); err != nil {
				return err
			}
			all = append(all, x)
			return x.addRows(ctx)
		},
		Finish: func(context.Context, *record.Source) error {
			for _, x := range all {
				x.addLinks(all)
			}
			return nil
		}}.Import(ctx, c, g, files, o)
}

var suffixes = []string{".csv", ".tsv", ".jsonl", ".ndjson", ".json"}

// rows is the import of one table.
type rows struct {
	*table
	s      *record.Source
	use    map[string]string // by column
	byName map[markup.Key]*exchange.Sheet
	sheets []*exchange.Sheet // by row; nil if it was left out
}

// chooseUses decides about the use of each column, and says so.
func (x *rows) chooseUses(files fs.FS) error {
	given, err := readMapping(files, x.file+mappingSuffix, x.columns)
	if err != nil {
		return err
	}
	taken := map[string]bool{}
	for _, column := range x.columns {
		use := given[column]
		if use == "" {
			use = x.guessUse(column)
			if single := use == useName || use == useType || use == useParent; single && taken[use] {
				use = useField
			}
		}
		taken[use] = true
		x.use[column] = use
	}
	if !taken[useName] && len(x.columns) > 0 {
		x.use[x.columns[0]] = useName
	}
	x.chooseLinks(given)
	var said []string
	for _, column := range x.columns {
		word := x.use[column]
		if word == useField {
			word += " (" + x.kindOf(column) + ")"
		}
		said = append(said, column+": "+word)
	}
	x.s.Say("Columns of %s (%s changes them): %s", x.file, path.Base(x.file)+mappingSuffix, strings.Join(said, ", "))
	return nil
}

// readMapping reads the file with the uses of columns.
func readMapping(files fs.FS, name string, columns []string) (map[string]string, error) {
	given := map[string]string{}
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return given, nil //nolint:nilerr // there is no such file
	}
	for column, v := range exchange.ParseObject(string(data)) {
		use, _ := v.(string)
		if !slices.Contains(columns, column) || !slices.Contains(uses, use) {
			return nil, fault.New(fault.Invalid, "%s: %q: %q is not a column of the table with one of the uses %s", name,
				column,
				use, strings.Join(uses, ", "))
		}
		given[column] = use
	}
	if len(given) == 0 {
		return nil, fault.New(fault.Invalid, "%s is not an object that maps columns to uses", name)
	}
	return given, nil
}

// guessUse returns the use that the name and the values of a column suggest.
func (x *rows) guessUse(column string) string {
	if use := headers[markup.PartKey(column)]; use != "" {
		return use
	}
	for _, r := range x.rows {
		if v := r.cells[column]; v != nil {
			if secrecy.IsSecretField(column, v) {
				return useGM
			}
			if _, marks := secrecy.NoteMarks(&markdown.Note{Meta: map[string]any{column: v}}); len(marks) > 0 {
				return useSight
			}
		}
	}
	return useField
}

// chooseLinks makes links of the columns whose values are names of rows, at least for every second value.
func (x *rows) chooseLinks(given map[string]string) {
	names := map[markup.Key]bool{}
	for _, r := range x.rows {
		names[markup.KeyOf(x.nameOf(r))] = true
	}
	for _, column := range x.columns {
		if x.use[column] != useField || given[column] != "" || x.kindOf(column) != kindText {
			continue
		}
		all, known := 0, 0
		for _, r := range x.rows {
			for _, name := range x.namesIn(r.cells[column]) {
				all++
				if names[markup.KeyOf(name)] {
					known++
				}
			}
		}
		if known > 0 && known*2 >= all {
			x.use[column] = useLink
		}
	}
}

// namesIn returns the names in a cell: a list, or a text with semicolons.
func (x *rows) namesIn(v any) []string {
	if s, ok := v.(string); ok {
		return exchange.TrimAll(strings.Split(strings.NewReplacer("[[", "", "]]", "").Replace(s), ";"))
	}
	return exchange.ListOf(v)
}

// columnsFor returns the columns of a use.
func (x *rows) columnsFor(use string) (list []string) {
	for _, c := range x.columns {
		if x.use[c] == use {
			list = append(list, c)
		}
	}
	return list
}

func (x *rows) nameOf(r row) string {
	for _, c := range x.columnsFor(useName) {
		if name := exchange.TextOf(r.cells[c]); name != "" {
			return record.CardName(name)
		}
	}
	return ""
}

// addRows adds the card of each row.
func (x *rows) addRows(ctx context.Context) error {
	x.sheets = make([]*exchange.Sheet, len(x.rows))
	seen, unnamed := map[string]int{}, 0
	kinds := map[string]string{}
	for _, c := range x.columns {
		kinds[c] = x.kindOf(c)
	}
	for i, r := range x.rows {
		name := x.nameOf(r)
		if name == "" {
			unnamed++
			continue
		}
		card := x.cardOf(r, kinds)
		card.Name = name
		if id := exchange.TextOf(r.cells["id"]); id != "" {
			card.Key = []string{x.file, "id", id}
		} else {
			seen[name]++
			card.Key = []string{x.file, name, fmt.Sprint(seen[name])}
		}
		sh, err := x.s.Add(ctx, card)
		if err != nil {
			return err
		}
		x.sheets[i] = sh
		if key := markup.KeyOf(name); x.byName[key] == nil {
			x.byName[key] = sh
		}
	}
	if unnamed > 0 {
		x.s.AddProblem(x.file, 0, "%d rows have no name; left out", unnamed)
	}
	return nil
}

func (x *rows) cardOf(r row, kinds map[string]string) record.Card {
	card := record.Card{File: fmt.Sprintf("%s:%d", x.file, r.line), Form: record.Markdown, Fields: map[string]any{},
		Suffixes: []string{strings.TrimSuffix(path.Base(x.file), path.Ext(x.file)), fmt.Sprintf("row %d", r.line)}}
	word := ""
	var text, secret []string
	meta := map[string]any{}
	for _, c := range x.columns {
		v := r.cells[c]
		if v == nil {
			continue
		}
		switch x.use[c] {
		case useType:
			word = exchange.TextOf(v)
		case useText:
			text = append(text, record.Block(v))
		case useGM:
			note := record.Block(v)
			if markup.PartKey(c) != markup.PartKey(columnNotes) {
				note = c + ": " + note
			}
			secret = append(secret, note)
		case useTags:
			card.Tags = append(card.Tags, tagsIn(v)...)
		case useAlias:
			card.Fields["aliases"] = x.namesIn(v)
		case useSight:
			meta[c] = v
		case useField, useLink:
			if x.use[c] == useField || kinds[c] != kindText {
				card.Fields[c] = typed(v, kinds[c])
			}
		}
	}
	typ, fields := record.TypeFor(word)
	card.Type = typ
	for k, v := range fields {
		card.Fields[k] = v
	}
	meta["tags"] = card.Tags
	card.Level, card.Marks = secrecy.NoteMarks(&markdown.Note{Path: "row", Meta: meta})
	body := strings.Join(text, "\n\n")
	card.Body = func(context.Context) string { return body }
	if len(secret) > 0 {
		card.Secret = func(context.Context) string { return strings.Join(secret, "\n\n") }
	}
	return card
}

func tagsIn(v any) (tags []string) {
	list := exchange.ListOf(v)
	if s, ok := v.(string); ok {
		list = strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' })
	}
	for _, t := range exchange.TrimAll(list) {
		tags = append(tags, exchange.TagName(t))
	}
	return tags
}

// addLinks links the rows by the names in their columns; the names may be those of other tables.
func (x *rows) addLinks(all []*rows) {
	find := func(name string) *exchange.Sheet {
		key := markup.KeyOf(record.CardName(name))
		if sh := x.byName[key]; sh != nil {
			return sh
		}
		for _, other := range all {
			if sh := other.byName[key]; sh != nil {
				return sh
			}
		}
		return nil
	}
	var dangling []string
	for i, r := range x.rows {
		for _, c := range x.columns {
			use := x.use[c]
			if x.sheets[i] == nil || use != useLink && use != useParent {
				continue
			}
			for _, name := range x.namesIn(r.cells[c]) {
				to := find(name)
				if to == nil || to == x.sheets[i] {
					dangling = append(dangling, name)
					continue
				}
				if use == useParent {
					x.s.AddEdge(x.file, "within", x.sheets[i], to, nil)
				} else {
					x.s.AddEdge(x.file, "relationship", x.sheets[i], to, map[string]any{"type": c})
				}
			}
		}
	}
	if len(dangling) > 0 {
		x.s.AddProblem(x.file, 0, "%d names in columns of links are not those of a row; left out: %s", len(dangling),
			exchange.FirstNames(dangling))
	}
}

// Format returns the description of this format.
func Format() exchange.Format {
	return exchange.Format{Name: "table", Title: "tables (CSV, TSV, JSON lines)", Import: Import, Marks: true,
		Places: true,
		Recognize: func(p *exchange.Peek) string {
			for _, name := range p.WithSuffix(".csv", ".tsv") {
				return name + " is a table"
			}
			for _, name := range p.WithSuffix(".jsonl", ".ndjson") {
				line, _, _ := strings.Cut(string(p.Head(name)), "\n")
				if m := exchange.ParseObject(line); len(m) > 0 {
					return name + " has lines of objects"
				}
			}
			return ""
		},
		Page: exchange.Page{
			Get: "Save the table as CSV or TSV in UTF-8, with names of columns in its first line; or as JSON " +
				"lines, one object on a line.",
			Example: "./towns.csv",
			Maps: "Rows become cards. Columns such as name, type, description, tags, aliases and parent are " +
				"recognized; columns of names of rows become relationships; all others fields of a sniffed type. A file " +
				"`TABLE.csv.mapping.json` overrides this. An export writes the cards with a text, one in a row, as CSV, TSV or JSON " +
				"lines by the end of the file's name; texts that programs would take for formulas begin with an apostrophe, which " +
				"an import removes.", Lost: "Rows without a name, cells beyond the last named column. An export leaves out files, " +
				"types, layers and links that are no relationships.",
			Sight: "Columns such as `gm_notes`, `visibility`, `secret` by the table of `--explain`; otherwise the import's level.",
			Tried: ""}}
}
