package table

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
	"loregate/internal/store/memory"
)

const exported = `name,type,text,tags,aliases,parent,Ruler,Pop,Motto,gm_notes,visibility
Weir,Location,"A **town** by [[Mira]].

=1+1 on its gate",river; old mill,The Weir; Weir Town,Vale,Mira,1200,'=SUM(A1),The mill is hollow.,
Vale,Realm,A valley.,,,,,,-5 degrees,,
Mira,Character,Rows.,,,Vale,,,'+1,,
Cellar,Location,Below.,,,Weir,,,,,gm
`

// TestTablesComeBack exports a world as each form of table, and imports it into another world, which then is
// the same.
func TestTablesComeBack(t *testing.T) {
	for _, end := range []string{".csv", ".tsv", ".jsonl"} {
		first := exchangetest.NewOn(t, memory.New())
		first.Import(Import, exchangetest.Files(map[string]string{"towns.csv": exported}), exchange.Options{Label: "x"})
		texts := []string{write(t, first, "gm", end)}
		second := exchangetest.NewOn(t, memory.New())
		second.Import(Import, exchangetest.Files(map[string]string{"again" + end: texts[0]}), exchange.Options{Label: "y"})
		texts = append(texts, write(t, second, "gm", end))
		for i := range texts { // ids are those of their world
			for _, name := range []string{"Weir", "Vale", "Mira", "Cellar"} {
				for _, s := range []*exchangetest.Scene{first, second} {
					c, _, _ := s.Content("gm", name)
					texts[i] = strings.ReplaceAll(texts[i], c.ID.String(), "id of "+name)
				}
			}
		}
		if texts[0] != texts[1] {
			t.Errorf("%s: the world came back as\n%s\nnot as\n%s", end, texts[1], texts[0])
		}
		for _, want := range []string{"hollow", "river; old mill", "The Weir; Weir Town", "1200",
			"**town** by [[Mira]]", "Cellar"} {
			if !strings.Contains(texts[0], want) {
				t.Errorf("%s: %q is missing from\n%s", end, want, texts[0])
			}
		}
		seen := write(t, first, "user", end)
		for _, hidden := range []string{"hollow", "Cellar", "gm_notes", "visibility"} {
			if strings.Contains(seen, hidden) {
				t.Errorf("%s: a player reads %q in\n%s", end, hidden, seen)
			}
		}
	}
}

// write returns the table that a role exports.
func write(t *testing.T, s *exchangetest.Scene, role, end string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "out"+end)
	sum, err := Export(t.Context(), s.Canon, s.As(role), name)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Export(t.Context(), s.Canon, s.As(role), name); err == nil {
		t.Errorf("a second export wrote over the first: %s", again)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(sum.String(), "cards in 1 files"); got != 1 {
		t.Errorf("summary %s", sum)
	}
	return string(text)
}

func TestFormulasAreTexts(t *testing.T) {
	for text, want := range map[string]string{"=1+1": "'=1+1", "+49": "'+49", "-5": "-5", "-5 degrees": "'-5 degrees",
		"@SUM": "'@SUM", "\tx": "'\tx", "'=1": "''=1", "''=1": "'''=1", "it's": "it's", "'tis": "'tis", "": "", "=": "'="} {
		if got := cellOf(text); got != want {
			t.Errorf("%q leaves as %q, want %q", text, got, want)
		}
		if back := unquoteFormula(want); back != text {
			t.Errorf("%q comes back as %q", text, back)
		}
	}
	s := exchangetest.NewOn(t, memory.New())
	s.Import(Import, exchangetest.Files(map[string]string{"a.csv": "name,Motto,'=X\nWeir,'=HYPERLINK(1),y\n"}),
		exchange.Options{Label: "x"})
	out := write(t, s, "gm", ".csv")
	if !strings.Contains(out, "'=HYPERLINK(1)") || !strings.Contains(out, "'=X") {
		t.Errorf("formulas in\n%s", out)
	}
	if _, err := Export(t.Context(), s.Canon, s.As("gm"), "x.ods"); err == nil || !strings.Contains(err.Error(), ".csv") {
		t.Errorf("another form: %v", err)
	}
}

// TestHiddenPartsComeBackMarked exports a text whose hidden part has no mark, and imports it into another world.
func TestHiddenPartsComeBackMarked(t *testing.T) {
	first, second := exchangetest.NewOn(t, memory.New()), exchangetest.NewOn(t, memory.New())
	text := "<p>An inn.</p><p>The cook spies.</p><p>Cheap.</p>"
	at := strings.Index(text, "<p>The")
	first.Create(canon.NewCard{Name: "Inn", Content: text, AsWritten: true,
		Hide: secrecy.Ranges([]markup.Span{{From: at, To: strings.Index(text, "<p>Cheap")}})})
	second.Import(Import, exchangetest.Files(map[string]string{"again.csv": write(t, first, "gm", ".csv")}), exchange.Options{})
	for who, want := range map[string]bool{"user": false, "gm": true} {
		_, text, _ := second.Content(who, "Inn")
		if strings.Contains(text, "cook") != want || !strings.Contains(text, "Cheap") {
			t.Errorf("%s reads %q", who, text)
		}
	}
}
