package secrecy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
)

// master returns a writer who may hide, with ids that count up.
func master(form Form) Writer {
	n := 0
	return Writer{Form: form, Hides: true, Label: access.NewLabel(access.LevelGM), NewID: func() string {
		n++
		return fmt.Sprint("p", n)
	}}
}

func splitCases(t *testing.T) (texts []string, forms []Form) {
	f, err := os.Open("testdata/split.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct{ Form, Text string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		texts, forms = append(texts, c.Text), append(forms, map[string]Form{"markdown": Markdown, "html": HTML}[c.Form])
	}
	return texts, forms
}

// TestMayHoldMark checks that a text without a sign of a mark has no mark.
func TestMayHoldMark(t *testing.T) {
	texts, forms := splitCases(t)
	for i, text := range texts {
		for _, part := range append(strings.SplitAfter(text, "\n\n"), text) {
			if !MayHoldMark(part, forms[i]) && len(exactSpans(part, forms[i])) > 0 {
				t.Errorf("%q has a mark that was not seen", part)
			}
		}
	}
}

// TestDivideNewTexts writes texts by authors who know the table of marks: what its exact marks hide is not in the open
// text, and the whole text is the one that was written.
func TestDivideNewTexts(t *testing.T) {
	texts, forms := splitCases(t)
	for i, text := range texts {
		w := master(forms[i])
		got, _ := w.Divide(Text{}, text)
		exact := Split(text, forms[i], isExactMark)
		if whole := got.Whole(); whole != text {
			t.Errorf("%q was written, and is read as\n%q", text, whole)
		}
		if strings.Count(got.Open, "HID") > strings.Count(exact.Open, "HID") {
			t.Errorf("%q: players read %q", text, got.Open)
		}
		if left := exactSpans(got.Open, forms[i]); len(left) > 0 {
			t.Errorf("%q: players read %q, which has marks", text, got.Open)
		}
		if again, out := w.Divide(got, text); again.Whole() != text || len(out.New)+len(out.Gone) > 0 {
			t.Errorf("%q: written again, it has other parts: %+v", text, out)
		}
	}
}

func TestDivide(t *testing.T) {
	for _, tc := range []struct{ name, was, whole, open string }{
		{"a comment in a line", "", "Tom %%is a vampire%% here.", "Tom here."},
		{"one before a full stop", "", "Tom sleeps %%by day%%.", "Tom sleeps."},
		{"a line of its own leaves no gap", "", "One.\n\n%%two%%\n\nThree.\n", "One.\n\nThree.\n"},
		{"the last line leaves no gap", "", "One.\n\n%%two%%\n", "One.\n"},
		{"an item of a list leaves no gap", "", "- one\n- %%two%%\n- three\n", "- one\n- three\n"},
		{"a quoted line leaves no gap", "", "> one\n> %%two%%\n> three\n", "> one\n> three\n"},
		{"a mark that is new hides text that was open", "Tom is a vampire here.\n",
			"Tom %%is a vampire%% here.\n", "Tom here.\n"},
		{"a mark that was open stays open beside an edit", "OPEN %%told%%\n\nmore\n",
			"OPEN %%told%%\n\nmuch more\n", "OPEN %%told%%\n\nmuch more\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := master(Markdown)
			got, _ := w.Divide(Text{Open: tc.was}, tc.whole)
			if got.Open != tc.open || got.Whole() != tc.whole {
				t.Errorf("%q is divided into %q and %+v", tc.whole, got.Open, got.Parts)
			}
		})
	}
}

