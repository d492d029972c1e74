package mcpd

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxPlace bounds the depth of a place in a value.
const maxPlace = 32

var errNoPlace = errors.New("mcpd: the result has no such place")

// cutJSON returns the part of a value that begins at a place and takes about budget bytes, and the
// place where the next part begins; nil after the last. A part of an object has all its members:
// short ones in full, one long one in part, and the other long ones empty.
func cutJSON(v jsontext.Value, from []any, budget int) (part jsontext.Value, next []any, err error) {
	if len(from) == 0 && len(v) <= budget {
		return v, nil, nil
	}
	budget = max(budget, 256)
	switch v.Kind() {
	case '"':
		return cutString(v, from, budget)
	case '[':
		return cutList(v, from, budget)
	case '{':
		return cutObject(v, from, budget)
	}
	return v, nil, nil
}

func cutString(v jsontext.Value, from []any, budget int) (jsontext.Value, []any, error) {
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return nil, nil, err
	}
	at, _, err := indexOf(from)
	if err != nil || at > len(text) {
		return nil, nil, errNoPlace
	}
	part, next := cutText(string(text), at, budget)
	if next == 0 {
		return appendQuoted([]byte(nil), part), nil, nil
	}
	return appendQuoted([]byte(nil), part), []any{next}, nil
}

// indexOf reads the number at the start of a place.
func indexOf(from []any) (index int, rest []any, err error) {
	if len(from) == 0 {
		return 0, nil, nil
	}
	switch n := from[0].(type) {
	case int:
		return n, from[1:], nil
	case float64:
		if n >= 0 && n < 1<<40 {
			return int(n), from[1:], nil
		}
	}
	return 0, nil, errNoPlace
}

func cutList(v jsontext.Value, from []any, budget int) (jsontext.Value, []any, error) {
	items, err := itemsOf(v)
	if err != nil {
		return nil, nil, err
	}
	at, inner, err := indexOf(from)
	if err != nil || at > len(items) {
		return nil, nil, errNoPlace
	}
	out, start := jsontext.Value{'['}, at
	for ; at < len(items); at++ {
		item := items[at]
		if at > start && len(out)+len(item) > budget {
			break
		}
		if at > start {
			out = append(out, ',')
		}
		part, next, err := cutJSON(item, inner, budget-len(out))
		if err != nil {
			return nil, nil, err
		}
		inner = nil
		if out = append(out, part...); next != nil {
			return append(out, ']'), append([]any{at}, next...), nil
		}
	}
	if out = append(out, ']'); at < len(items) {
		return out, []any{at}, nil
	}
	return out, nil, nil
}

// member is one member of an object.
type member struct {
	name  string
	value jsontext.Value
}

func cutObject(v jsontext.Value, from []any, budget int) (jsontext.Value, []any, error) {
	members, err := membersOf(v)
	if err != nil {
		return nil, nil, err
	}
	light, long := 2, []int(nil)
	for i, m := range members {
		if len(m.value) > budget/8 {
			long = append(long, i)
			light += 2
		} else {
			light += len(m.value)
		}
		light += len(m.name) + 4
	}
	if light > budget*3/4 || len(long) == 0 {
		return cutMembers(members, from, budget)
	}
	at, inner := long[0], from
	if len(from) > 0 {
		if at, inner = findMember(members, from), from[1:]; at < 0 {
			return nil, nil, errNoPlace
		}
	}
	out, left := jsontext.Value{'{'}, budget-light
	var next []any
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendQuoted(out, m.name), ':')
		switch {
		case len(m.value) <= budget/8 && i != at:
			out = append(out, m.value...)
		case i < at || next != nil:
			out = append(out, emptyLike(m.value)...)
		case i > at && len(m.value) > left:
			next = []any{m.name}
			out = append(out, emptyLike(m.value)...)
		default:
			part, rest, err := cutJSON(m.value, inner, left)
			if err != nil {
				return nil, nil, err
			}
			if inner = nil; rest != nil {
				next = append([]any{m.name}, rest...)
			}
			left -= len(part)
			out = append(out, part...)
		}
	}
	return append(out, '}'), next, nil
}

// cutMembers cuts an object of many members like a list of them.
func cutMembers(members []member, from []any, budget int) (jsontext.Value, []any, error) {
	start, inner := 0, []any(nil)
	if len(from) > 0 {
		if start, inner = findMember(members, from), from[1:]; start < 0 {
			return nil, nil, errNoPlace
		}
	}
	out := jsontext.Value{'{'}
	for i, m := range members[start:] {
		if i > 0 && len(out)+len(m.value)+len(m.name) > budget {
			return append(out, '}'), []any{m.name}, nil
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendQuoted(out, m.name), ':')
		part, next, err := cutJSON(m.value, inner, budget-len(out))
		if err != nil {
			return nil, nil, err
		}
		inner = nil
		if out = append(out, part...); next != nil {
			return append(out, '}'), append([]any{m.name}, next...), nil
		}
	}
	return append(out, '}'), nil, nil
}

func findMember(members []member, from []any) int {
	name, _ := from[0].(string)
	for i, m := range members {
		if m.name == name {
			return i
		}
	}
	return -1
}

// emptyLike returns an empty value to show in place of a long one that another part shows.
func emptyLike(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		return `""`
	case '[':
		return "[]"
	}
	return "{}"
}

func membersOf(v jsontext.Value) (list []member, err error) {
	d := jsontext.NewDecoder(strings.NewReader(string(v)), jsontext.AllowInvalidUTF8(true),
		jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		text := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		list = append(list, member{text, value.Clone()})
	}
	return list, nil
}

// mustMembers is membersOf for our own JSON; it returns none if v is not an object.
func mustMembers(v []byte) []member {
	list, err := membersOf(v)
	if err != nil {
		return nil
	}
	return list
}

func itemsOf(v jsontext.Value) (list []jsontext.Value, err error) {
	d := jsontext.NewDecoder(strings.NewReader(string(v)), jsontext.AllowInvalidUTF8(true),
		jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		list = append(list, value.Clone())
	}
	return list, nil
}
