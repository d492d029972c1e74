package table

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/fault"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
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

// columnNotes is the column of notes that need no name of their column, columnParent that of the cards in which a
// card lies, and columnReaders that of the people who read a card besides the GM.
const (
	columnNotes   = "gm_notes"
	columnParent  = "parent"
	columnReaders = "subjects"
)

// labelledForm matches the name of a column with relations that not all readers of a row see, such as
// "Ruler (gm)" and "Ruler (gm:alice,bob)".
var labelledForm = lazyregexp.New(`^(.+) \(((?:gm|admin)(?::[^()]+)?)\)$`)

// splitColumn returns the name of a column of relations, and the label of its relations or nil.
func splitColumn(column string) (name string, label *access.Label) {
	m := labelledForm.FindStringSubmatch(column)
	if m == nil {
		return column, nil
	}
	label = &access.Label{}
	if label.UnmarshalText([]byte(m[2])) != nil {
		*label = access.NewLabel(access.LevelGM)
	}
	return m[1], label
}

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
			var t *table
			var err error
			if strings.Contains(path.Ext(name), "json") {
				t, err = openLines(s, name, data)
			} else {
				t, err = openDelimited(name, data)
			}
			if err != nil {
				return err
			}
			s.JudgesWords = true
			x := &rows{table: t, s: s, byName: map[markup.Key]*exchange.Sheet{}}
			if err := x.chooseUses(files); err != nil {
				return err
			}
			all = append(all, x)
			return x.addRows(ctx)
		},
		Finish: func(ctx context.Context, _ *record.Source) error {
			byName := map[markup.Key]*exchange.Sheet{} // of all tables; the first counts
			for _, x := range all {
				for key, sh := range x.byName {
					if byName[key] == nil {
						byName[key] = sh
					}
				}
			}
			for _, x := range all {
				if err := x.addLinks(byName); err != nil {
					return err
				}
			}
			return nil
		}}.Import(ctx, c, g, files, o)
}

var suffixes = []string{".csv", ".tsv", ".jsonl", ".ndjson", ".json"}

// rows is the import of one table.
type rows struct {
	*table
	s      *record.Source
	byName map[markup.Key]*exchange.Sheet
	sheets []*exchange.Sheet // by row; nil if it was left out
}

// noReport is the report of a pass whose problems an earlier one has reported.
func noReport(string, int, string, ...any) {}

// chooseUses decides about the use of each column, and says so.
func (x *rows) chooseUses(files fs.FS) error {
	given, err := x.readMapping(files, x.file+mappingSuffix)
	if err != nil {
		return err
	}
	for i, c := range x.columns {
		c.use = cmp.Or(given[i], headers[markup.PartKey(c.name)])
		c.given = given[i] != ""
	}
	report := x.s.AddProblem
	if len(x.columns) > 0 && strings.Contains(path.Ext(x.file), "json") {
		report = noReport // openLines has reported them
	}
	for r, err := range x.rows(report) {
		if err != nil {
			return err
		}
		for _, c := range r.cells {
			x.columns[c.column].see(c.value)
		}
	}
	taken := map[string]bool{}
	for _, c := range x.columns {
		single := c.use == useName || c.use == useType || c.use == useParent
		if c.use == "" && c.label == nil || single && taken[c.use] && !c.given {
			c.use = useField
		}
		taken[c.use] = true
	}
	if !taken[useName] && len(x.columns) > 0 {
		x.columns[0].use = useName
	}
	if err := x.chooseLinks(); err != nil {
		return err
	}
	x.sayUses()
	return nil
}

// maxSaid is the number of columns of a table whose uses are said.
const maxSaid = 100

func (x *rows) sayUses() {
	var said []string
	for _, c := range x.columns[:min(len(x.columns), maxSaid)] {
		word := c.use
		if word == useField {
			word += " (" + c.kindOf() + ")"
		}
		said = append(said, markup.Shorten(c.name, 100)+": "+word)
	}
	if more := len(x.columns) - maxSaid; more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	x.s.Say("Columns of %s (%s changes them): %s", x.file, path.Base(x.file)+mappingSuffix, strings.Join(said, ", "))
}

// maxMapping is the maximum size of a file with the uses of columns.
const maxMapping = 1 << 20

