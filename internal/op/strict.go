package op

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"loregate/internal/fault"
	"loregate/internal/markup"
)

// The limits of strict decoding. maxDepth is given by the contract. maxValues bounds the memory
// that 4 MiB of "[0,0,…" would take; a batch of 100 has a few thousand values.
const (
	maxDepth  = 64
	maxValues = 100_000
	maxFaults = 50  // faults listed in one answer
	maxKey    = 255 // characters of an idempotency key
)

// node is a JSON value. Members of an object and items of an array are both kids.
type node struct {
	kind jsontext.Kind // 'n' 'f' 't' '"' '0' '{' '['
	text string        // of a string, unescaped; of a number, as sent
	kids []member
}

type member struct {
	name string // "" for an item of an array
	node node
}

// member returns a member of an object; nil if absent.
func (n *node) member(name string) *node {
	for i := range n.kids {
		if n.kids[i].name == name {
			return &n.kids[i].node
		}
	}
	return nil
}

// takeMember removes a member of an object and returns it.
func (n *node) takeMember(name string) (node, bool) {
	for i := range n.kids {
		if n.kids[i].name == name {
			v := n.kids[i].node
			n.kids = slices.Delete(n.kids, i, i+1)
			return v, true
		}
	}
	return node{}, false
}

// fieldPath is a path in a JSON value, linked upwards; its text is built only for faults.
type fieldPath struct {
	up    *fieldPath
	name  string
	index int // of an item; -1 for a member
}

func (w *fieldPath) String() string {
	if w == nil {
		return ""
	}
	if w.index >= 0 {
		return fmt.Sprintf("%s[%d]", w.up, w.index)
	}
	if w.up == nil {
		return markup.Shorten(w.name, 64)
	}
	return w.up.String() + "." + markup.Shorten(w.name, 64)
}

// faults collects the faults of an input.
type faults struct {
	list []fault.Field
	more int
}

func (f *faults) add(at *fieldPath, format string, args ...any) {
	if len(f.list) >= maxFaults {
		f.more++
		return
	}
	f.list = append(f.list, fault.Field{Field: at.String(), Error: fmt.Sprintf(format, args...)})
}

// err returns all faults as one error; nil if there are none.
func (f *faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	parts := make([]string, 0, 4)
	for _, x := range f.list[:min(len(f.list), 3)] {
		parts = append(parts, strings.TrimPrefix(x.Field+": "+x.Error, ": "))
	}
	if n := len(f.list) + f.more - len(parts); n > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", n))
	}
	return &fault.Error{Kind: fault.Invalid, Message: strings.Join(parts, "; "), Fields: f.list}
}

// parser reads strict JSON into nodes.
type parser struct {
	dec    *jsontext.Decoder
	buf    *bytes.Buffer
	values int
	faults *faults
}

var parsers = sync.Pool{New: func() any {
	buf := new(bytes.Buffer)
	return &parser{buf: buf, dec: jsontext.NewDecoder(buf, jsontext.AllowDuplicateNames(true))}
}}

var emptyReader = strings.NewReader("")

var errStop = errors.New("op: stopped at a fault")

// parseJSON reads one strict JSON value: UTF-8, no duplicate names, no NUL, depth at most maxDepth,
// nothing after it. Its error is fault.Invalid and lists every fault found; reading stops at broken
// syntax.
func parseJSON(data []byte) (node, error) {
	var f faults
	p := parsers.Get().(*parser)
	p.buf = bytes.NewBuffer(data) // read in place, not copied
	p.dec.Reset(p.buf, jsontext.AllowDuplicateNames(true))
	p.values, p.faults = 0, &f
	var n node
	err := p.readValue(&n, nil, 0)
	if err == nil {
		err = p.expectEnd()
	}
	p.dec.Reset(emptyReader) // keep no input alive in the pool
	p.buf, p.faults = nil, nil
	parsers.Put(p)
	if err != nil && err != errStop {
		f.add(nil, "%s", syntaxText(err))
	}
	return n, f.err()
}

func (p *parser) expectEnd() error {
	if _, err := p.dec.ReadToken(); err != io.EOF {
		return cmp.Or(err, errors.New("there is more text after the JSON value"))
	}
	return nil
}

