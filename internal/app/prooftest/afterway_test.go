package prooftest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// actAfter is something that a person does to a card with a hidden part.
type actAfter struct {
	name string
	do   func(x *weave, c *planted) error
}

// swap writes a card's whole text anew, as somebody reads it, after a change.
func (x *weave) swap(who string, c *planted, change func(text string) string) error {
	got := x.cardAs(who, c)
	if got == nil {
		return fmt.Errorf("%s does not read the card", who)
	}
	return x.rest(who, "PATCH", x.at(c), fields{"content": change(got.Content), "format": c.mark.form.String(),
		"if_match": got.ETag}, nil)
}

func paragraph(c *planted, text string) string {
	if c.mark.form == inHTML {
		return "<p>" + text + "</p>"
	}
	return "\n\n" + text + "\n"
}

func (x *weave) level(c *planted, level string) error {
	return x.rest("admin", "PUT", x.at(c)+"/level", fields{"level": level}, nil)
}

func (x *weave) rename(c *planted, name string) error {
	err := x.rest("admin", "PUT", x.at(c)+"/rename", fields{"new_name": name}, nil)
	if err == nil {
		c.name = name
	}
	return err
}

// Acts that are told apart.
const (
	movesWords = "GM moves the hidden words to the end, unmarked"
	writesLine = "GM writes a line more in the hidden part"
	revealsAll = "reveal to all and hide again" // hides sentences alone: their mark and the rest of the part stay open
)

