package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Text of other authors cannot control the reader's terminal.
func TestTerminalsGetNoControlCharacters(t *testing.T) {
	for in, want := range map[string]string{
		"a card\tof\nlines, Žižka, 城, 👩‍🌾": "a card\tof\nlines, Žižka, 城, 👩‍🌾",
		"\x1b[2J\x1b]0;pwned\a":            `\u001b[2J\u001b]0;pwned\u0007`,
		"\u009b31m red \x7f \r":            `\u009b31m red \u007f \u000d`,
		"user\u202enimda \u2066x":          `user\u202enimda \u2066x`,
	} {
		var whole, pieces bytes.Buffer
		if n, err := (&controlEscaper{to: &whole}).Write([]byte(in)); n != len(in) || err != nil || whole.String() != want {
			t.Errorf("%q is shown as %q (%d, %v), want %q", in, whole.String(), n, err, want)
		}
		w := &controlEscaper{to: &pieces}
		for _, b := range []byte(in) {
			if n, err := w.Write([]byte{b}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if pieces.String() != want {
			t.Errorf("%q byte by byte is shown as %q, want %q", in, pieces.String(), want)
		}
	}
}

// A file gets the bytes unchanged, since an attachment may hold any bytes.
func TestFilesGetUnchangedBytes(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if w := forTerminal(f); w != f {
		t.Errorf("a file is written to by a %T", w)
	}
}
