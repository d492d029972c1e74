package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"strings"

	"loregate/internal/decoded"
)

// Entry is one record of a JSON file, with its position.
type Entry struct {
	File string
	Line int
	Key  string // its member name if the file is an object
	Data map[string]any
}

// ReadEntries reads the records of a JSON list, or of the object at the given path of keys. It
// reports records that are not objects. If the file is cut off or invalid at some point, it returns
// the records before that.
func (s *Source) ReadEntries(file string, data []byte, path ...string) (list []Entry) {
	for e := range Entries(file, data, s.AddProblem, path...) {
		list = append(list, e)
	}
	return list
}

// Report reports a part of a file that is left out; line 0 means the whole file.
type Report func(file string, line int, format string, args ...any)

// Entries yields the records of ReadEntries one by one, and calls report for those that are left out.
func Entries(file string, data []byte, report Report, path ...string) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		r := &jsonReader{report: report, file: file, data: data, d: json.NewDecoder(bytes.NewReader(data)),
			line: LineCounter{Data: data}}
		for _, key := range path {
			if !r.enterMember(key) {
				return
			}
		}
		r.eachEntry(yield)
	}
}

// jsonReader reads a JSON file token by token and reports problems with their lines.
type jsonReader struct {
	report Report
	file   string
	data   []byte
	d      *json.Decoder
	line   LineCounter
}

// reportBroken reports the line at which a file cannot be read any further.
func (r *jsonReader) reportBroken(err error) {
	at := int64(len(r.data))
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = syntax.Offset - 1
	}
	r.report(r.file, r.line.At(at), "cannot be read further: %s; the rest is left out", jsonWhy(err))
}

func jsonWhy(err error) string {
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return syntax.Error()
	}
	return "the file ends within a record"
}

// enterMember advances to the value of an object's member.
func (r *jsonReader) enterMember(key string) bool {
	if !r.openDelim('{') {
		return false
	}
	for r.d.More() {
		name, err := r.d.Token()
		if err != nil {
			r.reportBroken(err)
			return false
		}
		if name == key {
			return true
		}
		var skipped json.RawMessage
		if err := r.d.Decode(&skipped); err != nil {
			r.reportBroken(err)
			return false
		}
	}
	r.report(r.file, 0, "has no member %q; left out", key)
	return false
}

func (r *jsonReader) openDelim(want json.Delim) bool {
	t, err := r.d.Token()
	if err != nil {
		r.reportBroken(err)
		return false
	}
	if t != want {
		r.report(r.file, r.nextLine(), "is not an object, as the format requires; left out")
		return false
	}
	return true
}

// nextLine returns the line at which the next value begins.
func (r *jsonReader) nextLine() int {
	at := r.d.InputOffset()
	for at < int64(len(r.data)) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	return r.line.At(at)
}

// eachEntry calls take for each record of a list or an object.
func (r *jsonReader) eachEntry(take func(Entry) bool) {
	t, err := r.d.Token()
	if err != nil {
		r.reportBroken(err)
		return
	}
	if t != json.Delim('[') && t != json.Delim('{') {
		r.report(r.file, r.nextLine(), "is not a list of records; left out")
		return
	}
	for r.d.More() {
		e := Entry{File: r.file, Line: r.nextLine()}
		if t == json.Delim('{') {
			key, err := r.d.Token()
			if err != nil {
				r.reportBroken(err)
				return
			}
			e.Key, _ = key.(string)
		}
		var raw json.RawMessage
		if err := r.d.Decode(&raw); err != nil {
			r.reportBroken(err)
			return
		}
		e.Data = decoded.ParseObject(string(raw))
		if e.Data == nil {
			r.report(r.file, e.Line, "the record is not an object; left out")
			continue
		}
		if !take(e) {
			return
		}
	}
	if _, err := r.d.Token(); err != nil {
		r.reportBroken(err)
	}
}

// Text returns a member as text; the items of a list become paragraphs.
func (e Entry) Text(key string) string { return Lines(e.Data[key]) }

// Lines returns a value as text; the items of a list become paragraphs, and rows that begin with
// "|" become lines of one table.
func Lines(v any) string {
	list, ok := v.([]any)
	if !ok {
		return decoded.TextOf(v)
	}
	var b strings.Builder
	inTable := false
	for i, item := range list {
		text := decoded.TextOf(item)
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

// Object returns a member that is an object, or nil.
func (e Entry) Object(key string) map[string]any {
	m, _ := e.Data[key].(map[string]any)
	return m
}

// IsTrue reports whether a member is true.
func (e Entry) IsTrue(key string) bool { return e.Data[key] == true }

// Texts returns a member as a list of texts.
func (e Entry) Texts(key string) []string { return decoded.ListOf(e.Data[key]) }
