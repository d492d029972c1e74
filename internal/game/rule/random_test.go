package rule_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// wild is a game whose players send random commands, legal or not.
type wild struct {
	r      *rand.Rand
	state  rule.State
	events []rule.Event
	now    rule.Millis
	check  func(before, after *rule.State, events []rule.Event, err error)
}

func newWild(seed uint64, check func(before, after *rule.State, events []rule.Event, err error)) *wild {
	w := &wild{r: rand.New(rand.NewPCG(seed, 1)), now: 1000, check: check}
	w.do(rule.Create{ID: "g-" + strconv.FormatUint(seed, 10), Seed: sha256.Sum256([]byte{byte(seed), byte(seed >> 8)})})
	for i := range 6 + w.r.IntN(5) {
		w.do(rule.Join{Name: "N" + strconv.Itoa(i), Played: rule.ByPerson})
	}
	left := rule.Seat(1 + w.r.IntN(6))
	w.do(rule.Vacate{Seat: left})
	w.do(rule.Join{Name: "Late", Played: rule.ByPerson, Subject: "late"})
	w.do(rule.Open{Seat: left, Owner: "one", Recovery: "code"})
	return w
}

func (w *wild) do(c rule.Command) {
	before := w.state
	after, events, err := rule.Step(before, c, w.now, before.Dice())
	w.state, w.events = after, append(w.events, events...)
	if w.check != nil {
		w.check(&before, &after, events, err)
	}
}

// play continues to the end of the game.
func (w *wild) play() {
	w.do(rule.Start{})
	for w.state.Public.Phase != rule.Over {
		for range w.r.IntN(30) {
			w.do(w.any())
		}
		w.now = w.state.Public.Ends + rule.Millis(w.r.IntN(3)) - 1
		w.do(rule.Tick{})
	}
}

func (w *wild) seat() rule.Seat { return rule.Seat(1 + w.r.IntN(w.state.Public.Seated)) }

// any returns a random player's command: often a legal one, sometimes an arbitrary one.
func (w *wild) any() rule.Command {
	s := w.seat()
	choices := []rule.Choice{rule.Yes, rule.No, "", rule.Choice(w.seat().String()), rule.Choice(w.seat().String())}
	acts := []string{rule.Mine, rule.Mine, rule.Project, rule.Project, rule.Bargain, "audit", "nonsense", ""}
	a := rule.Action{Do: acts[w.r.IntN(len(acts))], Target: w.seat()}
	if a.Do == rule.Project || a.Do == rule.Bargain {
		a.Target = 0
	}
	if w.state.Public.Phase == rule.Night {
		if options := w.state.Options(s); w.state.Public.Alive(s) && w.r.IntN(2) == 0 && len(options) > 0 {
			a = w.option(options[w.r.IntN(len(options))])
		}
	}
	all := []rule.Command{
		rule.Chat{From: s, Text: "m" + strconv.Itoa(w.r.IntN(1000)), To: rule.Seat(w.r.IntN(3))},
		rule.Chat{From: s, Channel: rule.ToOne, To: w.seat(), Text: "w"},
		rule.Chat{From: s, Channel: rule.ToAligned, Text: "a"},
		rule.CastVote{Seat: s, Choice: choices[w.r.IntN(len(choices))]}, rule.CastVote{Seat: s, Choice: choices[3]},
		rule.GiveAction{Seat: s, Action: a}, rule.GiveAction{Seat: s, Action: a},
		rule.GiveConversion{Seat: s, Target: w.seat()},
		rule.AnswerPulse{Seat: s, Text: "p"}, rule.SetStatus{Seat: s, Text: "s" + strconv.Itoa(w.r.IntN(3))},
		rule.TakeLeave{Seat: s, Do: []string{"handoff", "feedback", "burn"}[w.r.IntN(3)], Target: w.seat(), Text: "f",
			Status: "bye"},
		rule.Open{Seat: s, Owner: "o" + strconv.Itoa(w.r.IntN(9)), Was: w.state.Secret.Seats.Of(s).Owner},
		rule.Vacate{Seat: w.seat()},
		rule.Tick{}, rule.Remove{Seat: w.seat()},
	}
	return all[w.r.IntN(len(all)-w.r.IntN(2))]
}

func (w *wild) option(o rule.Option) rule.Action {
	a := rule.Action{Do: o.Action}
	if len(o.Target) > 0 {
		a.Target = o.Target[w.r.IntN(len(o.Target))]
	}
	if o.Both {
		a.Second = o.Second[w.r.IntN(len(o.Second))]
	}
	if len(o.Picks) > 0 {
		a.Pick = o.Picks[w.r.IntN(len(o.Picks))]
	}
	return a
}

func table(t *testing.T, s *rule.State) []byte { return mustJSON(t, view.TableOf(s.ID, &s.Public, 1)) }

func TestRandomGamesBreakNoRule(t *testing.T) {
	for seed := range uint64(60) {
		w := newWild(seed, func(before, after *rule.State, events []rule.Event, err error) {
			if err != nil && len(events) > 0 {
				t.Fatal("a refused command did something")
			}
			if err := rule.Check(before, after, events); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		})
		w.play()
	}
}