// TestDivideBelowAnOpenHeading writes marks below a heading that a game master has opened: they hide, and nothing of
// them stays.
func TestDivideBelowAnOpenHeading(t *testing.T) {
	for _, tc := range []struct {
		form      Form
		was, mark string
	}{
		{HTML, "seen\n<h2>GM notes</h2><p>a one</p><h3>More</h3>\n<p>Rain.</p>\n", "<template><p>HID</p></template>"},
		{HTML, "seen\n<h2>GM notes</h2><p>a one</p>\n", `<div class="secret"><p>HID</p></div>`},
		{HTML, "<h2>GM notes</h2><p>a one</p>\n", `<p>x</p><ul><li class="secret">HID</li></ul>`},
		{HTML, "<p><b>GM:</b> open</p>\n", `<details class="gm"><p>HID</p></details>`},
		{Markdown, "seen\n\n## GM notes\n\na one\n\n### More\n\nRain.\n\n", "> [!secret]\n> HID\n"},
		{Markdown, "## GM notes\n\na one\n\n", "%%HID%%\n"},
	} {
		got, _ := master(tc.form).Divide(Text{Open: tc.was}, tc.was+tc.mark)
		if strings.Contains(got.Open, "HID") || strings.Count(got.Open, "</") != strings.Count(got.Open, "<")/2 {
			t.Errorf("%q: players read %q", tc.was+tc.mark, got.Open)
		}
	}
}

// TestDivideTellsNoNewText writes a secret before a part that a reader was told, in a text whose nesting is unclear, so
// that all of it is hidden: the reader is told nothing more.
func TestDivideTellsNoNewText(t *testing.T) {
	gm := access.NewLabel(access.LevelGM)
	was := Text{Parts: []Passage{
		{ID: "a", Order: 1024, Label: access.NewLabel(access.LevelGM, "ada"), Text: "<p hidden>Old.</p>\n\n"},
		{ID: "b", Order: 2048, Label: gm, Text: "<secret>x\n\n%% y\n"},
	}}
	for _, text := range []string{"%%NEW%%\n\n", "%%NEW%%\n\nMore.\n\n", "<secret>NEW\n\n"} {
		got, _ := master(Markdown).Divide(was, text+was.Whole())
		for _, p := range got.Parts {
			if strings.Contains(p.Text, "NEW") && !gm.Covers(p.Label) {
				t.Errorf("%q: %q is told to %v", text, p.Text, p.Label)
			}
		}
		if strings.Contains(got.Open, "NEW") {
			t.Errorf("%q: players read %q", text, got.Open)
		}
	}
}

// TestDivideKeepsShortParts rewrites whole texts in which short parts lose their marks: their words stay hidden.
func TestDivideKeepsShortParts(t *testing.T) {
	for _, tc := range []struct{ was, whole string }{
		{"Iron.\n\n%%zqwbee sleeps%%\n\nSmoke.", "Coal. Now zqwbee sleeps\n\nFire."},
		{"Iron.\n\n%%zqwbee sleeps%%\n\nSmoke.", "Iron and coal. Then zqwbee sleeps.\n\nFire."},
		{"Rooms here.\n\n%%zqwbee one%%\n\n%%zqwcow two%%\n\nAle.", "Rooms here. zqwbee one\n\nAle zqwcow two."},
		{"Tom.\n\n%%zqvampire%%\n", "Tom is a zqvampire here.\n"},
	} {
		w := master(Markdown)
		was, _ := w.Divide(Text{}, tc.was)
		got, _ := w.Divide(was, tc.whole)
		if strings.Contains(got.Open, "zq") || !strings.Contains(got.Whole(), "zq") {
			t.Errorf("%q: players read %q", tc.whole, got.Open)
		}
	}
}

// TestDivideLeavesNoTag edits the text in a hidden element: the tags around its mark stay hidden with it.
func TestDivideLeavesNoTag(t *testing.T) {
	const open = "<p>The quay.</p>\n<h2>After</h2>"
	was := Text{Open: open, Parts: []Passage{{ID: "a", At: len("<p>The quay.</p>\n"), Order: 1, Label: access.NewLabel(access.LevelGM),
		Text: "<p><span class=\"secret\">=== \"GM notes\"\na spy hides below the mill and pays</span></p>\n"}}}
	got, _ := master(HTML).Divide(was, strings.Replace(was.Whole(), "a spy", "there a spy", 1))
	if got.Open != open {
		t.Errorf("players read %q", got.Open)
	}
}

