package secrecy

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkSplit splits a text of 5 KB with ten marked sentences.
func BenchmarkSplit(b *testing.B) {
	var text strings.Builder
	text.WriteString("# The tavern\n\n")
	for i := range 10 {
		fmt.Fprintf(&text, "Room %d stands above the [[Quay]]. %s\n\n%%%%The guest of room %d is a spy.%%%%\n\n", i,
			strings.Repeat("Dust and salt lie on each board. ", 9), i)
	}
	for name, body := range map[string]string{"marks": text.String(), "plain": strings.ReplaceAll(text.String(), "%%", "")} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				Split(body, Markdown, isExactMark)
			}
		})
	}
}
