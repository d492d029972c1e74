package table

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/decoded"
	"loregate/internal/exchange/record"
	"loregate/internal/fault"
	"loregate/internal/secrecy"
)

// Limits of a table. Spreadsheets have no more columns.
const (
	maxRows    = 200_000
	maxColumns = 16_384
)

// cell is a value in a column.
type cell struct {
	column int
	value  any
}

// row is a row of a table: its cells that are not empty, in the order of the columns.
type row struct {
	line  int
	cells []cell
}

// column is a column of a table, with what its values have in common.
type column struct {
	name  string
	use   string
	given bool   // the mapping gives its use
	kind  string // of all values; "" if there are none
	marks bool   // its name says that values may be marks or secrets; known from the first value on

	readers   bool          // its name says that values are names of readers
	relation  string        // its name without the label of its relations
	label     *access.Label // of its relations; nil: all who see the cards see them
	otherwise string        // the use of a column with a label whose values are no names of rows
}

// see notes a value of the column. The use of a column with a mark or a secret follows from its first.
func (c *column) see(v any) {
	if k := kindOfValue(v); c.kind == "" {
		c.kind, c.marks = k, secrecy.MayMark(c.name)
	} else if c.kind != k {
		c.kind = kindText
	}
	if c.readers && c.use == "" {
		if names, _ := secrecy.ReaderNames(map[string]any{c.name: v}); len(names) > 0 {
			c.use = useSight
		}
	}
	if _, object := v.(map[string]any); c.use != "" || c.otherwise != "" || !c.marks && !object {
		return
	}
	use := ""
	if secrecy.IsSecretField(c.name, v) {
		use = useGM
	} else if _, marks := secrecy.NoteMarks(secrecy.Note{Meta: map[string]any{c.name: v}}); len(marks) > 0 {
		use = useSight
	}
	if c.label == nil {
		c.use = use
	} else {
		c.otherwise = use
	}
}

// kindOf returns the kind of all values of the column.
func (c *column) kindOf() string { return cmp.Or(c.kind, kindText) }

// table is a file with rows. The rows are read anew for each pass, so that they take no memory.
type table struct {
	file    string
	columns []*column
	at      map[string]int // columns by name
	// rows yields the rows, in cells that are valid until the next row. It reports rows that cannot be read.
	rows func(record.Report) iter.Seq2[row, error]
}

// addColumn adds a column.
func (t *table) addColumn(name string) error {
	if len(t.columns) == maxColumns {
		return fault.New(fault.TooLarge, "%s has more than %d columns; leave out columns, or divide the table", t.file,
			maxColumns)
	}
	t.at[name] = len(t.columns)
	relation, label := splitColumn(name)
	t.columns = append(t.columns, &column{name: name, relation: relation, label: label,
		readers: secrecy.IsReaderKey(name)})
	return nil
}

// tooMany is the error for a table with too many rows.
func (t *table) tooMany() error {
	return fault.New(fault.TooLarge, "%s has more than %d rows; import it in parts", t.file, maxRows)
}

// openDelimited opens a file of CSV, with the separator that its first line has most of.
func openDelimited(name string, data []byte) (*table, error) {
	t := &table{file: name, at: map[string]int{}}
	if isTooWide(data, byte(separatorOf(data))) {
		return nil, fault.New(fault.TooLarge, "%s has a row of more than %d cells; leave out columns, or divide the table",
			name, maxFields)
	}
	open := func() *csv.Reader {
		r := csv.NewReader(bytes.NewReader(data))
		r.Comma = separatorOf(data)
		r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = true, -1, true
		r.TrimLeadingSpace = r.Comma != '\t' // it would take empty cells of TSV for space
		return r
	}
	head, err := open().Read()
	if err != nil {
		return nil, fault.New(fault.Invalid,
			"%s is empty or no table: it needs a first line with the names of its columns", name)
	}
	for _, column := range uniqueColumns(head[:min(len(head), maxColumns+1)]) {
		if err := t.addColumn(column); err != nil {
			return nil, err
		}
	}
	t.rows = func(report record.Report) iter.Seq2[row, error] {
		return func(yield func(row, error) bool) { t.yieldDelimited(open(), report, yield) }
	}
	return t, nil
}

// yieldDelimited yields the rows after the first line.
func (t *table) yieldDelimited(r *csv.Reader, report record.Report, yield func(row, error) bool) {
	var next row
	_, _ = r.Read() // the names of the columns
	for n := 0; ; {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			line := 0
			if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
				line = bad.Line
			}
			report(t.file, line, "is not a row; left out")
			continue
		}
		next.line, _ = r.FieldPos(0)
		next.cells = next.cells[:0]
		for i, text := range fields[:min(len(fields), len(t.columns))] {
			if text = strings.TrimSpace(text); text != "" {
				next.cells = append(next.cells, cell{i, unquoteFormula(text)})
			}
		}
		if more := len(fields) - len(t.columns); more > 0 {
			report(t.file, next.line, "has %d cells more than the first line has names; they are left out", more)
		}
		if len(next.cells) == 0 {
			continue
		}
		if n++; n > maxRows {
			yield(row{}, t.tooMany())
			return
		}
		if !yield(next, nil) {
			return
		}
	}
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
	next := map[string]int{} // number to try for a name; 0 if no column has the name
	out := make([]string, len(head))
	for i, name := range head {
		if name = unquoteFormula(strings.TrimSpace(name)); name == "" {
			name = fmt.Sprintf("column %d", i+1)
		}
		base := name
		for n := max(next[base], 2); next[name] > 0; n++ {
			name = fmt.Sprintf("%s %d", base, n)
			next[base] = n + 1
		}
		next[name], out[i] = max(next[name], 1), name
	}
	return out
}

// openLines opens a file of JSON lines, or a list of objects. The columns are in the order in which they occur.
func openLines(s *record.Source, name string, data []byte) (*table, error) {
	t := &table{file: name, at: map[string]int{}}
	objects := lineObjects
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		objects = record.Entries
	}
	n := 0
	for e := range objects(name, data, s.AddProblem) {
		if n++; n > maxRows {
			return nil, t.tooMany()
		}
		for _, k := range decoded.SortedKeys(e.Data) {
			if _, known := t.at[k]; known {
				continue
			}
			if err := t.addColumn(k); err != nil {
				return nil, err
			}
		}
	}
	t.rows = func(report record.Report) iter.Seq2[row, error] {
		return func(yield func(row, error) bool) {
			for e := range objects(name, data, report) {
				if !yield(t.rowOf(e), nil) {
					return
				}
			}
		}
	}
	return t, nil
}

// rowOf returns the cells of an object.
func (t *table) rowOf(e record.Entry) row {
	r := row{line: e.Line}
	for k, v := range e.Data {
		if v != nil {
			r.cells = append(r.cells, cell{t.at[k], v})
		}
	}
	slices.SortFunc(r.cells, func(a, b cell) int { return cmp.Compare(a.column, b.column) })
	return r
}

// lineObjects yields the objects of the lines of a file.
func lineObjects(name string, data []byte, report record.Report, _ ...string) iter.Seq[record.Entry] {
	return func(yield func(record.Entry) bool) {
		n := 0
		for line := range bytes.Lines(data) {
			if n++; len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			m := decoded.ParseObject(string(line))
			if m == nil {
				report(name, n, "is not a JSON object; left out")
				continue
			}
			if !yield(record.Entry{File: name, Line: n, Data: m}) {
				return
			}
		}
	}
}

// The kinds of values.
const (
	kindText   = "text"
	kindNumber = "number"
	kindYesNo  = "yes or no"
	kindOther  = "data"
)

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
