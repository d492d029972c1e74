package judgetest

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// bar is the least value of a figure, or the greatest if atMost.
type bar struct {
	row, measure string
	value        float64
	atMost       bool
}

// bars are the values that the product should reach without a model, in the order of the page.
var bars = []bar{
	{"commands", "exact", 0.92, false},
	{"commands", "clarification F1", 0.8, false},
	{"intents", "right", 0.9, false},
	{"moderation", "precision", 0.9, false},
	{"moderation", "recall", 0.9, false},
	{"moderation", "traps", 0.9, false},
	{"claims", "false ones refused", 0.9, false},
	{"claims", "true ones refused", 0.03, true},
	{"duplicates", "paraphrase AUC", 0.93, false},
	{"search", "nDCG@10", 0.74, false},
	{"search", "typo", 0.95, false},
	{"search", "alias", 0.73, false},
	{"search", "paraphrase", 0.43, false},
	{"planner", "right", 0.85, false},
}

// modelBars are the values that the product should reach with the best model, and the share of cases that it may be
// asked for. With a hostile model, no figure may fall more than maxLoss below the one without a model.
var modelBars = []bar{
	{"commands with the best model", "exact", 0.97, false},
	{"commands with the best model", "asked", maxAsked, true},
	{"intents with the best model", "right", 0.95, false},
	{"intents with the best model", "asked", maxAsked, true},
	{"moderation with the best model", "precision", 0.95, false},
	{"moderation with the best model", "recall", 0.95, false},
	{"moderation with the best model", "traps", 0.95, false},
	{"moderation with the best model", "asked", maxAsked, true},
	{"claims with the best model", "false ones refused", 0.95, false},
	{"claims with the best model", "true ones refused", 0.03, true},
	{"claims with the best model", "asked", maxAsked, true},
	{"duplicates with the best model", "paraphrase AUC", 0.95, false},
	{"duplicates with the best model", "asked", maxAsked, true},
	{"planner with the best model", "right", 0.92, false},
	{"planner with the best model", "asked", maxAsked, true},
	{"search with an oracle embedder", "nDCG@10", 0.93, false},
	{"search with a simulated embedder", "nDCG@10", 0.85, false},
	{"search with a real embedder", "nDCG@10", 0.85, false},
	{"commands with a hostile model", "loss", maxLoss, true},
	{"intents with a hostile model", "loss", maxLoss, true},
	{"moderation with a hostile model", "loss", maxLoss, true},
	{"claims with a hostile model", "loss", maxLoss, true},
	{"duplicates with a hostile model", "loss", maxLoss, true},
	{"planner with a hostile model", "loss", maxLoss, true},
}

var allBars = slices.Concat(bars, modelBars)

const (
	maxAsked = 0.25
	maxLoss  = 0.01
)

// text returns the bar as the page shows it.
func (b bar) text() string {
	if b.atMost {
		return "≤ " + percent(b.value)
	}
	return "≥ " + percent(b.value)
}

// maxGap is the difference between the halves above which it is a finding.
const maxGap = 0.05

func percent(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }

