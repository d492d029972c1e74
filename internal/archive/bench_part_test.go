package archive

import (
	"fmt"
	"strings"
	"testing"

	"loregate/internal/cputest"
)

// tavern is a note of about 4 KB in Markdown, ten sentences of which have marks around them.
func tavern(n int, before, after string) string {
	var b strings.Builder
	b.WriteString("# The tavern\n\n")
	for i := range 10 {
		fmt.Fprintf(&b, "Room %d stands above the [[Quay]]. %s\n\n%sThe guest of room %d is a spy, or so says evening %d.%s\n\n",
			i, strings.Repeat("Dust and salt lie on each board. ", 9), before, i, n, after)
	}
	return b.String()
}

// measureCPU reports the processor time of a call.
func measureCPU(b *testing.B, call func()) {
	b.ReportAllocs()
	used := cputest.Used()
	for b.Loop() {
		call()
	}
	b.ReportMetric(float64((cputest.Used()-used).Microseconds())/float64(b.N), "cpu-us")
}

// BenchmarkParts reads and writes a note with ten hidden parts, and one in which the same sentences are open.
func BenchmarkParts(b *testing.B) {
	s := newDesk(b)
	for _, note := range []struct{ name, before, after string }{{"plain", "", ""}, {"ten parts", "%%", "%%"}} {
		s.As("gm").Call("create_card", asJSON(map[string]any{"name": note.name, "text_format": "markdown",
			"format": "markdown", "content": tavern(0, note.before, note.after)}))
		for _, who := range []string{"gm", "user"} {
			b.Run("read/"+note.name+"/"+who, func(b *testing.B) {
				a := s.As(who)
				measureCPU(b, func() {
					a.Call("get_card", `{"name": "`+note.name+`", "format": "markdown", "full": true}`)
				})
			})
		}
		n := 0
		b.Run("write/"+note.name+"/gm", func(b *testing.B) {
			a := s.As("gm")
			measureCPU(b, func() {
				n++
				a.Call("update_card", asJSON(map[string]any{"name": note.name, "format": "markdown",
					"content": tavern(n, note.before, note.after)}))
			})
		})
		b.Run("write one word/"+note.name+"/gm", func(b *testing.B) {
			a := s.As("gm")
			measureCPU(b, func() {
				n++
				a.Call("update_card", asJSON(map[string]any{"name": note.name, "format": "markdown",
					"content": strings.Replace(tavern(0, note.before, note.after), "Room 5", "Room "+itoa(n), 1)}))
			})
		})
		b.Run("write/"+note.name+"/user", func(b *testing.B) {
			a := s.As("user")
			measureCPU(b, func() {
				n++
				a.Call("update_card", asJSON(map[string]any{"name": note.name, "format": "markdown",
					"content": strings.Replace(tavern(0, "", ""), "Room 5", "Room "+itoa(n), 1)}))
			})
		})
	}
}

// BenchmarkOpens lists what opening a card with 500 children opens: each of a paragraph, and each of 4 KB with ten
// marks.
func BenchmarkOpens(b *testing.B) {
	for name, text := range map[string]func(i int) string{
		"short": func(i int) string { return "Room " + itoa(i) + " stands above the [[Quay]]. Dust and salt lie on it." },
		"marks": func(i int) string { return tavern(i, "%%", "%%") },
	} {
		b.Run(name, func(b *testing.B) {
			s := newDesk(b)
			s.As("gm").Call("create_card", `{"name": "Vale", "level": "gm", "content": "x"}`)
			for i := range 500 {
				s.As("gm").Call("create_card", asJSON(map[string]any{"name": "Vale+" + itoa(i), "text_format": "markdown",
					"format": "markdown", "content": text(i)}))
			}
			a := s.As("admin")
			b.ResetTimer()
			measureCPU(b, func() { a.Call("set_card_level", `{"name": "Vale", "level": "user", "dry_run": true}`) })
		})
	}
}
