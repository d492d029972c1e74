package canon

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// checkLevels checks that the caller's view sees the card's label, and that everyone who sees the
// card may know its type.
func (p *Plan) checkLevels(c Card, t Type) error {
	if !p.View().Sees(c.Label) {
		return p.aboveRoleFault("level", c.Label)
	}
	if t.Label.Level > c.Label.Level || (len(c.Label.Subjects) > 0 && t.Label.Level > access.LevelUser) {
		e := ruleFault("type", "type %s is for level %s and up; give the card that level or another type", t.Name,
			t.Label.Level)
		return e
	}
	return nil
}

// aboveRoleFault is the error for a label that the caller's role may not write.
func (p *Plan) aboveRoleFault(field string, l access.Label) error {
	e := fault.New(fault.Denied, "this call cannot write at level %s; use a key of that role",
		l.Level).With("required_role", l.Level.String())
	e.Fields = []fault.Field{{Field: field, Error: "above the caller's role"}}
	return e
}

// ruleFault is fault.BadField with kind Rule.
func ruleFault(field, format string, args ...any) *fault.Error {
	e := fault.BadField(field, format, args...)
	e.Kind = fault.Rule
	return e
}

func checkName(field, name string) error {
	if err := markup.CheckName(name); err != nil {
		return fault.BadField(field, "%v", err)
	}
	return nil
}

func checkCodename(s string) error {
	if len(s) > 100 {
		return fault.BadField("codename", "at most 100 characters")
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r) {
			return fault.BadField("codename", "use a-z, 0-9, '-', '_' and '.'")
		}
	}
	return nil
}

func checkContent(s string) error {
	if len(s) > MaxContent {
		return fault.New(fault.TooLarge, "a card's content can have at most %d bytes; this one has %d", MaxContent, len(s))
	}
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return fault.BadField("content", "must be UTF-8 text without NUL")
	}
	return nil
}

// checkRefs bounds the number of references in a card's content. It first counts everything that
// might be a reference, which suffices for most texts.
func checkRefs(c Card, content string) error {
	most := strings.Count(content, "[[") + strings.Count(content, "{{") + strings.Count(content, "](")
	if HoldsTags(c.Key) {
		most += 1 + strings.Count(content, "\n") + strings.Count(content, "<li")
	}
	if most <= MaxRefs {
		return nil
	}
	kind := c.TextKind()
	if kind == TextData || kind == TextFile {
		return nil
	}
	n := countRefs(kind, content, MaxRefs)
	if HoldsTags(c.Key) && n <= MaxRefs {
		n += len(markup.Items(content))
	}
	if n > MaxRefs {
		return fault.BadField("content", "has more than %d links, nests and tags; divide it into several cards", MaxRefs)
	}
	return nil
}

// mergeFields merges a JSON object into another; null removes a member. It returns the canonical
// text, with members sorted, or nil if no member is left.
func mergeFields(base, patch json.RawMessage) (json.RawMessage, error) {
	all := map[string]any{}
	if base != nil {
		if err := decodeNumbers(base, &all); err != nil {
			return nil, fmt.Errorf("canon: stored fields: %w", err)
		}
	}
	if len(patch) > 0 {
		var add map[string]any
		if err := decodeNumbers(patch, &add); err != nil {
			return nil, fault.BadField("fields", "must be a JSON object")
		}
		for k, v := range add {
			if v == nil {
				delete(all, k)
			} else {
				all[k] = v
			}
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	out, err := json.Marshal(all)
	if err != nil {
		return nil, fault.BadField("fields", "%v", err)
	}
	if len(out) > MaxFields {
		return nil, fault.New(fault.TooLarge, "fields can have at most %d bytes of JSON; these have %d", MaxFields, len(out))
	}
	return out, nil
}

// decodeNumbers decodes JSON and keeps numbers as written.
func decodeNumbers(b []byte, v any) error {
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	return d.Decode(v)
}

// takenFault is the error for a name or slug that is in use.
func takenFault(name string) error {
	return fault.New(fault.Conflict, "the name %q is taken; update that card or choose another name",
		name).With("name", name)
}