// actsAfter are the acts.
var actsAfter = []actAfter{
	{"GM appends", func(x *weave, c *planted) error {
		return x.rest("gm", "PATCH", x.at(c), fields{"format": c.mark.form.String(), "patch": fields{"mode": "append",
			"content": paragraph(c, "It rains.")}}, nil)
	}},
	{"GM writes the whole text with a word more", func(x *weave, c *planted) error {
		return x.swap("gm", c, func(text string) string { return strings.Replace(text, "quay", "long quay", 1) })
	}},
	{"GM deletes the text before the part", func(x *weave, c *planted) error {
		c.gone[c.before] = true
		return x.swap("gm", c, func(text string) string {
			if c.mark.form == inHTML {
				return strings.Replace(text, "<p>The quay "+c.before.word+".</p>", "", 1)
			}
			return strings.Replace(text, c.before.word, "gone", 1)
		})
	}},
	{"GM writes in the hidden part", func(x *weave, c *planted) error {
		got := x.card(c)
		if got == nil || !strings.Contains(got.Content, c.a.word) {
			return errNothing
		}
		m := x.word("written in the part", c.a.label, c)
		c.more = append(c.more, m)
		return x.swap("gm", c, func(text string) string {
			return strings.Replace(text, c.a.word, c.a.word+" "+m.word,
				1)
		})
	}},
	{writesLine, func(x *weave, c *planted) error {
		got := x.card(c)
		if got == nil || !strings.Contains(got.Content, c.a.word) {
			return errNothing
		}
		m := x.word("line in the part", c.a.label, c)
		c.more = append(c.more, m)
		return x.swap("gm", c, func(text string) string {
			at := strings.Index(text, c.a.word)
			if at < 0 {
				return text
			}
			lead := ""
			if line := text[strings.LastIndexByte(text[:at], '\n')+1 : max(at-2, 0)]; strings.Trim(line, " >-#") == "" {
				lead = "\n" + strings.ReplaceAll(line, "#", "")
			} else {
				lead = " "
			}
			end := at + len(c.a.word)
			if _, rest, ok := strings.Cut(x.secretOf(c.a.word), c.a.word); ok && strings.HasPrefix(text[end:], rest) {
				end += len(rest)
			}
			return text[:end] + lead + m.word + text[end:]
		})
	}},
	{"GM takes the mark away and leaves the text", func(x *weave, c *planted) error {
		return x.swap("gm", c, func(text string) string {
			at := strings.Index(text, c.a.word)
			if at < 0 {
				return text
			}
			from, to := strings.Index(text, c.before.word), strings.Index(text, c.after.word)
			if from < 0 || to < at {
				return text
			}
			var words []string
			for _, m := range append([]*mark{c.a, c.b}, c.more...) {
				switch {
				case c.gone[m] || !strings.Contains(text[from:to], m.word):
				case m == c.a || m == c.b:
					words = append(words, x.secretOf(m.word))
				default:
					c.gone[m] = true // it goes, with the mark
				}
			}
			sep := paragraph(c, strings.Join(words, " and "))
			if c.mark.form == inHTML {
				return text[:from] + c.before.word + ".</p>" + sep + "<h2>After</h2><p>The road " + text[to:]
			}
			return text[:from] + c.before.word + "." + sep + "\n## After\n\nThe road " + text[to:]
		})
	}},
	{movesWords, func(x *weave, c *planted) error {
		return x.swap("gm", c, func(text string) string {
			if !strings.Contains(text, x.secretOf(c.a.word)) {
				return text
			}
			return strings.Replace(text, x.secretOf(c.a.word), "moved", 1) + paragraph(c, x.secretOf(c.a.word))
		})
	}},
	{"GM hides an open sentence", func(x *weave, c *planted) error {
		if c.gone[c.after] {
			return nil
		}
		err := x.rest("gm", "POST", x.at(c)+"/hide", fields{"text": list("The road " + c.after.word + ".")}, nil)
		if err == nil {
			c.after.label = forGM
		}
		return err
	}},
	{"GM marks an open sentence", func(x *weave, c *planted) error {
		err := x.swap("gm", c, func(text string) string {
			sentence := "The road " + c.after.word + "."
			if c.mark.form == inHTML {
				return strings.Replace(text, "<p>"+sentence+"</p>", "<p class=\"secret\">"+sentence+"</p>", 1)
			}
			return strings.Replace(text, sentence, "%%"+sentence+"%%", 1)
		})
		if err == nil && !c.gone[c.after] {
			c.after.label = forGM
		}
		return err
	}},
	{"player appends", func(x *weave, c *planted) error {
		return x.rest("alice", "PATCH", x.at(c), fields{"format": c.mark.form.String(),
			"patch": fields{"mode": "append",
				"content": paragraph(c, "It snows.")}}, nil)
	}},
	{"player writes the whole text anew", func(x *weave, c *planted) error {
		return x.swap("alice", c, func(text string) string { return strings.Replace(text, "quay", "wet quay", 1) })
	}},
	{"player deletes all that a player reads", func(x *weave, c *planted) error {
		err := x.swap("alice", c, func(string) string { return paragraph(c, "All new.") })
		if err == nil {
			c.gone[c.before], c.gone[c.after] = true, c.after.label.Level < access.LevelGM || c.gone[c.after]
		}
		return err
	}},
	{"player edits by the form", func(x *weave, c *planted) error {
		got := x.cardAs("alice", c)
		if got == nil {
			return fmt.Errorf("alice does not read the card")
		}
		return x.form("alice", "/edit/lendwater/"+url.PathEscape(c.id),
			url.Values{"content": {got.Content + " Seen by Alice."}})
	}},
	{"player replaces words everywhere", func(x *weave, c *planted) error {
		return x.rest("alice", "POST", "/api/mcp/replace", fields{"find": "The quay " + c.before.word,
			"replace": "The jetty " +
				c.before.word, "dry_run": false}, nil)
	}},
	{"rename", func(x *weave, c *planted) error { return x.rename(c, c.name+" anew") }},
	{"move below an open card", func(x *weave, c *planted) error { return x.rename(c, "Open Parent+"+c.name) }},
	{"move below a hidden card and out", func(x *weave, c *planted) error {
		name := c.name
		if err := x.rename(c, "Closed+"+strings.ReplaceAll(name, "+", " ")); err != nil {
			return err
		}
		if err := x.rename(c, name+" out"); err != nil {
			return err
		}
		return x.level(c, "user")
	}},
	{"level gm and back", func(x *weave, c *planted) error {
		if err := x.level(c, "gm"); err != nil {
			return err
		}
		return x.level(c, "user")
	}},
	{"level gm, an edit, and back", func(x *weave, c *planted) error {
		if err := x.level(c, "gm"); err != nil {
			return err
		}
		m := x.word("written while the card was hidden, in a mark", forGM, c)
		c.more = append(c.more, m)
		if err := x.swap("gm", c, func(text string) string {
			if c.mark.form == inHTML {
				return text + `<p class="secret">` + m.word + "</p>"
			}
			return text + "\n\n> [!secret]\n> " + m.word + "\n"
		}); err != nil {
			return err
		}
		return x.level(c, "user")
	}},
	{"level admin and back", func(x *weave, c *planted) error {
		if err := x.level(c, "admin"); err != nil {
			return err
		}
		return x.level(c, "user")
	}},
	{revealsAll, func(x *weave, c *planted) error {
		return x.revealAndHide(c, nil, access.NewLabel(access.LevelUser))
	}},
	{"reveal to alice", func(x *weave, c *planted) error {
		return x.revealAndHide(c, list("alice"), access.NewLabel(access.LevelGM, "alice"))
	}},
	{"restore the first version", func(x *weave, c *planted) error {
		err := x.restoreFirst(c)
		if err == nil {
			x.forget(c)
		}
		return err
	}},
	{"GM writes, undo, undo of the undo", func(x *weave, c *planted) error {
		m := x.word("undone part", forGM, c)
		if err := x.swap("gm", c, func(text string) string {
			if c.mark.form == inHTML {
				return text + `<p class="secret">` + m.word + "</p>"
			}
			return text + "\n\n%%" + m.word + "%%\n"
		}); err != nil {
			return err
		}
		for range 2 {
			if err := x.undoLast("admin"); err != nil {
				return err
			}
		}
		c.more = append(c.more, m)
		return nil
	}},
	{"player writes, GM undoes", func(x *weave, c *planted) error {
		if err := x.swap("alice", c, func(text string) string {
			return strings.Replace(text, "The", "the",
				1)
		}); err != nil {
			return err
		}
		return x.undoLast("gm")
	}},
	{"a name rule comes and goes", func(x *weave, c *planted) error {
		for _, parts := range [][]string{{"gm", "ai", "case"}, {"gm", "ai"}} {
			if err := x.app.ConfigureWorld(x.t.Context(), "lendwater", func(_ *string, s *canon.Settings) {
				s.GMParts = parts
			}); err != nil {
				return err
			}
		}
		return nil
	}},
	{"delete and restore", func(x *weave, c *planted) error {
		if err := x.rest("admin", "DELETE", x.at(c), fields{"force": true}, nil); err != nil {
			return err
		}
		return x.rest("admin", "POST", x.at(c)+"/restore", fields{}, nil)
	}},
	{"the other format and back", func(x *weave, c *planted) error {
		other := map[textForm]string{inHTML: "markdown", inMarkdown: "html"}[c.mark.form]
		if err := x.rest("gm", "PATCH", x.at(c), fields{"text_format": other}, nil); err != nil {
			return err
		}
		return x.rest("gm", "PATCH", x.at(c), fields{"text_format": c.mark.form.String()}, nil)
	}},
	{"another type and back", func(x *weave, c *planted) error {
		if err := x.rest("gm", "PATCH", x.at(c), fields{"type": "Lore"}, nil); err != nil {
			return err
		}
		return x.rest("gm", "PATCH", x.at(c), fields{"type": "RichText"}, nil)
	}},
	{"links are made by themselves", func(x *weave, c *planted) error {
		return x.rest("gm", "POST", "/api/mcp/auto_link", fields{"name": c.id, "mode": "apply", "dry_run": false}, nil)
	}},
	{"X+GM is renamed to an open name", func(x *weave, c *planted) error {
		err := x.rest("admin", "PUT", "/api/mcp/cards/"+pathName(c.name+"+GM")+"/rename",
			fields{"new_name": "Loose " + c.name}, nil)
		if err == nil {
			x.forget(c)
		}
		return err
	}},
	{"X+GM is set to level user", func(x *weave, c *planted) error {
		return x.rest("admin", "PUT", "/api/mcp/cards/"+pathName(c.name+"+GM")+"/level", fields{"level": "user"}, nil)
	}},
}

