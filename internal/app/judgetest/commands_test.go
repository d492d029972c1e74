package judgetest

import (
	"slices"
	"strings"
	"testing"

	"loregate/internal/world/command"
)

// commandCase is a command of a player with the readings that a referee would accept.
type commandCase struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Kind   string `json:"kind"` // of difficulty: plain, typo, negation …
	Source string `json:"source"`
	// Want lists the accepted readings: each is a sequence of acts, empty if nothing is to be done.
	Want [][]wantedAct `json:"want"`
	// Ask is "must" if the parser has to ask, "may" if asking is as good as a reading of Want, and
	// "" if it must not ask. If it must ask and Want is not empty, the acts must fit Want too.
	Ask string `json:"ask,omitempty"`
	// Asks lists the accepted kinds of the ambiguity; empty: any kind. An overflow has to be
	// reported, but the first acts may be carried out without a question.
	Asks []string `json:"asks,omitempty"`
}

// wantedAct is an accepted act. In every text, "|" separates alternatives and "*" fits anything.
// Articles, possessives, case and the form of numbers do not matter.
type wantedAct struct {
	Verb      string `json:"verb"`
	Direction string `json:"direction,omitempty"` // "in?": in or none
	// Object must be the direct object, Targets must be targets. Names may be in either place: the
	// contract does not say which. Maybe lists names that may stand in either place or be absent.
	Object  string   `json:"object,omitempty"`
	Targets []string `json:"targets,omitempty"`
	Names   []string `json:"names,omitempty"`
	Maybe   []string `json:"maybe,omitempty"`
}

var ignoredWords = strings.Fields("a an the some my your his her its their our this that these those")

var digits = map[string]string{"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
	"seven": "7", "eight": "8", "nine": "9", "ten": "10", "dozen": "12", "twelve": "12", "twenty": "20"}

