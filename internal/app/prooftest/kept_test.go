package prooftest

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/op"
)

// TestKeptAnswersAreThoseOfNow lets two processes change a world at random, through every
// writing operation, and makes the same calls to both again and again. Each answer must equal
// that of a third process, which caches no answers.
func TestKeptAnswersAreThoseOfNow(t *testing.T) { onEachStore(t, testKeptAnswers) }

func testKeptAnswers(t *testing.T, on string) {
	t.Parallel()
	skipWithRace(t)
	s := &story{stage: newStage(t, on), mint: newMint(11), whole: true, who: keeper, ids: map[string]string{}}
	s.tellAll()
	k := &keptProof{story: s, chance: newInputGen(23, s.known), apps: []*app.App{s.app, s.openAgain(false)},
		fresh: s.openAgain(true), changed: map[string]int{}}
	k.asked = k.hotQuestions()
	k.near = len(k.asked)
	for _, o := range s.app.Ops.All() {
		switch {
		case o.Cacheable:
			k.asked = append(k.asked, k.questions(o)...)
		case o.Writes() && !o.NoWorld && !o.Operator:
			k.writes = append(k.writes, o)
		}
	}
	most, kinds, share := 60, 5, 5
	if on != "embedded" {
		most, kinds, share = 30, 3, 8
	}
	for range rounds(most) {
		k.makeChange()
		k.src.advance(time.Duration(k.chance.IntN(40)) * time.Hour) // no cached answer may depend on the time
		for range 40 {
			k.compareProcesses(pick(k.chance, k.asked[:k.near]))
		}
		for range 15 {
			k.compareProcesses(pick(k.chance, k.asked[k.near:]))
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("changes: %v; %d of %d repeated calls got a cached answer", k.changed, k.cached, k.repeated)
	if len(k.changed) < kinds || k.cached < k.repeated/share {
		t.Error("too little was changed, or kept")
	}
}

// keptProof is a story that several processes serve.
type keptProof struct {
	*story
	chance  *inputGen
	apps    []*app.App
	fresh   *app.App // caches no answers
	writes  []*op.Operation
	asked   []question
	near    int            // the first of asked, which are about the most changed cards
	changed map[string]int // number of changes by operation

	repeated, cached int // number of calls that were made again at once, and of those with a cached answer
}

// question is a call of an operation whose answers are cached.
type question struct {
	by    access.Caller
	of    *op.Operation
	input []byte
}

// openAgain opens the stage's store once more, as another process would.
func (s *stage) openAgain(fresh bool) *app.App {
	s.t.Helper()
	return s.openWith(s.app.Config, fresh)
}

// openWith opens the product with another configuration.
func (s *stage) openWith(c app.Config, fresh bool) *app.App {
	s.t.Helper()
	o := s.options
	o.NoAnswerCache = fresh
	a, err := app.Open(s.t.Context(), c, o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { a.Close(s.t.Context()) })
	return a
}

// hotQuestions returns questions about the cards that are changed most.
func (k *keptProof) hotQuestions() (list []question) {
	for _, name := range hotNames {
		for _, in := range []map[string]any{{"name": name}, {"name": name, "with_children": true}} {
			list = append(list, k.asEverybody("get_card", in)...)
		}
		list = append(list, k.asEverybody("list_children", map[string]any{"name": name})...)
	}
	return list
}

// asEverybody returns one call as each caller.
func (k *keptProof) asEverybody(operation string, input map[string]any) (list []question) {
	o, _ := k.fresh.Ops.Find(operation)
	b, err := json.Marshal(input)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, who := range []string{"user", "alice", "gm", "admin"} {
		list = append(list, question{newAuthor(who, people[who].role), o, b})
	}
	return list
}

// questions returns calls of an operation by everybody. Some of the inputs are good, the others
// random.
func (k *keptProof) questions(o *op.Operation) (list []question) {
	for i := range 24 {
		input := k.chance.randomInput(o)
		switch {
		case o.Target == "name" && i%2 == 0:
			input = map[string]any{"name": pick(k.chance, hotNames)}
		case i%4 == 1:
			input = k.inputs(pick(k.chance, k.goodInputs(o)))
		}
		list = append(list, k.asEverybody(o.Name, input)...)
	}
	return list
}

// hotNames are names that are written and read often, so that cards below a card are created,
// removed and included.
var hotNames = []string{"Alder", "Alder+Door", "Alder+Door+Key", "Alder+GM", "Alder+GM+Plan", "Birch", "Birch+Door",
	"Birch+tags", "Cedar", "Cedar+Door+Key"}

// randomChange draws a call that changes a card.
func (k *keptProof) randomChange() (operation string, input map[string]any) {
	name := pick(k.chance, hotNames)
	switch k.chance.IntN(10) {
	case 0, 1, 2:
		return "create_card", map[string]any{"name": name, "content": k.chance.randomText(),
			"type": pick(k.chance, []string{"RichText", "Lore", "Pointer"})}
	case 3, 4:
		return "update_card", map[string]any{"name": name, "content": k.chance.randomText()}
	case 5:
		return "update_card", map[string]any{"name": name,
			"fields": map[string]any{"aliases": []string{k.chance.randomWord()}, "rank": k.chance.IntN(9)}}
	case 6:
		return "rename_card", map[string]any{"name": name, "new_name": pick(k.chance, hotNames)}
	case 7:
		return "set_card_level", map[string]any{"name": name, "level": pick(k.chance, []string{"user", "gm", "admin"})}
	case 8:
		return "delete_card", map[string]any{"name": name, "confirm": name}
	}
	return "restore_card", map[string]any{"name": name}
}

// makeChange makes a call that may change something, in one of the processes: either to a card,
// or of any writing operation, with a good or a random input.
func (k *keptProof) makeChange() {
	operation, input := k.randomChange()
	if k.chance.oneIn(2) {
		o := pick(k.chance, k.writes)
		operation, input = o.Name, k.chance.randomInput(o)
		if k.chance.oneIn(2) {
			input = k.inputs(pick(k.chance, k.goodInputs(o)))
		}
	}
	b, err := json.Marshal(input)
	if err != nil {
		k.t.Fatal(err)
	}
	o, _ := k.fresh.Ops.Find(operation)
	if _, err := pick(k.chance, k.apps).Ops.Invoke(k.t.Context(),
		pick(k.chance, []access.Caller{keeper, keeper, player, newAuthor("gm", access.RoleGM)}),
		k.request(o, b)); err == nil {
		k.changed[operation]++
	}
}

// request returns a call of an operation in the world.
func (s *stage) request(o *op.Operation, input []byte) op.Request {
	return op.Request{Operation: o.Name, Input: input, World: s.world.String(), Transport: "rest"}
}

// compareProcesses makes a call to all processes.
func (k *keptProof) compareProcesses(q question) {
	k.t.Helper()
	want := answerText(k.fresh.Ops.Invoke(k.t.Context(), q.by, k.request(q.of, q.input)))
	for i, a := range k.apps {
		var answers [2]*op.Answer
		for n := range answers { // the second answer is from the cache, if it was cached
			var err error
			answers[n], err = a.Ops.Invoke(k.t.Context(), q.by, k.request(q.of, q.input))
			if got := answerText(answers[n], err); got != want {
				k.t.Errorf("process %d after %v, %s %s of %s\ngot  %s\nwant %s", i, k.changed, q.of.Name, q.input, q.by.Subject,
					got, want)
				return
			}
		}
		k.repeated++
		if shareOutput(answers[0], answers[1]) {
			k.cached++
		}
	}
}

// shareOutput reports whether two answers share the bytes of their output, as cached ones do.
func shareOutput(a, b *op.Answer) bool {
	return a != nil && b != nil && len(a.Output) > 0 && len(b.Output) > 0 && &a.Output[0] == &b.Output[0]
}

// answerText returns everything that an answer shows.
func answerText(a *op.Answer, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(bytes.Join([][]byte{a.Output, a.Older, []byte(a.Reply.ETag), []byte(a.Reply.Note)}, []byte("\n")))
}
