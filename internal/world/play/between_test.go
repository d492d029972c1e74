package play_test

import (
	"context"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/store/memory"
	"loregate/internal/world"
	"loregate/internal/world/play"
	"loregate/internal/world/worldtest"
)

// interposed is a store that calls between once, between a plan and its commit.
type interposed struct {
	canon.Store
	between func()
}

func (s *interposed) Write(ctx context.Context, f func(canon.Tx) error) error {
	if do := s.between; do != nil {
		s.between = nil
		do()
	}
	return s.Store.Write(ctx, f)
}

// TestCommandIsReplannedOnConflict plans one command, carries out another, and only then commits
// the first. The first must be planned again on the result of the other.
func TestCommandIsReplannedOnConflict(t *testing.T) {
	for _, test := range []struct {
		name           string
		before         string // command of the first player beforehand
		text           string // command that it plans then
		between        string // command between its plan and its commit
		other          string // command beforehand of another player, who also sends between
		locks          string // place whose exits the keeper locks instead of between
		outcome, place string
		clock          int64
		carries        string // the only thing that the first player has afterwards
	}{
		{name: "time passes for both", text: "look", between: "look", outcome: "done", place: "Quay",
			clock: 10_000},
		{name: "the player has gone elsewhere", text: "go down",
			before:  "go north then take the iron key then use the key on the chapel then go east then go up",
			between: "go down", outcome: "impossible", place: "Chapel"},
		{name: "the last of a thing is taken by another", before: "go north", text: "take the iron key",
			between: "take the iron key", other: "go north",
			outcome: "impossible", place: "Square"},
		{name: "a part of a heap is taken by another", before: "go north", text: "take 3 coins", between: "take 2 coins",
			other:   "go north",
			outcome: "done", place: "Square", carries: "Copper Coin"},
		{name: "what is dropped was given away", before: "go north then take the iron key", text: "drop the iron key",
			between: "give the iron key to Oda Tarn",
			outcome: "impossible", place: "Square"},
		{name: "more of a heap is given by another", before: "go north", text: "take 1 coin", between: "give 2 coins to Mira",
			other:   "go north then take 2 coins",
			outcome: "done", place: "Square", carries: "Copper Coin"},
		{name: "who is given to has left", before: "go north then take the iron key", text: "give the iron key to Tam",
			between: "go south", other: "go north",
			outcome: "impossible", place: "Square", carries: "Iron Key"},
		{name: "the way is locked", text: "go north", locks: "Quay", outcome: "impossible", place: "Quay"},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := &interposed{Store: memory.New()}
			s := worldtest.Empty(t, store)
			s.Build()
			mira, tam := s.Joins("Mira"), s.Joins("Tam")
			who := mira
			if test.other != "" {
				who = tam
				tam.Does(test.other)
			}
			if test.before != "" {
				mira.Does(test.before)
			}
			store.between = func() {
				if test.locks != "" {
					lockAll(s, test.locks)
					return
				}
				who.Does(test.between)
			}
			a := mira.Does(test.text)
			if store.between != nil {
				t.Fatal("nothing came between")
			}
			a.Is("results.0.outcome", test.outcome)
			if at := mira.Stands(); at != test.place {
				t.Errorf("stands at %s, want %s", at, test.place)
			}
			state := mira.Call("get_player", `{"id":"`+mira.ID.String()+`"}`)
			if test.clock != 0 {
				state.Is("player.clock", int(test.clock))
			}
			if test.carries != "" {
				state.Is("player.inventory.0.name", test.carries, "player.inventory.#", 1)
			}
			if coins := readState(s, []worldtest.Player{mira, tam}).stock[s.IDOf("Copper Coin")]; coins != 5 {
				t.Errorf("there are %d coins, and were 5", coins)
			}
		})
	}
}

// lockAll locks the exits of a place.
func lockAll(s *worldtest.Scene, place string) {
	s.T.Helper()
	id := s.IDOf(place)
	s.Change(func(p *canon.Plan) error {
		links, _, err := p.Links(s.T.Context(), canon.LinkQuery{From: id, Kinds: []string{world.LinkExit},
			Page: canon.Page{Limit: 12}})
		for _, l := range links {
			if err == nil {
				l.Attrs = play.MergeAttrs(l.Attrs, []byte(`{"lockState":"locked"}`))
				_, err = p.Link(l)
			}
		}
		return err
	})
}
