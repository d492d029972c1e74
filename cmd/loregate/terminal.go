package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// forTerminal is a file to write to, in which a terminal shows control characters and does
// not obey them: what commands print holds names of files, texts of players and words of
// models, which could rewrite what stands above them or turn the order of what follows. What
// goes to a file or a program stays as it is.
func forTerminal(f *os.File) io.Writer {
	if !isTerminal(f) {
		return f
	}
	return &tame{to: f}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// tame writes text on with its control characters written out.
type tame struct {
	to   io.Writer
	rest []byte // a character that is not whole yet
}

// Write takes text in UTF-8, in pieces of any length.
func (t *tame) Write(p []byte) (int, error) {
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
	if _, err := io.WriteString(t.to, tamed(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func tamed(text string) string {
	if !strings.ContainsFunc(text, commands) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if commands(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// commands reports whether a terminal may do something at a character besides showing it:
// the controls of C0 but for line ends and tabs, those of C1, and what turns the order of text.
func commands(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}
