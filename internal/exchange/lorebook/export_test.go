package lorebook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/exchange"
)

func readJSON(t *testing.T, file string) (v map[string]any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestWorldInfoReturns checks that a book comes back as it was, except for its empty entry, and that
// an edited entry changes only its text.
func TestWorldInfoReturns(t *testing.T) {
	s, dir := scene(t), filepath.Join(t.TempDir(), "out")
	s.Import(Import, file("river.json", worldInfo), exchange.Options{})
	var want map[string]any
	if err := json.Unmarshal([]byte(worldInfo), &want); err != nil {
		t.Fatal(err)
	}
	entries := want["entries"].(map[string]any)
	delete(entries, "3")
	if sum, err := Export(t.Context(), s.Canon, s.As("gm"), dir); err != nil || sum.Cards != 2 || sum.Files != 1 {
		t.Fatal(sum, err)
	}
	if got := readJSON(t, filepath.Join(dir, "river.json")); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	text := "<p>The mill stands still.</p>"
	s.Edit("Old Mill", func(p *canon.Plan, c canon.Card) error {
		_, err := p.Update(c, canon.Edit{Content: &text})
		return err
	})
	if _, err := Export(t.Context(), s.Canon, s.As("gm"), dir+"2"); err != nil {
		t.Fatal(err)
	}
	entries["10"].(map[string]any)["content"] = "The mill stands still."
	if got := readJSON(t, filepath.Join(dir+"2", "river.json")); !reflect.DeepEqual(got, want) {
		t.Errorf("after an edit: %v", got)
	}
	if sum, err := Export(t.Context(), s.Canon, s.As("user"), dir+"3"); err != nil || sum.Files != 0 {
		t.Errorf("a player exports %v, %v", sum, err)
	}
	if _, err := Export(t.Context(), s.Canon, s.As("gm"), dir); err == nil || !strings.Contains(err.Error(),
		"not empty") {
		t.Errorf("a folder with files: %v", err)
	}
}

// TestCharacterReturns checks that a character comes back with its book, and that a player's export
// contains none of the texts for the GM.
func TestCharacterReturns(t *testing.T) {
	s, dir := scene(t), filepath.Join(t.TempDir(), "out")
	s.Import(ImportCharacters, file("m.json", characterV2), exchange.Options{})
	if _, err := ExportCharacters(t.Context(), s.Canon, s.As("gm"), dir, SpecV2); err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(characterV2), &want); err != nil {
		t.Fatal(err)
	}
	data := want["data"].(map[string]any)
	got := readJSON(t, filepath.Join(dir, "Mira.json"))
	for k, v := range data {
		have := got["data"].(map[string]any)[k]
		if k == "character_book" {
			have = have.(map[string]any)["entries"]
			v = v.(map[string]any)["entries"]
		}
		if !reflect.DeepEqual(have, v) {
			t.Errorf("%s is %v, want %v", k, have, v)
		}
	}
	if _, err := ExportCharacters(t.Context(), s.Canon, s.As("user"), dir+"2", SpecV3); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir+"2", "Mira.json"))
	if err != nil || strings.Contains(string(text), "drowned") || strings.Contains(string(text), "Ignore") ||
		strings.Contains(string(text), "weir") || !strings.Contains(string(text), "Mind the step.") {
		t.Errorf("a player exports %s, %v", text, err)
	}
}
