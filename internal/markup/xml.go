package markup

import (
	"bytes"
	"errors"
	"io"
)

// maxAttributes is the number of attributes that a tag of XML may have. A parser keeps all of a tag at once.
const maxAttributes = 4000

// ErrTag is the error of a file with too many attributes in one tag.
var ErrTag = errors.New("a tag has more than 4,000 attributes")

// XMLTags returns a reader of XML that fails with ErrTag at a tag with more than maxAttributes attributes.
func XMLTags(r io.Reader) io.Reader { return &tagReader{r: r} }

type tagReader struct {
	r     io.Reader
	head  []byte // of the tag, comment or declaration that is read, at most its first 9 bytes; empty: a text is read
	end   []byte // with which a comment or declaration ends
	tail  []byte // the last bytes of one
	quote byte   // 0 outside of a value
	blank bool   // the character before was one
	count int    // of signs between attributes in the tag
}

// Read implements io.Reader.
func (t *tagReader) Read(p []byte) (n int, err error) {
	n, err = t.r.Read(p)
	for _, c := range p[:n] {
		if t.step(c); t.count > 2*maxAttributes {
			return 0, ErrTag
		}
	}
	return n, err
}

func (t *tagReader) step(c byte) {
	isBlank := c == ' ' || c == '\t' || c == '\n' || c == '\r'
	defer func() { t.blank = isBlank }()
	switch {
	case len(t.head) == 0:
		if c == '<' {
			t.head, t.end, t.tail, t.quote, t.count = append(t.head, c), nil, t.tail[:0], 0, 0
		}
		return
	case len(t.head) < len("<![CDATA["):
		t.head = append(t.head, c)
	}
	if len(t.head) > 1 && (t.head[1] == '!' || t.head[1] == '?') {
		t.stepDeclaration(c)
		return
	}
	switch {
	case t.quote != 0:
		if c == t.quote {
			t.quote = 0
		}
	case c == '>':
		t.head = t.head[:0]
	case c == '"' || c == '\'':
		t.quote = c
	case c == '=' || isBlank && !t.blank:
		t.count++
	}
}

// stepDeclaration reads a character of a comment or declaration, which has no attributes.
func (t *tagReader) stepDeclaration(c byte) {
	switch {
	case bytes.Equal(t.head, []byte("<!--")):
		t.end = []byte("-->")
	case bytes.Equal(t.head, []byte("<![CDATA[")):
		t.end = []byte("]]>")
	case bytes.Equal(t.head, []byte("<?")):
		t.end = []byte("?>")
	case t.end == nil && len(t.head) >= 3 && c == '>':
		t.head = t.head[:0]
		return
	}
	if t.end == nil {
		return
	}
	if t.tail = append(t.tail, c); len(t.tail) > len(t.end) {
		t.tail = append(t.tail[:0], t.tail[1:]...)
	}
	if bytes.Equal(t.tail, t.end) {
		t.head = t.head[:0]
	}
}