func (p *parser) readValue(n *node, at *fieldPath, depth int) error {
	if p.values++; p.values > maxValues {
		p.faults.add(at, "the input has more than %d values; send it in parts", maxValues)
		return errStop
	}
	tok, err := p.dec.ReadToken()
	if err != nil {
		return err
	}
	n.kind = tok.Kind()
	switch n.kind {
	case '"':
		n.text = tok.String()
		if strings.IndexByte(n.text, 0) >= 0 {
			p.faults.add(at, "must not contain the character NUL")
		}
	case '0':
		n.text = tok.String()
		if v, err := strconv.ParseFloat(n.text, 64); err != nil || math.IsInf(v, 0) {
			p.faults.add(at, "the number %s is out of range; the greatest is about 1.8e308", markup.Shorten(n.text, 20))
		}
	case '{', '[':
		if depth >= maxDepth {
			p.faults.add(at, "is nested more than %d deep", maxDepth)
			return errStop
		}
		return p.readChildren(n, at, depth+1)
	}
	return nil
}

func (p *parser) readChildren(n *node, at *fieldPath, depth int) error {
	var seen seenNames
	if p.dec.PeekKind() != '}' && p.dec.PeekKind() != ']' {
		n.kids = make([]member, 0, 4)
	}
	for p.dec.PeekKind() != '}' && p.dec.PeekKind() != ']' {
		place := fieldPath{up: at, index: len(n.kids)}
		var m member
		if n.kind == '{' {
			tok, err := p.dec.ReadToken()
			if err != nil {
				return err
			}
			m.name = tok.String()
			place.name, place.index = m.name, -1
			if strings.IndexByte(m.name, 0) >= 0 {
				p.faults.add(at, "has a name that contains the character NUL")
			}
			if seen.isRepeat(n, m.name) {
				p.faults.add(&place, "is given twice")
			}
		}
		n.kids = append(n.kids, m)
		if err := p.readValue(&n.kids[len(n.kids)-1].node, &place, depth); err != nil {
			return err
		}
	}
	_, err := p.dec.ReadToken()
	return err
}

// seenNames remembers the names of an object, to find duplicates: it compares with each name while
// there are few, and uses a map for many.
type seenNames struct{ many map[string]struct{} }

func (s *seenNames) isRepeat(n *node, name string) bool {
	if s.many == nil {
		if len(n.kids) < 16 {
			return n.member(name) != nil
		}
		s.many = make(map[string]struct{}, 64)
		for i := range n.kids {
			s.many[n.kids[i].name] = struct{}{}
		}
	}
	_, ok := s.many[name]
	s.many[name] = struct{}{}
	return ok
}

// syntaxText describes the error of broken JSON.
func syntaxText(err error) string {
	if errors.Is(err, io.EOF) {
		return "the input is empty; send a JSON object"
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "the JSON ends too early"
	}
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Sprintf("broken JSON at byte %d: %s", s.ByteOffset, markup.Shorten(cmp.Or(s.Err, err).Error(), 120))
	}
	return markup.Shorten(err.Error(), 120)
}

// appendCanonical appends a value with sorted names and no spaces. It differs from RFC 8785 in
// keeping numbers as written, so that none loses digits, and in sorting names by bytes.
func appendCanonical(b []byte, n *node) []byte {
	switch n.kind {
	case '"':
		b, _ = jsontext.AppendQuote(b, n.text)
	case '0':
		b = append(b, n.text...)
	case '{':
		slices.SortFunc(n.kids, func(x, y member) int { return cmp.Compare(x.name, y.name) })
		b = append(b, '{')
		for i := range n.kids {
			if i > 0 {
				b = append(b, ',')
			}
			b, _ = jsontext.AppendQuote(b, n.kids[i].name)
			b = append(b, ':')
			b = appendCanonical(b, &n.kids[i].node)
		}
		b = append(b, '}')
	case '[':
		b = append(b, '[')
		for i := range n.kids {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, &n.kids[i].node)
		}
		b = append(b, ']')
	case 't':
		b = append(b, "true"...)
	case 'f':
		b = append(b, "false"...)
	default:
		b = append(b, "null"...)
	}
	return b
}

// Canonical returns strict JSON in the one form that is hashed: names sorted by bytes, no spaces,
// numbers as written. data must be one JSON value: UTF-8, no duplicate names, no NUL, at most 64 deep,
// nothing after it. If it is not, the error is fault.Invalid and lists the faults by field path.
func Canonical(data []byte) ([]byte, error) {
	n, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	return appendCanonical(make([]byte, 0, len(data)), &n), nil
}