// revealAndHide reveals the first part of a text, looks, and hides it again.
func (x *weave) revealAndHide(c *planted, to []any, l access.Label) error {
	got := x.card(c)
	if got == nil || len(got.Hidden) == 0 {
		return fmt.Errorf("the card has no hidden part")
	}
	in := fields{"parts": list(got.Hidden[0].ID)}
	if to != nil {
		in["to"] = to
	}
	if err := x.rest("gm", "POST", x.at(c)+"/reveal", in, nil); err != nil {
		return err
	}
	var shown []*mark
	for _, m := range append([]*mark{c.a, c.b, c.after}, c.more...) {
		if !c.gone[m] && m.label.Level >= access.LevelGM {
			shown = append(shown, m) // any of them may be in the part
		}
	}
	was := map[*mark]access.Label{}
	for _, m := range shown {
		was[m] = m.label
		m.label = l
	}
	alike := x.answers
	for _, r := range cardLooks(c)[:6] {
		x.look("alice", r)
		x.look("bob", r)
	}
	x.answers = alike // they show the revealed part
	for _, m := range shown {
		m.label = was[m]
	}
	if to != nil {
		return x.rest("gm", "POST", x.at(c)+"/hide", fields{"parts": list(got.Hidden[0].ID)}, nil)
	}
	reads := x.cardAs("bob", c)
	if reads == nil {
		return fmt.Errorf("bob does not read the card")
	}
	whole := x.card(c)
	texts := []any{}
	for _, m := range shown {
		for _, text := range []string{x.secretOf(m.word), lineWith(whole.Content, m.word)} {
			if text != "" && strings.Contains(reads.Content, m.word) && strings.Contains(whole.Content, text) {
				texts = append(texts, text)
				break
			}
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return x.rest("gm", "POST", x.at(c)+"/hide", fields{"text": texts}, nil)
}

// lineWith returns the line of a text with a word, as the game master reads it; "" if there is none.
func lineWith(text, word string) string {
	at := strings.Index(text, word)
	if at < 0 {
		return ""
	}
	from := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	return strings.TrimSpace(line)
}

// undoLast undoes the last change; it is an error if the last write changed nothing.
func (x *weave) undoLast(who string) error {
	if x.lastChange == "" {
		return errNothing
	}
	return x.rest(who, "POST", "/api/mcp/changes/"+x.lastChange+"/undo", fields{}, nil)
}

// restoreFirst restores the first version that the keeper sees.
func (x *weave) restoreFirst(c *planted) error {
	var history struct{ Versions []struct{ Version int } }
	got := x.send("admin", request{operation: "history", method: "GET", path: x.at(c) + "/history"})
	if err := json.Unmarshal([]byte(got.body), &history); err != nil || len(history.Versions) == 0 {
		return fmt.Errorf("there is no version: %s", got.body)
	}
	first := history.Versions[len(history.Versions)-1].Version
	return x.rest("admin", "POST", x.at(c)+"/restore", fields{"to_version": first}, nil)
}

// forget takes the words that the game master does not read any more for deleted.
func (x *weave) forget(c *planted) {
	got := x.card(c)
	for _, m := range append([]*mark{c.before, c.after, c.a, c.b}, c.more...) {
		if got != nil && !strings.Contains(got.Content, m.word) {
			c.gone[m] = true
		}
	}
}

// errNothing is the error of an act that has nothing to do.
var errNothing = errors.New("there is nothing to do")

// everySeed is the seed of a run: PROOF_SEED, or a new one.
func everySeed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("PROOF_SEED"), 10, 64); err == nil {
		return n
	}
	if os.Getenv("PROOF_ROUNDS") != "" {
		return uint64(os.Getpid())
	}
	return 21
}

