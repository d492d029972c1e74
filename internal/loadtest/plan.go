package loadtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
)

// groupSize is how many cards lie below one, and are written at once.
const groupSize = 100

// plan is what follows from a seed: the cards, and each client's calls.
type plan struct {
	seed  uint64
	root  string // below which all is written
	cards int
	prose *Prose
	kinds []Kind // one for each unit of weight, at most some hundreds
}

func newPlan(seed uint64, cards int, mix map[Kind]int) (*plan, error) {
	p := &plan{seed: seed, root: rootOf(seed), cards: cards, prose: NewProse(seed)}
	sum := 0
	for _, n := range mix {
		sum += n
	}
	for _, k := range []Kind{Read, Search, Write, Propose} {
		for range (mix[k]*1000 + sum/2) / sum {
			p.kinds = append(p.kinds, k)
		}
	}
	if len(p.kinds) == 0 {
		return nil, fmt.Errorf("mix: nothing has a weight")
	}
	return p, nil
}

func rootOf(seed uint64) string { return fmt.Sprintf("Load %d", seed) }

func groupOf(root string, i int) string { return fmt.Sprintf("%s+Part %d", root, i/groupSize) }

// CardName is the name of the ith card that a run with a seed writes. Its second part is a
// word of the texts, with the number.
func (p *Prose) CardName(seed uint64, i int) string { return p.cardBelow(rootOf(seed), i) }

func (p *Prose) cardBelow(root string, i int) string {
	return fmt.Sprintf("%s+%s %d", groupOf(root, i), p.Words[i*7919%len(p.Words)], i)
}

func (p *plan) group(i int) string { return groupOf(p.root, i) }

func (p *plan) card(i int) string { return p.prose.cardBelow(p.root, i) }

func (p *plan) watched(i int) string { return fmt.Sprintf("%s+Watched %d", p.root, i) }

// text is what the ith card holds at first.
func (p *plan) text(i int) string { return p.prose.Fork(p.seed<<32 + uint64(i)).Text(1000) }

// call is one request that a client is to make.
type call struct {
	kind   Kind
	method string
	path   string
	body   []byte
	key    string // of idempotency; "" where asking twice does no harm
}

func (c call) changes() bool { return c.key != "" }

// script is one client's calls, each from the seed and those before.
type script struct {
	p     *plan
	run   string // tells this run's keys from another's
	rnd   *rand.Rand
	prose *Prose
	me, n int
}

func (p *plan) script(me int, run string) *script {
	return &script{p: p, run: run, me: me, rnd: rand.New(rand.NewPCG(p.seed, uint64(me))), prose: p.prose.Fork(p.seed ^ uint64(me+1)<<20)}
}

func (s *script) next() call {
	s.n++
	switch kind := s.p.kinds[s.rnd.IntN(len(s.p.kinds))]; kind {
	case Search:
		return s.search()
	case Write:
		return s.write()
	case Propose:
		return s.propose()
	}
	return call{kind: Read, method: http.MethodGet, path: cardPath(s.p.card(s.rnd.IntN(s.p.cards)))}
}

func cardPath(name string) string { return "/api/mcp/cards/" + url.PathEscape(name) }

// search asks for one or two words of the texts, whole or as parts of words.
func (s *script) search() call {
	words, mode := s.prose.Word(), "whole_word"
	if s.rnd.IntN(2) == 0 {
		words += "%20" + s.prose.Word()
	}
	if s.rnd.IntN(4) == 0 {
		mode = "substring"
	}
	return call{kind: Search, method: http.MethodGet, path: "/api/mcp/cards?search_in=content&limit=20&match_mode=" + mode + "&q=" + words}
}

// key names a write, once and for all times it is asked for.
func (s *script) key() string { return fmt.Sprintf("%s-%d-%d", s.run, s.me, s.n) }

// write changes one card of four, and makes three.
func (s *script) write() call {
	text := s.prose.Text(1000)
	if s.rnd.IntN(4) == 0 {
		return update(s.p.card(s.rnd.IntN(s.p.cards)), text, s.key())
	}
	name := fmt.Sprintf("%s+New %s", s.p.group(s.rnd.IntN(s.p.cards)), s.key())
	return call{kind: Write, method: http.MethodPost, path: "/api/mcp/cards", key: s.key(), body: mustJSON(map[string]any{"name": name, "content": text})}
}

func update(name, text, key string) call {
	return call{kind: Write, method: http.MethodPatch, path: cardPath(name), key: key, body: mustJSON(map[string]any{"content": text})}
}

// propose asks a person for a change that waits.
func (s *script) propose() call {
	change := map[string]any{"name": "update_card", "arguments": map[string]any{"name": s.p.card(s.rnd.IntN(s.p.cards)), "content": s.prose.Text(200)}}
	return call{kind: Propose, method: http.MethodPost, path: "/api/proposals/canon-change", key: s.key(),
		body: mustJSON(map[string]any{"op": change, "reason": "Load.", "idempotencyKey": s.key()})}
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of texts
	}
	return b
}
