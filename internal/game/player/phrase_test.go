package player_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"loregate/internal/game/player"
	"loregate/internal/game/rule"
	"loregate/internal/game/view"
	"loregate/internal/markup"
	"loregate/internal/safety"
)

// shelf is a category of lines and their use in one game.
type shelf struct {
	lines int
	said  map[string]int
}

// all returns the categories: those of each persona by what it says, and the shared ones.
func all() map[string]*shelf {
	shelves := map[string]*shelf{}
	for _, l := range player.Lines() {
		if shelves[l.Category] == nil {
			shelves[l.Category] = &shelf{said: map[string]int{}}
		}
		shelves[l.Category].lines++
	}
	return shelves
}

// byBlanked returns all lines by their text with blanks.
var byBlanked = sync.OnceValue(func() map[string][]player.Line {
	lines := map[string][]player.Line{}
	for _, l := range player.Lines() {
		lines[l.Blanked()] = append(lines[l.Blanked()], l)
	}
	return lines
})

// find returns the line that a message was made from.
func find(t *testing.T, v *view.Table, text string) player.Line {
	t.Helper()
	lines := byBlanked()[player.Blanked(v, text)]
	if len(lines) != 1 {
		t.Errorf("%q is made of %d lines", text, len(lines))
		return player.Line{}
	}
	return lines[0]
}

// In a whole game nobody says a line that somebody else has said, even with other names in it, nor
// repeats its own before all lines of that kind are used up.
func TestNoLineIsSaidTwiceInAGame(t *testing.T) {
	var mu sync.Mutex
	games, messages := map[string]map[string]*shelf{}, 0
	speakers := map[string]rule.Seat{} // by game and line
	o := simulate(t, player.Simulation{Players: 10, AI: 10, Seed: 21, Games: 12, Workers: 2,
		Watch: func(_, after *rule.State, events []rule.Event) {
			mu.Lock()
			defer mu.Unlock()
			if games[after.ID] == nil {
				games[after.ID] = all()
			}
			for _, e := range events {
				said, ok := e.(*rule.Said)
				if !ok || said.From == 0 || said.Text == "lol" {
					continue
				}
				messages++
				v := view.TableOf(after.ID, &after.Public, said.From)
				l := find(t, &v, said.Text)
				if by, ok := speakers[after.ID+l.Text]; ok && by != said.From {
					t.Errorf("%s: %q is said by %s and by %s", after.ID, l.Text, by, said.From)
				}
				speakers[after.ID+l.Text] = said.From
				s := games[after.ID][l.Category]
				if s.said[l.Text]++; s.said[l.Text] > 1 && len(s.said) < s.lines {
					t.Errorf("%s: %q is said again while %d of %d %s lines are", after.ID, said.Text, len(s.said), s.lines,
						l.Category)
				}
			}
		}})
	if messages < 20*o.Games {
		t.Errorf("only %d messages in %d games", messages, o.Games)
	}
}

// Players who speak at the same time have not read each other, and still differ.
func TestNeighboursAnswerAndSpeakDifferently(t *testing.T) {
	for g := range 20 {
		for day := 1; day <= 6; day++ {
			said, answers := map[string]string{}, map[string]string{}
			for seat := 1; seat <= 10; seat++ {
				v := seated(g, seat, day)
				for _, c := range []player.Claim{{}, {About: rule.Seat(seat%10 + 1)}} {
					line := find(t, &v, player.Answer(&v, c)).Text
					if who, taken := answers[line]; taken {
						t.Errorf("game %d, day %d: %q is answered by %s and by %s", g, day, line, who, v.You)
					}
					answers[line] = v.You
				}
				line := find(t, &v, player.Phrase(player.SeedOf(rule.Seed{byte(g)}, 1), &v,
					player.Cue{Number: day * 100, Claim: player.Claim{Kind: player.Deny}})).Text
				if who, taken := said[line]; taken {
					t.Errorf("game %d, day %d: %q is said by %s and by %s", g, day, line, who, v.You)
				}
				said[line] = v.You
			}
		}
	}
}

// seated returns a table of ten as one of them reads it.
func seated(game, seat, day int) view.Table {
	v := view.Table{GameID: fmt.Sprintf("g-%016x", game*7919), You: rule.Seat(seat).String(), Phase: "DAY_DISCUSSION",
		Day: day, Players: map[string]view.Player{}}
	for s := rule.Seat(1); s <= 10; s++ {
		v.Players[s.String()] = view.Player{ID: s.String(), Name: player.Name(rule.Seed{}, int(s)), Alive: true, Tokens: 1}
	}
	return v
}

// When all lines are used up, nobody repeats a line of its own from the same day, nor ever a line
// of others, and in the end all are silent.
func TestUsedLinesComeBackOnAnotherDay(t *testing.T) {
	v, said := seated(1, 1, 1), map[string]bool{}
	say := func() string {
		text := player.Phrase(5, &v, player.Cue{Number: len(v.ChatLog), Answer: true})
		if text != "" {
			v.ChatLog = append(v.ChatLog, view.Message{ID: len(v.ChatLog) + 1, Day: v.Day, Player: &v.You, Text: text})
		}
		return text
	}
	for text := say(); text != ""; text = say() {
		line := find(t, &v, text).Text
		if said[line] {
			t.Errorf("%q is said again", line)
		}
		said[line] = true
	}
	if v.Day++; len(said) != 11 || !said[find(t, &v, say()).Text] {
		t.Errorf("%d lines were said", len(said))
	}
	another := "p2"
	for i := range v.ChatLog {
		v.ChatLog[i].Player = &another
	}
	if text := say(); text != "" {
		t.Errorf("%q was said by another", text)
	}
}

// Every line is short, harmless, plain, distinct from all others, and read as the claim that it
// makes.
func TestLines(t *testing.T) {
	policy, err := safety.Published(safety.Current)
	if err != nil {
		t.Fatal(err)
	}
	categories, v := map[string]int{}, seated(1, 1, 2)
	for _, l := range player.Lines() {
		categories[l.Category]++
		text := l.Fill(&v)
		if find(t, &v, text).Text != l.Text {
			t.Errorf("%q is taken for another line", text)
		}
		if len(text) > 120 || strings.ContainsAny(text, "{}<>\n") || markup.Clean(text) != text ||
			policy.Judge("all-ages", text).Flagged() {
			t.Errorf("%q is long, marked up, or %v", text, policy.Judge("all-ages", text).Categories)
		}
		want := l.Claim
		if want.Kind == player.Deny || want.Kind == player.Remark {
			want = player.Claim{}
		}
		want.Basis, want.Third = "", 0 // they are for the others to find
		got := player.ReadClaims(&v, view.Message{Player: &v.You, Text: text})
		if want == (player.Claim{}) && len(got) > 0 || want.Kind != "" && !slices.Equal(got, []player.Claim{want}) {
			t.Errorf("%q is read as %v, and says %v", text, got, want)
		}
	}
	for c, n := range categories {
		if n < 4 || strings.HasPrefix(c, "persona 0") && n < 7 {
			t.Errorf("%s has %d lines", c, n)
		}
	}
}
