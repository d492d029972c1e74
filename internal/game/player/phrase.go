package player

import (
	"hash/fnv"
	"slices"
	"strings"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// Phrase is what the reader of a table says at a cue, chosen by seed and state: a line of
// its persona that nobody has said in this game, in whatever words stand in its places;
// then one of those that all share; then, when all are used up, one that nobody but the
// reader has said, on another day. "" where there is none: no two players say the same.
func Phrase(seed uint64, t *view.Table, cue Cue) string {
	p, before := personaOf(t)
	own, shared := p.lines[cue.Reason], common[cue.Reason]
	if len(own) == 0 {
		return ""
	}
	x := mix(seed, uint64(cue.Number))
	first := x + uint64(before*(len(own)/3+1)) // readers of one persona begin apart
	for _, pool := range [][]string{own, shared} {
		if line, ok := pick(pool, first, saidIn(t.ChatLog)); ok {
			return fill(line, x, t)
		}
	}
	line, _ := pick(slices.Concat(own, shared), first, saidIn(slices.DeleteFunc(slices.Clone(t.ChatLog), func(m view.Message) bool {
		return m.Player != nil && *m.Player == t.You && m.Day != t.Day
	})))
	return fill(line, x, t)
}

// Answer is the answer of the reader of a table to the question of the day. All answer at
// once, so the lines are shared out by seat and day, in an order of the game's own.
func Answer(seed uint64, t *view.Table) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.GameID))
	n := uint64(len(answers))
	seat, _ := rule.ParseSeat(t.You)
	turn := uint64(max(t.Day-1, 0)*len(t.Players)) + uint64(seat)
	return fill(answers[(h.Sum64()%n+turn*answerStep)%n], mix(seed, uint64(PulseCue(t.Day))), t)
}

// answerStep goes through all answers before it comes back: it has no divisor in common
// with their number.
const answerStep = 17

// pick is the first line of a pool, from a place on and around, that has not been said.
func pick(pool []string, from uint64, said func(line string) bool) (string, bool) {
	for i := range pool {
		if line := pool[(from+uint64(i))%uint64(len(pool))]; !said(line) {
			return line, true
		}
	}
	return "", false
}

// saidIn reports of a line whether it stands in a log, whatever stands in its places.
func saidIn(log []view.Message) func(line string) bool {
	return func(line string) bool {
		head, tail := ends(line)
		for _, m := range slices.Backward(log) {
			if len(m.Text) >= len(head)+len(tail) && strings.HasPrefix(m.Text, head) && strings.HasSuffix(m.Text, tail) {
				return true
			}
		}
		return false
	}
}

// ends are what stands before the first and after the last place of a line; of one
// without, the line and nothing.
func ends(line string) (head, tail string) {
	head, _, placed := strings.Cut(line, "{")
	if placed {
		tail = line[strings.LastIndexByte(line, '}')+1:]
	}
	return head, tail
}

// fill puts words in a line's places.
func fill(line string, x uint64, t *view.Table) string {
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
	return strings.NewReplacer("{other}", other(mix(x, 1), t), "{crisis}", crisis).Replace(line)
}

// other is the name of another living player: one who already has votes or many tokens
// rather than any, as people talk of whom all talk of.
func other(x uint64, t *view.Table) string {
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
