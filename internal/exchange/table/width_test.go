package table

import (
	"encoding/csv"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestNoWideRowIsRead compares the look at a table with the reader: a row with too many cells is found wherever the
// quotation marks stand.
func TestNoWideRowIsRead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{`"`, `""`, ",", ",", "\t", "\n", " ", "a", "\r\n", `",`, `,"`, `"` + "\n" + `"`}
	for i := range 200 {
		separator := ",\t"[i%2 : i%2+1]
		var b strings.Builder
		for range 1 + r.IntN(40) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		unit := b.String()
		text := strings.Repeat(unit, 1+maxFields/8)
		c := csv.NewReader(strings.NewReader(text))
		c.Comma, c.LazyQuotes, c.FieldsPerRecord, c.TrimLeadingSpace = rune(separator[0]), true, -1, separator == ","
		widest := 0
		for {
			row, err := c.Read()
			if widest = max(widest, len(row)); err != nil {
				break
			}
			if widest > maxFields+1 {
				break
			}
		}
		if widest > maxFields+1 && !isTooWide([]byte(text), separator[0]) {
			t.Fatalf("%q has a row of %d cells", unit, widest)
		}
	}
}
