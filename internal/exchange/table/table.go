package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/fault"
)

// maxRows is the maximum number of rows of a table.
const maxRows = 200_000

// row is a row of a table, by column.
type row struct {
	line  int
	cells map[string]any
}

// table is a file with rows.
type table struct {
	file    string
	columns []string
	rows    []row
}

// parseDelimited reads a file of CSV, with the separator that its first line has most of.
func parseDelimited(s *record.Source, name string, data []byte) (*table, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = separatorOf(data)
	r.LazyQuotes, r.FieldsPerRecord = true, -1
	r.TrimLeadingSpace = r.Comma != '\t' // it would take empty cells of TSV for space
	head, err := r.Read()
	if err != nil {
		return nil, fault.New(fault.Invalid,
			"%s is empty or no table: it needs a first line with the names of its columns", name)
	}
	t := &table{file: name, columns: uniqueColumns(head)}
	for len(t.rows) < maxRows {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			var bad *csv.ParseError
			if errors.As(err, &bad) {
				line = bad.Line
			}
			s.AddProblem(name, line, "is not a row; left out")
			continue
		}
		m := map[string]any{}
		for i, cell := range cells {
			if i < len(t.columns) && strings.TrimSpace(cell) != "" {
				m[t.columns[i]] = unquoteFormula(strings.TrimSpace(cell))
			}
		}
		if len(cells) > len(t.columns) {
			s.AddProblem(name, line, "has %d cells more than the first line has names; they are left out",
				len(cells)-len(t.columns))
		}
		if len(m) > 0 {
			t.rows = append(t.rows, row{line, m})
		}
	}
	return nil, fault.New(fault.TooLarge, "%s has more than %d rows; import it in parts", name, maxRows)
}

// separatorOf returns the most frequent separator of the first line.
func separatorOf(data []byte) rune {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	best, most := ',', 0
	for _, sep := range []rune{',', '\t', ';', '|'} {
		if n := bytes.Count(first, []byte(string(sep))); n > most {
			best, most = sep, n
		}
	}
	return best
}

// uniqueColumns names the columns that have no name, or that of another.
func uniqueColumns(head []string) []string {
	seen := map[string]bool{}
	out := make([]string, len(head))
	for i, name := range head {
		if name = unquoteFormula(strings.TrimSpace(name)); name == "" {
			name = fmt.Sprintf("column %d", i+1)
		}
		for base, n := name, 2; seen[name]; n++ {
			name = fmt.Sprintf("%s %d", base, n)
		}
		seen[name], out[i] = true, name
	}
	return out
}

// parseLines reads a file of JSON lines, or a list of objects.
func parseLines(s *record.Source, name string, data []byte) (*table, error) {
	t := &table{file: name}
	seen := map[string]bool{}
	add := func(m map[string]any, line int) {
		for _, k := range exchange.SortedKeys(m) {
			if !seen[k] {
				seen[k] = true
				t.columns = append(t.columns, k)
			}
		}
		t.rows = append(t.rows, row{line, m})
	}
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		for _, e := range s.ReadEntries(name, data) {
			add(e.Data, e.Line)
		}
		return t, nil
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		m := exchange.ParseObject(string(line))
		if m == nil {
			s.AddProblem(name, n, "is not a JSON object; left out")
			continue
		}
		if len(t.rows) == maxRows {
			return nil, fault.New(fault.TooLarge, "%s has more than %d rows; import it in parts", name, maxRows)
		}
		add(m, n)
	}
	return t, nil
}

// The kinds of values.
const (
	kindText   = "text"
	kindNumber = "number"
	kindYesNo  = "yes or no"
	kindOther  = "data"
)

// kindOf returns the kind of all values of a column.
func (t *table) kindOf(column string) string {
	kind := ""
	for _, r := range t.rows {
		v, ok := r.cells[column]
		if !ok || v == nil {
			continue
		}
		k := kindOfValue(v)
		if kind != "" && k != kind {
			return kindText
		}
		kind = k
	}
	if kind == "" {
		return kindText
	}
	return kind
}

func kindOfValue(v any) string {
	switch v := v.(type) {
	case string:
		switch strings.ToLower(v) {
		case "true", "false", "yes", "no":
			return kindYesNo
		}
		if isNumber(v) {
			return kindNumber
		}
		return kindText
	case json.Number:
		return kindNumber
	case bool:
		return kindYesNo
	}
	return kindOther
}

// isNumber reports whether a text is a number that loses nothing when it is read as one: 007 and 1e5 stay
// texts.
func isNumber(s string) bool {
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && strconv.FormatFloat(f, 'f', -1, 64) == s
}

// typed returns a value of a column of a kind.
func typed(v any, kind string) any {
	s, ok := v.(string)
	switch {
	case ok && kind == kindNumber:
		return json.Number(s)
	case ok && kind == kindYesNo:
		low := strings.ToLower(s)
		return low == "true" || low == "yes"
	}
	return v
}
