package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestMain lets the test binary act as the loregate command, if LOREGATE_KEY_OF_TEST is main.
func TestMain(m *testing.M) {
	if os.Getenv("LOREGATE_KEY_OF_TEST") == "main" {
		main()
		return
	}
	os.Exit(m.Run())
}

// outcome is the exit code and output of a command.
type outcome struct {
	code        int
	stdout, err string
}

// runCommand runs the command in a folder.
func runCommand(t *testing.T, dir, stdin string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, self, args...)
	c.Dir, c.Stdin = dir, strings.NewReader(stdin)
	c.Env = append(os.Environ(), "LOREGATE_KEY_OF_TEST=main")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return outcome{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

func TestCommandLineFaults(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad.yaml"), []byte("adr: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		args string
		code int
		want string // on standard error
	}{
		{"unknown command", "srve", 2, "serve"},
		{"unknown flag", "serve --smaple", 2, "--sample"},
		{"bad role", "mcp --role king", 2, "user"},
		{"unknown set", "mcp --tools nowhere", 1, "archive"},
		{"unknown set by the older name", "mcp --surface nowhere", 1, "archive"},
		{"key for an unknown set", "key create x --tools nowhere", 1, "archive"},
		{"unknown setting", "doctor --config bad.yaml", 1, `did you mean "addr"`},
		{"no such operation", "call nothing_here {}", 1, "nothing_here"},
		{"input that is no JSON", "call get_card {", 1, "JSON"},
		{"no such card", `call get_card {"name":"Nobody"}`, 1, "Nobody"},
		{"no such world", "export markdown out --world nowhere", 1, `no world "nowhere"; name one of main`},
		{"nothing to import", "import markdown absent", 1, "absent"},
		{"a backup of nothing", "backup copy.db --data absent", 1, "there is no store in absent"},
		{"a proof of nothing", "audit verify --data absent", 1, "there is no store in absent"},
		{"a copy of nothing", "copy --from absent --to other", 1, "there is no store in absent"},
		{"files of nothing", "files copy --from absent --to other", 1, "there is no folder absent"},
		{"an address that is none", "serve --addr 8420", 1, "127.0.0.1:8420"},
		{"a password among the arguments", "world list --database postgres://ada:x@127.0.0.1:1/lore", 1, "read the password"},
		{"an address others reach", "serve --addr 0.0.0.0:8420", 1, "behind_proxy"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := runCommand(t, dir, "", strings.Fields(tc.args)...)
			if got.code != tc.code || !strings.Contains(got.err, tc.want) {
				t.Errorf("loregate %s: exit %d, want %d\n%s", tc.args, got.code, tc.code, got.err)
			}
			if got.stdout != "" {
				t.Errorf("standard output is for results, got %q", got.stdout)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "absent")); err == nil {
		t.Error("a command that was refused made a store")
	}
}

func TestNoKeysIfTheAddressIsInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	got := runCommand(t, dir, "", "serve", "--sample", "--addr", taken.Addr().String())
	if got.code != 1 || !strings.Contains(got.err, "choose another address") {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	if got := runCommand(t, dir, "", "world", "list"); strings.Contains(got.stdout, "lendwater") {
		t.Errorf("a world was made whose keys nobody saw:\n%s", got.stdout)
	}
}

func TestConcurrentStartsCreateOneWorld(t *testing.T) {
	dir := t.TempDir()
	done := make(chan outcome)
	for range 4 {
		go func() { done <- runCommand(t, dir, "", "mcp") }() // standard input is empty, so it starts and ends
	}
	for range 4 {
		if got := <-done; got.code != 0 {
			t.Errorf("exit %d: %s", got.code, got.err)
		}
	}
	if got := runCommand(t, dir, "", "world", "list"); strings.Count(got.stdout, "\n") != 2 {
		t.Errorf("want a heading and one world:\n%s", got.stdout)
	}
}

func TestWorldFromEnvironment(t *testing.T) {
	dir := t.TempDir()
	for _, w := range []string{"north", "south"} {
		if got := runCommand(t, dir, "", "world", "create", w); got.code != 0 {
			t.Fatal(got.err)
		}
	}
	if got := runCommand(t, dir, "", "call", "list_types", "{}"); got.code == 0 ||
		!strings.Contains(got.err, "north, south") {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	t.Setenv("LOREGATE_WORLD", "south")
	if got := runCommand(t, dir, "", "call", "list_types", "{}"); got.code != 0 {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	if got := runCommand(t, dir, "", "call", "list_types", "{}", "--world", "west"); got.code == 0 {
		t.Error("the flag does not beat the environment")
	}
}

func TestHelpSpellings(t *testing.T) {
	dir := t.TempDir()
	for args, want := range map[string]string{
		"":                        "serve --sample",
		"--help":                  "exit status is 0",
		"help":                    "Worlds and their content:",
		"help world member":       "invite",
		"world member add --help": "--player",
		"help help":               "member add",
		"--version":               "loregate ",
		"version":                 "loregate ",
	} {
		if got := runCommand(t, dir, "", strings.Fields(args)...); got.code != 0 || got.err != "" ||
			!strings.Contains(got.stdout, want) {
			t.Errorf("loregate %s: exit %d, want %q\n%s%s", args, got.code, want, got.err, got.stdout)
		}
	}
}

func TestUsageErrorNamesTheHelpOfItsCommand(t *testing.T) {
	got := runCommand(t, t.TempDir(), "", "world", "member", "invite")
	if got.code != 2 || !strings.Contains(got.err, "Run loregate world member invite --help.") {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

func TestShellCompletion(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct{ line, want string }{
		{"wor", "world"},
		{"world member ", "add remove list invite accept"},
		{"world member add --role ", "user gm admin"},
		{"world member add --data gm --role ", "user gm admin"},
		{"world member add north --role a", "admin"},
		{"import m", "markdown mediawiki memory"},
		{"import markdown ", ""},
		{"export --as ", "user gm admin"},
		{"serve --sa", "--sample"},
		{"serve --addr ", ""},
	} {
		got := runCommand(t, dir, "", append([]string{cobra.ShellCompNoDescRequestCmd}, strings.Split(tc.line, " ")...)...)
		words, _, ended := strings.Cut(got.stdout, ":") // before the directive to the shell
		if words := strings.Join(strings.Fields(words), " "); words != tc.want || got.code != 0 || !ended {
			t.Errorf("%s: exit %d, %q, want %q", tc.line, got.code, words, tc.want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := runCommand(t, dir, "", "completion", shell); got.code != 0 ||
			!strings.Contains(got.stdout, cobra.ShellCompRequestCmd) {
			t.Errorf("completion %s: exit %d, %q", shell, got.code, got.stdout)
		}
	}
}

func TestKeySubjectFromName(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"world", "create", "mine"},
		{"key", "create", "my agent", "--role", "gm", "--world", "mine"},
		{"key", "create", "reader", "--tools", "archive,world", "--read-only", "--world", "mine"},
		{"key", "create", "modest", "--tools", "default", "--world", "mine"},
		{"key", "create", "ada", "--actor", "person", "--approve", "--expires", "720h", "--world", "mine"},
	} {
		if got := runCommand(t, dir, "", args...); got.code != 0 {
			t.Fatal(args, got.err)
		}
	}
	people := runCommand(t, dir, "", "key", "list")
	for _, want := range []string{"my agent", "my-agent", "mine", "approves, until ", "reads only, archive+world", "default"} {
		if !strings.Contains(people.stdout, want) {
			t.Errorf("key list lacks %q:\n%s", want, people.stdout)
		}
	}
	var rows []struct {
		Subject string   `json:"subject"`
		Slugs   []string `json:"world_slugs"`
		State   string   `json:"state"`
	}
	programs := runCommand(t, dir, "", "key", "list", "--json")
	if err := json.Unmarshal([]byte(programs.stdout), &rows); err != nil || len(rows) != 4 ||
		rows[0].Subject != "my-agent" || rows[0].State != "good" || len(rows[0].Slugs) != 1 {
		t.Errorf("%v %+v\n%s", err, rows, programs.stdout)
	}
}

func TestEmptyListsPrintAsLists(t *testing.T) {
	dir := t.TempDir()
	if got := runCommand(t, dir, "", "world", "create", "mine"); got.code != 0 {
		t.Fatal(got.err)
	}
	for _, args := range []string{"key list", "events dead-letters", "world member list mine"} {
		got := runCommand(t, dir, "", append(strings.Fields(args), "--json")...)
		var rows []any
		if err := json.Unmarshal([]byte(got.stdout), &rows); err != nil || rows == nil {
			t.Errorf("%s --json: %v: %s%s", args, err, got.stdout, got.err)
		}
	}
}

func TestOpsExplainsAnOperation(t *testing.T) {
	dir := t.TempDir()
	got := runCommand(t, dir, "", "ops", "search_cards")
	for _, want := range []string{"GET /api/mcp/cards", "highlight", `loregate call search_cards '{"q":"who owns the quay"}'`} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("lacks %q:\n%s%s", want, got.stdout, got.err)
		}
	}
	for name, want := range map[string]string{"get-card": "did you mean get_card", "get_crd": "did you mean get_card",
		"kard": "loregate ops lists them"} {
		if got := runCommand(t, dir, "", "call", name); got.code != 1 || !strings.Contains(got.err, want) {
			t.Errorf("call %s: exit %d: %s", name, got.code, got.err)
		}
	}
}
