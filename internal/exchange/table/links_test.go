package table

import (
	"fmt"
	"strings"
	"testing"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/fault"
	"loregate/internal/store/memory"
)

// TestLinksAreBounded imports few rows that name very many others: the links may take memory by the size of the file.
func TestLinksAreBounded(t *testing.T) {
	for _, n := range []int{100, 600} {
		var all strings.Builder
		all.WriteString("name,ruler\n")
		names := make([]string, n)
		for i := range n {
			names[i] = fmt.Sprint("n", i)
		}
		for _, name := range names {
			fmt.Fprintf(&all, "%s,%q\n", name, strings.Join(names, ";"))
		}
		s := exchangetest.NewOn(t, memory.New())
		_, err := Import(t.Context(), s.Canon, s.As("admin"), exchangetest.Files(map[string]string{"t.csv": all.String()}),
			exchange.Options{})
		if large := n > 100; large != (fault.KindOf(err) == fault.TooLarge) || !large && err != nil {
			t.Errorf("%d rows in %d bytes: %v", n, all.Len(), err)
		}
	}
}