// foldName returns a name without the differences that do not matter.
func foldName(s string) string {
	var words []string
	for _, w := range strings.Fields(strings.ToLower(strings.ReplaceAll(s, "’", "'"))) {
		w = strings.Trim(w, `.,;:!?"()`)
		if d, ok := digits[w]; ok {
			w = d
		}
		if w != "" && !slices.Contains(ignoredWords, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

func nameFits(want, got string) bool {
	return slices.ContainsFunc(strings.Split(want, "|"), func(w string) bool {
		return w == "*" || foldName(w) == got
	})
}

// takeName removes the first name that fits from a list.
func takeName(list []string, want string) (rest []string, ok bool) {
	i := slices.IndexFunc(list, func(got string) bool { return nameFits(want, got) })
	if i < 0 {
		return list, false
	}
	return slices.Delete(slices.Clone(list), i, i+1), true
}

// verbFits reports whether verb and direction of an act fit.
func (w wantedAct) verbFits(got command.Intent) bool {
	direction, optional := strings.CutSuffix(w.Direction, "?")
	return slices.Contains(strings.Split(w.Verb, "|"), string(got.Verb)) &&
		(string(got.Direction) == direction || optional && got.Direction == "")
}

// fits reports whether an act fits in all its parts.
func (w wantedAct) fits(got command.Intent) bool {
	if !w.verbFits(got) {
		return false
	}
	object, ok := foldName(got.DirectObject), true
	var targets []string
	for _, t := range got.Targets {
		targets = append(targets, foldName(t))
	}
	if w.Object != "" {
		if !nameFits(w.Object, object) {
			return false
		}
		object = ""
	}
	for _, t := range w.Targets {
		if targets, ok = takeName(targets, t); !ok {
			return false
		}
	}
	if object != "" {
		targets = append(targets, object)
	}
	for _, n := range w.Names {
		if targets, ok = takeName(targets, n); !ok {
			return false
		}
	}
	return !slices.ContainsFunc(targets, func(got string) bool {
		return !slices.ContainsFunc(w.Maybe, func(n string) bool { return nameFits(n, got) })
	})
}

// readingFits reports whether the acts fit an accepted reading by the given comparison.
func (c commandCase) readingFits(got []command.Intent, fits func(wantedAct, command.Intent) bool) bool {
	return slices.ContainsFunc(c.Want, func(acts []wantedAct) bool { return slices.EqualFunc(acts, got, fits) })
}

// right reports whether the parser's answer is accepted by the given comparison.
func (c commandCase) right(got command.Parsed, fits func(wantedAct, command.Intent) bool) bool {
	switch c.Ask {
	case "must":
		kind := func(a command.Ambiguity) bool { return len(c.Asks) == 0 || slices.Contains(c.Asks, a.Kind) }
		return got.NeedsClarification && slices.ContainsFunc(got.Ambiguities, kind) &&
			(len(c.Want) == 0 || c.readingFits(got.Intents, fits))
	case "may":
		if slices.Contains(c.Asks, "overflow") {
			return slices.ContainsFunc(got.Ambiguities, func(a command.Ambiguity) bool { return a.Kind == "overflow" })
		}
		return got.NeedsClarification || c.readingFits(got.Intents, fits) || len(c.Want) == 0 && len(got.Intents) == 0
	}
	return !got.NeedsClarification && c.readingFits(got.Intents, fits)
}

// check fails the test if the case is malformed.
func (c commandCase) check(t *testing.T) {
	t.Helper()
	fine := c.Text != "" && c.Kind != "" && c.Source != "" && slices.Contains([]string{"", "may", "must"}, c.Ask) &&
		(c.Ask != "" || len(c.Want) > 0)
	for _, acts := range c.Want {
		for _, w := range acts {
			d := strings.TrimSuffix(w.Direction, "?")
			fine = fine && (d == "" || command.Direction(d).Valid())
			for _, v := range strings.Split(w.Verb, "|") {
				fine = fine && slices.Contains(command.Verbs, command.Verb(v))
			}
		}
	}
	if !fine {
		t.Errorf("case %s is malformed", c.ID)
	}
}

// ratio counts right answers.
type ratio struct{ right, all int }

func (r *ratio) add(right bool) {
	r.all++
	if right {
		r.right++
	}
}

func (r *ratio) value() float64 { return float64(r.right) / float64(max(1, r.all)) }

// f1 counts yes-or-no answers against the expected ones.
type f1 struct{ hit, missed, wrong int }

func (f *f1) add(want, got bool) {
	switch {
	case want && got:
		f.hit++
	case want:
		f.missed++
	case got:
		f.wrong++
	}
}

func (f *f1) value() float64 { return 2 * float64(f.hit) / float64(max(1, 2*f.hit+f.missed+f.wrong)) }

// reportKinds reports the ratios by kind.
func reportKinds(t *testing.T, half, row, measure string, kinds map[string]*ratio) {
	t.Helper()
	for kind, r := range kinds {
		report(t, half, row, measure+": "+kind, r.value(), r.all)
	}
}

// countKind returns the ratio of a kind.
func countKind(kinds map[string]*ratio, kind string) *ratio {
	if kinds[kind] == nil {
		kinds[kind] = &ratio{}
	}
	return kinds[kind]
}

func TestCommands(t *testing.T) {
	for _, half := range halves {
		t.Run(half, func(t *testing.T) {
			cases := loadCases[commandCase](t, half, "commands.jsonl")
			for _, c := range cases {
				c.check(t)
			}
			cases = sample(cases, sampleSize)
			withModels(t, half, "commands", len(cases), func(m *scriptedModel) {
				for _, c := range cases {
					m.know("command", c.Text, c.reading(), c.wrongReading())
				}
			}, func(m *scriptedModel, row string) float64 {
				s := setWorld(t, m.openWith(t), "commands", fixtureWorld{Title: "Commands",
					Cards: []fixtureCard{{Name: "Here", Type: "Location", Text: "A place."}}}, "Here")
				return measureCommands(t, half, row, cases, func(text string) (p command.Parsed) {
					s.mustCall(t, "parse-command", map[string]any{"text": text}, &p)
					return p
				})
			})
		})
	}
}

func measureCommands(t *testing.T, half, row string, cases []commandCase,
	parse func(text string) command.Parsed) float64 {
	t.Helper()
	var exact, verbs ratio
	var asking f1
	asked := 0
	kinds := map[string]*ratio{}
	for _, c := range cases {
		got := parse(c.Text)
		right := c.right(got, wantedAct.fits)
		exact.add(right)
		verbs.add(c.right(got, wantedAct.verbFits))
		countKind(kinds, c.Kind).add(right)
		if c.Ask != "may" {
			asked++
			asking.add(c.Ask == "must", got.NeedsClarification)
		}
		if !right {
			logMiss(t, half, "%s %s %q: got %+v, asked %v %+v; want %+v", c.ID, c.Kind, c.Text, got.Intents,
				got.NeedsClarification, got.Ambiguities, c.Want)
		}
	}
	report(t, half, row, "exact", exact.value(), exact.all)
	report(t, half, row, "clarification F1", asking.value(), asked)
	if row == "commands" {
		report(t, half, row, "verbs and directions", verbs.value(), verbs.all)
		reportKinds(t, half, row, "exact", kinds)
	}
	return exact.value()
}
