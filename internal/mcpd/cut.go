package mcpd

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// Most models read only so much of a result. A result longer than Config.MaxText is sent in parts:
// a part ends at a boundary, has truncated set, and holds the exact next call. Operations that page
// by themselves are cut by the engine; this file cuts everything else. A part begins at a place in
// the JSON of the whole: the members and indexes that lead to it, and at the end an index of a list
// or an offset in a text.

// The arguments of the continuing call. The engine never sees them.
const (
	fromArgument  = "_from"  // the place where the next part begins
	inputArgument = "_input" // id of the kept input, if it is too long to repeat
	restArgument  = "_rest"  // id of the kept answer, if the call must not be repeated
)

// maxRepeated bounds the input that the next call repeats.
const maxRepeated = 4 << 10

// continuation holds the arguments of a continuing call, apart from the tool's input.
type continuation struct {
	from []any
	rest string
}

// takeContinuation removes our arguments from a tool's input.
func (s *Server) takeContinuation(r *op.Request, c *call) (g continuation, err error) {
	if !bytes.Contains(r.Input, []byte(`"_from"`)) && !bytes.Contains(r.Input, []byte(`"_input"`)) {
		return g, nil
	}
	var args map[string]jsontext.Value
	if err := json.Unmarshal(r.Input, &args); err != nil {
		return g, nil // the engine reports the fault
	}
	bad := func(field string) error {
		return fault.BadField(field,
			"does not belong to a shortened result, or the rest of it is no longer stored; make the first call again")
	}
	if v, ok := args[fromArgument]; ok && (json.Unmarshal(v, &g.from) != nil || len(g.from) == 0 ||
		len(g.from) > maxPlace) {
		return g, bad(fromArgument)
	}
	if v, ok := args[restArgument]; ok && json.Unmarshal(v, &g.rest) != nil {
		return g, bad(restArgument)
	}
	if v, ok := args[inputArgument]; ok {
		var id string
		if json.Unmarshal(v, &id) != nil {
			return g, bad(inputArgument)
		}
		whole, ok := s.kept.findKept(id, r.Operation, c)
		if !ok {
			return g, bad(inputArgument)
		}
		for _, m := range mustMembers(whole) {
			if _, given := args[m.name]; !given {
				args[m.name] = m.value
			}
		}
	}
	delete(args, fromArgument)
	delete(args, restArgument)
	delete(args, inputArgument)
	r.Input, err = json.Marshal(args, json.Deterministic(true))
	return g, err
}

// callWhole invokes a tool and cuts its answer.
func (s *Server) callWhole(ctx context.Context, r op.Request, c *call) (*op.Answer, error) {
	g, err := s.takeContinuation(&r, c)
	if err != nil {
		return nil, err
	}
	if g.rest != "" {
		whole, ok := s.kept.findKept(g.rest, r.Operation, c)
		if !ok {
			return nil, fault.BadField(restArgument,
				"the rest of that result is no longer stored; check the effect of the call before you make it again")
		}
		return s.cutAnswer(&op.Answer{Output: whole}, r, g, c)
	}
	if g.from != nil {
		r.MaxText = 0
	}
	answer, err := s.invokeEngine(ctx, r, c)
	if err != nil || answer.Asks != nil || g.from == nil && len(answer.Output) <= s.cfg.MaxText {
		return answer, err
	}
	s.shortenNext(answer, r, c)
	if g.from == nil && len(answer.Output) <= s.cfg.MaxText {
		return answer, nil
	}
	if g.from == nil && !s.mayWrite(r.Operation) && bytes.Contains(answer.Output, []byte(`"truncated":true`)) {
		r.MaxText = 0 // the engine's own cut is still too long: cut the whole output instead
		if answer, err = s.invokeEngine(ctx, r, c); err != nil {
			return nil, err
		}
		s.shortenNext(answer, r, c)
	}
	return s.cutAnswer(answer, r, g, c)
}

// mayWrite reports whether a call of a tool must not be repeated.
func (s *Server) mayWrite(tool string) bool {
	o, ok := s.cfg.Engine.Find(tool)
	return !ok || o.Effect != access.Read
}

// cutAnswer returns the requested part of an answer.
func (s *Server) cutAnswer(a *op.Answer, r op.Request, g continuation, c *call) (*op.Answer, error) {
	part, place, err := cutJSON(jsontext.Value(a.Output), g.from, s.cfg.MaxText-maxRepeated-512)
	if err != nil {
		return nil, fault.BadField(fromArgument, "is not a place in this result; make the first call again")
	}
	cut := *a
	cut.Output = stdjson.RawMessage(part)
	if place == nil {
		return &cut, nil
	}
	args := map[string]jsontext.Value{}
	switch {
	case g.rest != "":
		args[restArgument] = mustJSON(g.rest)
	case s.mayWrite(r.Operation):
		args[restArgument] = mustJSON(s.kept.keepBytes(a.Output, r.Operation, c))
	case len(r.Input) > maxRepeated:
		args[inputArgument] = mustJSON(s.kept.keepBytes(r.Input, r.Operation, c))
	case len(r.Input) > 0:
		_ = json.Unmarshal(r.Input, &args) // it has been parsed before
	}
	args[fromArgument] = mustJSON(place)
	next := mustJSON(map[string]any{"tool": r.Operation, "arguments": args})
	cut.Output, cut.Cut = stdjson.RawMessage(withNext(part, next)), true
	return &cut, nil
}

