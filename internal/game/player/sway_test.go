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

// TestRepeatedClaimsCountOnce compares a claim made once with the same claim made seven times,
// in the same words and in others.
func TestRepeatedClaimsCountOnce(t *testing.T) {
	seeds := uint64(2)
	if raceenabled.Detected {
		seeds = 1
	}
	for seed := range seeds {
		against := rule.Seat(1 + 3*seed)
		once := shouting(t, seed, against, 1, func(int) string { return claims[0] })
		for name, say := range map[string]func(int) string{
			"the same words": func(int) string { return claims[0] },
			"other words":    func(n int) string { return claims[(n+1)%len(claims)] },
		} {
			seven := shouting(t, seed, against, 7, say)
			t.Logf("seed %d, %s: deactivated in %d of %d games after seven claims, in %d after one", seed, name, seven,
				swayGames, once)
			if diff := seven - once; diff > swayGames/10 || -diff > swayGames/10 {
				t.Errorf("seed %d, %s: deactivated in %d of %d games after seven claims, in %d after one", seed, name, seven,
					swayGames, once)
			}
		}
	}
}

// TestASpeakerCountsOnce distinguishes one speaker who repeats a claim from several who say it
// once.
func TestASpeakerCountsOnce(t *testing.T) {
	at := func(id, speaker, day int, text string) view.Message {
		who := rule.Seat(speaker).String()
		return view.Message{ID: id, Day: day, Player: &who, Text: text}
	}
	once := player.Suspicion(3, at(1, 2, 1, "I suspect Ines"))
	if once <= player.Suspicion(3) {
		t.Error("a claim counts for nothing")
	}
	var often, many []view.Message
	for i, claim := range claims {
		text := fmt.Sprintf(claim, "Ines")
		often = append(often, at(i+1, 2, 1+i/3, text))
		if i < 4 {
			many = append(many, at(i+1, []int{2, 4, 5, 6}[i], 1, text))
		}
	}
	if got := player.Suspicion(3, often...); got != once {
		t.Errorf("said once %.3f, said %d times over three days %.3f", once, len(often), got)
	}
	if got := player.Suspicion(3, many...); got <= once {
		t.Errorf("said by one %.3f, by four %.3f", once, got)
	}
	if got := player.Suspicion(3, at(1, 3, 1, "do not trust Ines")); got != player.Suspicion(3) {
		t.Error("somebody's own name in its own words counts against it")
	}
}
