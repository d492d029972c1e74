package markup_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"loregate/internal/markup"
)

// TestTags reads XML with few and with many attributes in a tag, however they are written.
func TestTags(t *testing.T) {
	many := 3 * 4000
	for text, want := range map[string]error{
		`<a b="1" c='>'>` + strings.Repeat("x = y ", many) + `</a>`:          nil,
		`<!-- ` + strings.Repeat("a=1 ", many) + ` --><a></a>`:               nil,
		strings.Repeat(`<a b="1"/>`, many):                                   nil,
		`<a d="` + strings.Repeat("M 1 = 2 ", many) + `"></a>`:               nil,
		`<a` + strings.Repeat(` b=">"`, many) + `></a>`:                      markup.ErrTag,
		`<a ` + strings.Repeat(`b='1'`, many) + `></a>`:                      markup.ErrTag,
		`<?x y?><a` + strings.Repeat("\n\tb", many) + `></a>`:                markup.ErrTag,
		`<!-- " --><a` + strings.Repeat(` b="1"`, many) + `></a>`:            markup.ErrTag,
		`<![CDATA[ <a ' ]]><b` + strings.Repeat(` b="1" c='2'`, many) + `/>`: markup.ErrTag,
	} {
		d := xml.NewDecoder(markup.XMLTags(strings.NewReader(text)))
		d.Strict = false
		var err error
		for err == nil {
			_, err = d.RawToken()
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if !errors.Is(err, want) {
			t.Errorf("%.40q…: %v, want %v", text, err, want)
		}
	}
}
