package loadtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
)

// groupSize is the number of cards below one group card; they are written at once.
const groupSize = 100

// plan has all that follows from a seed: the cards, and each client's calls.
type plan struct {
	seed  uint64
	root  string // the card below which everything is written
	cards int
	prose *Prose
	kinds []Kind // in proportion to the weights, about 1,000
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

// CardName returns the name of the ith card that a run with a seed writes. Its second part is a
// word of the texts, with the number.
func (p *Prose) CardName(seed uint64, i int) string { return p.cardBelow(rootOf(seed), i) }

func (p *Prose) cardBelow(root string, i int) string {
	return fmt.Sprintf("%s+%s %d", groupOf(root, i), p.Words[i*7919%len(p.Words)], i)
}

func (p *plan) groupName(i int) string { return groupOf(p.root, i) }

func (p *plan) cardName(i int) string { return p.prose.cardBelow(p.root, i) }

func (p *plan) watchedName(i int) string { return fmt.Sprintf("%s+Watched %d", p.root, i) }

// cardText returns the first content of the ith card.
func (p *plan) cardText(i int) string { return p.prose.Fork(p.seed<<32 + uint64(i)).Text(1000) }

// call is one request of a client.
type call struct {
	kind   Kind
	method string
	path   string
	body   []byte
	key    string // idempotency key; "" for calls that may be repeated without harm
}

func (c call) isWrite() bool { return c.key != "" }

// script generates one client's calls, each from the seed and those before.
type script struct {
	p     *plan
	run   string // distinguishes the keys of this run from those of others
	rnd   *rand.Rand
	prose *Prose
	me, n int
}

func (p *plan) newScript(me int, run string) *script {
	return &script{p: p, run: run, me: me, rnd: rand.New(rand.NewPCG(p.seed, uint64(me))),
		prose: p.prose.Fork(p.seed ^ uint64(me+1)<<20)}
}

func (s *script) next() call {
	s.n++
	switch kind := s.p.kinds[s.rnd.IntN(len(s.p.kinds))]; kind {
	case Search:
		return s.searchCall()
	case Write:
		return s.writeCall()
	case Propose:
		return s.proposeCall()
	}
	return call{kind: Read, method: http.MethodGet, path: cardPath(s.p.cardName(s.rnd.IntN(s.p.cards)))}
}

func cardPath(name string) string { return "/api/mcp/cards/" + url.PathEscape(name) }

// searchCall searches for one or two words of the texts, as whole words or substrings.
func (s *script) searchCall() call {
	words, mode := s.prose.Word(), "whole_word"
	if s.rnd.IntN(2) == 0 {
		words += "%20" + s.prose.Word()
	}
	if s.rnd.IntN(4) == 0 {
		mode = "substring"
	}
	return call{kind: Search, method: http.MethodGet, path: "/api/mcp/cards?search_in=content&limit=20&match_mode=" +
		mode + "&q=" + words}
}

// writeKey returns the idempotency key of the current write, the same for each try.
func (s *script) writeKey() string { return fmt.Sprintf("%s-%d-%d", s.run, s.me, s.n) }

// writeCall updates a card in one of four calls, and creates one in the others.
func (s *script) writeCall() call {
	text := s.prose.Text(1000)
	if s.rnd.IntN(4) == 0 {
		return updateCall(s.p.cardName(s.rnd.IntN(s.p.cards)), text, s.writeKey())
	}
	name := fmt.Sprintf("%s+New %s", s.p.groupName(s.rnd.IntN(s.p.cards)), s.writeKey())
	return call{kind: Write, method: http.MethodPost, path: "/api/mcp/cards", key: s.writeKey(),
		body: mustJSON(map[string]any{"name": name, "content": text})}
}

func updateCall(name, text, key string) call {
	return call{kind: Write, method: http.MethodPatch, path: cardPath(name), key: key,
		body: mustJSON(map[string]any{"content": text})}
}

// proposeCall proposes a change that waits for a person's decision.
func (s *script) proposeCall() call {
	change := map[string]any{"name": "update_card",
		"arguments": map[string]any{"name": s.p.cardName(s.rnd.IntN(s.p.cards)), "content": s.prose.Text(200)}}
	return call{kind: Propose, method: http.MethodPost, path: "/api/proposals/canon-change", key: s.writeKey(),
		body: mustJSON(map[string]any{"op": change, "reason": "Load.", "idempotencyKey": s.writeKey()})}
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings always encode
	}
	return b
}