// readMapping reads the file with the uses of columns.
func (x *rows) readMapping(files fs.FS, name string) (map[int]string, error) {
	given := map[int]string{}
	info, err := fs.Stat(files, name)
	if err != nil {
		return given, nil //nolint:nilerr // there is no such file
	}
	if !info.Mode().IsRegular() || info.Size() > maxMapping {
		return nil, fault.New(fault.TooLarge, "%s is no file of at most %d KiB", name, maxMapping>>10)
	}
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s cannot be read", name).Because(err)
	}
	for column, v := range decoded.ParseObject(string(data)) {
		use, _ := v.(string)
		i, ok := x.at[column]
		if !ok || !slices.Contains(uses, use) {
			return nil, fault.New(fault.Invalid, "%s: %q: %q is not a column of the table with one of the uses %s", name,
				column,
				use, strings.Join(uses, ", "))
		}
		given[i] = use
	}
	if len(given) == 0 {
		return nil, fault.New(fault.Invalid, "%s is not an object that maps columns to uses", name)
	}
	return given, nil
}

// chooseLinks makes links of the columns whose values are names of rows, at least for every second value.
func (x *rows) chooseLinks() error {
	names := map[markup.Key]bool{}
	for r, err := range x.rows(noReport) {
		if err != nil {
			return err
		}
		names[markup.KeyOf(record.CardName(x.nameOf(r)))] = true
	}
	all, known := make([]int, len(x.columns)), make([]int, len(x.columns))
	for r := range x.rows(noReport) {
		for _, c := range r.cells {
			of := x.columns[c.column]
			if of.use != "" && of.use != useField || of.given || of.kindOf() != kindText {
				continue
			}
			for _, name := range namesIn(c.value) {
				all[c.column]++
				if names[markup.KeyOf(name)] {
					known[c.column]++
				}
			}
		}
	}
	for i, c := range x.columns {
		switch isLink := known[i] > 0 && known[i]*2 >= all[i]; {
		case isLink && c.label != nil && headers[markup.PartKey(c.relation)] == useParent:
			c.use = useParent
		case isLink:
			c.use = useLink
		case c.use == "":
			c.use = cmp.Or(c.otherwise, useField)
		}
	}
	return nil
}

// namesIn returns the names in a cell: a list, or a text with semicolons.
func namesIn(v any) []string {
	if s, ok := v.(string); ok {
		return decoded.TrimAll(strings.Split(withoutBrackets.Replace(s), ";"))
	}
	return decoded.ListOf(v)
}

var withoutBrackets = strings.NewReplacer("[[", "", "]]", "")

// nameOf returns the name of a row as a card name; as it is written if it has a mark.
func (x *rows) nameOf(r row) string {
	for _, c := range r.cells {
		if x.columns[c.column].use != useName {
			continue
		}
		if name := decoded.TextOf(c.value); name != "" {
			return record.WrittenName(name)
		}
	}
	return ""
}

// idOf returns the value in the column id.
func (x *rows) idOf(r row) string {
	at, ok := x.at["id"]
	i, found := slices.BinarySearchFunc(r.cells, at, func(c cell, at int) int { return cmp.Compare(c.column, at) })
	if !ok || !found {
		return ""
	}
	return decoded.TextOf(r.cells[i].value)
}

// addRows adds the card of each row.
func (x *rows) addRows(ctx context.Context) error {
	seen, unnamed := map[string]int{}, 0
	for r, err := range x.rows(noReport) {
		if err != nil {
			return err
		}
		name := x.nameOf(r)
		if name == "" {
			unnamed++
			x.sheets = append(x.sheets, nil)
			continue
		}
		card := x.cardOf(r)
		card.Name, name = name, record.CardName(name)
		if id := x.idOf(r); id != "" {
			card.Key, card.Of = []string{x.file, "id", id}, id
		} else {
			seen[name]++
			card.Key = []string{x.file, name, fmt.Sprint(seen[name])}
		}
		sh, err := x.s.Add(ctx, card)
		if err != nil {
			return err
		}
		x.sheets = append(x.sheets, sh)
		if key := markup.KeyOf(name); x.byName[key] == nil {
			x.byName[key] = sh
		}
	}
	if unnamed > 0 {
		x.s.AddProblem(x.file, 0, "%d rows have no name; left out", unnamed)
	}
	return nil
}