// TestDivideEdits edits whole texts, as game masters do.
func TestDivideEdits(t *testing.T) {
	const note = "# Hafen\n\nThe harbour is busy.\n\n" +
		"> [!secret]\n> The mayor is a vampire.\n\nThe inn %%has a cellar%% serves fish.\n"
	for _, tc := range []struct {
		name, whole, open string
		hidden            []string
	}{
		{"the callout loses its mark", strings.Replace(note, "> [!secret]\n", "", 1),
			"# Hafen\n\nThe harbour is busy.\n\nThe inn serves fish.\n",
			[]string{"The mayor is a vampire.", "has a cellar"}},
		{"the comment loses its signs", strings.ReplaceAll(note, "%%", ""),
			"# Hafen\n\nThe harbour is busy.\n\nThe inn serves fish.\n",
			[]string{"The mayor is a vampire.", "has a cellar"}},
		{"a secret grows", strings.Replace(note, "a cellar", "a deep cellar", 1),
			"# Hafen\n\nThe harbour is busy.\n\nThe inn serves fish.\n",
			[]string{"The mayor is a vampire.", "has a deep cellar"}},
		{"a line before a secret", strings.Replace(note, "> [!secret]", "A new line.\n\n> [!secret]", 1),
			"# Hafen\n\nThe harbour is busy.\n\nA new line.\n\nThe inn serves fish.\n",
			[]string{"The mayor is a vampire.", "has a cellar"}},
		{"a line after a secret", strings.Replace(note, "vampire.\n", "vampire.\n\nA new line.\n", 1),
			"# Hafen\n\nThe harbour is busy.\n\nA new line.\n\nThe inn serves fish.\n",
			[]string{"The mayor is a vampire.", "has a cellar"}},
		{"a secret is deleted", strings.Replace(note, "> [!secret]\n> The mayor is a vampire.\n\n", "", 1),
			"# Hafen\n\nThe harbour is busy.\n\nThe inn serves fish.\n", []string{"has a cellar"}},
		{"a secret moves", "> [!secret]\n> The mayor is a vampire.\n\n" +
			strings.Replace(note, "> [!secret]\n> The mayor is a vampire.\n\n", "", 1),
			"# Hafen\n\nThe harbour is busy.\n\nThe inn serves fish.\n",
			[]string{"The mayor is a vampire.", "has a cellar"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := master(Markdown)
			before, _ := w.Divide(Text{}, note)
			got, out := w.Divide(before, tc.whole)
			if got.Open != tc.open || len(got.Parts) != len(tc.hidden) {
				t.Fatalf("%q and %+v", got.Open, got.Parts)
			}
			for i, p := range got.Parts {
				if !strings.Contains(p.Text, tc.hidden[i]) {
					t.Errorf("part %d is %q, want %q", i+1, p.Text, tc.hidden[i])
				}
			}
			if len(out.New) > 0 {
				t.Errorf("parts have new ids: %+v", out)
			}
			if again := exactSpans(got.Whole(), Markdown); len(again) != len(got.Parts) {
				t.Errorf("the whole text %q does not mark its %d parts", got.Whole(), len(got.Parts))
			}
		})
	}
}

var hiddenWord = regexp.MustCompile(`HID\d+`)

// TestDivideKeepsSecrets edits notes by lot: a word that was hidden is never in the open text, and no edit of the open
// text by others loses a part.
func TestDivideKeepsSecrets(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 500
	}
	r := rand.New(rand.NewPCG(7, 7))
	for round := range rounds {
		n := 0
		word := func(kind string) string {
			n++
			return fmt.Sprintf("%s%d word%d and more", kind, n, r.IntN(9))
		}
		block := func() string {
			switch r.IntN(9) {
			case 0:
				return "> [!secret] " + word("HID") + "\n> " + word("HID") + "\n\n"
			case 1:
				return word("OPEN") + " %%" + word("HID") + "%% " + word("OPEN") + "\n\n"
			case 2:
				return "%%\n" + word("HID") + "\n\n" + word("HID") + "\n%%\n\n"
			case 3:
				return "- " + word("OPEN") + "\n- <!-- " + word("HID") + " -->\n- " + word("OPEN") + "\n\n"
			case 4:
				return "## GM notes\n\n" + word("HID") + "\n\n## " + word("OPEN") + "\n\n"
			case 5:
				return "| " + word("OPEN") + " | b |\n|---|---|\n| %%" + word("HID") + "%% | " + word("OPEN") + " |\n\n"
			}
			return word("OPEN") + " " + word("OPEN") + "\n" + word("OPEN") + "\n\n"
		}
		var note string
		for range 2 + r.IntN(6) {
			note += block()
		}
		w := master(Markdown)
		text, _ := w.Divide(Text{}, note)
		for step := range 5 {
			before := text
			hidden := hiddenWord.FindAllString(text.Whole(), -1)
			var how string
			if r.IntN(3) == 0 {
				how = "others"
				open := editText(r, text.Open, func() string { return word("OPEN") })
				text = Text{Open: open, Parts: Relocate(text.Open, open, text.Parts)}
				text.Sort()
				if left := hiddenWord.FindAllString(text.Whole(), -1); len(left) != len(hidden) {
					t.Fatalf("round %d, step %d: parts are lost: %q became %q", round, step, before.Whole(), text.Whole())
				}
			} else {
				how = editText(r, text.Whole(), func() string { return word("OPEN") })
				text, _ = w.Divide(text, how)
			}
			if left := hiddenWord.FindString(text.Open); left != "" {
				t.Fatalf("round %d, step %d: %s is open\nbefore %q\nparts %+v\nwritten %q\nopen   %q", round, step, left,
					before.Whole(), before.Parts, how, text.Open)
			}
		}
	}
}

