package table

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/fault"
)

// The columns that an export begins with. Those without a value are left out.
var firstColumns = []string{"id", "name", "type", "text", "tags", "aliases", columnParent, columnNotes,
	"visibility", columnReaders}

// Export writes the cards that a grant sees to a new file: TSV or JSON lines by the end of its name, else CSV. Each
// card is a row. Fields and relationships are columns of their names.
func Export(ctx context.Context, c *canon.Canon, g access.Grant, name string) (exchange.Summary, error) {
	write := map[string]func(io.Writer, []string, []map[string]any) error{".csv": writeDelimited(','), "": writeDelimited(','),
		".tsv": writeDelimited('\t'), ".jsonl": writeLines, ".ndjson": writeLines}[strings.ToLower(path.Ext(name))]
	if write == nil {
		return exchange.Summary{Export: true, Files: 1}, fault.New(fault.Invalid,
			"export: the end of %s names no form of a table; use .csv, .tsv or .jsonl", name)
	}
	return record.Export(ctx, c, g, name, func(to io.Writer, cards []*record.Written) ([]exchange.Problem, error) {
		columns, rows, problems := tabulate(cards)
		return problems, write(to, columns, rows)
	})
}

// tabulate returns the rows of cards and the columns that they use.
func tabulate(cards []*record.Written) (columns []string, rows []map[string]any, problems []exchange.Problem) {
	used := map[string]bool{}
	for _, w := range cards {
		row, ok := rowOf(w)
		if !ok {
			problems = append(problems, record.ProblemLeftOut(w.Card))
		}
		for column := range row {
			used[column] = true
		}
		rows = append(rows, row)
	}
	for _, column := range firstColumns {
		if used[column] {
			columns = append(columns, column)
			delete(used, column)
		}
	}
	return append(columns, decoded.SortedKeys(used)...), rows, problems
}

// rowOf returns the row of a card. ok reports whether it has all of the text.
func rowOf(w *record.Written) (row map[string]any, ok bool) {
	row = map[string]any{}
	set := func(column string, v any) {
		if slices.Contains(firstColumns, column) { // of a field or relationship
			column += " (field)"
		}
		row[column] = v
	}
	for k, v := range w.Fields {
		if k != "aliases" && k != "id" {
			set(k, v)
		}
	}
	links := map[string][]string{}
	for _, r := range w.Links {
		column := cmp.Or(r.Kind, columnParent)
		if r.Label.Level > access.LevelUser {
			column += " (" + r.Label.String() + ")"
		}
		links[column] = append(links[column], r.To)
	}
	for column, names := range links {
		if column == columnParent {
			row[column] = strings.Join(names, "; ")
		} else {
			set(column, strings.Join(names, "; "))
		}
	}
	row["id"] = cmp.Or(decoded.TextOf(w.Fields["id"]), w.Card.ID.String()) // the one that the source gave
	row["name"], row["type"] = w.Card.Name, w.Card.Type
	text, hidden, ok := w.For(record.Markdown, record.Joined)
	for column, text := range map[string]string{
		"text": record.Joined(text, hidden), columnNotes: strings.TrimSpace(w.Secret),
		"tags": strings.Join(w.Tags, "; "), "aliases": strings.Join(decoded.ListOf(w.Fields["aliases"]), "; "),
		columnReaders: joinSubjects(w.Card.Label.Subjects)} {
		if text != "" {
			row[column] = text
		}
	}
	if level := w.Card.Label.Level; level > access.LevelUser {
		row["visibility"] = level.String()
	}
	return row, ok
}

func joinSubjects(list []access.Subject) string {
	var names []string
	for _, s := range list {
		names = append(names, string(s))
	}
	return strings.Join(names, "; ")
}

// writeDelimited returns a function that writes rows with a separator.
func writeDelimited(separator rune) func(io.Writer, []string, []map[string]any) error {
	return func(to io.Writer, columns []string, rows []map[string]any) error {
		w := csv.NewWriter(to)
		w.Comma = separator
		cells := make([]string, len(columns))
		for i, column := range columns {
			cells[i] = quoteFormula(column)
		}
		if err := w.Write(cells); err != nil {
			return err
		}
		for _, row := range rows {
			for i, column := range columns {
				cells[i] = cellOf(row[column])
			}
			if err := w.Write(cells); err != nil {
				return err
			}
		}
		w.Flush()
		return w.Error()
	}
}

// cellOf returns a value as the text of a cell.
func cellOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return quoteFormula(v)
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	b, _ := json.Marshal(v) // a part of a decoded JSON value
	return string(b)
}

// formulaStarts are the characters with which a cell begins that a program takes for a formula.
const formulaStarts = "=+-@\t\r"

// quoteFormula puts an apostrophe before a text that programs would take for a formula. They do not show it,
// and unquoteFormula removes it.
func quoteFormula(text string) string {
	if isFormula(text) && !isNumber(text) {
		return "'" + text
	}
	return text
}

func unquoteFormula(text string) string {
	if rest, ok := strings.CutPrefix(text, "'"); ok && isFormula(rest) {
		return rest
	}
	return text
}

// isFormula reports whether a text begins like a formula, apostrophes aside.
func isFormula(text string) bool {
	text = strings.TrimLeft(text, "'")
	return text != "" && strings.ContainsRune(formulaStarts, rune(text[0]))
}

func writeLines(to io.Writer, _ []string, rows []map[string]any) error {
	lines := json.NewEncoder(to)
	lines.SetEscapeHTML(false)
	for _, row := range rows {
		if err := lines.Encode(row); err != nil {
			return err
		}
	}
	return nil
}