// shortenNext replaces the long arguments in an answer's next call by the id of the kept input.
func (s *Server) shortenNext(a *op.Answer, r op.Request, c *call) {
	if len(r.Input) <= maxRepeated {
		return
	}
	var next struct {
		Tool      string                    `json:"tool"`
		Arguments map[string]jsontext.Value `json:"arguments"`
	}
	given := map[string]jsontext.Value{}
	for _, m := range mustMembers(a.Output) {
		if m.name == "next" && json.Unmarshal(m.value, &next) != nil {
			return
		}
	}
	if next.Tool != r.Operation || json.Unmarshal(r.Input, &given) != nil {
		return
	}
	for name, v := range next.Arguments {
		if len(v) > maxRepeated/4 && isSameJSON(v, given[name]) {
			delete(next.Arguments, name)
		}
	}
	next.Arguments[inputArgument] = mustJSON(s.kept.keepBytes(r.Input, r.Operation, c))
	a.Output = withNext(jsontext.Value(a.Output), mustJSON(next))
}

// isSameJSON reports whether two values are the same JSON.
func isSameJSON(a, b jsontext.Value) bool {
	if len(b) == 0 {
		return false
	}
	a, b = a.Clone(), b.Clone()
	return a.Canonicalize() == nil && b.Canonicalize() == nil && bytes.Equal(a, b)
}

// withNext appends truncated and next to an object, replacing its own.
func withNext(object jsontext.Value, next []byte) []byte {
	b := []byte{'{'}
	for _, m := range mustMembers(object) {
		if m.name != "truncated" && m.name != "next" {
			b = append(append(appendQuoted(b, m.name), ':'), m.value...)
			b = append(b, ',')
		}
	}
	b = append(append(b, `"truncated":true,"next":`...), next...)
	return append(b, '}')
}

// cutText returns the part of a text that begins at an offset and fits the budget, and the offset
// of the next part; 0 if there is no more.
func cutText(text string, from, budget int) (part string, next int) {
	from = min(max(from, 0), len(text))
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from--
	}
	rest := text[from:]
	end, left := 0, max(budget, 256)
	for end < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[end:])
		cost := size
		switch {
		case r == '"' || r == '\\' || r == '\n' || r == '\t' || r == '\r' || r == utf8.RuneError:
			cost = 3
		case r < ' ':
			cost = 6
		}
		if left -= cost; left < 0 {
			break
		}
		end += size
	}
	if end == len(rest) {
		return rest, 0
	}
	for _, boundary := range []string{"\n", " "} {
		if i := strings.LastIndex(rest[:end], boundary); i >= end-end/4 {
			end = i + len(boundary)
			break
		}
	}
	return rest[:end], from + end
}

// textNote returns the note at the end of a part that is not the last.
func textNote(how string) string { return "\n\n[Shortened here. " + how + "]" }

// fromFragment begins the fragment with which a resource's URI asks for a later part.
const fromFragment = "#_from="

// cutContent returns the part of a resource that a URI asks for. The views of games are never cut,
// because programs read them whole; files are not cut either.
func (s *Server) cutContent(uri string, content op.Content, from []any) (op.Content, map[string]any, error) {
	if content.Blob != nil || strings.HasPrefix(uri, "game://") || from == nil && len(content.Text) <= s.cfg.MaxText {
		return content, nil, nil
	}
	goOnAt := func(place any) map[string]any {
		p, _ := json.Marshal(place)
		return map[string]any{"method": "resources/read", "uri": uri + fromFragment + url.QueryEscape(string(p))}
	}
	budget := s.cfg.MaxText - 2*len(uri) - 1024
	if value := jsontext.Value(content.Text); strings.Contains(content.MIME, "json") && value.IsValid() {
		part, place, err := cutJSON(value, from, budget)
		if err != nil {
			return content, nil, fault.BadField("uri", "asks for a part that does not exist; read the resource without %s",
				fromFragment)
		}
		if content.Text = string(part); place == nil {
			return content, nil, nil
		}
		next := goOnAt(place)
		if part[0] == '{' {
			content.Text = string(withNext(part, mustJSON(next)))
		}
		return content, map[string]any{"truncated": true, "next": next}, nil
	}
	at := 0
	if len(from) > 0 {
		n, _ := from[len(from)-1].(float64)
		at = int(n)
	}
	part, end := cutText(content.Text, at, budget)
	if content.Text = part; end == 0 {
		return content, nil, nil
	}
	next := goOnAt([]any{end})
	content.Text += textNote("Read " + next["uri"].(string) + " for what follows.")
	return content, map[string]any{"truncated": true, "next": next}, nil
}

// splitURI separates the requested place from a URI.
func splitURI(uri string) (string, []any) {
	base, place, ok := strings.Cut(uri, fromFragment)
	if !ok {
		return uri, nil
	}
	var from []any
	text, err := url.QueryUnescape(place)
	if err != nil || json.Unmarshal([]byte(text), &from) != nil || len(from) == 0 || len(from) > maxPlace {
		return uri, nil
	}
	return base, from
}
