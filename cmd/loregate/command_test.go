package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// parseLine returns the command that a line selects, as its struct.
func parseLine[T runner](t *testing.T, words ...string) T {
	t.Helper()
	got, _, err := newCommandLine(io.Discard, io.Discard).parse(words)
	command, ok := got.(T)
	if err != nil || !ok {
		t.Fatalf("%q: %T, %v", words, got, err)
	}
	return command
}

func TestFlagsComeBeforeTheEnvironmentAndDefaults(t *testing.T) {
	t.Setenv("LOREGATE_WORLD", "")
	if got := parseLine[*importCmd](t, "import", "vault"); got.World != "" || got.Level != "user" || got.Path != "" {
		t.Errorf("defaults: %+v", got)
	}
	t.Setenv("LOREGATE_WORLD", "north,south")
	if got := parseLine[*importCmd](t, "import", "vault"); got.World != "north,south" {
		t.Errorf("environment: %+v", got)
	}
	if got := parseLine[*importCmd](t, "import", "vault", "--world=east", "--level", "gm"); got.World != "east" ||
		got.Level != "gm" {
		t.Errorf("flags: %+v", got)
	}
	if got := parseLine[*keyCreateCmd](t, "key", "create", "x"); strings.Join(got.World, "+") != "north+south" {
		t.Errorf("a list in the environment: %+v", got)
	}
	if got := parseLine[*keyCreateCmd](t, "key", "create", "x", "--surface", "archive,world", "--world", "a", "--world",
		"b"); strings.Join(got.World, "+") != "a+b" || strings.Join(got.Tools, "+") != "archive+world" {
		t.Errorf("lists of flags: %+v", got)
	}
}

func TestFieldsOfEveryKind(t *testing.T) {
	vault := parseLine[*importCmd](t, "import", "markdown", "vault", "--open", "a, b", "--open=c", "--types", "X=Y,Z=",
		"--dry-run")
	if strings.Join(vault.Open, "+") != "a, b+c" || len(vault.Types) != 1 || vault.Types["X"] != "Y,Z=" || !vault.DryRun {
		t.Errorf("%+v", vault)
	}
	bench := parseLine[*benchCmd](t, "bench", "--world", "w", "--rate", "2.5", "--duration", "2m", "--seed", "7")
	if bench.Rate != 2.5 || bench.Duration != 2*time.Minute || bench.Seed != 7 || bench.Clients != 8 ||
		len(bench.URL) != 1 {
		t.Errorf("%+v", bench)
	}
	world := parseLine[*worldConfigureCmd](t, "world", "configure", "w", "--title", "")
	if world.Title == nil || *world.Title != "" || world.Description != nil || world.GMParts != nil {
		t.Errorf("only the title is given: %+v", world)
	}
	if tail := parseLine[*auditTailCmd](t, "audit", "tail", "-fn", "5"); !tail.Follow || tail.Lines != 5 {
		t.Errorf("%+v", tail)
	}
	for _, line := range []string{"proposals standing --json", "proposals standing --json list"} {
		if got := parseLine[*standingListCmd](t, strings.Fields(line)...); !got.JSON {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

func TestWrongCommandLines(t *testing.T) {
	for line, want := range map[string]string{
		"nonsense":                   `unknown command "nonsense"|loregate`,
		"srve":                       `unknown command "srve"; did you mean serve?|loregate`,
		"srve --help":                `unknown command "srve"; did you mean serve?|loregate`,
		"help srve":                  `unknown command "srve"; did you mean serve?|loregate help`,
		"job x":                      `unknown command "x"; there are list, cancel|loregate job`,
		"job":                        `name one of the commands list, cancel|loregate job`,
		"serve --smaple":             "unknown flag --smaple; did you mean --sample?|loregate serve",
		"serve -q":                   "unknown flag -q|loregate serve",
		"serve --addr":               "--addr needs a value: --addr HOST:PORT|loregate serve",
		"import x --vault --dry-run": `--vault needs a value, not "--dry-run"|loregate import`,
		"import a b c":               `unexpected argument "c"|loregate import`,
		"import a --types b":         `--types must contain =, not "b"|loregate import`,
		"mcp --role king":            `--role must be one of user, gm, admin, not "king"|loregate mcp`,
		"mcp --role":                 "--role needs a value: --role ROLE (user, gm, admin)|loregate mcp",
		"purge":                      "missing <card>, --version N, --yes|loregate purge",
		"purge x --yes --version -1": `--version must be a whole number from 0, not "-1"|loregate purge`,
		"agent switch x":             "missing <to> (on, off)|loregate agent switch",
		"agent switch x y":           `<to> must be one of on, off, not "y"|loregate agent switch`,
		"audit tail -n x":            `--lines must be a whole number, not "x"|loregate audit tail`,
		"backup x --every soon":      `--every must be a duration such as 90s, 15m or 24h, not "soon"|loregate backup`,
	} {
		message, path, _ := strings.Cut(want, "|")
		var out, errs bytes.Buffer
		code := run(strings.Fields(line), &out, &errs)
		if got, want := errs.String(), "loregate: "+message+"\nRun "+path+" --help.\n"; code != 2 || got != want ||
			out.Len() > 0 {
			t.Errorf("%s: exit %d, %q%q, want %q", line, code, out.String(), got, want)
		}
	}
}

// TestHelpOfEveryCommand checks that help fits the screen, describes all parameters and names the words that they allow.
func TestHelpOfEveryCommand(t *testing.T) {
	var out bytes.Buffer
	c := newCommandLine(&out, &out)
	seen := 0
	for cmd, p := range c.bare {
		out.Reset()
		p.addTo(cmd)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		page := out.String()
		text := strings.Join(strings.Fields(page), " ")
		for line := range strings.Lines(page) {
			if len([]rune(line)) > 81 {
				t.Errorf("%s: a long line: %s", cmd.CommandPath(), line)
			}
		}
		for _, v := range append(p.flags, p.arguments...) {
			seen++
			for _, word := range append(v.words(), v.tag.Get("placeholder"), v.tag.Get("default"), v.tag.Get("env"), v.name) {
				if !v.argument && !strings.Contains(text, word) || strings.Contains(v.helpText(), "${") {
					t.Errorf("%s: the help of %s lacks %q", cmd.CommandPath(), v.name, word)
				}
			}
		}
	}
	if seen < 400 {
		t.Errorf("only %d flags and arguments", seen)
	}
}

func BenchmarkCommandLine(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := newCommandLine(io.Discard, io.Discard).parse([]string{"world", "list"}); err != nil {
			b.Fatal(err)
		}
	}
}
