package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// listing is what commands take that show things to people and to programs.
type listing struct {
	JSON bool `help:"Print JSON, for programs."`
}

// table is a list for people, with a heading of each column; its rows are for programs.
type table[T any] struct {
	columns string // parted by spaces
	cells   func(T) []string
}

// print writes rows as the flag says.
func (t table[T]) print(out io.Writer, l listing, rows []T) error {
	if l.JSON {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if rows == nil {
			rows = []T{}
		}
		return e.Encode(rows)
	}
	w := tabwriter.NewWriter(out, 2, 2, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(strings.Fields(t.columns), "\t"))
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(t.cells(row), "\t"))
	}
	return w.Flush()
}

// day is a time in a list for people: UTC, to the minute; "-" for none.
func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}
