package safety_test

import (
	"runtime"
	"strings"
	"testing"

	"loregate/internal/safety"
)

// judgedBytes returns the bytes that are allocated to judge a text.
func judgedBytes(p *safety.Policy, text string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p.Judge("", text)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestLettersWrittenApartAreReadOnce judges rows of signs that could be letters written apart, but are none: the
// rest of a row is not read again from each of its signs.
func TestLettersWrittenApartAreReadOnce(t *testing.T) {
	p, err := safety.Published(safety.Current)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"|-", "|.a.1.1", "1.", "$*a*1*1*1", "|a", "+ 1 "} {
		small, large := judgedBytes(p, strings.Repeat(row, 2000/len(row))), judgedBytes(p, strings.Repeat(row,
			20_000/len(row)))
		if large > 20*small {
			t.Errorf("%q: judging 2 KB takes %d bytes, 20 KB %d", row, small, large)
		}
	}
}
