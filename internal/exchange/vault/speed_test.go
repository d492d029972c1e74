package vault

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkVault measures the import, the second import and the export of a vault of 7,000 notes with
// 400 pictures. Run it with -benchtime 1x; -memprofile or time -v give the memory.
func BenchmarkVault(b *testing.B) {
	dir := writeVault(b, bigVault(7000, 400))
	for range b.N {
		s := newStoredScene(b)
		out := filepath.Join(b.TempDir(), "out")
		for _, step := range []struct {
			name string
			do   func()
		}{
			{"import", func() { s.importDir("admin", dir, Options{}) }},
			{"again", func() { s.importDir("admin", dir, Options{}) }},
			{"export", func() { s.export("gm", out) }},
		} {
			start := time.Now()
			step.do()
			b.ReportMetric(time.Since(start).Seconds(), step.name+"-s")
		}
		if differ, notes := differences(b, dir, out); len(differ) > 0 || notes != 7000 {
			b.Errorf("%d of %d notes differ", len(differ), notes)
		}
	}
}

// bigVault returns a vault of notes of about 3 kB, with links, tags, front matter and secrets.
func bigVault(notes, pictures int) map[string]string {
	r := rand.New(rand.NewPCG(1, 2))
	var words []string
	for range 5000 {
		word := make([]byte, 3+r.IntN(7))
		for i := range word {
			word[i] = byte('a' + r.IntN(26))
		}
		words = append(words, string(word))
	}
	files := map[string]string{}
	for i := range notes {
		var b strings.Builder
		fmt.Fprintf(&b, "---\ntags: [%s, %s]\naliases: [%s %d]\nborn: %d\n---\n# Note %d\n", words[r.IntN(60)], words[r.IntN(60)],
			pick(r, words), i, r.IntN(2000), i)
		for range 12 {
			for range 35 {
				b.WriteString(pick(r, words) + " ")
			}
			fmt.Fprintf(&b, "[[Note %d|%s]].\n\n", r.IntN(notes), pick(r, words))
		}
		if i%5 == 0 {
			fmt.Fprintf(&b, "> [!secret]- Plot\n> The %s %s.\n\n", pick(r, words), pick(r, words))
		}
		if i < pictures {
			fmt.Fprintf(&b, "![[picture %d.png]]\n", i)
			data := make([]byte, 60_000)
			for j := range data {
				data[j] = byte(r.Uint32())
			}
			files[fmt.Sprintf("pictures/picture %d.png", i)] = "\x89PNG\r\n\x1a\n" + string(data)
		}
		files[fmt.Sprintf("part %d/Note %d.md", i%40, i)] = b.String()
	}
	return files
}
