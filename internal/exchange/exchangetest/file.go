package exchangetest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"loregate/internal/exchange"
)

// Files returns a vault with the given texts, by path.
func Files(texts map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for p, text := range texts {
		m[p] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// RealData returns the whole path of a folder of real data: below the folder that REAL_DATA names, or else in shared/data
// next to the repository. It skips the test if the folder does not exist.
func RealData(t testing.TB, name string) string {
	t.Helper()
	places := []string{filepath.Join(os.Getenv("REAL_DATA"), name)}
	if os.Getenv("REAL_DATA") == "" {
		places = nil
		for up := ".."; len(places) < 6; up = filepath.Join("..", up) {
			places = append(places, filepath.Join(up, "shared", "data", name))
		}
	}
	for _, dir := range places {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		whole, err := filepath.Abs(dir)
		if err != nil {
			t.Fatal(err)
		}
		return whole
	}
	t.Skipf("no real data: ../shared/data/%s is not beside the repository, nor below REAL_DATA", name)
	return ""
}

// FirstLine returns the first line of a summary.
func FirstLine(s exchange.Summary) string {
	line, _, _ := strings.Cut(s.String(), "\n")
	return line
}

// FolderText returns the bytes of all files in a folder as one text.
func FolderText(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		fmt.Fprintf(&b, "=== %s\n%s\n", rel, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// ErrorFS is a folder that cannot be read.
type ErrorFS struct{}

func (ErrorFS) Open(string) (fs.File, error) { return nil, fs.ErrPermission }
