package archive

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

func TestASpoilerScanFindsTermsPlayersCanRead(t *testing.T) {
	s := newDesk(t)
	s.hid(access.LevelGM, "Terms", "<p>intro</p><ul><li>[[Ézra]]</li><li>glass heart</li><li>nowhere</li></ul>")
	s.wrote("Inn", "<p>EZRA keeps the inn; ezra's <b>glass</b> heart. \\[[Ezra]]</p>")
	s.wrote("Ezrael", "Ezrael and heart of glass")
	s.wrote("Inn+AI", "Ezra dreams")
	s.wrote("Inn+GM", "Ezra is the killer")
	s.wrote("Inn+GM+AI", "Ezra again")
	s.hid(access.LevelGM, "Plot", "Ezra")
	s.wrote("Plot2", "x")
	s.hid(access.LevelGM, "Own+AI", "Ezra")

	out := s.Do("gm", "spoiler_scan", `{"terms_card": "Terms", "results_card": "Results", "scope": "player"}`).
		Want("status", "completed").Want("matches", 4).Want("results_card", "Results")
	page := s.As("gm").Call("get_card", `{"name": "Results"}`).Want("level", "gm").Want("type", "RichText").
		Lacks("killer", "dreams", "again", "[[Plot]]", "[[Ezrael]]", "nowhere</h2>").Text("content")
	for _, part := range []string{"<h2>Ézra</h2>", "[[Inn]] (3)", "<mark>EZRA</mark>", "<h2>glass heart</h2>",
		"[[Inn]] (1)", `\[[`} {
		if !strings.Contains(page, part) {
			t.Errorf("the results lack %q:\n%s", part, page)
		}
	}
	s.As("user").WantNotFound("get_card", `{"name": "Results"}`)
	s.As("gm").Call("get_job", `{"id": "`+out.Text("job_id")+`"}`).Want("status", "completed").Want("kind",
		"spoiler_scan").Want("matches", 4).Want("results_card", "Results")
	hidden := s.As("user").WantNotFound("get_job", `{"id": "`+out.Text("job_id")+`"}`)
	if absent := s.As("user").WantNotFound("get_job", `{"id": "01900000-0000-7000-8000-000000000000"}`); hidden != absent {
		t.Errorf("a hidden job tells: %s %s", hidden, absent)
	}
	// Repeating the scan changes nothing.
	before := s.commits()
	s.Do("gm", "spoiler_scan", `{"terms_card": "Terms", "results_card": "Results", "scope": "player"}`)
	if s.commits() != before {
		t.Error("the same results were committed again")
	}
	// The scope ai also includes the +AI cards below players' cards, but no GM cards.
	s.Do("gm", "spoiler_scan", `{"terms_card": "Terms", "results_card": "Results", "scope": "ai"}`).Want("matches", 5)
	s.As("gm").Call("get_card", `{"name": "Results"}`).Has("[[Inn+AI]]", "dreams").Lacks("killer", "again", "[[Own+AI]]")
	s.wantRebuilt()
}

func TestSpoilerTermsAndResults(t *testing.T) {
	s := newDesk(t)
	s.wrote("Inn", "Alpha beta - gamma")
	s.typed("Pointer", "P", "[[Alpha]]\nbeta")
	s.typed("Markdown", "M", "Terms:\n\n- alpha\n* [[gamma]]\n")
	s.typed("PlainText", "L", "alpha\n\nALPHA\nbeta\n")
	s.hid(access.LevelAdmin, "Top", "alpha")
	s.hid(access.LevelGM, "Clear", "omega")
	s.wrote("Empty", "")
	s.wrote("Open", "for all")
	s.hid(access.LevelGM, "Shared", "", "alice")
	s.typed("Markdown", "Other+GM", "")
	for terms, matches := range map[string]int{"P": 2, "M": 2, "L": 2, "Clear": 0} {
		s.Do("gm", "spoiler_scan", asJSON(map[string]any{"terms_card": terms, "results_card": "Of " + terms,
			"scope": "player"})).Want("status", "completed")
		_ = matches
	}
	s.As("gm").Call("get_card", `{"name": "Of Clear"}`).Has("All clear").Want("level", "gm")
	s.As("gm").Call("get_card", `{"name": "Of M"}`).Has("<h2>alpha</h2>", "<h2>gamma</h2>").Lacks("<h2>Terms")
	// The results for an admin's terms are visible to admins only.
	s.Do("admin", "spoiler_scan", `{"terms_card": "Top", "results_card": "Of Top", "scope": "player"}`)
	s.As("gm").WantNotFound("get_card", `{"name": "Of Top"}`)
	s.As("admin").Call("get_card", `{"name": "Of Top"}`).Want("level", "admin")
	s.As("admin").wantFields(fault.Rule, "spoiler_scan",
		`{"terms_card": "Top", "results_card": "Of P", "scope": "player"}`, "results_card")

	before := s.commits()
	for results, field := range map[string]string{"Open": "results_card", "Shared": "results_card",
		"Other+GM": "results_card"} {
		s.As("gm").wantFields(fault.Rule, "spoiler_scan", `{"terms_card": "P", "results_card": "`+results+
			`", "scope": "player"}`, field)
	}
	s.As("gm").wantFields(fault.Invalid, "spoiler_scan", `{"terms_card": "P", "results_card": "p", "scope": "player"}`,
		"results_card")
	s.As("gm").wantFields(fault.Invalid, "spoiler_scan", `{"terms_card": "P", "results_card": "a/b", "scope": "player"}`,
		"results_card")
	quiet(t)
	s.As("gm").wantFields(fault.Rule, "spoiler_scan", `{"terms_card": "Empty", "results_card": "R", "scope": "player"}`,
		"terms_card")
	s.As("gm").WantNotFound("spoiler_scan", `{"terms_card": "Top", "results_card": "R", "scope": "player"}`)
	if s.commits() != before {
		t.Error("something was committed")
	}
	s.As("user").reads("Open", "for all")
}

