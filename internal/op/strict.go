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
)

// The caps of strict decoding. Depth is the contract's. The number of values bounds the
// memory that 4 MiB of "[0,0,…" would take; a batch of 100 has a few thousand.
const (
	maxDepth  = 64
	maxValues = 100_000
	maxFaults = 50  // faults that one answer lists
	maxKey    = 255 // characters of an idempotency key
)

// node is a JSON value. Members of an object and items of an array are both kids.
type node struct {
	kind jsontext.Kind // 'n' 'f' 't' '"' '0' '{' '['
	text string        // of a string, unescaped; of a number, as written
	kids []member
}

type member struct {
	name string // "" for an item of an array
	node node
}

// member finds a member of an object; nil where there is none.
func (n *node) member(name string) *node {
	for i := range n.kids {
		if n.kids[i].name == name {
			return &n.kids[i].node
		}
	}
	return nil
}

// take removes a member of an object and returns it.
func (n *node) take(name string) (node, bool) {
	for i := range n.kids {
		if n.kids[i].name == name {
			v := n.kids[i].node
			n.kids = slices.Delete(n.kids, i, i+1)
			return v, true
		}
	}
	return node{}, false
}

// where is a place in a JSON value, linked upwards; its text is made only for faults.
type where struct {
	up    *where
	name  string
	index int // of an item; -1 for a member
}

func (w *where) String() string {
	if w == nil {
		return ""
	}
	if w.index >= 0 {
		return fmt.Sprintf("%s[%d]", w.up, w.index)
	}
	if w.up == nil {
		return clip(w.name, 64)
	}
	return w.up.String() + "." + clip(w.name, 64)
}

// clip shortens text that comes from outside before it is shown back.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

// faults collects what is wrong with an input.
type faults struct {
	list []fault.Field
	more int
}

func (f *faults) add(at *where, format string, args ...any) {
	if len(f.list) >= maxFaults {
		f.more++
		return
	}
	f.list = append(f.list, fault.Field{Field: at.String(), Error: fmt.Sprintf(format, args...)})
}

// err is all faults as one error; nil where there are none.
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

var nothingMore = strings.NewReader("")

var errStop = errors.New("op: stopped at a fault")

// parse reads one strict JSON value: UTF-8, no duplicate names, no NUL, depth at most
// maxDepth, nothing after it. Its error is fault.Invalid with every fault that could be
// told; broken syntax ends the reading.
func parse(data []byte) (node, error) {
	var f faults
	p := parsers.Get().(*parser)
	p.buf = bytes.NewBuffer(data) // read in place, not copied
	p.dec.Reset(p.buf, jsontext.AllowDuplicateNames(true))
	p.values, p.faults = 0, &f
	var n node
	err := p.value(&n, nil, 0)
	if err == nil {
		err = p.end()
	}
	p.dec.Reset(nothingMore) // keep no input alive in the pool
	p.buf, p.faults = nil, nil
	parsers.Put(p)
	if err != nil && err != errStop {
		f.add(nil, "%s", syntax(err))
	}
	return n, f.err()
}

func (p *parser) end() error {
	if _, err := p.dec.ReadToken(); err != io.EOF {
		return cmp.Or(err, errors.New("there is more after the JSON value"))
	}
	return nil
}

func (p *parser) value(n *node, at *where, depth int) error {
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
			p.faults.add(at, "must not hold the character NUL")
		}
	case '0':
		n.text = tok.String()
		if v, err := strconv.ParseFloat(n.text, 64); err != nil || math.IsInf(v, 0) {
			p.faults.add(at, "the number %s is out of range; the greatest is about 1.8e308", clip(n.text, 20))
		}
	case '{', '[':
		if depth >= maxDepth {
			p.faults.add(at, "is nested more than %d deep", maxDepth)
			return errStop
		}
		return p.kids(n, at, depth+1)
	}
	return nil
}

func (p *parser) kids(n *node, at *where, depth int) error {
	var seen names
	if p.dec.PeekKind() != '}' && p.dec.PeekKind() != ']' {
		n.kids = make([]member, 0, 4)
	}
	for p.dec.PeekKind() != '}' && p.dec.PeekKind() != ']' {
		place := where{up: at, index: len(n.kids)}
		var m member
		if n.kind == '{' {
			tok, err := p.dec.ReadToken()
			if err != nil {
				return err
			}
			m.name = tok.String()
			place.name, place.index = m.name, -1
			if strings.IndexByte(m.name, 0) >= 0 {
				p.faults.add(at, "has a name that holds the character NUL")
			}
			if seen.met(n, m.name) {
				p.faults.add(&place, "is given twice")
			}
		}
		n.kids = append(n.kids, m)
		if err := p.value(&n.kids[len(n.kids)-1].node, &place, depth); err != nil {
			return err
		}
	}
	_, err := p.dec.ReadToken()
	return err
}

// names tells whether a name of an object was met before: by looking through a few, by
// a map where there are many.
type names struct{ many map[string]struct{} }

func (s *names) met(n *node, name string) bool {
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

// syntax says what is wrong with broken JSON.
func syntax(err error) string {
	if errors.Is(err, io.EOF) {
		return "the input is empty; send a JSON object"
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "the JSON ends too early"
	}
	var s *jsontext.SyntacticError
	if errors.As(err, &s) {
		return fmt.Sprintf("broken JSON at byte %d: %s", s.ByteOffset, clip(cmp.Or(s.Err, err).Error(), 120))
	}
	return clip(err.Error(), 120)
}

// appendCanonical writes a value with sorted names and no spaces. Numbers stay as
// written, so that none loses digits; in this it differs from RFC 8785, and in sorting
// names by bytes.
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

// CheckJSON reports what is wrong with data as one strict JSON value: UTF-8, no duplicate
// names, no NUL, at most 64 deep, nothing after it. Its error is fault.Invalid and lists
// the faults by field path.
func CheckJSON(data []byte) error {
	_, err := parse(data)
	return err
}

// Canonical is strict JSON in the one form that is hashed: names sorted by bytes, no
// spaces, numbers as written. Its error is CheckJSON's.
func Canonical(data []byte) ([]byte, error) {
	n, err := parse(data)
	if err != nil {
		return nil, err
	}
	return appendCanonical(make([]byte, 0, len(data)), &n), nil
}
