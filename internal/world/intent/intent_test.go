package intent

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loregate/internal/world/command"
)

func classify(text string) Answer { return Classify(command.Parse(text)) }

// The learned reading decides where the rules know neither the verb nor the turn of phrase, and only there.
func TestClassify(t *testing.T) {
	for _, row := range []struct {
		text string
		want command.Verb
	}{
		{"take the lamp", command.Take},
		{"n", command.Move},
		{"kill the lights", command.Use},
		{"kill the lizard", command.Attack},
		{"my cudgel meets the brute's skull", command.Attack},
		{"the beggar may have my gloves", command.Give},
		{"there are too many of them, so I leg it", command.Flee},
		{"two coins for the beggar", command.Give},
		{"a stone through the window", command.Throw},
		{"a sip of the wine", command.Use},
		{"bid the widow farewell", command.Talk},
		{"does a longbow need two hands?", ""},
		{"my dice are cursed tonight", ""},
		{"", ""},
		{"?!", ""},
	} {
		if got := classify(row.text); got.Verb != row.want || got.Confidence <= 0 || got.Confidence > 1 {
			t.Errorf("%q: got %+v, want %q", row.text, got, row.want)
		}
	}
}

// What stands behind the tokens that are read changes nothing.
func TestLongUtterance(t *testing.T) {
	long := strings.Repeat("lo ", maxTokens)
	if got, want := len(TraitsOf(long+"take the lamp")), len(TraitsOf(long)); got != want {
		t.Errorf("%d traits, want %d", got, want)
	}
}

// An utterance that is not surely read is handed on: a model is asked for at most a quarter of the texts, and the
// answers that are sure are right.
func TestDoubt(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "app", "judgetest", "cases", "development", "intents.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, unsure, wrong := 0, 0, 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct {
			Text string
			Want []string
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		got := classify(c.Text)
		if all++; got.Unsure {
			unsure++
		} else if !slices.Contains(c.Want, string(got.Verb)) && !(got.Verb == "" && slices.Contains(c.Want, "unknown")) {
			wrong++
		}
	}
	if unsure*4 > all || wrong*50 > all {
		t.Errorf("of %d texts %d are unsure, %d of the others wrong: fit the weights again", all, unsure, wrong)
	}
}

func BenchmarkClassify(b *testing.B) {
	parsed := command.Parse("with a deep breath I step over the old threshold and look for the silver key")
	for b.Loop() {
		Classify(parsed)
	}
}
