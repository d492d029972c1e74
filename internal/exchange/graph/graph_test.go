package graph

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"loregate/internal/access"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
)

func TestVariants(t *testing.T) {
	a := `{"type":"entity","name":"Mira","entityType":"person","observations":["Rows.","Salts."]}`
	b := `{"name":"Weir","entityType":"place","observations":null}`
	r := `{"type":"relation","from":"Mira","to":"Weir","relationType":"guards"}`
	for name, text := range map[string]string{
		"lines": a + "\n" + b + "\n" + r + "\n", "two on a line": a + b + "\n" + r,
		"a list":    "[" + a + "," + b + "," + r + "]",
		"an object": `{"entities": [` + a + "," + b + `], "relations": [` + r + `]}`,
		"a cut end": a + "\n" + b + "\n" + r + "\n" + `{"type":"entity","name":"Ha`,
		"a broken line and a dangling relation": a + "\nnonsense\n" + b + "\n\n" + r + "\n" + strings.ReplaceAll(r, "Weir",
			"Moon"),
		"two relations": a + b + strings.Replace(r, "guards", "fears", 1) + r + r,
		"an entity twice": `{"name":"Mira","entityType":"person","observations":["Rows."]}` + "\n" + strings.Replace(a,
			`"Rows.",`, "", 1) + b + r,
	} {
		s := exchangetest.NewOn(t, memory.New())
		sum := s.Import(Import, exchangetest.Files(map[string]string{"m.jsonl": text}), exchange.Options{Label: "x"})
		if got := s.See("user", "Mira"); !strings.HasPrefix(got, "Character user ") || !strings.Contains(got, "Rows.") ||
			!strings.Contains(got, "Salts.") {
			t.Errorf("%s: %q", name, got)
		}
		if name == "two relations" {
			if sum.Links != 2 {
				t.Errorf("%s: %s", name, sum)
			}
		} else if got := s.Linked("user", "Mira", "relationship", "type"); got["Weir"] != "guards" {
			t.Errorf("%s: %v\n%s", name, got, sum)
		}
		want := map[string]string{"a cut end": "m.jsonl:4: is not JSON",
			"a broken line and a dangling relation": "m.jsonl:2: is not JSON"}[name]
		if !strings.Contains(sum.String(), want) {
			t.Errorf("%s: %q is missing from %s", name, want, sum)
		}
	}
}

func TestRealGraph(t *testing.T) {
	s, files := exchangetest.NewOn(t, memory.New()), os.DirFS(exchangetest.RealData(t, "mcp-memory"))
	sum := s.Import(Import, files, exchange.Options{Label: "m"})
	// The file has 14 lines of entities, of which seven repeat a name, and 13 relations, five of them to nothing.
	if sum.Created != 7 || sum.Links != 8 || len(sum.Problems) != 8 {
		t.Errorf("%s", sum)
	}
}

// FuzzGraph checks that no bytes cause a panic, or cards that players see against the level.
func FuzzGraph(f *testing.F) {
	f.Add(`{"name":"a","entityType":"b"}{"from":"a","to":"a"}[[[{]`)
	f.Fuzz(func(t *testing.T, text string) {
		s := exchangetest.NewOn(t, memory.New())
		// only panics and visible cards are failures
		_, _ = Import(t.Context(), s.Canon, s.As("admin"), fstest.MapFS{"m.jsonl": {Data: []byte(text)}},
			exchange.Options{Level: access.LevelGM})
		if got := s.Listing("user"); len(got) > 0 {
			t.Errorf("a user sees %v", got)
		}
	})
}

func Example() {
	world, owner := exchangetest.NewWorld()
	files := exchangetest.Files(map[string]string{"m.jsonl": `{"name": "Mira", "entityType": "person", "observations": ["Rows."]}`})
	summary, err := Import(context.Background(), world, owner, files, exchange.Options{Label: "example"})
	fmt.Println(summary.Created, err)
	// Output: 1 <nil>
}

// TestEntitiesOfOneNameAndTwoVisibilities imports an entity for the GM beside an open one of the same name, in both
// orders and in a world that had one of them before.
func TestEntitiesOfOneNameAndTwoVisibilities(t *testing.T) {
	hidden := `{"name":"Mira","entityType":"person","observations":["HID."],"visibility":"gm"}`
	open := `{"name":"Mira","entityType":"person","observations":["Rows."]}`
	rest := `{"name":"Weir","entityType":"place"}{"from":"Mira","to":"Weir","relationType":"guards"}` +
		`{"from":"Mira","to":"Weir","relationType":"HIDES","visibility":"gm"}`
	for _, first := range []string{"", hidden, open} {
		for _, text := range []string{open + hidden + rest, hidden + open + rest} {
			s := exchangetest.NewOn(t, memory.New())
			for _, text := range []string{first + `{"name":"Weir","entityType":"place"}`, text, text} {
				s.Import(Import, exchangetest.Files(map[string]string{"m.jsonl": text}), exchange.Options{Label: "x"})
			}
			players, all := strings.Join(s.Listing("user"), "\n"), strings.Join(s.Listing("gm"), "\n")
			if strings.Contains(players, "HID") || !strings.Contains(players, "Rows.") || !strings.Contains(players, "guards") ||
				!strings.Contains(all, "HID.") || !strings.Contains(all, "HIDES") {
				t.Errorf("first %q, then %s: players read\n%s\ngame masters\n%s", first, text, players, all)
			}
		}
	}
}
