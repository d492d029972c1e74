package op

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"
)

// shape is a schema compiled for checking an input in one walk. The walk finds every fault and
// completes the input: it fills in defaults, drops nulls and turns numeric strings into numbers. It
// checks the keywords that inference produces; a schema with any other keyword is also validated by
// jsonschema-go.
type shape struct {
	types    []string // allowed; none means any
	props    map[string]*shape
	order    []string // of props, for suggestions and missing fields
	required []string
	defaults []member
	closed   bool   // refuse unknown members
	others   *shape // of unknown members; nil accepts any, unless closed
	items    *shape

	enum               []any
	min, max           *float64
	minLen, maxLen     *int
	minItems, maxItems *int
	pattern            *regexp.Regexp
	patternWords       string // error text for a string that the pattern refuses
	formWords          string // error text listing the accepted forms
	date, base64, uuid bool
	hint               string // description of the value, as callers are shown it
	validator          *jsonschema.Resolved
}

func (s *shape) allowsType(t string) bool { return len(s.types) == 0 || slices.Contains(s.types, t) }

// compiler compiles schemas to shapes, each schema once, so that recursion ends.
type compiler struct {
	root *jsonschema.Schema
	done map[*jsonschema.Schema]*shape
}

func compileSchema(root *jsonschema.Schema) (*shape, error) {
	c := &compiler{root: root, done: map[*jsonschema.Schema]*shape{}}
	return c.compileShape(root)
}

func (c *compiler) compileShape(s *jsonschema.Schema) (*shape, error) {
	if s.Ref != "" {
		target := c.root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
		if target == nil {
			return nil, fmt.Errorf("reference %q has no target", s.Ref)
		}
		return c.compileShape(target)
	}
	if p := c.done[s]; p != nil {
		return p, nil
	}
	p := &shape{types: s.Types, required: s.Required, order: s.PropertyOrder, enum: s.Enum, min: s.Minimum, max: s.Maximum,
		minLen: s.MinLength, maxLen: s.MaxLength, minItems: s.MinItems, maxItems: s.MaxItems,
		date: s.Format == "date-time", base64: s.ContentEncoding == "base64", uuid: s.Format == "uuid", hint: s.Description,
		patternWords: patternWords(s), formWords: formWords(s)}
	c.done[s] = p
	if s.Type != "" {
		p.types = []string{s.Type}
	}
	if err := c.compileParts(p, s); err != nil {
		return nil, err
	}
	return p, c.addValidator(p, s)
}

func (c *compiler) compileParts(p *shape, s *jsonschema.Schema) (err error) {
	if s.Pattern != "" {
		if p.pattern, err = regexp.Compile(s.Pattern); err != nil {
			return err
		}
	}
	if s.Items != nil {
		if p.items, err = c.compileShape(s.Items); err != nil {
			return err
		}
	}
	if a := s.AdditionalProperties; a != nil && a.Not != nil {
		p.closed = true
	} else if a != nil {
		if p.others, err = c.compileShape(a); err != nil {
			return err
		}
	}
	if len(s.Properties) > 0 {
		p.props = make(map[string]*shape, len(s.Properties))
	}
	for _, name := range PropertyNames(s) {
		sub := s.Properties[name]
		if p.props[name], err = c.compileShape(sub); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if sub.Default != nil {
			d, err := parseJSON(sub.Default)
			if err != nil {
				return fmt.Errorf("default of %s: %w", name, err)
			}
			p.defaults = append(p.defaults, member{name, d})
		}
	}
	return nil
}

