package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// forTerminal returns a writer to f that escapes control characters if f is a terminal. Commands
// print names of files, texts of players and output of models, which could otherwise rewrite
// earlier lines or change the direction of later text. A file or pipe gets all bytes unchanged.
func forTerminal(f *os.File) io.Writer {
	if !isTerminal(f) {
		return f
	}
	return &controlEscaper{to: f}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// terminalWidth returns the columns of the terminal at standard output, but 80 at least and 120 at most.
func terminalWidth() int {
	columns, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 80
	}
	return min(max(columns, 80), 120)
}

// controlEscaper writes text to another writer and escapes its control characters.
type controlEscaper struct {
	to   io.Writer
	rest []byte // the first bytes of an incomplete character
}

// Write accepts text in UTF-8, in pieces of any length.
func (t *controlEscaper) Write(p []byte) (int, error) {
	text := append(t.rest, p...)
	whole := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if at := len(text) - back; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				whole = at
			}
			break
		}
	}
	t.rest = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(t.to, escapeControls(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func escapeControls(text string) string {
	if !strings.ContainsFunc(text, isTerminalControl) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isTerminalControl(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isTerminalControl reports whether a terminal may act on a character instead of showing it: the C0
// controls except line end and tab, the C1 controls, and the characters that change the direction
// of text.
func isTerminalControl(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}
