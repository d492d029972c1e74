package prooftest

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/op"
	"loregate/internal/raceenabled"
)

// TestKeptAnswersAreThoseOfNow lets two processes change a world at random, through every
// operation that writes, and asks both the same questions over and over: each answer is the
// one that a third process gives, which keeps nothing.
func TestKeptAnswersAreThoseOfNow(t *testing.T) { onEachStore(t, testKeptAnswers) }

func testKeptAnswers(t *testing.T, on string) {
	t.Parallel()
	if raceenabled.Detected && !long() {
		t.Skip("only without the race detector, as make test does too, or with PROOF_ROUNDS")
	}
	s := &story{stage: newStage(t, on), mint: newMint(11), whole: true, who: keeper, ids: map[string]string{}}
	s.tell()
	k := &keeping{story: s, chance: newChance(23, s.known), apps: []*app.App{s.app, s.another(false)}, fresh: s.another(true), changed: map[string]int{}}
	k.asked = k.atHome()
	k.near = len(k.asked)
	for _, o := range s.app.Ops.All() {
		switch {
		case o.Kept:
			k.asked = append(k.asked, k.questions(o)...)
		case o.Writes() && !o.NoWorld && !o.Operator:
			k.writes = append(k.writes, o)
		}
	}
	for range rounds(60) {
		k.write()
		k.src.pass(time.Duration(k.chance.IntN(40)) * time.Hour) // which no kept answer may tell of
		for range 40 {
			k.compare(pick(k.chance, k.asked[:k.near]))
		}
		for range 15 {
			k.compare(pick(k.chance, k.asked[k.near:]))
		}
		if t.Failed() {
			return
		}
	}
	hits, asked := k.apps[0].Ops.KeptHits()
	t.Logf("changes: %v; %d of %d answers of the first process were kept ones", k.changed, hits, asked)
	if len(k.changed) < 5 || hits < asked/5 {
		t.Error("too little was changed, or kept")
	}
}

// keeping is a story that several processes tell.
type keeping struct {
	*story
	chance  *chance
	apps    []*app.App
	fresh   *app.App // keeps nothing
	writes  []*op.Operation
	asked   []question
	near    int            // of them, those about the cards that change most
	changed map[string]int // by operation
}

// question is a call of an operation whose answers are kept.
type question struct {
	by    access.Caller
	of    *op.Operation
	input []byte
}

// another opens the stage's store once more, as another process would.
func (s *stage) another(fresh bool) *app.App {
	s.t.Helper()
	o := s.options
	o.Fresh = fresh
	a, err := app.Open(s.t.Context(), s.app.Config, o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { a.Close(s.t.Context()) })
	return a
}

// atHome are questions about the cards that are changed most.
func (k *keeping) atHome() (list []question) {
	for _, name := range homes {
		for _, in := range []map[string]any{{"name": name}, {"name": name, "with_children": true}} {
			list = append(list, k.byAll("get_card", in)...)
		}
		list = append(list, k.byAll("list_children", map[string]any{"name": name})...)
	}
	return list
}

// byAll is a question that everybody asks.
func (k *keeping) byAll(operation string, input map[string]any) (list []question) {
	o, _ := k.fresh.Ops.Find(operation)
	b, err := json.Marshal(input)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, who := range []string{"user", "alice", "gm", "admin"} {
		list = append(list, question{author(who, people[who].role), o, b})
	}
	return list
}

// questions are calls of an operation by everybody, with inputs of which some are good.
func (k *keeping) questions(o *op.Operation) (list []question) {
	for i := range 24 {
		input := k.chance.input(o)
		switch {
		case o.Target == "name" && i%2 == 0:
			input = map[string]any{"name": pick(k.chance, homes)}
		case i%4 == 1 && len(good[o.Name]) > 0:
			input = k.inputs(pick(k.chance, good[o.Name]))
		}
		list = append(list, k.byAll(o.Name, input)...)
	}
	return list
}

// homes are names that are written and asked for often, so that what lies below a card comes,
// goes, and is taken in.
var homes = []string{"Alder", "Alder+Door", "Alder+Door+Key", "Alder+GM", "Alder+GM+Plan", "Birch", "Birch+Door", "Birch+tags", "Cedar", "Cedar+Door+Key"}

// change draws a call that changes a card.
func (k *keeping) change() (operation string, input map[string]any) {
	name := pick(k.chance, homes)
	switch k.chance.IntN(10) {
	case 0, 1, 2:
		return "create_card", map[string]any{"name": name, "content": k.chance.text(), "type": pick(k.chance, []string{"RichText", "Lore", "Pointer"})}
	case 3, 4:
		return "update_card", map[string]any{"name": name, "content": k.chance.text()}
	case 5:
		return "update_card", map[string]any{"name": name, "fields": map[string]any{"aliases": []string{k.chance.word()}, "rank": k.chance.IntN(9)}}
	case 6:
		return "rename_card", map[string]any{"name": name, "new_name": pick(k.chance, homes)}
	case 7:
		return "set_card_level", map[string]any{"name": name, "level": pick(k.chance, []string{"user", "gm", "admin"})}
	case 8:
		return "delete_card", map[string]any{"name": name, "confirm": name}
	}
	return "restore_card", map[string]any{"name": name}
}

// write makes a call that may change something, in one of the processes: to a card, or any
// that there is, with an input that is good or made of chance.
func (k *keeping) write() {
	operation, input := k.change()
	if k.chance.in(3) {
		o := pick(k.chance, k.writes)
		operation, input = o.Name, k.chance.input(o)
		if all := good[o.Name]; len(all) > 0 && k.chance.in(2) {
			input = k.inputs(pick(k.chance, all))
		}
	}
	b, err := json.Marshal(input)
	if err != nil {
		k.t.Fatal(err)
	}
	o, _ := k.fresh.Ops.Find(operation)
	if _, err := pick(k.chance, k.apps).Ops.Invoke(k.t.Context(), pick(k.chance, []access.Caller{keeper, keeper, player, author("gm", access.RoleGM)}), k.request(o, b)); err == nil {
		k.changed[operation]++
	}
}

func (k *keeping) request(o *op.Operation, input []byte) op.Request {
	return op.Request{Operation: o.Name, Input: input, World: k.world.String(), Transport: "rest"}
}

// compare asks all processes.
func (k *keeping) compare(q question) {
	k.t.Helper()
	want := shown(k.fresh.Ops.Invoke(k.t.Context(), q.by, k.request(q.of, q.input)))
	for i, a := range k.apps {
		for range 2 { // the second is kept, if anything is
			if got := shown(a.Ops.Invoke(k.t.Context(), q.by, k.request(q.of, q.input))); got != want {
				k.t.Errorf("process %d after %v, %s %s of %s\ngot  %s\nwant %s", i, k.changed, q.of.Name, q.input, q.by.Subject, got, want)
				return
			}
		}
	}
}

// shown is all that an answer says.
func shown(a *op.Answer, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(bytes.Join([][]byte{a.Output, a.Older, []byte(a.Reply.ETag), []byte(a.Reply.Note)}, []byte("\n")))
}
