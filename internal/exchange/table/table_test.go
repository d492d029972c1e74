package table

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"loregate/internal/access"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
)

const towns = "Name;Type;Description;Ruler;Population;Walled;Code;gm_notes;visibility;tags\n" +
	"Weir;town;\"A **town**;\nwith mud.\";Mira;1200;yes;007;The bell is here.;public;river;mud\n" +
	"Mira;person;Rows.;;1;no;1;;public;\n" +
	"Vault;place;Gold.;Mira;0;yes;2;;gm;\n" +
	";;;;;;;;;\n;nobody;;;;;;;;\n"

func TestTables(t *testing.T) {
	s := exchangetest.NewOn(t, memory.New())
	files := exchangetest.Files(map[string]string{"towns.csv": towns})
	sum := s.Import(Import, files, exchange.Options{Label: "x"})
	s.WantSees(map[string]string{
		"user Weir": "Location user <p>A <strong>town</strong>;\nwith mud.</p>", "user Vault": "-", "user Weir+GM": "-",
		"gm Weir+GM": "RichText gm <p>The bell is here.</p>",
		"gm Vault":   "Location gm <p>Gold.</p>", "user Mira": "Character user <p>Rows.</p>",
	})
	if c, _, _ := s.Content("user", "Weir"); string(c.Fields) != `{"Code":"007","Population":1200,"Walled":true}` {
		t.Errorf("fields %s", c.Fields)
	}
	if got := s.Linked("user", "Weir", "relationship", "type"); got["Mira"] != "Ruler" {
		t.Errorf("links %v", got)
	}
	for _, said := range []string{"Ruler: link", "Population: field (number)", "Walled: field (yes or no)",
		"Code: field (text)", "gm_notes: gm",
		"visibility: sight", "1 rows have no name", "towns.csv:2: has 1 cells more"} {
		if !strings.Contains(sum.String(), said) {
			t.Errorf("%q is missing from\n%s", said, sum)
		}
	}
	if again := s.Import(Import, files, exchange.Options{Label: "x"}); again.Created+again.Updated+again.Links > 0 {
		t.Errorf("importing again: %s", again)
	}
}

func TestMappingAndLines(t *testing.T) {
	s := exchangetest.NewOn(t, memory.New())
	s.Import(Import, exchangetest.Files(map[string]string{
		"a.tsv":                "Who\tWhat\nMira\tRows.\n",
		"a.tsv.mapping.json":   `{"What": "text"}`,
		"b.jsonl":              "{\"title\": \"Oar\", \"type\": \"item\", \"n\": {\"a\": [1]}, \"owner\": \"Mira\"}\nnonsense\n",
		"b.jsonl.mapping.json": `{"owner": "link"}`,
	}), exchange.Options{Label: "x"})
	s.WantSees(map[string]string{"user Mira": "Lore user <p>Rows.</p>", "user Oar": "Item user "})
	if got := s.Linked("user", "Oar", "relationship", "type"); got["Mira"] != "owner" {
		t.Errorf("links %v", got)
	}
	for name, files := range map[string]map[string]string{
		"a mapping of no column": {"a.csv": "a,b\n1,2\n", "a.csv.mapping.json": `{"c": "text"}`},
		"a use that is none":     {"a.csv": "a,b\n1,2\n", "a.csv.mapping.json": `{"a": "words"}`},
		"an empty table":         {"a.csv": ""}, "no rows": {"a.csv": "a,b\n"},
	} {
		s := exchangetest.NewOn(t, memory.New())
		if _, err := Import(t.Context(), s.Canon, s.As("admin"), exchangetest.Files(files),
			exchange.Options{}); err == nil || len(s.Listing("admin")) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzTables checks that no bytes cause a panic, or cards that players see against the level.
func FuzzTables(f *testing.F) {
	f.Add(towns)
	f.Add(`{"name": "a", "x": [[1]]}`)
	f.Fuzz(func(t *testing.T, text string) {
		s := exchangetest.NewOn(t, memory.New())
		for _, name := range []string{"a.csv", "a.jsonl"} {
			// only panics and visible cards are failures
			_, _ = Import(t.Context(), s.Canon, s.As("admin"), fstest.MapFS{name: {Data: []byte(text)}},
				exchange.Options{Level: access.LevelGM})
		}
		if got := s.Listing("user"); len(got) > 0 {
			t.Errorf("a user sees %v", got)
		}
	})
}

func Example() {
	world, owner := exchangetest.NewWorld()
	files := exchangetest.Files(map[string]string{"towns.csv": "Name,Population\nWeir,1200\n"})
	summary, err := Import(context.Background(), world, owner, files, exchange.Options{Label: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(summary)
	// Output:
	// 1 files: 1 cards created, 0 updated, 0 unchanged.
	// Players see 1 of these cards; 0 are for the GM, 0 for admins.
	// Columns of towns.csv (towns.csv.mapping.json changes them): Name: name, Population: field (number)
}
