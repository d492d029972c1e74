package table

import (
	"encoding/json"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
)

// TestMarksInATable marks names and values of rows: players read the others.
func TestMarksInATable(t *testing.T) {
	for i, row := range []map[string]any{
		{"name": "Quay SEEN %%HID%%"}, {"name": "Quay SEEN [gm:: HID]"}, {"name": "Quay SEEN [secret]HID[/secret]"},
		{"tags": []string{"town", "x %%HID%%"}}, {"Plan": "Busy.\n\n## GM notes\n\nHID"}, {"Plan": "> [!secret]\n> HID"},
		{"Plan": "::: secret\nHID\n:::"}, {"Plan": "!!! secret\n    HID"}, {"Plan": "```ad-secret\nHID\n```"},
		{"Plan": "/// secret\nHID\n///"}, {"Plan": "Busy.\n\n**GM note:** HID"}, {"Plan": "HID #gm"},
		{"Plan": "x", "Ally": "Mill", "Ally %%HID%%": "Mill"},
		{"name": "HID", "text": "HID #gm"}, {"name": "HID", "text": "hidden:: true\n\nHID"},
		{"Plan": []any{"SEEN", "> [!secret]\n> HID"}}, {"Crew": []any{map[string]any{"secret": true, "note": "HID"}}},
		{"Crew": []any{map[string]any{"visibility": "gm", "note": "HID"}, "SEEN"}},
		{"Crew": []any{[]any{map[string]any{"deep": map[string]any{"players": false, "note": "HID"}}}}},
		{"Crew": []any{map[string]any{"secret plan": "HID"}}},
	} {
		whole := map[string]any{"name": "Quay", "text": "SEEN", "race": "elf"}
		for k, v := range row {
			whole[k] = v
		}
		line, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		s := exchangetest.NewOn(t, memory.New())
		s.Import(Import, exchangetest.Files(map[string]string{"t.jsonl": string(line) +
			"\n{\"name\": \"Mill\", \"text\": \"SEEN\"}\n"}), exchange.Options{Label: "x"})
		players, all := strings.Join(s.Listing("user"), "\n"), strings.Join(s.Listing("gm"), "\n")
		if strings.Contains(players, "HID") || !strings.Contains(players, "SEEN") || !strings.Contains(all, "HID") {
			t.Errorf("%d %v: players read\n%s\ngame masters\n%s", i, row, players, all)
		}
	}
}

// TestPartsThatFewerPeopleSeeAreNotExported exports an open card with tags for the GM and a secret for administrators.
func TestPartsThatFewerPeopleSeeAreNotExported(t *testing.T) {
	s := exchangetest.NewOn(t, memory.New())
	s.Create(canon.NewCard{Name: "Quay", Content: "<p>SEEN</p>"})
	s.Create(canon.NewCard{Name: "Mill", Content: "<p>SEEN</p>"})
	s.Create(canon.NewCard{Name: "Quay+tags", Type: canon.TypePointer, Content: "[[HID]]", Label: labelOf(access.LevelGM)})
	s.Create(canon.NewCard{Name: "Mill+tags", Type: canon.TypePointer, Content: "[[river]]"})
	s.Create(canon.NewCard{Name: "Quay+GM", Content: "HID", Label: labelOf(access.LevelAdmin)})
	if got := write(t, s, "admin", ".jsonl"); strings.Contains(got, "HID") || !strings.Contains(got, "river") {
		t.Errorf("the export has\n%s", got)
	}
}
