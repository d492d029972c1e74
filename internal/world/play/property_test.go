package play_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/raceenabled"
	"loregate/internal/store/memory"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/world"
	"loregate/internal/world/command"
	"loregate/internal/world/play"
	"loregate/internal/world/worldtest"
)

// randomWorld returns a world of places, exits, things and players that is determined by a seed.
func randomWorld(t testing.TB, store canon.Store, seed uint64) (*worldtest.Scene, []worldtest.Player, *rand.Rand) {
	s := worldtest.Empty(t, store, func(c *worldtest.Setup) { c.Pace = play.Pace{Moves: -1, Looks: -1} })
	r := rand.New(rand.NewPCG(seed, 7))
	places := []string{"Quay"}
	s.Place("Quay", "<p>Stone by the water.</p>", `{"exitAvailability":{"pending":{"out":"Not yet."}}}`)
	for i := range 7 {
		places = append(places, fmt.Sprintf("Place %d", i))
		s.Place(places[i+1], "<p>A lamp and a door.</p>", `{}`)
	}
	for i, from := range places {
		for range 6 + r.IntN(6) {
			more := []string{}
			if r.IntN(4) == 0 {
				more = append(more, `"lockState":"locked"`, `"key":"thing 0"`)
			}
			if r.IntN(2) == 0 {
				more = append(more, fmt.Sprintf(`"travelDurationMs":%d`, r.IntN(100_000)))
			}
			s.Way(from, command.Directions[r.IntN(len(command.Directions))],
				places[(i+1+r.IntN(len(places)-1))%len(places)], more...)
		}
	}
	for i := range 6 {
		name := fmt.Sprintf("Thing %d", i)
		s.Card(canon.NewCard{Name: name, Type: "Item", Fields: json.RawMessage(fmt.Sprintf(`{"damage":%d}`, r.IntN(3)))})
		if r.IntN(2) == 0 {
			s.Link(world.LinkAt, name, places[r.IntN(len(places))], `{}`)
		} else {
			s.Link(world.LinkHolds, places[r.IntN(len(places))], name, fmt.Sprintf(`{"quantity":%d}`, 1+r.IntN(5)))
		}
	}
	s.Card(canon.NewCard{Name: "Hound", Type: "Creature"})
	s.Link(world.LinkAt, "Hound", places[r.IntN(len(places))], `{}`)
	players := []worldtest.Player{}
	for _, name := range []string{"Ann", "Bo", "Cy"} {
		players = append(players, s.Joins(name))
	}
	return s, players, r
}

// randomCommand returns a command of a hasty player.
func randomCommand(r *rand.Rand) string {
	acts := []string{"take all", "take thing %d", "take %d thing 2", "drop thing %d", "drop all", "give thing %d to Bo",
		"give all to Ann", "throw thing %d at hound", "attack hound with thing %d",
		"use thing %d on the door", "look", "i", "rest", "flee", "talk to Cy", "go back", "examine thing %d", "defend",
		"take all", "drop all", "take 9 thing %d", "go to place %d"}
	var out []string
	for range 1 + r.IntN(3) {
		if r.IntN(2) == 0 {
			out = append(out, string(command.Directions[r.IntN(len(command.Directions))]))
			continue
		}
		a := acts[r.IntN(len(acts))]
		if strings.Contains(a, "%d") {
			a = fmt.Sprintf(a, r.IntN(6))
		}
		out = append(out, a)
	}
	return strings.Join(out, ". ")
}

// worldState is the state that the invariants are about, read as the keeper.
type worldState struct {
	clocks  map[canon.CardID]int64
	stock   map[canon.CardID]int64 // quantity of each thing, over all holders and places
	clock   int64
	anchors map[canon.CardID]int64 // by place
	text    string
}

