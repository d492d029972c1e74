package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// listing holds the flag of commands that print either a table or JSON.
type listing struct {
	JSON bool `help:"Print the result as JSON."`
}

// table prints rows as columns with a heading for people, or as JSON for programs.
type table[T any] struct {
	columns string // separated by spaces
	cells   func(T) []string
}

// print prints rows as a table, or as JSON with --json.
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

// printResult prints the result of a call, unless the call failed.
func printResult(out io.Writer, err error, format string, args ...any) error {
	if err == nil {
		_, err = fmt.Fprintf(out, format, args...)
	}
	return err
}

// formatMinute formats a time for a list: UTC, to the minute; "-" for the zero time.
func formatMinute(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}