// For every form in which a card can list its terms, a scan either finds each term or reports the
// line as unclear.
func TestSpoilerTermsAreReadAsTheyAreWritten(t *testing.T) {
	s := newDesk(t)
	s.wrote("Inn", "Ezra Fathom keeps the glass heart below the tenth step.")
	for i, tc := range []struct {
		typ, terms string
		matches    int
		unclear    int
	}{
		{"RichText", "Ezra Fathom\nglass heart\ntenth step", 3, 0},
		{"RichText", "<p>Ezra Fathom</p>\n<p>glass heart</p>\n<p>tenth step</p>", 3, 0},
		{"RichText", "<p>Ezra Fathom<br>glass heart<br/>tenth step</p>", 3, 0},
		{"RichText", "<div>Ezra&nbsp;Fathom</div><div><b>glass heart</b>;</div>\r\n[[tenth step]]", 3, 0},
		{"RichText", "<h2>Inn</h2><ul><li>Ezra Fathom</li><li>glass heart</li></ul><ol><li>tenth step</li></ol>", 3, 0},
		{"RichText", "<p>Ezra Fathom</p><ul><li>glass heart</li></ul>tenth step", 3, 2},
		{"RichText", "<p>Of the inn:</p><ul><li>glass heart</li></ul>", 1, 1},
		{"RichText", "<table><tr><td>Ezra Fathom</td><td>glass heart</td></tr></table>", 2, 0},
		{"RichText", "- Ezra Fathom\n* glass heart\n• tenth step", 3, 0},
		{"RichText", "1. Ezra Fathom\n2) \"glass heart\"", 2, 0},
		{"RichText", "[[Somebody|Ezra Fathom]], [[tenth step]]", 2, 0},
		{"RichText", "<p>" + strings.Repeat("very ", 60) + "long</p><p>glass heart</p>", 1, 1},
		{"Markdown", "# Of the inn\n\n- [ ] **Ezra Fathom**\n+ glass heart", 2, 0},
		{"Markdown", "Ezra Fathom\nglass heart\n\ntenth step\n\n---", 3, 0},
		{"Markdown", "| Who | What |\n|---|---|\n| Ezra Fathom | glass heart |", 2, 0},
		{"Markdown", "Ezra Fathom\n\n* * *\n\n???", 1, 1},
		{"RichText", "Ezra Fathom\n---\n???\n☠", 1, 3},
		{"PlainText", "Ezra Fathom\n…", 1, 1},
		{"PlainText", "Ezra Fathom\r\nglass <heart\ntenth step", 2, 0},
		{"Pointer", "[[Ezra Fathom]]\n[[glass heart]]\ntenth step", 3, 0},
		{"Pointer", "<ul><li>Ezra Fathom</li></ul>glass heart", 2, 0},
		{"JSON", `{"people": ["Ezra Fathom"], "things": {"a": "glass heart"}}`, 2, 0},
	} {
		name := fmt.Sprintf("Words %d+GM", i)
		s.typed(tc.typ, name, tc.terms)
		got := s.Do("gm", "spoiler_scan", asJSON(map[string]any{"terms_card": name, "results_card": "Found+GM",
			"scope": "player"})).Want("matches", float64(tc.matches))
		if n, _ := got.At("unclear"); n != nil && n.(float64) != float64(tc.unclear) || n == nil && tc.unclear > 0 {
			t.Errorf("%s %q: %v lines are unclear, want %d", tc.typ, tc.terms, n, tc.unclear)
		}
	}
}