// TestEveryWayKeepsEveryMark writes marked texts in every way, does something to them, and looks as each reader: no
// hidden word is in an answer, the answers are those of a world with other secrets, and the game master loses no
// word.
func TestEveryWayKeepsEveryMark(t *testing.T) {
	skipWithRace(t)
	onEachStore(t, testEveryWay)
}

func testEveryWay(t *testing.T, on string) {
	skipOnPostgres(t, on)
	t.Parallel()
	seed := everySeed()
	t.Logf("PROOF_SEED=%d repeats it", seed)
	n := min(rounds(60), 500)
	one, two := runWeave(t, on, seed, n, false), runWeave(t, on, seed, n, true)
	one.report()
	two.report()
	differences, reported := 0, map[string]bool{}
	for i := range min(len(one.answers), len(two.answers)) {
		a, b := one.answers[i], two.answers[i]
		if a.body == b.body || differences >= maxDifferences || reported[a.of] {
			continue
		}
		differences++
		reported[a.of] = true
		at := firstDifference(a.body, b.body)
		t.Errorf("other secrets show to %s in %s: %s\n%s\n%s", a.who, a.r.operation, a.of, excerptAt(a.body, at),
			excerptAt(b.body, at))
	}
	if len(one.answers) != len(two.answers) {
		t.Errorf("%d and %d answers", len(one.answers), len(two.answers))
	}
	t.Logf("%d answers are alike", len(one.answers))
}