func (x *rows) cardOf(r row) record.Card {
	card := record.Card{File: fmt.Sprintf("%s:%d", x.file, r.line), Form: record.Markdown, Fields: map[string]any{},
		Suffixes: []string{strings.TrimSuffix(path.Base(x.file), path.Ext(x.file)), fmt.Sprintf("row %d", r.line)}}
	word := ""
	meta := map[string]any{}
	for _, c := range r.cells {
		v, of := c.value, x.columns[c.column]
		switch of.use {
		case useType:
			word = decoded.TextOf(v)
		case useText:
			card.Text = append(card.Text, record.Block{Text: record.Lines(v)})
		case useGM:
			note := record.Lines(v)
			if markup.PartKey(of.name) != markup.PartKey(columnNotes) {
				note = of.name + ": " + note
			}
			card.Text = append(card.Text, record.Block{Text: note, GM: true, Note: true})
		case useTags:
			card.Tags = append(card.Tags, tagsIn(v)...)
		case useAlias:
			card.Fields["aliases"] = namesIn(v)
		case useSight:
			meta[of.name] = v
		case useField, useLink:
			if of.use == useField || of.kindOf() != kindText {
				card.Fields[of.name] = typed(v, of.kindOf())
			}
		}
	}
	typ, fields := record.TypeFor(word)
	card.Type = typ
	for k, v := range fields {
		card.Fields[k] = v
	}
	card.Level, card.Marks = secrecy.NoteMarks(secrecy.Note{Name: "row", Meta: meta, Tags: card.Tags})
	names, keys := secrecy.ReaderNames(meta)
	card.Readers = names
	card.ReaderMarks, card.Marks = secrecy.DivideReaders(card.Marks, keys)
	return card
}

func tagsIn(v any) []string {
	list := decoded.ListOf(v)
	if s, ok := v.(string); ok {
		list = strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' })
	}
	return decoded.TrimAll(list)
}

// addLinks links the rows by the names in their columns; the names may be those of other tables.
func (x *rows) addLinks(byName map[markup.Key]*exchange.Sheet) error {
	var dangling []string
	relations := make([]map[string]any, len(x.columns))
	i := -1
	for r, err := range x.rows(noReport) {
		if i++; err != nil {
			return err
		}
		for _, c := range r.cells {
			of := x.columns[c.column]
			if x.sheets[i] == nil || of.use != useLink && of.use != useParent {
				continue
			}
			if relations[c.column] == nil { // one for all links of a column, which may be very many
				relations[c.column] = map[string]any{"type": of.relation}
			}
			for _, name := range namesIn(c.value) {
				key := markup.KeyOf(record.CardName(name))
				to := cmp.Or(x.byName[key], byName[key])
				if to == nil || to == x.sheets[i] {
					dangling = append(dangling, name)
					continue
				}
				e := &exchange.Edge{File: x.file, Kind: "within", From: exchange.End{Sheet: x.sheets[i]},
					To: exchange.End{Sheet: to}, Label: of.label}
				if of.use != useParent {
					e.Kind, e.Attrs = "relationship", relations[c.column]
				}
				if err := x.s.Link(e); err != nil {
					return err
				}
			}
		}
	}
	if len(dangling) > 0 {
		x.s.AddProblem(x.file, 0, "%d names in columns of links are not those of a row; left out: %s", len(dangling),
			exchange.FirstNames(dangling))
	}
	return nil
}

// Format returns the description of this format.
func Format() exchange.Format {
	return exchange.Format{Name: "table", Title: "tables (CSV, TSV, JSON lines)", Import: Import,
		Places: true,
		Recognize: func(p *exchange.Peek) string {
			for _, name := range p.WithSuffix(".csv", ".tsv") {
				return name + " is a table"
			}
			for _, name := range p.WithSuffix(".jsonl", ".ndjson") {
				line, _, _ := strings.Cut(string(p.Head(name)), "\n")
				if m := decoded.ParseObject(line); len(m) > 0 {
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
			Sight: "Columns such as `gm_notes`, `visibility`, `secret`, `subjects` by the table of `--explain`; relations of a " +
				"column such as `Ruler (gm)`, as an export writes hidden ones, for those whom it names; otherwise the import's level, " +
				"and the marks below in all texts.",
			Tried: ""}}
}