// PropertyNames returns the properties of a schema in the order in which they are shown.
func PropertyNames(s *jsonschema.Schema) []string {
	names := slices.Clone(s.PropertyOrder)
	var rest []string
	for name := range s.Properties {
		if !slices.Contains(names, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return append(names, rest...)
}

// addValidator prepares the whole schema for jsonschema-go if it has keywords that the walk does
// not check: choices, conditions and the rarer keywords.
func (c *compiler) addValidator(p *shape, s *jsonschema.Schema) error {
	if !hasRareKeywords(s) {
		return nil
	}
	own := s.CloneSchemas()
	if own.Defs == nil {
		own.Defs = c.root.CloneSchemas().Defs
	}
	r, err := own.Resolve(nil)
	p.validator = r
	return err
}

func hasRareKeywords(s *jsonschema.Schema) bool {
	return s.AllOf != nil || s.AnyOf != nil || s.OneOf != nil || s.Not != nil || s.If != nil || s.Const != nil ||
		s.MultipleOf != nil || s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil || s.UniqueItems || s.Contains != nil ||
		s.MinProperties != nil || s.MaxProperties != nil || s.DependentRequired != nil || s.DependentSchemas != nil ||
		s.PatternProperties != nil || s.PropertyNames != nil || s.PrefixItems != nil
}

// checkValue checks a value and everything in it, and adds each fault to f. It changes the value only
// as Define documents.
func (s *shape) checkValue(n *node, at *fieldPath, f *faults) {
	before := len(f.list)
	s.convertValue(n)
	if !s.hasType(n) {
		f.add(at, "must be %s, not %s", typeWords(s.types), kindWord(n))
		return
	}
	switch n.kind {
	case '{':
		s.checkObject(n, at, f)
	case '[':
		s.checkArray(n, at, f)
	case '"':
		s.checkString(n, at, f)
	case '0':
		s.checkNumber(n, at, f)
	}
	if s.enum != nil && !s.isInEnum(n) {
		f.add(at, "must be one of %s%s", enumWords(s.enum), suggestionText(n, s.enum))
	}
	if s.validator != nil && len(f.list) == before {
		if s.validator.Validate(valueFromNode(n)) != nil {
			f.add(at, "%s", s.formWords)
		}
	}
}

// convertValue turns a numeric string into a number where the schema accepts that, a whole float
// into an integer, and a date into its first instant.
func (s *shape) convertValue(n *node) {
	switch {
	case n.kind == '0' && slices.Contains(s.types, "integer") && strings.ContainsAny(n.text, ".eE"):
		if v, err := strconv.ParseFloat(n.text, 64); err == nil && v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			n.text = strconv.FormatInt(int64(v), 10)
		}
	case n.kind == '"' && (isNumericString(s.types) || !s.allowsType("string") &&
		(s.allowsType("integer") || s.allowsType("number"))):
		if t := strings.TrimSpace(n.text); isNumber(t) {
			*n = node{kind: '0', text: t}
			s.convertValue(n)
		}
	case n.kind == '"' && s.date && len(n.text) == len(time.DateOnly):
		if _, err := time.Parse(time.DateOnly, n.text); err == nil {
			n.text += "T00:00:00Z"
		}
	}
}

// isNumber reports whether text is a JSON number.
func isNumber(t string) bool {
	n, err := parseJSON([]byte(t))
	return err == nil && n.kind == '0'
}

func (s *shape) hasType(n *node) bool {
	if len(s.types) == 0 {
		return true
	}
	switch n.kind {
	case 'n':
		return s.allowsType("null")
	case 't', 'f':
		return s.allowsType("boolean")
	case '"':
		return s.allowsType("string") && !isNumericString(s.types) // numeric strings have been converted already
	case '{':
		return s.allowsType("object")
	case '[':
		return s.allowsType("array")
	}
	return s.allowsType("number") || s.allowsType("integer") && !strings.ContainsAny(n.text, ".eE")
}

func (s *shape) checkObject(n *node, at *fieldPath, f *faults) {
	kept := n.kids[:0]
	for i := range n.kids {
		m := &n.kids[i]
		place := fieldPath{up: at, name: m.name, index: -1}
		p, known := s.props[m.name]
		switch {
		case known && m.node.kind == 'n' && !p.allowsType("null") && !slices.Contains(s.required, m.name):
			continue
		case known:
			p.checkValue(&m.node, &place, f)
		case s.closed:
			f.add(&place, "%s", unknownFieldText(m.name, s.order))
		case s.others != nil:
			s.others.checkValue(&m.node, &place, f)
		}
		kept = append(kept, *m)
	}
	clear(n.kids[len(kept):])
	n.kids = kept
	for _, name := range s.required {
		if n.member(name) == nil {
			f.add(&fieldPath{up: at, name: name, index: -1}, "is required")
		}
	}
	for _, d := range s.defaults {
		if n.member(d.name) == nil {
			n.kids = append(n.kids, d)
		}
	}
}

func (s *shape) checkArray(n *node, at *fieldPath, f *faults) {
	if s.minItems != nil && len(n.kids) < *s.minItems {
		f.add(at, "needs at least %d items, and has %d", *s.minItems, len(n.kids))
	}
	if s.maxItems != nil && len(n.kids) > *s.maxItems {
		f.add(at, "takes at most %d items, and has %d", *s.maxItems, len(n.kids))
		return
	}
	if s.items == nil {
		return
	}
	for i := range n.kids {
		s.items.checkValue(&n.kids[i].node, &fieldPath{up: at, index: i}, f)
	}
}

func (s *shape) checkString(n *node, at *fieldPath, f *faults) {
	if s.minLen != nil || s.maxLen != nil {
		length := utf8.RuneCountInString(n.text)
		if s.minLen != nil && length < *s.minLen {
			if length == 0 {
				f.add(at, "must not be empty")
			} else {
				f.add(at, "needs at least %d characters, and has %d", *s.minLen, length)
			}
		}
		if s.maxLen != nil && length > *s.maxLen {
			f.add(at, "takes at most %d characters, and has %d", *s.maxLen, length)
		}
	}
	if s.pattern != nil && !s.pattern.MatchString(n.text) {
		f.add(at, "%s", s.patternWords)
	}
	if s.date {
		if _, err := time.Parse(time.RFC3339, n.text); err != nil {
			f.add(at, "must be a time such as 2026-01-31T18:00:00Z")
		}
	}
	if s.uuid && (len(n.text) != 36 || uuid.Validate(n.text) != nil) {
		f.add(at, "%s", idWords(s.hint))
	}
	if s.base64 && !isBase64(n.text) {
		f.add(at, "must be base64")
	}
}

func (s *shape) checkNumber(n *node, at *fieldPath, f *faults) {
	if s.min == nil && s.max == nil {
		return
	}
	v, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		return // the parser has reported it already
	}
	if s.min != nil && v < *s.min {
		f.add(at, "must be at least %v", *s.min)
	}
	if s.max != nil && v > *s.max {
		f.add(at, "must be at most %v", *s.max)
	}
}

func (s *shape) isInEnum(n *node) bool {
	for _, e := range s.enum {
		switch e := e.(type) {
		case string:
			if n.kind == '"' && n.text == e {
				return true
			}
		case float64:
			if v, err := strconv.ParseFloat(n.text, 64); n.kind == '0' && err == nil && v == e {
				return true
			}
		}
	}
	return false
}

// valueFromNode converts a node to the value types that jsonschema-go takes.
func valueFromNode(n *node) any {
	var v any
	if err := json.Unmarshal(appendCanonical(nil, n), &v); err != nil {
		return nil
	}
	return v
}
