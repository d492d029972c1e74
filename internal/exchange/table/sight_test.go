package table

import (
	"maps"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
)

// TestHiddenRelationsComeBack exports relations that players do not see and cards for single readers, and imports
// them into another world.
func TestHiddenRelationsComeBack(t *testing.T) {
	for _, end := range []string{".csv", ".tsv", ".jsonl"} {
		first := exchangetest.NewOn(t, memory.New())
		first.Import(Import, exchangetest.Files(map[string]string{"t.csv": "name,text,Ally,Spies for (gm),parent " +
			"(gm:alice),Ally (admin)\n" +
			"Mira,Rows.,Tess,Tess,Vale,Vale\nTess,Sews.,,,,\nVale,A valley.,,,,\n"}), exchange.Options{Label: "x"})
		first.Create(canon.NewCard{Name: "Letter", Content: "<p>For one.</p>", Label: labelOf(access.LevelGM, "alice")})
		text := write(t, first, "gm", end)
		for _, want := range []string{"Spies for (gm)", "parent (gm:alice)", "alice"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing from\n%s", end, want, text)
			}
		}
		second := exchangetest.NewOn(t, memory.New())
		second.Import(Import, exchangetest.Files(map[string]string{"again" + end: text}), exchange.Options{Label: "y"})
		for who, want := range map[string]map[string]string{"user": {"Tess": "Ally"}, "gm": {"Tess": "Ally"}} {
			got := second.Linked(who, "Mira", "relationship", "type")
			if who == "gm" { // of two relations to one card the last one counts here
				delete(got, "Tess")
				delete(want, "Tess")
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s: %s sees %v, want %v", end, who, got, want)
			}
		}
		if got := second.Linked("user", "Mira", "within", ""); len(got) > 0 {
			t.Errorf("%s: players see %v", end, got)
		}
		if got := second.Linked("alice", "Mira", "within", ""); len(got) != 1 {
			t.Errorf("%s: alice sees %v", end, got)
		}
		if got := strings.Join(second.Listing("user"), "\n"); strings.Contains(got, "Spies") || strings.Contains(got,
			"Letter") {
			t.Errorf("%s: players see\n%s", end, got)
		}
		if got := strings.Join(second.Listing("gm"), "\n"); !strings.Contains(got, "Spies") || !strings.Contains(got,
			"Letter") {
			t.Errorf("%s: the GM sees\n%s", end, got)
		}
		if seen := write(t, first, "user", end); strings.Contains(seen, "Spies") || strings.Contains(seen, "alice") {
			t.Errorf("%s: a player reads\n%s", end, seen)
		}
	}
}

func labelOf(level access.Level, names ...access.Subject) *access.Label {
	l := access.NewLabel(level, names...)
	return &l
}

// TestColumnsOfReaders checks that names of readers narrow a row to the members of these names.
func TestColumnsOfReaders(t *testing.T) {
	s := exchangetest.NewOn(t, memory.New())
	s.AddMember("alice")
	sum := s.Import(Import, exchangetest.Files(map[string]string{"t.csv": "name,text,players\nMira,ONE,Alice\nTess,TWO,Nobody Known\nVale,ALL,everyone\n"}),
		exchange.Options{Label: "x"})
	for who, want := range map[string]string{"user": "ALL", "alice": "ALL ONE", "gm": "ALL ONE TWO"} {
		got := strings.Join(s.Listing(who), "\n")
		for _, word := range []string{"ONE", "TWO", "ALL"} {
			if strings.Contains(got, word) != strings.Contains(want, word) {
				t.Errorf("%s sees\n%s\nwant %s", who, got, want)
			}
		}
	}
	if !strings.Contains(sum.String(), "Hidden, please confirm") || !strings.Contains(sum.String(), "Nobody Known") {
		t.Error(sum)
	}
}
