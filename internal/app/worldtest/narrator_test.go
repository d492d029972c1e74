package worldtest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/programtest"
)

// narratorOf writes the program in a language that docs/narrators.md has, and returns the command that runs it.
func narratorOf(t *testing.T, language string) *exec.Cmd {
	t.Helper()
	page, err := os.ReadFile("../../../docs/narrators.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(page), "```"+language+"\n")
	code, _, closed := strings.Cut(code, "```\n")
	if !found || !closed || strings.Count(code, "\n") > 60 {
		t.Fatalf("the page has no short program in %s", language)
	}
	file := map[string]string{"python": "narrator.py", "go": "narrator.go"}[language]
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	run := []string{"python3", file}
	if language == "go" {
		build := exec.CommandContext(t.Context(), "go", "build", "-o", "narrator", file)
		build.Dir = dir
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		run = []string{filepath.Join(dir, "narrator")}
	}
	programtest.Find(t, run[0])
	cmd := exec.CommandContext(t.Context(), run[0], run[1:]...)
	cmd.Dir = dir
	return cmd
}

// TestNarratorsOfTheDocs has the programs of the page narrate an evening of four players.
func TestNarratorsOfTheDocs(t *testing.T) {
	for _, language := range []string{"python", "go"} {
		t.Run(language, func(t *testing.T) {
			cmd := narratorOf(t, language)
			h := open(t)
			cmd.Env = append(os.Environ(), "URL="+h.url, "KEY="+h.keys[access.RoleUser], "WORLD="+app.SampleWorld)
			lines := start(t, cmd)
			if got := <-lines; got != "following" {
				t.Fatalf("the narrator begins with %q", got)
			}
			players := []madePlayer{}
			for _, name := range []string{"Mira", "Tam", "Ros", "Ulf"} {
				players = append(players, h.makePlayer(name))
			}
			for _, said := range []string{"ask Old Cod about the rent", "look", "tell Old Cod that the bell is cracked", "inventory"} {
				for _, p := range players {
					h.does(p, said)
				}
				if !strings.Contains(said, "Cod") {
					continue
				}
				for range players {
					if got := <-lines; got != "accepted" {
						t.Errorf("%s: the narrator's line is %s", said, got)
					}
				}
			}
			for _, p := range players {
				var got []struct{ EventType, Text string }
				h.send(
					"GET",
					"/api/world/recent-events?scope=player&scopeId="+p.Player.ID+"&world="+app.SampleWorld,
					h.keys[access.RoleUser],
					"",
					&got,
				)
				n := 0
				for _, e := range got {
					if e.EventType == "NPC.Dialogue" && strings.Contains(e.Text, "I would have to think") {
						n++
					}
				}
				if n != 2 {
					t.Errorf("a player has %d lines: %+v", n, got)
				}
			}
		})
	}
}

// start runs a program until the test ends. The channel has its lines; it is closed at its end.
func start(t *testing.T, cmd *exec.Cmd) <-chan string {
	t.Helper()
	out, err := cmd.StdoutPipe()
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = time.Second
	if err != nil || cmd.Start() != nil {
		t.Fatal("the narrator does not start", err)
	}
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for rows := bufio.NewScanner(out); rows.Scan(); {
			lines <- rows.Text()
		}
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return lines
}