func TestAnUncertainSpoilerScanIsNotAllClear(t *testing.T) {
	s := newDesk(t)
	s.wrote("Inn", "Nothing.")
	s.hid(access.LevelGM, "Some", "<p>Beside the list</p><ul><li>alpha</li></ul>")
	out := s.Do("gm", "spoiler_scan", `{"terms_card": "Some", "results_card": "R", "scope": "player"}`).Want("matches",
		0).Want("unclear", 1)
	s.As("gm").Call("get_card", `{"name": "R"}`).Has("Beside the list", "1 lines").Lacks("All clear")
	s.As("gm").Call("get_job", `{"id": "`+out.Text("job_id")+`"}`).Want("unclear", 1)
	// Players can read the terms card itself.
	s.wrote("Open Terms", "alpha")
	s.Do("gm", "spoiler_scan", `{"terms_card": "Open Terms", "results_card": "R", "scope": "player"}`)
	s.As("gm").Call("get_card", `{"name": "R"}`).Has("raise its level").Lacks("All clear")
}

func TestASpoilerScanReadsNamesAndFields(t *testing.T) {
	s := newDesk(t)
	s.hid(access.LevelGM, "Terms", "Ezra\nglass heart\nzwölf")
	s.made(canon.NewCard{Name: "Inn",
		Fields: json.RawMessage(`{"keeper": {"aliases": ["Old Ezra"]}, "glass heart": true, "room": 12}`)})
	s.wrote("Ezra's Cellar", "Empty.")
	s.wrote("Ezra's Cellar+Step", "Zwolf.")
	s.made(canon.NewCard{Name: "Bell", Codename: "glass-heart"})
	s.hid(access.LevelGM, "Ezra", "The killer.")
	s.Do("gm", "spoiler_scan", `{"terms_card": "Terms", "results_card": "R", "scope": "player"}`).Want("matches", 4)
	s.As("gm").Call("get_card", `{"name": "R"}`).Has("[[Inn]], in its fields (1)", "[[Ezra's Cellar]], in its name (1)",
		"Old <mark>Ezra</mark>").Lacks("killer", "[[Ezra]]")
}

func TestASpoilerScanListsNoMoreThanItsLimit(t *testing.T) {
	s := newDesk(t)
	s.wrote("Terms+GM", "alpha")
	for i := range 5 {
		s.wrote(fmt.Sprintf("Card %d", i), "alpha alpha")
	}
	s.Do("gm", "spoiler_scan",
		`{"terms_card": "Terms+GM", "results_card": "R", "scope": "player", "limit": 2}`).Want("matches", 10)
	s.As("gm").Call("get_card", `{"name": "R"}`).Has("Card 0", "Card 1", "3 further findings").Lacks("Card 2")
}

// Players can read a card's source: its link targets, nests, comments and titles.
func TestASpoilerScanReadsTheSource(t *testing.T) {
	s := newDesk(t)
	s.hid(access.LevelGM, "Terms", "Ezra\nglass heart")
	s.wrote("Target", "Ask [[Ezra|the man]].")
	s.wrote("Nest", "{{Ezra+picture|view:titled}}")
	s.wrote("Title", `<p title="the glass &#104;eart">A stone.</p>`)
	s.wrote("Shown", "[[Ezra]]")
	s.Do("gm", "spoiler_scan", `{"terms_card": "Terms", "results_card": "R", "scope": "player"}`).Want("matches", 4)
	s.As("gm").Call("get_card", `{"name": "R"}`).Has("[[Target]], in its source (1)", "[[Nest]], in its source (1)",
		"[[Title]], in its source (1)", "[[Shown]] (1)")
}

// In scripts without spaces between words, terms are found inside a sentence.
func TestASpoilerScanReadsScriptsWithoutSpaces(t *testing.T) {
	for _, tc := range []struct{ term, text string }{
		{"黒い王", "彼は黒い王です。"}, {"カレル", "その男カレルーンとカレル王"}, {"黑王", "他就是黑王本人"}, {"Ezra", "彼はEzraです"},
		{"ราชาดำ", "เขาคือราชาดำจริงๆ"}, {"카렐", "카렐은 왕이다"}, {"ស្តេច", "គាត់ជាស្តេចខ្មៅ"}, {"ราชา", "ราชาธิราช"},
	} {
		s := newDesk(t)
		s.hid(access.LevelGM, "Terms", tc.term)
		s.wrote("Inn", tc.text)
		s.Do("gm", "spoiler_scan", `{"terms_card": "Terms", "results_card": "R", "scope": "player"}`)
		s.As("gm").Call("get_card", `{"name": "R"}`).Has("<h2>" + tc.term)
	}
}

// Terms written one per line stay separate when they are converted from Markdown.
func TestASpoilerScanReadsTermsWrittenAsMarkdown(t *testing.T) {
	s := newDesk(t)
	s.wrote("Inn", "Ezra and the glass heart.")
	s.Do("gm", "create_card", `{"name": "Terms+GM", "markdown_content": "Ezra\n**glass heart**\n[[Nobody]]"}`)
	s.Do("gm", "spoiler_scan", `{"terms_card": "Terms+GM", "results_card": "R+GM", "scope": "player"}`).Want("matches", 2)
}
