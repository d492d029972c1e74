package exchange

import (
	"loregate/internal/markup"
	"strings"
	"testing"
)

func TestPlainName(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "a+b": "a b", " a ": "a", "a/b": "a b", "Étage": "Étage",
		"a|[[b]]": "a b", strings.Repeat("x", 300): strings.Repeat("x", 120)} {
		if got := PlainName(in); got != want {
			t.Errorf("plainName(%q) = %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"", "!", "\x00", "\u202e", "{{}}", strings.Repeat("+", 500)} {
		if err := markup.CheckName(PlainName(in)); err != nil {
			t.Errorf("plainName(%q): %v", in, err)
		}
	}
}
