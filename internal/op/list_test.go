package op

import (
	"reflect"
	"strings"
	"testing"
)

// placed is embedded as surfaces embed a NextPage among other members.
type placed struct {
	Total int `json:"total"`
	NextPage
}

type rowsOut struct {
	hidden []string
	Name   string   `json:"name"`
	Tags   []string `json:"tags"`
	Rows   []string `json:"rows"`
	placed
	Notes []string `json:"notes"`
}

type noRowsOut struct {
	Name string `json:"name"`
	NextPage
}

// TestPageIsCutToTheRowsThatFit cuts pages of rows of 100 bytes at several budgets.
func TestPageIsCutToTheRowsThatFit(t *testing.T) {
	t.Parallel()
	row := strings.Repeat("x", 97) // 99 with its quotes, 100 with its comma
	page := rowsOut{Name: "a", Rows: []string{row, row, row, row}, Notes: []string{"n"}, hidden: []string{"h"},
		placed: placed{Total: 9, NextPage: PageEnd(2, 4, true)}}
	shape, err := listShapeOf(reflect.TypeFor[rowsOut]())
	if err != nil || shape == nil {
		t.Fatal(shape, err)
	}
	for _, c := range []struct{ budget, rows int }{{0, 1}, {listOverhead + 100, 1}, {listOverhead + 399, 3},
		{listOverhead + 400, 4}} {
		out, next, cut := shape.cut(page, c.budget)
		got := out.(rowsOut)
		if len(got.Rows) != c.rows || cut != (c.rows < 4) || got.Name != "a" || len(got.Notes) != 1 || got.Total != 9 {
			t.Errorf("budget %d: %d rows, cut %t, %+v", c.budget, len(got.Rows), cut, got)
		}
		if cut && (next["offset"] != 2+c.rows || *got.NextOffset != 2+c.rows) {
			t.Errorf("budget %d: goes on at %v and %d", c.budget, next, *got.NextOffset)
		}
	}
	if len(page.Rows) != 4 || *page.NextOffset != 6 {
		t.Errorf("the output itself was changed: %+v", page)
	}
}

func TestPageEnd(t *testing.T) {
	t.Parallel()
	if p := PageEnd(5, 3, false); p.NextOffset != nil {
		t.Error(*p.NextOffset)
	}
	if p := PageEnd(5, 0, true); p.NextOffset != nil { // no row: asking again would give none
		t.Error(*p.NextOffset)
	}
	if p := PageEnd(5, 3, true); p.NextOffset == nil || *p.NextOffset != 8 {
		t.Error(p.NextOffset)
	}
}

func TestOnlyListsHaveAListShape(t *testing.T) {
	t.Parallel()
	for _, plain := range []reflect.Type{reflect.TypeFor[struct{ Rows []int }](), reflect.TypeFor[*rowsOut](),
		reflect.TypeFor[string]()} {
		if l, err := listShapeOf(plain); l != nil || err != nil {
			t.Error(plain, l, err)
		}
	}
	if _, err := listShapeOf(reflect.TypeFor[noRowsOut]()); err == nil {
		t.Error("a page without rows was accepted")
	}
}
