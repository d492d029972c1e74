package player_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"loregate/internal/game/player"
	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// utterance is a line that was said in a game, with the state of the game at that moment.
type utterance struct {
	state rule.State
	said  rule.Said
	line  player.Line
}

// rated collects the lines of games, and compares accusations with votes.
type rated struct {
	t         *testing.T
	mu        sync.Mutex
	said      []utterance
	accused   map[string]rule.Seat // by game, day and seat
	kept, all int                  // accusations that were followed by a nomination vote
}

// watch sees every step of every game.
func (r *rated) watch(before, after *rule.State, events []rule.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range events {
		said, ok := e.(*rule.Said)
		if !ok || said.From == 0 || said.Text == "lol" {
			continue
		}
		v := view.TableOf(after.ID, &after.Public, said.From)
		l := find(r.t, &v, said.Text)
		r.said = append(r.said, utterance{*after, *said, l})
		if l.Claim.Kind == player.Accuse {
			r.accused[day(after, said.From)] = named(&v, said.Text)
		}
	}
	if p := &before.Public; p.Phase == rule.Nomination && after.Public.Phase != rule.Nomination {
		for s := rule.Seat(1); int(s) <= p.Seated; s++ {
			about, ballot := r.accused[day(before, s)], before.Secret.Seats.Of(s).Ballot
			if about == 0 || ballot == "" || !p.Alive(about) {
				continue
			}
			r.all++
			if ballot == rule.Choice(about.String()) {
				r.kept++
			}
		}
	}
}

func day(s *rule.State, seat rule.Seat) string {
	return fmt.Sprint(s.ID, s.Public.Seated, s.Public.Day, seat)
}

// named returns the first player whom a text names.
func named(v *view.Table, text string) (first rule.Seat) {
	least := len(text)
	for s := rule.Seat(1); int(s) <= len(v.Players); s++ {
		for at := range text {
			name := v.Players[s.String()].Name
			if at < least && len(text)-at >= len(name) && text[at:at+len(name)] == name {
				first, least = s, at
			}
		}
	}
	return first
}

// Of 200 lines drawn from 20 games, none contradicts what its speaker did, unless a member of the AI
// side hides a gift to its own; and at least 90% of those who name a suspect vote for it.
func TestLinesAgreeWithDeeds(t *testing.T) {
	r := &rated{t: t, accused: map[string]rule.Seat{}}
	for players := rule.MinSeats; players <= rule.MaxSeats; players++ {
		simulate(t, player.Simulation{Players: players, AI: players, Seed: 31, Games: 4, Workers: 2, Watch: r.watch})
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(r.said), func(i, j int) { r.said[i], r.said[j] = r.said[j], r.said[i] })
	planned, kinds := 0, map[player.Kind]int{}
	for _, u := range r.said[:200] {
		kinds[u.line.Claim.Kind]++
		if wrong := u.contradiction(); wrong != "" {
			if u.state.Machine(u.said.From) {
				planned++
				continue
			}
			t.Errorf("%s, day %d: %q, but %s", u.state.Public.Players.Of(u.said.From).Name, u.state.Public.Day, u.said.Text,
				wrong)
		}
	}
	t.Logf("%d lines of 20 games: %v, %d planned lies; %d of %d accusers voted as they spoke", len(r.said), kinds, planned,
		r.kept, r.all)
	if 10*r.kept < 9*r.all || r.all < 100 {
		t.Errorf("%d of %d accusers voted as they spoke", r.kept, r.all)
	}
	if len(kinds) < 8 {
		t.Errorf("the lines make claims of %d kinds only: %v", len(kinds), kinds)
	}
}

// contradiction compares a line with the record of the game: what the speaker did last night, what
// became of it, and what is known of the player that it names as evidence. "" is none.
func (u *utterance) contradiction() string {
	p, who := &u.state.Public, u.state.Secret.Seats.Of(u.said.From)
	v := view.TableOf(u.state.ID, p, u.said.From)
	about := named(&v, u.said.Text)
	switch c := u.line.Claim; c.Kind {
	case player.Mined, player.NoSlot:
		if who.Last.Do != rule.Mine || who.Last.Target != about || who.Failed != (c.Kind == player.NoSlot) {
			return fmt.Sprintf("it chose %+v, and that it failed is %v", who.Last, who.Failed)
		}
	case player.Worked:
		if who.Last.Do != rule.Project {
			return fmt.Sprintf("it chose %+v", who.Last)
		}
	case player.Acted:
		if who.Last.Do != who.Role.Ability() {
			return fmt.Sprintf("it chose %+v", who.Last)
		}
	case player.Accuse:
		if c.Basis == player.ByTokens {
			for s := rule.Seat(1); int(s) <= p.Seated; s++ {
				if p.Alive(s) && p.Players.Of(s).Tokens > p.Players.Of(about).Tokens {
					return "others have more tokens"
				}
			}
		}
		if !p.Alive(about) || u.state.Machine(u.said.From) && u.state.Machine(about) {
			return "it accuses the dead or its own side"
		}
	}
	return ""
}
