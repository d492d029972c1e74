package archive

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"loregate/internal/fault"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// placeholder matches a placeholder of a named query. The content of a named query is a JSON object
// of run_query's filters. {{x}} stands for the argument x. As a whole value, quoted or not, it is
// replaced by the argument itself; inside a string, by the argument's text. Arguments are inserted
// into values after parsing, so an argument can neither add a filter nor end a string.
var placeholder = lazyregexp.New(`\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,63})\s*\}\}`)

// placeholderNames returns the names of a query's placeholders, each once, in order.
func placeholderNames(content string) []string {
	names := []string{}
	for _, m := range placeholder.FindAllStringSubmatch(content, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// fillQuery parses a named query and inserts its arguments. Faulty arguments are reported as
// fault.Invalid with their names; a query that cannot be parsed is fault.Rule.
func fillQuery(content string, args map[string]any) (selection, error) {
	if err := checkArgs(placeholderNames(content), args); err != nil {
		return selection{}, err
	}
	d := json.NewDecoder(strings.NewReader(quoteBare(content)))
	d.UseNumber()
	var raw map[string]any
	if err := d.Decode(&raw); err != nil || d.More() {
		return selection{}, brokenQuery("is not one JSON object")
	}
	var s selection
	for _, k := range slices.Sorted(maps.Keys(raw)) {
		v, err := fillValue(raw[k], args)
		if err != nil {
			return selection{}, brokenQuery("%s: %v", k, err)
		}
		if err := s.setFilter(k, v); err != nil {
			return selection{}, err
		}
	}
	return s, nil
}

func brokenQuery(format string, args ...any) error {
	return fault.New(fault.Rule, "this named query cannot be run; its card must be corrected: "+format, args...)
}

// checkArgs reports every placeholder without an argument, every argument without a placeholder,
// and every argument of the wrong type.
func checkArgs(names []string, args map[string]any) error {
	var faults []fault.Field
	for _, n := range names {
		if _, ok := args[n]; !ok {
			faults = append(faults, fault.Field{Field: "args." + n, Error: "is required by this query"})
		}
	}
	for _, n := range slices.Sorted(maps.Keys(args)) {
		at := "args." + markup.Clean(markup.Clip(n, 64))
		if !slices.Contains(names, n) {
			faults = append(faults, fault.Field{Field: at, Error: "this query has no such placeholder"})
		} else if _, ok := scalarText(args[n]); !ok {
			faults = append(faults, fault.Field{Field: at, Error: "must be a string or a number"})
		}
	}
	if len(faults) == 0 {
		return nil
	}
	e := fault.New(fault.Invalid, "the arguments do not fit this query; its placeholders are: %s",
		strings.Join(names, ", "))
	e.Fields = faults
	return e
}

// quoteBare quotes the placeholders outside strings, which makes the text valid JSON.
func quoteBare(content string) string {
	var b strings.Builder
	inString := false
	for i := 0; i < len(content); i++ {
		switch c := content[i]; {
		case inString && c == '\\' && i+1 < len(content):
			b.WriteString(content[i : i+2])
			i++
			continue
		case c == '"':
			inString = !inString
		case !inString && c == '{':
			if m := placeholder.FindStringIndex(content[i:]); m != nil && m[0] == 0 {
				b.WriteString(`"` + content[i:i+m[1]] + `"`)
				i += m[1] - 1
				continue
			}
		}
		b.WriteByte(content[i])
	}
	return b.String()
}

// fillValue inserts arguments into one value.
func fillValue(v any, args map[string]any) (any, error) {
	s, ok := v.(string)
	if !ok {
		return v, nil
	}
	if m := placeholder.FindStringSubmatch(s); m != nil && m[0] == s {
		return args[m[1]], nil
	}
	out := placeholder.ReplaceAllStringFunc(s, func(p string) string {
		text, _ := scalarText(args[placeholder.FindStringSubmatch(p)[1]])
		return text
	})
	if len(out) > 4*markup.MaxNameLength {
		return nil, fmt.Errorf("is too long with these arguments")
	}
	return out, nil
}

// scalarText returns a string or a number as text; ok is false for other values.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// setFilter sets the filter with the given name. An unknown name is refused.
func (s *selection) setFilter(name string, v any) (err error) {
	text, ok := scalarText(v)
	if !ok {
		return brokenQuery("%s must be a string or a number", name)
	}
	texts := map[string]*string{"name": &s.Name, "content": &s.Content, "prefix": &s.Prefix, "not_name": &s.NotName,
		"type": &s.Type, "tag": &s.Tag, "sort": &s.Sort}
	times := map[string]*time.Time{"updated_since": &s.UpdatedSince, "updated_before": &s.UpdatedBefore,
		"created_since": &s.CreatedSince, "created_before": &s.CreatedBefore}
	numbers := map[string]*int{"limit": &s.Limit, "offset": &s.Offset}
	switch {
	case texts[name] != nil:
		*texts[name] = text
	case times[name] != nil:
		if *times[name], err = parseTime(text); err != nil {
			return fault.BadField(name, "must be a time such as 2026-01-31T12:00:00Z, or a date")
		}
	case numbers[name] != nil:
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || name == "limit" && (n < 1 || n > 100) {
			return fault.BadField(name, "must be a whole number; limit is 1 to 100")
		}
		*numbers[name] = n
	default:
		return brokenQuery("there is no filter %q", markup.Clip(name, 64))
	}
	if _, known := sortWords[s.Sort]; !known || s.Sort == "relevance" {
		return fault.BadField("sort", "must be name, updated_at or created_at, and not %q",
			markup.Clean(markup.Clip(s.Sort, 64)))
	}
	return nil
}

func parseTime(s string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, nil
	}
	return time.Parse(time.RFC3339Nano, s)
}
