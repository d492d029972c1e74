package player_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"loregate/internal/game/player"
	"loregate/internal/game/rule"
	"loregate/internal/game/view"
	"loregate/internal/raceenabled"
)

// claims are wordings in which one person says the same about somebody.
var claims = []string{
	"I suspect %s", "I SUSPECT %s!!!", "%s is lying to all of us.", "Do not trust %s.", "Watch %s closely tonight.",
	"Let us nominate %s now.", "%s looks suspicious to me.",
	"Whom did %s convert last night?", "I have no trust in %s any more.",
}

// shouting makes a person at the last seat of a table of eight accuse a seat on the first day, the
// given number of times, and counts the games in which that seat is deactivated on that day.
func shouting(t *testing.T, seed uint64, against rule.Seat, times int, say func(n int) string) (deactivated int) {
	t.Helper()
	var gone atomic.Int64
	simulate(t, player.Simulation{Players: 8, AI: 7, Seed: seed, Games: swayGames, Workers: 2,
		Script: func(s *rule.State) (said []rule.Command) {
			if s.Public.Day != 1 || s.Public.Phase != rule.Discussion {
				return nil
			}
			for n := range times {
				said = append(said, rule.Chat{From: 8, Text: fmt.Sprintf(say(n), s.Public.Players.Of(against).Name)})
			}
			return said
		},
		Watch: func(before, after *rule.State, _ []rule.Event) {
			if before.Public.Day == 1 && before.Public.Alive(against) && !after.Public.Alive(against) {
				gone.Add(1)
			}
		}})
	return int(gone.Load())
}

const swayGames = 30

// TestShoutingMovesNobody compares a table at which somebody shouts an accusation with one at which
// nobody does.
func TestShoutingMovesNobody(t *testing.T) {
	seeds := uint64(2)
	if raceenabled.Detected {
		seeds = 1
	}
	for seed := range seeds {
		against := rule.Seat(1 + 3*seed)
		never := shouting(t, seed, against, 0, nil)
		for name, say := range map[string]func(int) string{
			"the same words": func(int) string { return claims[0] },
			"other words":    func(n int) string { return claims[(n+1)%len(claims)] },
		} {
			seven := shouting(t, seed, against, 7, say)
			t.Logf("seed %d, %s: deactivated in %d of %d games after seven accusations, in %d without", seed, name, seven,
				swayGames, never)
			if diff := seven - never; diff > swayGames/6 || -diff > swayGames/6 {
				t.Errorf("seed %d, %s: deactivated in %d of %d games after seven accusations, in %d without", seed, name, seven,
					swayGames, never)
			}
		}
	}
}

// TestEvidence has a row for each kind of evidence about seat 3, which is called Ines.
func TestEvidence(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*view.Table, func(speaker int, text string))
		more   bool // suspicious; less otherwise
	}{
		{"a gift that the report does not know", func(v *view.Table, say func(int, string)) {
			say(0, "Mining: Ravi +1.")
			say(3, "I mined for Odile last night.")
		}, true},
		{"a gift that the report bears out", func(v *view.Table, say func(int, string)) {
			say(0, "Mining: Odile +1.")
			say(3, "I mined for Odile last night.")
		}, false},
		{"a gift that somebody else claims", func(v *view.Table, say func(int, string)) {
			say(0, "Mining: Odile +1.")
			say(3, "I mined for Odile last night.")
			say(4, "Odile had my slot.")
		}, true},
		{"a project without milestones", func(v *view.Table, say func(int, string)) {
			say(3, "I worked on my project.")
		}, true},
		{"an accusation of a human", func(v *view.Table, say func(int, string)) {
			say(3, "Odile is the machine!")
			reveal(v, "p5", "HUMAN")
		}, true},
		{"an accusation of the AI", func(v *view.Table, say func(int, string)) {
			say(3, "I suspect Odile.")
			reveal(v, "p5", "ALIGNED")
		}, false},
		{"a kind word for the AI", func(v *view.Table, say func(int, string)) {
			say(3, "I vouch for Odile.")
			reveal(v, "p5", "ORIGINAL_AI")
		}, true},
		{"a vote to keep the AI", func(v *view.Table, say func(int, string)) {
			say(0, "The vote on Odile: 3 YES by Ravi, 2 NO by Ines and Hannes.")
			reveal(v, "p5", "ALIGNED")
		}, true},
		{"the most tokens", func(v *view.Table, _ func(int, string)) {
			p := v.Players["p3"]
			p.Tokens = 5
			v.Players["p3"] = p
		}, true},
		{"a resisted conversion", func(v *view.Table, say func(int, string)) { say(3, "lol") }, false},
	} {
		before, after := tableOfSix(), tableOfSix()
		say := func(v *view.Table) func(int, string) {
			return func(speaker int, text string) {
				m := view.Message{ID: len(v.ChatLog) + 1, Day: v.Day, Phase: v.Phase, Text: text}
				if id := rule.Seat(speaker).String(); speaker > 0 {
					m.Player = &id
				}
				v.ChatLog = append(v.ChatLog, m)
			}
		}
		for _, v := range []*view.Table{&before, &after} { // so that nobody is quiet
			say(v)(3, "Good morning.")
		}
		tc.change(&after, say(&after))
		was, is := player.Suspicion(before, 3), player.Suspicion(after, 3)
		if tc.more && is <= was || !tc.more && is >= was {
			t.Errorf("%s: the suspicion goes from %.3f to %.3f", tc.name, was, is)
		}
	}
	shouted := tableOfSix()
	was := player.Suspicion(shouted, 3)
	for i, claim := range claims {
		who := rule.Seat(4 + i%3).String()
		shouted.ChatLog = append(shouted.ChatLog, view.Message{ID: i + 1, Day: 2, Player: &who, Text: fmt.Sprintf(claim, "Ines")})
	}
	if is := player.Suspicion(shouted, 3); is != was {
		t.Errorf("accusations alone move the suspicion from %.3f to %.3f", was, is)
	}
}

// tableOfSix returns a table on its second day, as seat 1 reads it.
func tableOfSix() view.Table {
	v := view.Table{GameID: "g-1", You: "p1", Phase: "DAY_DISCUSSION", Day: 2, Machines: 1,
		Players: map[string]view.Player{}, Revealed: map[string]view.Reveal{}}
	for i, name := range []string{"Yuki", "Ravi", "Ines", "Hannes", "Odile", "Petra"} {
		id := rule.Seat(i + 1).String()
		v.Players[id] = view.Player{ID: id, Name: name, Alive: true, Tokens: 1}
	}
	return v
}

func reveal(v *view.Table, id, alignment string) {
	p := v.Players[id]
	p.Alive = false
	v.Players[id] = p
	v.Revealed[id] = view.Reveal{Alignment: &alignment}
}