// editText makes one edit by lot: of lines, or of the signs of marks.
func editText(r *rand.Rand, text string, word func() string) string {
	lines := strings.SplitAfter(text, "\n")
	at := r.IntN(len(lines))
	switch r.IntN(7) {
	case 0:
		lines = slices.Delete(lines, at, at+1)
	case 1:
		lines = slices.Insert(lines, at, word()+"\n")
	case 2:
		lines[at] = strings.Replace(lines[at], "word", word()+" word", 1)
	case 3:
		lines[at] = strings.ReplaceAll(lines[at], "%%", "")
	case 4:
		lines[at] = strings.TrimPrefix(lines[at], "> ")
	case 5:
		moved := lines[at]
		if !strings.HasSuffix(moved, "\n") {
			moved += "\n"
		}
		lines = slices.Delete(lines, at, at+1)
		lines = slices.Insert(lines, r.IntN(len(lines)+1), moved)
	case 6:
		lines[at] = word() + "\n" + lines[at]
	}
	return strings.Join(lines, "")
}

// TestTagsAroundHiddenWordsStayWhole writes hidden words of a block of HTML into an open one.
func TestTagsAroundHiddenWordsStayWhole(t *testing.T) {
	w := master(HTML)
	was, _ := w.Divide(Text{}, "<p>The river was swept off.</p><!--The bridge was swept off by night.-->")
	now, _ := w.Divide(was, "<p>The river rose and the bridge was swept off by night.</p>")
	if now.Open != "<p>The river rose and</p>" {
		t.Errorf("players read %q", now.Open)
	}
}

// TestTextBelowAHiddenSectionStaysOpen lets a player write below the last section, which is hidden, and a game master
// edit the text then.
func TestTextBelowAHiddenSectionStaysOpen(t *testing.T) {
	w := master(Markdown)
	was, _ := w.Divide(Text{}, "The quay.\n\n## GM notes\n\nHID\n")
	was.Open += "\nBob was here.\n" // as a player writes it, who sees no parts
	for now, open := range map[string]string{
		strings.Replace(was.Whole(), "quay", "old quay", 1):         "The old quay.\n\nBob was here.\n",
		was.Whole() + "\nHID too.\n":                                "The quay.\n\nBob was here.\n",
		strings.Replace(was.Whole(), "HID", "HID more", 1):          "The quay.\n\nBob was here.\n",
		strings.Replace(was.Whole(), "HID", "%%HID\n\nHID%%", 1):    "The quay.\n\nBob was here.\n",
		"## GM notes\n\nThe quay.\n\nHID\n\nBob was here.\n":        "\nBob was here.\n",
		"The quay.\n\n## GM notes\n\nHID\n\nBob HID was here too\n": "The quay.\n",
	} {
		if got, _ := w.Divide(was, now); got.Open != open || got.Whole() != now {
			t.Errorf("%q: players read %q", now, got.Open)
		}
	}
}
