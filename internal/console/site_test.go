package console

import (
	"slices"
	"testing"
)

// Files of cards whose names differ in signs alone get numbers, and a number is found without trying all before it.
func TestNamesOfPagesCostTheSameHoweverManyThereAre(t *testing.T) {
	taken := map[string]int{}
	var got []string
	for _, name := range []string{"The Mill", "the mill!", "The Mill 2", "The, Mill", "?", "!"} {
		got = append(got, freeName(taken, name))
	}
	if want := []string{"the-mill", "the-mill-2", "the-mill-2-2", "the-mill-3", "card", "card-2"}; !slices.Equal(got,
		want) {
		t.Errorf("%q", got)
	}
	allocations := func(cards int) float64 {
		taken := map[string]int{}
		for range cards {
			freeName(taken, "mill")
		}
		return testing.AllocsPerRun(10, func() { freeName(taken, "mill") })
	}
	if few, many := allocations(10), allocations(10_000); many > few+4 {
		t.Errorf("a name takes %v allocations after 10 and %v after 10,000", few, many)
	}
}
