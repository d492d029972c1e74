package main

import (
	"encoding/json"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"loregate/internal/app"
)

// TestTheTablePageOnTheSample makes the calls that docs/table.md shows on the sample world, in their order.
func TestTheTablePageOnTheSample(t *testing.T) {
	dir := t.TempDir()
	c, err := app.LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = dir + "/loregate-data"
	a, err := app.Open(t.Context(), c, app.Options{Version: "test", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.LoadSample(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	a.Close(t.Context())
	part, change := "", ""
	run := func(line string) string {
		t.Helper()
		line = strings.NewReplacer(`"ID"`, `"`+part+`"`, "CHANGE", change).Replace(strings.TrimSpace(line))
		var args []string
		for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
			args = append(args, strings.Trim(word, "'"))
		}
		got := runCommand(t, dir, "", args[1:]...)
		if got.code != 0 {
			t.Fatalf("%s: exit %d\n%s%s", line, got.code, got.stdout, got.err)
		}
		return got.stdout
	}
	type answer struct {
		Content  string `json:"content"`
		ChangeID string `json:"change_id"`
		Hidden   []struct {
			ID, Text string
			Told     []string
		}
	}
	asPlayer := func() string {
		t.Helper()
		var seen answer
		out := run(`loregate call get_card '{"name":"The Dry Anchor"}' --world lendwater --role user`)
		if err := json.Unmarshal([]byte(out), &seen); err != nil {
			t.Fatal(err)
		}
		return seen.Content
	}
	const secret, flowers = "still has its guest", "The ninth is used for flowers."
	text := readText(t, "docs/table.md")
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "loregate ") || !strings.Contains(line, "lendwater") {
			continue
		}
		line, _, _ = strings.Cut(line, " #")
		hidden := !strings.Contains(line, `reveal_part '{"name":"The Dry Anchor","parts":["ID"]}'`)
		out := run(line)
		if strings.Contains(line, " import ") && !strings.Contains(out, " 0 cards created, 0 updated, ") {
			t.Errorf("%s changes cards: %s", line, out)
		}
		if strings.Contains(line, " call ") {
			var got answer
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("%s: %v\n%s", line, err, out)
			}
			if change = got.ChangeID; part == "" && len(got.Hidden) > 0 {
				part = got.Hidden[0].ID
			}
			told := strings.Contains(line, `"to":["sample-user"]`)
			for _, h := range got.Hidden {
				if h.ID == part && (len(h.Told) > 0) != told {
					t.Errorf("after %s the part is told to %v", line, h.Told)
				}
			}
		}
		if seen := asPlayer(); strings.Contains(seen, secret) == hidden {
			t.Errorf("after %s players read\n%s", line, seen)
		} else if !strings.Contains(line, "get_card") && strings.Contains(seen, flowers) {
			t.Errorf("after %s players read of the flowers", line)
		}
	}
	if part == "" || change == "" {
		t.Error("docs/table.md has no walk on the sample world")
	}
}
