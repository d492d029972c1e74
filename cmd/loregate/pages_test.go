package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// page is a file for people, with its path in the repository.
type page struct{ path, text string }

const root = "../.."

// pages returns the repository's Markdown pages, and the files in also.
func pages(t *testing.T, also ...string) (list []page) {
	t.Helper()
	names := append([]string{"README.md", "ARCHITECTURE.md"}, also...)
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".md") {
			rel, _ := filepath.Rel(root, p)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		list = append(list, page{name, readText(t, name)})
	}
	return list
}

func readText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// deployed returns the files of the folder deploy, whose comments and lines name settings and
// commands.
func deployed(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, "deploy"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, "deploy/"+e.Name())
		}
	}
	return names
}

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
	span    = regexp.MustCompile("`[^`\n]+`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
)

func TestLinksInDocsResolve(t *testing.T) {
	for _, p := range pages(t) {
		prose := span.ReplaceAllString(fence.ReplaceAllString(p.text, ""), "")
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			to := p.path
			if file != "" {
				to = path.Join(path.Dir(p.path), file)
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s: %s is not there", p.path, m[1])
			} else if anchor != "" && !slices.Contains(anchors(readText(t, to)), anchor) {
				t.Errorf("%s: %s has no heading #%s", p.path, to, anchor)
			}
		}
	}
}

// anchors returns the anchors that GitHub gives the headings of a page.
func anchors(text string) (names []string) {
	odd := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		names = append(names, strings.ReplaceAll(odd.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return names
}

// called matches command lines of the program: at the beginning of a line of a block or comment,
// after a shell's operator or within an inline span.
var called = regexp.MustCompile("(?m)(?:^[ \\t#]*(?:[A-Z_]+=\\S+ )*|[|;&(] ?|`|-- |exec lore1 )(?:\"?\\$PWD/|\\./|go run \\./cmd/)?loregate\"? ([a-z][^\n`|;&>]*)")

func TestCommandsInDocsExist(t *testing.T) {
	commands := newCommandLine(io.Discard, io.Discard)
	for cmd, p := range commands.bare {
		p.addTo(cmd)
	}
	seen := 0
	for _, p := range pages(t, deployed(t)...) {
		for _, line := range codeOf(p) {
			for _, m := range called.FindAllStringSubmatch(line, -1) {
				seen++
				checkCommand(t, p.path, commands.root, strings.Fields(m[1]))
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d commands were found; are they written in another way?", seen)
	}
}

// codeOf returns the code in a Markdown page, or all lines of any other file.
func codeOf(p page) []string {
	if !strings.HasSuffix(p.path, ".md") {
		return strings.Split(p.text, "\n")
	}
	code := fence.FindAllString(p.text, -1)
	rest := fence.ReplaceAllString(p.text, "")
	for line := range strings.SplitSeq(rest, "\n") {
		if strings.HasPrefix(line, "    ") {
			code = append(code, line)
		}
	}
	return append(code, span.FindAllString(rest, -1)...)
}

func checkCommand(t *testing.T, where string, at *cobra.Command, words []string) {
	t.Helper()
	for _, word := range words {
		word = strings.Trim(word, "\"'.,`")
		if strings.HasPrefix(word, "#") {
			return
		}
		if next, rest, err := at.Find([]string{word}); err == nil && len(rest) == 0 {
			at = next
			continue
		}
		if at.HasSubCommands() && !strings.HasPrefix(word, "-") {
			if !at.HasParent() || len(words) > 1 && word != "…" {
				t.Errorf("%s: %q: there is no command %q", where, strings.Join(words, " "), word)
			}
			return
		}
		if name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "="); strings.HasPrefix(word, "--") &&
			!slices.Contains(append(flagNames(at), "help"), name) {
			t.Errorf("%s: %q: %s has no flag --%s", where, strings.Join(words, " "), at.CommandPath(), name)
		}
	}
}

func TestSettingsInDocsExist(t *testing.T) {
	variable := regexp.MustCompile(`\bLOREGATE_[A-Z_]+[A-Z]\b`)
	known := variable.FindAllString(readText(t, "docs/config.md"), -1)
	for _, p := range pages(t, deployed(t)...) {
		for _, name := range variable.FindAllString(p.text, -1) {
			if !slices.Contains(known, name) && !strings.HasPrefix(name, "LOREGATE_KEY") {
				t.Errorf("%s: there is no setting %s", p.path, name)
			}
		}
	}
}

func TestEveryMetricIsDocumented(t *testing.T) {
	metric := regexp.MustCompile(`loregate_[a-z_]+[a-z]`)
	operations := readText(t, "docs/operations.md")
	made := metric.FindAllString(readText(t, "internal/telemetry/metrics.go"), -1)
	for _, name := range made {
		if !strings.Contains(operations, "`"+name+"`") {
			t.Errorf("docs/operations.md does not say what %s is", name)
		}
	}
	for _, name := range metric.FindAllString(operations, -1) {
		if !slices.Contains(made, strings.TrimSuffix(name, "_bucket")) {
			t.Errorf("docs/operations.md names %s, which there is not", name)
		}
	}
}

func TestTestsAndTargetsInDocsExist(t *testing.T) {
	var tests strings.Builder
	for _, dir := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(p string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(p, "_test.go") {
				return err
			}
			b, err := os.ReadFile(p)
			tests.Write(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	makefile := readText(t, "Makefile")
	for _, p := range pages(t) {
		for _, s := range span.FindAllString(p.text, -1) {
			word := strings.Trim(s, "`")
			switch name, isMake := strings.CutPrefix(word, "make "); {
			case isMake && !strings.Contains(makefile, "\n"+name+":"):
				t.Errorf("%s: the Makefile has no target %s", p.path, name)
			case regexp.MustCompile(`^Test[A-Z]\w+$`).MatchString(word) && !strings.Contains(tests.String(), "func "+word+"("):
				t.Errorf("%s: there is no %s", p.path, word)
			}
		}
	}
}

// TestDocsBecomeASite does what scripts/site.sh does.
func TestDocsBecomeASite(t *testing.T) {
	dir := t.TempDir()
	docs, err := filepath.Abs(filepath.Join(root, "docs"))
	if err != nil {
		t.Fatal(err)
	}
	runIn(t, dir, 0, "world create docs")
	runIn(t, dir, 0, "import markdown "+docs+" --world docs --all-files")
	runIn(t, dir, 0, "export site site --world docs --as gm")
	for _, page := range []string{"index.html", "cards/table.html", "cards/import.html"} {
		if _, err := os.Stat(filepath.Join(dir, "site", filepath.FromSlash(page))); err != nil {
			t.Error(err)
		}
	}
	search, err := os.ReadFile(filepath.Join(dir, "site", "assets", "cards.js"))
	if err != nil || !bytes.Contains(search, []byte("PostgreSQL")) {
		t.Errorf("the search finds no page: %v", err)
	}
	part, err := os.ReadFile(filepath.Join(dir, "site", "cards", "table.html"))
	if err != nil || !bytes.Contains(part, []byte("GM notes")) {
		t.Errorf("a page about hidden parts is cut: %v", err)
	}
}
