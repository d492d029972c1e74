package housekeeping

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// base is the last commit from before subjects were held to a form.
const base = "f80e91c"

var subjectForm = regexp.MustCompile(`^[a-z][\w/.-]*(, [a-z][\w/.-]*)*: \S`)

func TestCommitSubjects(t *testing.T) {
	var stderr bytes.Buffer
	c := exec.CommandContext(t.Context(), "git", "log", "--no-merges", "--format=%h %s", base+"..HEAD")
	c.Dir, c.Stderr = root, &stderr
	out, err := c.Output()
	if err != nil {
		t.Skipf("the history is not here: %v %s", err, stderr.Bytes())
	}
	for line := range strings.Lines(string(out)) {
		_, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if utf8.RuneCountInString(subject) > 72 || !subjectForm.MatchString(subject) {
			t.Errorf(`%s: want "area: imperative", at most 72 characters`, strings.TrimSpace(line))
		}
	}
}

// Decisions are numbered from 1 without a hole, each title has its file's number, and the
// list of docs/adr/README.md has a link to each.
func TestDecisionsAreNumbered(t *testing.T) {
	dir := filepath.Join(root, "docs", "adr")
	files, err := filepath.Glob(filepath.Join(dir, "[0-9]*.md"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	list, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		name := filepath.Base(file)
		if want := fmt.Sprintf("%04d-", i+1); !strings.HasPrefix(name, want) {
			t.Fatalf("%s is in the place of %s…", name, want)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("# %d. ", i+1); !strings.HasPrefix(string(text), want) {
			t.Errorf("%s does not begin with %q", name, want)
		}
		if !strings.Contains(string(list), "("+name+")") {
			t.Errorf("README.md has no link to %s", name)
		}
	}
}