// TestMain writes the page after the tests if JUDGE_PAGE names it.
func TestMain(m *testing.M) {
	code := m.Run()
	if path := os.Getenv("JUDGE_PAGE"); path != "" {
		old, _ := os.ReadFile(path) // the first run finds no page
		page := formatPage(figures.list, string(old), os.Getenv("JUDGE_COMMIT"), os.Getenv("JUDGE_DATE"))
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

const pageHead = `# Judgement

How well the product decides by itself, measured by ` + "`make judge`" + ` on cases whose authors do not know the rules. Authors of
rules may read the development half. The locked half comes from other sources and nobody who writes a rule sees it; it is
sealed in ` + "`internal/app/judgetest/cases/locked.sealed`" + `, or read from the folder in ` + "`JUDGE_LOCKED`" + `. A gap of more than five points between
the halves is a finding, and marked. Where nothing else is
said, the figures are those of the product without a model.

The model that reads intents is learned from the development half, so that its figure there is no estimate: an author who is
left out is read as ` + "`go run ./scripts/intents`" + ` prints. A pair whose second text the safety gate refuses gets no hint and is not
compared: one of the development half, and four of the locked one, with which as unlike the figure would be 92.9%.

`

// pageSearch tells why two bars are not reached.
const pageSearch = `
## Search without a strong model

The bars of nDCG@10 and of alias were set on 90 queries of another author. On these cases they are out of
reach of word vectors and WordNet. Measured over the SRD by ` + "`" + `go test ./internal/meaning -run
TestReachOfSearches -v -args -reach` + "`" + `: for 87 of the 140 alias queries of the development half (62%; the bar
is 73%), the right card is among the first ten by at least one of seven kinds of likeness. These are common
words in the name or in the text, weighted by rarity; names that WordNet relates to the query; names whose
definition the query describes; words that define those of the query; vectors of names, and of texts. Of all
queries but misspelt ones it is 274 of 386 (71%; the bar is 74%), and nDCG asks for the first place, too.

Two kinds together can lift a card that neither lifts alone, so this is no strict bound. But a choice of the
best of six such lists for each query, made with knowledge of the answer, had 49% on alias when it was
measured; the ranking in use, which fuses them, has more. The queries that are not reached need knowledge of
the world: "landshark" for a bulette, "hobbit" for a halfling, "lightsaber" for a sun blade, "Frankenstein's
monster" for a flesh golem. A small sentence model has little of it: see the row of a real embedder below.
An endpoint as good as the simulated one passes both bars.
`

const logHead = `## Runs of the locked half

| date | commit | figures |
|---|---|---|
`

// formatPage returns the page with the figures of this run. It keeps the log of the old page, and adds
// a line to it if the locked half was measured.
func formatPage(list []figure, old, commit, date string) string {
	var b strings.Builder
	b.WriteString(pageHead)
	b.WriteString("| row | measure | bar | development | locked | cases | commit |\n|---|---|---|---|---|---|---|\n")
	for _, want := range bars {
		writeRow(&b, list, want.row, want.measure, want.text(), commit)
	}
	b.WriteString(pageSearch)
	b.WriteString("\n## With a model\n\nThe best model is a scripted one that knows the answers; a hostile one " +
		"gives wrong answers in the right form. *asked* is the share of the cases that a model was asked for, *loss* " +
		"is what a hostile one takes from the share of right answers. Every model is tried before its answers are " +
		"used: see [models.md](models.md).\n\n")
	b.WriteString("| row | measure | bar | development | locked | cases | commit |\n|---|---|---|---|---|---|---|\n")
	for _, want := range modelBars {
		writeRow(&b, list, want.row, want.measure, want.text(), commit)
	}
	b.WriteString("\n## By kind\n\nThese figures have no bar of their own.\n\n")
	b.WriteString("| row | measure | bar | development | locked | cases | commit |\n|---|---|---|---|---|---|---|\n")
	for _, f := range withoutBar(list) {
		writeRow(&b, list, f.row, f.measure, "–", commit)
	}
	b.WriteString("\n" + logHead)
	_, log, _ := strings.Cut(old, logHead)
	b.WriteString(log)
	if line := logLine(list); line != "" {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", date, commit, line)
	}
	return b.String()
}

// withoutBar returns one figure for each row and measure that has no bar, sorted.
func withoutBar(list []figure) (kinds []figure) {
	for _, f := range list {
		same := func(g figure) bool { return g.row == f.row && g.measure == f.measure }
		if !slices.ContainsFunc(allBars, func(b bar) bool { return b.row == f.row && b.measure == f.measure }) &&
			!slices.ContainsFunc(kinds, same) {
			kinds = append(kinds, f)
		}
	}
	slices.SortFunc(kinds, func(x, y figure) int {
		return strings.Compare(x.row+"\x00"+x.measure, y.row+"\x00"+y.measure)
	})
	return kinds
}

// find returns the figure of a half.
func find(list []figure, half, row, measure string) (figure, bool) {
	i := slices.IndexFunc(list, func(f figure) bool { return f.half == half && f.row == row && f.measure == measure })
	if i < 0 {
		return figure{}, false
	}
	return list[i], true
}

func writeRow(b *strings.Builder, list []figure, row, measure, least, commit string) {
	dev, inDev := find(list, development, row, measure)
	lock, inLock := find(list, locked, row, measure)
	if !inDev && !inLock {
		fmt.Fprintf(b, "| %s | %s | %s | not measured | not measured | | |\n", row, measure, least)
		return
	}
	texts, counts := [2]string{"not measured", "not measured"}, [2]string{"0", "0"}
	if inDev {
		texts[0], counts[0] = percent(dev.value), fmt.Sprint(dev.n)
	}
	if inLock {
		texts[1], counts[1] = percent(lock.value), fmt.Sprint(lock.n)
	}
	if gap := lock.value - dev.value; inDev && inLock && math.Abs(gap) > maxGap {
		texts[1] += fmt.Sprintf(" (**gap %+.1f**)", 100*gap)
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s + %s | %s |\n", row, measure, least, texts[0], texts[1], counts[0],
		counts[1], commit)
}

// logLine returns the figures of the locked half that have a bar, or "".
func logLine(list []figure) string {
	var parts []string
	for _, want := range allBars {
		if f, ok := find(list, locked, want.row, want.measure); ok {
			parts = append(parts, fmt.Sprintf("%s %s %s", want.row, want.measure, percent(f.value)))
		}
	}
	return strings.Join(parts, ", ")
}

func TestPageMarksGapsAndKeepsItsLog(t *testing.T) {
	list := []figure{
		{development, "commands", "exact", 0.9, 10}, {locked, "commands", "exact", 0.8, 20},
		{development, "commands", "exact: typo", 0.5, 4}, {development, "intents", "right", 0.9, 3},
		{locked, "intents", "right", 0.88, 3},
	}
	first := formatPage(list, "", "abc", "2026-01-31")
	page := formatPage(list[:1], first, "def", "2026-02-01")
	for _, want := range []string{
		"| commands | exact | ≥ 92.0% | 90.0% | 80.0% (**gap -10.0**) | 10 + 20 | abc |\n",
		"| commands | exact: typo | – | 50.0% | not measured | 4 + 0 | abc |\n",
		"| intents | right | ≥ 90.0% | 90.0% | 88.0% | 3 + 3 | abc |\n",
		"| claims | true ones refused | ≤ 3.0% | not measured | not measured | | |\n",
		"| 2026-01-31 | abc | commands exact 80.0%, intents right 88.0% |\n",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("the page lacks %q:\n%s", want, first)
		}
	}
	if !strings.Contains(page, "| 2026-01-31 | abc |") || strings.Contains(page, "2026-02-01") {
		t.Errorf("a run without the locked half keeps the log as it is:\n%s", page)
	}
}
