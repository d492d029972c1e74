package cputest_test

import (
	"testing"

	"loregate/internal/cputest"
)

// failures counts the errors of a test.
type failures struct {
	testing.TB
	n int
}

func (*failures) Helper()                 {}
func (f *failures) Errorf(string, ...any) { f.n++ }

func TestCheckLinear(t *testing.T) {
	if cputest.Used() == 0 {
		t.Skip("processor time is not measured here")
	}
	sum := 0
	count := func(n int) {
		for i := range n {
			sum += i % 7
		}
	}
	for name, row := range map[string]struct {
		cost  func(n int)
		fails int
	}{
		"linear":    {func(n int) { count(n * 5000) }, 0},
		"quadratic": {func(n int) { count(n * n * 5) }, 1},
	} {
		f := &failures{TB: t}
		if cputest.CheckLinear(f, name, 1000, row.cost); f.n != row.fails {
			t.Errorf("%s: %d failures, want %d (sum %d)", name, f.n, row.fails, sum)
		}
	}
}
