package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// entry is one record of a JSON file and where it begins.
type entry struct {
	file string
	line int
	key  string // its name, where the file is an object
	data map[string]any
}

// entries reads the records of a JSON list, or of the object that a path of keys leads
// to. What is no object is reported; where the file breaks off, what came before it stays.
func (s *source) entries(file string, data []byte, path ...string) (list []entry) {
	r := &jsonReader{s: s, file: file, data: data, d: json.NewDecoder(bytes.NewReader(data))}
	for _, key := range path {
		if !r.enter(key) {
			return nil
		}
	}
	r.each(func(e entry) { list = append(list, e) })
	return list
}

// jsonReader walks a JSON file and knows its lines.
type jsonReader struct {
	s    *source
	file string
	data []byte
	d    *json.Decoder
}

// broken reports where a file cannot be read on.
func (r *jsonReader) broken(err error) {
	at := int64(len(r.data))
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = syntax.Offset - 1
	}
	r.s.c.problem(r.file, lineAt(r.data, at), "breaks off: %s; what follows is left out", jsonWhy(err))
}

func jsonWhy(err error) string {
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return syntax.Error()
	}
	return "the file ends within a record"
}

// enter goes into the member of an object.
func (r *jsonReader) enter(key string) bool {
	if !r.open('{') {
		return false
	}
	for r.d.More() {
		name, err := r.d.Token()
		if err != nil {
			r.broken(err)
			return false
		}
		if name == key {
			return true
		}
		var skipped json.RawMessage
		if err := r.d.Decode(&skipped); err != nil {
			r.broken(err)
			return false
		}
	}
	r.s.c.problem(r.file, 0, "holds no %q; left out", key)
	return false
}

func (r *jsonReader) open(want json.Delim) bool {
	t, err := r.d.Token()
	if err != nil {
		r.broken(err)
		return false
	}
	if t != want {
		r.s.c.problem(r.file, r.line(), "is not what the format holds here; left out")
		return false
	}
	return true
}

// line is where the next value begins.
func (r *jsonReader) line() int {
	at := r.d.InputOffset()
	for at < int64(len(r.data)) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	return lineAt(r.data, at)
}

// each gives the records of a list or an object.
func (r *jsonReader) each(take func(entry)) {
	t, err := r.d.Token()
	if err != nil {
		r.broken(err)
		return
	}
	if t != json.Delim('[') && t != json.Delim('{') {
		r.s.c.problem(r.file, r.line(), "holds no list of records; left out")
		return
	}
	for r.d.More() {
		e := entry{file: r.file, line: r.line()}
		if t == json.Delim('{') {
			key, err := r.d.Token()
			if err != nil {
				r.broken(err)
				return
			}
			e.key, _ = key.(string)
		}
		var raw json.RawMessage
		if err := r.d.Decode(&raw); err != nil {
			r.broken(err)
			return
		}
		e.data = objectOf(string(raw))
		if e.data == nil {
			r.s.c.problem(r.file, e.line, "is not a record; left out")
			continue
		}
		take(e)
	}
	if _, err := r.d.Token(); err != nil {
		r.broken(err)
	}
}

// text is a member as text: of a list, its items as paragraphs.
func (e entry) text(key string) string { return blockOf(e.data[key]) }

func blockOf(v any) string {
	list, ok := v.([]any)
	if !ok {
		return textOf(v)
	}
	var b strings.Builder
	inTable := false
	for i, item := range list {
		text := textOf(item)
		row := strings.HasPrefix(text, "|")
		switch {
		case i > 0 && row && inTable:
			b.WriteString("\n")
		case i > 0:
			b.WriteString("\n\n")
		}
		b.WriteString(text)
		inTable = row
	}
	return b.String()
}

// object is a member that is an object; nil for another.
func (e entry) object(key string) map[string]any {
	m, _ := e.data[key].(map[string]any)
	return m
}

// flag reports whether a member is true.
func (e entry) flag(key string) bool { return e.data[key] == true }

// texts is a member as a list of texts.
func (e entry) texts(key string) []string { return listOf(e.data[key]) }