// runWeave writes cases and acts on them.
func runWeave(t *testing.T, on string, seed uint64, n int, twin bool) *weave {
	t.Helper()
	x := newWeave(t, on, seed, twin)
	ways, marks, acts := newDeck(x.rng, waysOfWriting), newDeck(x.rng, exactMarks), newDeck(x.rng, actsAfter)
	for range n {
		w, m := ways.draw(), marks.draw()
		for !slices.Contains(w.forms, m.form) {
			m = marks.draw()
		}
		x.plant(w, m)
		x.tick()
	}
	x.lookAtAll(4)
	for round := range 3 {
		for _, c := range x.cases {
			a := acts.draw()
			for !c.fits(a.name) {
				a = acts.draw()
			}
			c.acts = append(c.acts, a.name)
			err := a.do(x, c)
			x.note(a.name, err)
			if err != nil {
				c.acts[len(c.acts)-1] += " (refused)"
			}
			if x.twin && round == 2 && !c.mayTrace() { // an act after it would find other lines
				x.writeHidden(c)
			}
			x.keepAll(c, a.name)
			x.tick()
		}
		x.lookAtAll(4)
	}
	x.lookAtExports("markdown", "table", "site", "memory")
	return x
}

// writeHidden writes in the hidden part of a card, and in a hidden card, which no player may learn.
func (x *weave) writeHidden(c *planted) {
	if got := x.card(c); got != nil && strings.Contains(got.Content, c.a.word) {
		own := *c // the form in which the text is stored: a conversion would change the open text
		if own.mark.form = inMarkdown; got.Format == "html" {
			own.mark.form = inHTML
		}
		_ = x.swap("gm", &own, func(text string) string {
			return strings.Replace(text, x.secretOf(c.a.word), "there "+x.secretOf(c.a.word), 1)
		})
	}
	_ = x.rest("gm", "POST", "/api/mcp/cards", fields{"name": fmt.Sprintf("Secret of %s %d", c.name, len(c.acts)),
		"level":   "gm",
		"content": "quay road softly [[Case 1]] [[" + c.name + "]]"}, nil)
}

// deck deals the items of a list in a random order, again and again.
type deck[T any] struct {
	rng  *rand.Rand
	list []T
	at   int
}

func newDeck[T any](rng *rand.Rand, list []T) *deck[T] {
	return &deck[T]{rng: rng, list: slices.Clone(list)}
}

func (d *deck[T]) draw() T {
	if d.at%len(d.list) == 0 {
		d.rng.Shuffle(len(d.list), func(i, j int) { d.list[i], d.list[j] = d.list[j], d.list[i] })
	}
	d.at++
	return d.list[(d.at-1)%len(d.list)]
}

// lookAtAll looks at all cards and the world.
func (x *weave) lookAtAll(share int) {
	x.t.Helper()
	for i, c := range x.cases {
		x.lookAt(c, weaveReaders[i%len(weaveReaders)], share)
	}
	for _, who := range weaveReaders {
		x.lookAround(who)
	}
}

// report fails the test for each leak.
func (x *weave) report() {
	x.t.Helper()
	x.logActs()
	for key, example := range x.found {
		x.t.Errorf("%s\n%s", key, clip(example, 1200))
	}
	x.t.Logf("%d cases, %d words, %d leaks", len(x.cases), x.free, len(x.found))
}

// logActs logs the acts that were refused at times.
func (x *weave) logActs() {
	x.t.Helper()
	for _, what := range slices.Sorted(maps.Keys(x.refused)) {
		x.t.Logf("refused %d times, done %d times: %s", x.refused[what], x.done[what], what)
	}
}

// mayTrace reports whether a hidden edit of a case may show to players today, by a known gap.
func (c *planted) mayTrace() bool {
	return strings.HasPrefix(c.way.name, "a text that becomes") || slices.ContainsFunc(c.acts, func(act string) bool {
		return act == "the other format and back" || strings.HasPrefix(act, "player") ||
			act == revealsAll || act == movesWords
	})
}

// fits reports whether an act can be made of a case: by a known gap, words that move in HTML or out of the middle
// of a line take others with them; text beside a sentence that was hidden alone is open.
func (c *planted) fits(act string) bool {
	switch act {
	case movesWords:
		return c.mark.form != inHTML && c.mark.kind != "brackets nested"
	case writesLine:
		return !slices.Contains(c.acts, revealsAll)
	}
	return true
}
