package main

import (
	"regexp"
	"strings"
	"testing"
)

// A session in the sample world: it is loaded, the player acts, and continues later at the same
// place.
func TestPlayOnATerminal(t *testing.T) {
	dir := t.TempDir()
	first := runCommand(t, dir, "go north\n\nfly to the moon\nhelp\nquit\nlook\n", "play", "--world", "lendwater", "--name", "Mira")
	if first.code != 0 || !strings.Contains(first.stdout, "You go north. Fishgate Market.") ||
		!strings.Contains(first.stdout, "several at once") {
		t.Fatalf("%d %s %s", first.code, first.stdout, first.err)
	}
	for _, line := range strings.Split(first.stdout, "\n") {
		if len([]rune(line)) > 88 {
			t.Errorf("a line is too long: %s", line)
		}
	}
	again := regexp.MustCompile(`Continue with: loregate (play --world lendwater --player \S+)`).FindStringSubmatch(first.err)
	if again == nil {
		t.Fatalf("no way to continue: %s", first.err)
	}
	next := runCommand(t, dir, "", strings.Fields(again[1])...)
	if next.code != 0 || !strings.HasPrefix(strings.TrimSpace(next.stdout), "Fishgate Market.") {
		t.Errorf("%d %s %s", next.code, next.stdout, next.err)
	}
	if other := runCommand(t, dir, "", "play", "--player", "nobody", "--world", "lendwater"); other.code != 1 {
		t.Errorf("%d %s", other.code, other.err)
	}
	if named := runCommand(t, dir, "", "play", "--name", "Mira"); named.code != 0 ||
		!strings.HasPrefix(named.stdout, "Fishgate Market.") || !strings.Contains(named.err, "Mira has been here before") {
		t.Errorf("a name that the person has already: %d %s %s", named.code, named.stdout, named.err)
	}
	if card := runCommand(t, dir, "", "play", "--name", "Rent Quay"); card.code != 1 || !strings.Contains(card.err, "taken") {
		t.Errorf("the name of a card: %d %s", card.code, card.err)
	}
}
