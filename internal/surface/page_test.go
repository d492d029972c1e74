package surface_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"loregate/internal/canon"
	"loregate/internal/surface"
)

func ExamplePageAt() {
	all := []string{"Lighthouse", "Mole", "Quay"}
	page := canon.Page{Limit: 2}
	rows := surface.Slice(all, page)
	count, next := surface.PageAt(page, canon.Total{Count: len(all)}, len(rows))
	fmt.Println(rows, count.Total, *next.NextOffset)
	// Output: [Lighthouse Mole] 3 2
}

func TestPageAt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		page  canon.Page
		total canon.Total
		rows  int
		next  int // 0: null
	}{
		{"the only page", canon.Page{Limit: 5}, canon.Total{Count: 3}, 3, 0},
		{"the first page", canon.Page{Limit: 2}, canon.Total{Count: 3}, 2, 2},
		{"the last page", canon.Page{Limit: 2, Offset: 2}, canon.Total{Count: 3}, 1, 0},
		{"a page behind the end", canon.Page{Limit: 2, Offset: 9}, canon.Total{Count: 3}, 0, 0},
		{"a full page at a lower bound", canon.Page{Limit: 2, Offset: 2}, canon.Total{Count: 4, AtLeast: true}, 2, 4},
		{"a part of a page at a lower bound", canon.Page{Limit: 2, Offset: 4}, canon.Total{Count: 4, AtLeast: true}, 1, 0},
	} {
		count, next := surface.PageAt(c.page, c.total, c.rows)
		got := 0
		if next.NextOffset != nil {
			got = *next.NextOffset
		}
		if got != c.next || count.Total != c.total.Count || count.TotalIsLowerBound != c.total.AtLeast {
			t.Errorf("%s: next %d, want %d; %+v", c.name, got, c.next, count)
		}
	}
}

func TestSlice(t *testing.T) {
	t.Parallel()
	all := []int{0, 1, 2, 3, 4}
	for _, c := range []struct {
		page canon.Page
		want []int
	}{
		{canon.Page{Limit: 2}, []int{0, 1}},
		{canon.Page{Limit: 2, Offset: 4}, []int{4}},
		{canon.Page{Limit: 2, Offset: 5}, nil},
		{canon.Page{Limit: 2, Offset: 50}, nil},
	} {
		if got := surface.Slice(all, c.page); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.page, got, c.want)
		}
	}
}

func TestStamp(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 3600)
	b, err := json.Marshal(surface.Stamp(time.Date(2026, 3, 6, 19, 30, 0, 123_456_789, zone)))
	if want := `"2026-03-06T18:30:00.123Z"`; err != nil || string(b) != want {
		t.Errorf("%s, %v; want %s", b, err, want)
	}
	if !(surface.Stamp{}).IsZero() || surface.Stamp(time.Unix(0, 0)).IsZero() {
		t.Error("only the zero time is no time")
	}
}