func readState(s *worldtest.Scene, players []worldtest.Player) worldState {
	s.T.Helper()
	st := worldState{clocks: map[canon.CardID]int64{}, stock: map[canon.CardID]int64{}, anchors: map[canon.CardID]int64{}}
	err := s.Canon.Read(s.T.Context(), s.Admin, func(snap *canon.Snapshot) (err error) {
		for _, p := range players {
			at, _, err := snap.Links(s.T.Context(), canon.LinkQuery{From: p.ID, Kinds: []string{world.LinkAt},
				Page: canon.Page{Limit: 10}})
			if err != nil || len(at) != 1 {
				return fmt.Errorf("a player stands at %d places: %w", len(at), err)
			}
			st.clocks[p.ID] = world.PresenceOf(at[0]).Clock
		}
		links, _, err := snap.Links(s.T.Context(), canon.LinkQuery{Kinds: []string{world.LinkAt, world.LinkHolds},
			Page: canon.Page{Limit: 1000}})
		if err != nil {
			return err
		}
		for _, link := range links {
			var a struct {
				Quantity *int64 `json:"quantity"`
			}
			world.DecodeFields(link.Attrs, &a)
			if a.Quantity != nil && *a.Quantity <= 0 {
				return fmt.Errorf("a link holds %d", *a.Quantity)
			}
			st.text += fmt.Sprintf("%s %s %s %s\n", link.Kind, link.From, link.To, link.Attrs)
			if link.Kind == world.LinkHolds {
				st.stock[link.To] += world.QuantityOf(link)
			} else if _, isPlayer := st.clocks[link.From]; !isPlayer {
				st.stock[link.From] += world.QuantityOf(link)
			}
		}
		anchors, _, err := snap.Links(s.T.Context(), canon.LinkQuery{Kinds: []string{world.LinkAnchor},
			Page: canon.Page{Limit: 1000}})
		if err != nil {
			return err
		}
		for _, a := range anchors {
			st.anchors[a.From] = world.PresenceOf(a).Clock
		}
		m := s.World.Current(snap)
		st.clock, err = m.WorldTick(s.T.Context())
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return st
}

// TestRandomCommandsKeepInvariants checks the package's invariants during random play: clocks never
// go back, everyone is at one place, no thing is lost or created, and rebuilding from the streams
// gives the same tables.
func TestRandomCommandsKeepInvariants(t *testing.T) {
	for seed := range uint64(raceenabled.Share(2, 2)) {
		store := sqlitetest.Open(t)
		s, players, r := randomWorld(t, store, seed)
		before := readState(s, players)
		first := before.stock
		done := 0
		for n := range 160 {
			s.Now = s.Now.Add(time.Second)
			p := players[r.IntN(len(players))]
			text := randomCommand(r)
			got := p.Does(text)
			done += int(got.At("events.#").(float64))
			now := readState(s, players)
			if now.clock < before.clock {
				t.Fatalf("seed %d, command %d %q: the world's clock fell from %d to %d", seed, n, text, before.clock, now.clock)
			}
			for id, c := range now.clocks {
				if c < before.clocks[id] || id != p.ID && c != before.clocks[id] {
					t.Fatalf("seed %d, command %d %q: a clock went from %d to %d", seed, n, text, before.clocks[id], c)
				}
			}
			for id, q := range first {
				if now.stock[id] != q {
					t.Fatalf("seed %d, command %d %q: %s was there %d times, now %d", seed, n, text, id, q, now.stock[id])
				}
			}
			if got.At("events.#").(float64) == 0 && now.text != before.text {
				t.Fatalf("seed %d, command %d %q: nothing is told, and something changed", seed, n, text)
			}
			before = now
		}
		if done < 50 {
			t.Errorf("seed %d: only %d acts were done; the test says little", seed, done)
		}
		rebuilt, err := s.Canon.Rebuild(t.Context(), s.Operator(), s.ID, canon.CompareOnly)
		if err != nil || len(rebuilt.Different) > 0 {
			t.Errorf("seed %d: the streams give other tables: %+v, %v", seed, rebuilt, err)
		}
		if seed == 0 {
			again, others, r := randomWorld(t, memory.New(), seed)
			for range 160 {
				again.Now = again.Now.Add(time.Second)
				others[r.IntN(len(others))].Does(randomCommand(r))
			}
			if got := readState(again, others); got.text != before.text {
				t.Errorf("the same commands gave another world\n%s\n%s", got.text, before.text)
			}
		}
	}
}

// If several players take the last thing at the same moment, one gets it and the others are told
// that it is gone.
func TestConcurrentTakesOfLastThing(t *testing.T) {
	s := worldtest.New(t)
	players := []worldtest.Player{}
	for _, name := range []string{"Ann", "Bo", "Cy", "Di"} {
		p := s.Joins(name)
		p.Does("n")
		players = append(players, p)
	}
	results := make(chan string, len(players))
	for _, p := range players {
		go func() {
			b, _ := json.Marshal(map[string]string{"id": p.ID.String(), "text": "take the key"})
			got, err := p.Scene.Ops.Invoke(t.Context(), p.Caller, op.Request{Operation: "send_command", Input: b,
				Transport: "rest"})
			if err != nil {
				results <- err.Error()
				return
			}
			a := worldtest.Answer{Answer: optest.Answer{T: t, Raw: string(got.Output), Reply: got.Reply}}
			results <- a.At("results.0.outcome").(string)
		}()
	}
	count := map[string]int{}
	for range players {
		count[<-results]++
	}
	if count["done"] != 1 || count["impossible"] != 3 {
		t.Errorf("%v", count)
	}
}

// Cards hidden from a player change no byte of the answers to it.
func TestHiddenCardsDoNotAffectAnswers(t *testing.T) {
	twins := [2]*worldtest.Scene{}
	for i := range twins {
		s := worldtest.Empty(t, sqlitetest.Open(t))
		s.Build()
		gm := access.NewLabel(access.LevelGM)
		for n := range 3 {
			text := fmt.Sprintf("<p>%s</p>", strings.Repeat("hidden ", 1+i*20+n))
			name := fmt.Sprintf("Hidden %d", n+i*0)
			s.Card(canon.NewCard{Name: name, Type: []string{world.TypeLocation, world.TypeRealm, "Item"}[n],
				Content: text, Label: &gm,
				Fields: json.RawMessage(fmt.Sprintf(`{"narrativeTags":["x%d"],"aliases":["well%d"]}`, i, i))})
		}
		s.Way("Square", []command.Direction{"west", "up"}[i], "Hidden 0")
		s.Link("within", "Quay", "Hidden 1", `{}`)
		s.Link(world.LinkAt, "Hidden 2", "Square", `{}`)
		if i == 1 {
			s.Link(world.LinkHolds, "Square", "Hidden 2", `{"quantity":4}`)
		} else {
			s.Link(world.LinkHolds, "Quay", "Hidden 2", `{"quantity":9}`)
		}
		s.Layer("Hidden 1", world.LayerWeather, text(i), 0, 0)
		twins[i] = s
	}
	players := [2]worldtest.Player{twins[0].Joins("Mira"), twins[1].Joins("Mira")}
	calls := [][2]string{{"get-location-context", `{}`}, {"get-location-context", `{"locationId":"loc-square"}`},
		{"get-spatial-context", `{"depth":5}`}, {"get-atmosphere", `{}`},
		{"list-exits", `{"locationId":"loc-square"}`}, {"get-recent-events", `{"scope":"location","scopeId":"loc-square"}`},
		{"parse-command", `{"text":"look at hidden and go up","locationId":"loc-square"}`},
		{"parse-command", `{"text":"take the well1","locationId":"loc-square"}`}}
	for _, text := range []string{"look", "north", "look", "west", "up", "take hidden", "take all", "look at hidden 2",
		"i", "go to hidden", "talk to hidden", "use hidden", "examine well1", "flee", "rest"} {
		var got [2]string
		for i, p := range players {
			got[i] = p.Does(text).Raw
		}
		if got[0] != got[1] {
			t.Errorf("%s\n%s\n%s", text, got[0], got[1])
		}
		for _, c := range calls {
			for i, s := range twins {
				got[i] = worldtest.Measured(s.As("user").Call(c[0], c[1]).Raw)
			}
			if got[0] != got[1] {
				t.Errorf("%s %s\n%s\n%s", c[0], c[1], got[0], got[1])
			}
		}
	}
	if a, b := twins[0].As("gm").Call("list-exits", `{"locationId":"loc-square"}`).Raw,
		twins[1].As("gm").Call("list-exits", `{"locationId":"loc-square"}`).Raw; a == b {
		t.Error("the twins do not differ for the gm either")
	}
}

func text(i int) string { return strings.Repeat("storm ", i+1) }

func TestLimitErrorHasDetails(t *testing.T) {
	s := worldtest.New(t, func(c *worldtest.Setup) { c.Pace = play.Pace{Moves: 1} })
	p := s.Joins("Mira")
	p.Does("n")
	_, err := p.Invoke(op.Request{Operation: "send_command",
		Input: json.RawMessage(`{"id":"` + p.ID.String() + `","text":"s"}`)})
	var f *fault.Error
	if !errors.As(err, &f) || f.Details["limit"] != "move" || f.RetryAfter <= 0 {
		t.Errorf("%v", err)
	}
}

// Commands of one player at the same moment are carried out one after another, and none of their
// time is lost.
func TestConcurrentCommandsLoseNoTime(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	const n = 8
	failed := make(chan error, n)
	for range n {
		go func() {
			_, err := s.Ops.Invoke(t.Context(), p.Caller, op.Request{Operation: "send_command",
				Input: json.RawMessage(`{"id":"` + p.ID.String() + `","text":"look"}`), Transport: "rest"})
			failed <- err
		}()
	}
	for range n {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	p.Call("get_player", `{"id":"`+p.ID.String()+`"}`).Is("player.clock", n*5_000)
}
