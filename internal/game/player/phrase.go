package player

import (
	"hash/fnv"
	"slices"
	"strings"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// Phrase returns a line for the reader of a table at a cue, chosen by seed and state: first a line
// of its persona that nobody has said in this game, with any words in its placeholders; then one of
// the shared lines; then, when all are used up, one that only the reader has said, on another day.
// "" if no line is left: no two players say the same.
func Phrase(seed uint64, t *view.Table, cue Cue) string {
	p, before := personaOf(t)
	own, shared := p.lines[cue.Reason], sharedLines[cue.Reason]
	if len(own) == 0 {
		return ""
	}
	x := mix(seed, uint64(cue.Number))
	first := x + uint64(before*(len(own)/3+1)) // readers with the same persona begin at different lines
	for _, pool := range [][]string{own, shared} {
		if line, ok := pickLine(pool, first, saidIn(t.ChatLog)); ok {
			return fillLine(line, x, t)
		}
	}
	line, _ := pickLine(slices.Concat(own, shared), first,
		saidIn(slices.DeleteFunc(slices.Clone(t.ChatLog), func(m view.Message) bool {
			return m.Player != nil && *m.Player == t.You && m.Day != t.Day
		})))
	return fillLine(line, x, t)
}

// Answer returns the reader's answer to the question of the day. All answer at the same time, so
// the lines are distributed by seat and day, in an order that differs between games.
func Answer(seed uint64, t *view.Table) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.GameID))
	n := uint64(len(pulseAnswers))
	seat, _ := rule.ParseSeat(t.You)
	turn := uint64(max(t.Day-1, 0)*len(t.Players)) + uint64(seat)
	return fillLine(pulseAnswers[(h.Sum64()%n+turn*answerStep)%n], mix(seed, uint64(PulseCue(t.Day))), t)
}

// answerStep visits all answers before it repeats one: it has no divisor in common with their
// number.
const answerStep = 17

// pickLine returns the first line of a pool that has not been said, beginning at from and wrapping
// around.
func pickLine(pool []string, from uint64, said func(line string) bool) (string, bool) {
	for i := range pool {
		if line := pool[(from+uint64(i))%uint64(len(pool))]; !said(line) {
			return line, true
		}
	}
	return "", false
}

// saidIn returns a predicate that reports whether a log contains a line, with any words in its
// placeholders.
func saidIn(log []view.Message) func(line string) bool {
	return func(line string) bool {
		head, tail := lineEnds(line)
		for _, m := range slices.Backward(log) {
			if len(m.Text) >= len(head)+len(tail) && strings.HasPrefix(m.Text, head) && strings.HasSuffix(m.Text, tail) {
				return true
			}
		}
		return false
	}
}

// lineEnds returns the text before the first and after the last placeholder of a line; for a line
// without placeholders, the line and "".
func lineEnds(line string) (head, tail string) {
	head, _, placed := strings.Cut(line, "{")
	if placed {
		tail = line[strings.LastIndexByte(line, '}')+1:]
	}
	return head, tail
}

// fillLine replaces a line's placeholders.
func fillLine(line string, x uint64, t *view.Table) string {
	if !strings.Contains(line, "{") {
		return line
	}
	crisis := "the crisis"
	if t.Crisis != nil && t.Crisis.Title != "" {
		crisis = strings.ToLower(t.Crisis.Title[:1]) + t.Crisis.Title[1:]
	}
	if strings.HasPrefix(line, "{crisis}") {
		crisis = strings.ToUpper(crisis[:1]) + crisis[1:]
	}
	return strings.NewReplacer("{other}", otherName(mix(x, 1), t), "{crisis}", crisis).Replace(line)
}

// otherName returns the name of another living player: in one of three cases the one with most
// votes and tokens, as people talk about the player everybody talks about, else any.
func otherName(x uint64, t *view.Table) string {
	var ids []string
	for s := rule.Seat(1); int(s) <= len(t.Players); s++ {
		if p := t.Players[s.String()]; p.Alive && p.ID != t.You {
			ids = append(ids, p.ID)
		}
	}
	if len(ids) == 0 {
		return "somebody"
	}
	weight := func(id string) int {
		w := t.Players[id].Tokens
		if t.Vote != nil {
			w += 2 * t.Vote.Totals[id]
		}
		return w
	}
	if x%3 == 0 {
		return t.Players[slices.MaxFunc(ids, func(a, b string) int { return weight(a) - weight(b) })].Name
	}
	return t.Players[ids[x/3%uint64(len(ids))]].Name
}
