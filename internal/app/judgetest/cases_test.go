package judgetest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// The halves of the cases.
const (
	development = "development"
	locked      = "locked"
)

// halves lists the halves in the order of the table in docs/judgement.md.
var halves = []string{development, locked}

// caseFiles returns the files of a half, or nil if this run does not read that half: only make judge
// reads the locked one, from cases/locked.sealed or from the folder or sealed file in JUDGE_LOCKED.
func caseFiles(half string) (fs.FS, error) {
	switch {
	case half != locked:
		return os.DirFS(filepath.Join("cases", half)), nil
	case !whole():
		return nil, nil
	case os.Getenv("JUDGE_LOCKED") != "" && !isSealed(os.Getenv("JUDGE_LOCKED")):
		return os.DirFS(os.Getenv("JUDGE_LOCKED")), nil
	}
	return openSealed()
}

// loadCases reads the cases of a half from a file such as commands.jsonl. It skips the test if this
// run does not read that half or there is no such file. A malformed case fails the test: a field
// that T does not have, or an id that is missing or occurs twice. The error names the line only, so
// that a log never shows a locked case.
func loadCases[T any](t *testing.T, half, name string) []T {
	t.Helper()
	files, err := caseFiles(half)
	if err != nil {
		t.Fatal(err)
	}
	if files == nil {
		t.Skipf("the %s half is read by make judge only", half)
	}
	b, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("there is no file %s of the %s half: nothing is measured", name, half)
	}
	if err != nil {
		t.Fatal(err)
	}
	var cases []T
	ids := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var head struct{ ID string }
		if err := json.Unmarshal(lines.Bytes(), &head); err != nil || head.ID == "" || ids[head.ID] {
			t.Fatalf("%s of the %s half, line %d: the case needs an id of its own", name, half, n)
		}
		ids[head.ID] = true
		var c T
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil {
			t.Fatalf("%s of the %s half, line %d: %v", name, half, n, err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return cases
}

// figure is one measured value.
type figure struct {
	half, row, measure string
	value              float64
	n                  int // cases that it was measured on
}

// figures collects the values of this run for the page.
var figures struct {
	sync.Mutex
	list []figure
}

// report records a figure of a half for docs/judgement.md, and logs it. row and measure are those of
// bars; a pair without a bar, such as a rate by kind, is listed in a table of its own. value is
// between 0 and 1, n is the number of cases.
func report(t *testing.T, half, row, measure string, value float64, n int) {
	t.Helper()
	t.Logf("%s, %s, %s: %.3f of %d cases", row, measure, half, value, n)
	figures.Lock()
	defer figures.Unlock()
	figures.list = append(figures.list, figure{half, row, measure, value, n})
}

// logMiss logs a wrong answer to a case of the development half. It shows nothing of a locked case.
func logMiss(t *testing.T, half, format string, args ...any) {
	t.Helper()
	if half == development && testing.Verbose() {
		t.Logf(format, args...)
	}
}
