package player

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// Phrase returns a line for the reader of a table at a cue, chosen by seed and state, that makes the
// cue's claim: first a line of its persona that nobody has said in this game, with any words in its
// placeholders; then one of the shared lines; then, when all are used up, one that only the reader
// has said, on another day. "" if no line is left: no two players say the same.
func Phrase(seed uint64, t *view.Table, cue Cue) string {
	p, before := personaOf(t)
	own, others := p.linesFor(t, cue), shared.linesFor(t, cue)
	if len(own) == 0 {
		return ""
	}
	first := mix(seed, uint64(cue.Number)) + uint64(before*(len(own)/3+1)) // readers with the same persona differ
	said := saidIn(t, t.ChatLog)
	for _, pool := range [][]string{own, others} {
		if line, ok := pickLine(pool, first, said); ok {
			return fillLine(line, t, cue.Claim)
		}
	}
	line, _ := pickLine(slices.Concat(own, others), first,
		saidIn(t, slices.DeleteFunc(slices.Clone(t.ChatLog), func(m view.Message) bool {
			return m.Player != nil && *m.Player == t.You && m.Day != t.Day
		})))
	return fillLine(line, t, cue.Claim)
}

// linesFor returns a persona's lines for a cue.
func (p *persona) linesFor(t *view.Table, cue Cue) []string {
	switch c := cue.Claim; {
	case c.Kind == Accuse:
		return joinParts(p.charges, proofs[c.Basis])
	case len(cores[c.Kind]) > 0:
		return joinParts(p.openers, cores[c.Kind])
	case c.Kind == Deny && rule.Phase(t.Phase) == rule.Trial:
		return p.defences
	case c.Kind == Deny:
		return p.denials
	case cue.Answer:
		return p.replies
	}
	return p.remarks
}

// joinParts returns all lines of a first and a second part, so that neighbours differ in both. The
// numbers of first and second parts have no common divisor.
func joinParts(first, second []string) []string {
	lines := make([]string, len(first)*len(second))
	for i := range lines {
		lines[i] = first[i%len(first)] + " " + second[i%len(second)]
	}
	return lines
}

// Answer returns the reader's answer to the question of the day. All answer at the same time, so
// the lines are distributed by seat and day, in an order that differs between games.
func Answer(t *view.Table, c Claim) string {
	pool := pulseAnswers
	if c.About != 0 {
		pool = pulseNames
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.GameID))
	n := uint64(len(pool))
	seat, _ := rule.ParseSeat(t.You)
	turn := uint64(max(t.Day-1, 0)*len(t.Players)) + uint64(seat)
	return fillLine(pool[(h.Sum64()%n+turn*answerStep)%n], t, c)
}

// answerStep visits all answers before it repeats one: it has no divisor in common with their
// numbers.
const answerStep = 17

// pickLine returns the first line of a pool that has not been said, beginning at from and wrapping
// around.
func pickLine(pool []string, from uint64, said map[string]bool) (string, bool) {
	for i := range pool {
		if line := pool[(from+uint64(i))%uint64(len(pool))]; !said[placeholders.Replace(line)] {
			return line, true
		}
	}
	return "", false
}

const blank = "_"

var placeholders = strings.NewReplacer("{other}", blank, "{third}", blank, "{tokens}", blank)

// saidIn returns the messages of a log, with blanks in place of names and numbers.
func saidIn(t *view.Table, log []view.Message) map[string]bool {
	var names []string
	for s := rule.Seat(1); int(s) <= len(t.Players); s++ {
		if name := t.Players[s.String()].Name; name != "" {
			names = append(names, name, blank)
		}
	}
	blanks, said := strings.NewReplacer(names...), make(map[string]bool, len(log))
	for _, m := range log {
		said[blankNumbers(blanks.Replace(m.Text))] = true
	}
	return said
}

func blankNumbers(text string) string {
	var b strings.Builder
	inside := false
	for _, r := range text {
		digit := '0' <= r && r <= '9'
		switch {
		case !digit:
			b.WriteRune(r)
		case !inside:
			b.WriteString(blank)
		}
		inside = digit
	}
	return b.String()
}

// fillLine replaces a line's placeholders.
func fillLine(line string, t *view.Table, c Claim) string {
	about := t.Players[c.About.String()]
	return strings.NewReplacer("{other}", about.Name, "{third}", t.Players[c.Third.String()].Name,
		"{tokens}", strconv.Itoa(about.Tokens)).Replace(line)
}