// TestOpenAndSealed: an open event changes the table that a seat reads, and a sealed one does not.
func TestOpenAndSealed(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(25) {
		w := newWild(seed, nil)
		w.play()
		var s rule.State
		for _, e := range w.events {
			before := table(t, &s)
			s = rule.Apply(s, e)
			after := table(t, &s)
			seen[fmt.Sprintf("%T", e)]++
			if rule.IsOpen(e) && bytes.Equal(withoutVersion(before), withoutVersion(after)) {
				t.Fatalf("%T is open and changes nothing: %s", e, after)
			}
			if !rule.IsOpen(e) && !isCreated(e) && !bytes.Equal(before, after) {
				t.Fatalf("%T is sealed and shows: %s\n%s", e, before, after)
			}
		}
	}
	if len(seen) < 28 {
		t.Errorf("random games have only %d kinds of event: %v", len(seen), seen)
	}
}

func isCreated(e rule.Event) bool {
	_, ok := e.(*rule.Created)
	return ok
}

func withoutVersion(b []byte) []byte {
	_, rest, _ := bytes.Cut(b, []byte(`"your_player_id"`))
	return rest
}

// TestSecretsDoNotShow: two games with the same open events give the same bytes, even if their
// sealed events differ.
func TestSecretsDoNotShow(t *testing.T) {
	w, other := newWild(3, nil), newWild(4, nil)
	w.play()
	other.play()
	var sealed []rule.Event
	for _, e := range other.events {
		if !rule.IsOpen(e) && !isCreated(e) {
			sealed = append(sealed, e)
		}
	}
	var a, b rule.State
	for i, e := range w.events {
		a = rule.Apply(a, e)
		if rule.IsOpen(e) || isCreated(e) {
			b = rule.Apply(b, e)
		}
		b = rule.Apply(b, sealed[i%len(sealed)])
		if x, y := table(t, &a), table(t, &b); !bytes.Equal(x, y) {
			t.Fatalf("after %T:\n%s\n%s", e, x, y)
		}
	}
}

// TestStoredGamesContinue: a game can be stored at any time and continued.
func TestStoredGamesContinue(t *testing.T) {
	w := newWild(5, nil)
	w.play()
	whole := mustJSON(t, rule.Fold(w.events))
	if !bytes.Equal(whole, mustJSON(t, w.state)) {
		t.Fatal("the fold of the events is not the state that they came from")
	}
	for at := 0; at < len(w.events); at += 37 {
		var s rule.State
		if err := json.Unmarshal(mustJSON(t, rule.Fold(w.events[:at])), &s); err != nil {
			t.Fatal(err)
		}
		for _, e := range w.events[at:] {
			name, payload, err := rule.Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			if e, err = rule.Decode(name, payload); err != nil {
				t.Fatal(err)
			}
			s = rule.Apply(s, e)
		}
		if !bytes.Equal(whole, mustJSON(t, s)) {
			t.Fatalf("a snapshot after %d events goes on otherwise", at)
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAStateIsAValue: deriving a new state leaves the old one unchanged.
func TestAStateIsAValue(t *testing.T) {
	w := newWild(6, nil)
	w.do(rule.Start{})
	for range 300 {
		before := mustJSON(t, w.state)
		kept := w.state
		w.do(rule.Chat{From: 1, Text: "one"})
		w.do(w.any())
		_, _, _ = rule.Step(kept, rule.Chat{From: 2, Text: "other"}, w.now, kept.Dice())
		if !bytes.Equal(before, mustJSON(t, kept)) {
			t.Fatal("a state changed under who kept it")
		}
		if w.r.IntN(10) == 0 {
			w.do(rule.Advance{})
		}
	}
}

func FuzzDecode(f *testing.F) {
	w := newWild(7, nil)
	w.play()
	for _, e := range w.events[:min(len(w.events), 200)] {
		name, payload, _ := rule.Encode(e)
		f.Add(name, payload)
	}
	f.Fuzz(func(_ *testing.T, name string, payload []byte) {
		_, _ = rule.Decode(name, payload)
	})
}

func BenchmarkStep(b *testing.B) {
	w := newWild(8, nil)
	w.do(rule.Start{})
	for w.state.Public.Phase != rule.Discussion {
		w.do(rule.Advance{})
	}
	for i := range 400 { // as many messages as a long game has
		w.state = rule.Apply(w.state, &rule.Said{From: rule.Seat(1 + i%6),
			Text: "A message as long as people write in a chat, more or less.", At: 5})
	}
	start := w.state
	b.ReportAllocs()
	n := 0
	s := start
	for b.Loop() {
		if n++; n%50 == 0 {
			s = start
		}
		next, _, err := rule.Step(s, rule.Chat{From: rule.Seat(1 + n%6), Text: "I do not trust anybody here."}, 1001,
			s.Dice())
		if err != nil {
			b.Fatal(err)
		}
		s = next
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commands/s")
}

func BenchmarkGame(b *testing.B) {
	commands := 0
	for i := 0; b.Loop(); i++ {
		w := newWild(uint64(i%20), func(_, _ *rule.State, _ []rule.Event, _ error) { commands++ })
		w.play()
	}
	b.ReportMetric(float64(commands)/b.Elapsed().Seconds(), "commands/s")
}
