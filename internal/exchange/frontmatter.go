package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// note is a Markdown file taken apart.
type note struct {
	path    string // slash-separated, relative to the vault
	meta    map[string]any
	body    string
	line    int  // line of the file that the body begins at
	broken  bool // its front matter could not be read
	reports []Problem
}

func (n *note) report(line int, format string, args ...any) {
	n.reports = append(n.reports, Problem{n.path, line, fmt.Sprintf(format, args...)})
}

// maxMeta bounds front matter, in bytes.
const maxMeta = 64 << 10

// parseNote takes a file apart. Line ends become "\n", a byte order mark goes.
func parseNote(path string, data []byte) *note {
	n := &note{path: path, meta: map[string]any{}, line: 1}
	text := strings.TrimPrefix(string(data), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if !strings.HasPrefix(text, "---\n") {
		n.body = text
		return n
	}
	end := closing(text)
	if end < 0 {
		n.broken = true
		n.body = text
		n.report(1, "front matter does not end; the whole file is taken as text, for the GM only")
		return n
	}
	head := text[4:end]
	n.body = strings.TrimPrefix(strings.TrimLeft(text[end:], "-."), "\n")
	n.line = 1 + strings.Count(text[:len(text)-len(n.body)], "\n")
	if len(head) > maxMeta {
		n.broken = true
		n.report(1, "front matter is longer than %d bytes; the note comes in without it, for the GM only", maxMeta)
		return n
	}
	n.readMeta(head)
	return n
}

// closing finds the line that ends front matter: "---" or "..." alone.
func closing(text string) int {
	for at := 3; ; {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			return -1
		}
		at += next + 1
		line, _, _ := strings.Cut(text[at:], "\n")
		if line = strings.TrimRight(line, " \t"); line == "---" || line == "..." {
			return at
		}
	}
}

func (n *note) readMeta(head string) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(head), &doc); err != nil {
		n.broken = true
		n.report(yamlLine(err)+1, "front matter is not YAML (%s); the note comes in without it, for the GM only", yamlWhy(err))
		return
	}
	if len(doc.Content) == 0 {
		return
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		n.broken = true
		n.report(2, "front matter is not a list of names and values; the note comes in without it, for the GM only")
		return
	}
	n.meta, _ = n.value(doc.Content[0], 0).(map[string]any)
}

var lineForm = regexp.MustCompile(`line (\d+)`)

func yamlLine(err error) int {
	if m := lineForm.FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1]) // the form is digits
		return line
	}
	return 1
}

func yamlWhy(err error) string {
	why := strings.TrimPrefix(err.Error(), "yaml: ")
	return strings.TrimSpace(lineForm.ReplaceAllString(why, ""))
}

// maxYAMLDepth bounds nesting; aliases are refused, for they can grow without bound.
const maxYAMLDepth = 32

// value makes a JSON value of a YAML node. Scalars that JSON does not know, such as
// dates, stay the text that they were. Of equal keys the last counts, and is reported.
func (n *note) value(node *yaml.Node, depth int) any {
	if depth > maxYAMLDepth {
		n.report(node.Line+1, "nested deeper than %d; left out", maxYAMLDepth)
		return nil
	}
	switch node.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i].Value
			if _, again := m[key]; again {
				n.report(node.Content[i].Line+1, "%q is set twice; the last one counts", key)
			}
			m[key] = n.value(node.Content[i+1], depth+1)
		}
		return m
	case yaml.SequenceNode:
		list := make([]any, 0, len(node.Content))
		for _, item := range node.Content {
			list = append(list, n.value(item, depth+1))
		}
		return list
	case yaml.AliasNode:
		if node.Alias != nil && node.Alias.Kind == yaml.ScalarNode {
			return scalar(node.Alias)
		}
		n.report(node.Line+1, "a YAML alias; left out")
		return nil
	}
	return scalar(node)
}

func scalar(node *yaml.Node) any {
	switch node.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return node.Value == "true" || node.Value == "True" || node.Value == "TRUE"
	case "!!int":
		if i, err := strconv.ParseInt(node.Value, 10, 64); err == nil {
			return i
		}
	case "!!float":
		if f, err := strconv.ParseFloat(node.Value, 64); err == nil {
			if b, err := json.Marshal(f); err == nil {
				return json.RawMessage(b)
			}
		}
	}
	return node.Value
}

// text gives a front matter value as text; "" where it is not text.
func (n *note) text(key string) string {
	switch v := n.meta[key].(type) {
	case string:
		return strings.TrimSpace(v)
	case int64, bool, json.RawMessage:
		return fmt.Sprint(v)
	}
	return ""
}

// list gives a front matter value as a list: of a list its items, of text its parts
// between commas. Nested lists are what unquoted [[links]] become in YAML; they are read
// as the links they were.
func (n *note) list(key string) []string {
	var out []string
	switch v := n.meta[key].(type) {
	case string:
		for item := range strings.SplitSeq(v, ",") {
			out = appendText(out, item)
		}
	case []any:
		for _, item := range v {
			switch item := item.(type) {
			case []any:
				out = appendText(out, flatten(item))
			case nil:
			default:
				out = appendText(out, fmt.Sprint(item))
			}
		}
	case int64, bool, json.RawMessage:
		out = appendText(out, fmt.Sprint(v))
	}
	return out
}

func appendText(list []string, s string) []string {
	if s = strings.TrimSpace(s); s != "" {
		return append(list, s)
	}
	return list
}

func flatten(v any) string {
	if list, ok := v.([]any); ok {
		var parts []string
		for _, item := range list {
			parts = append(parts, flatten(item))
		}
		return strings.Join(parts, ", ")
	}
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// fields gives as a JSON object what front matter is left when known keys are taken out;
// nil when none is. What was an unquoted [[link]] becomes one again.
func (n *note) fields(known ...string) (json.RawMessage, error) {
	rest := map[string]any{}
	for k, v := range n.meta {
		rest[k] = relink(v)
	}
	for _, k := range known {
		delete(rest, k)
	}
	for k, v := range rest {
		if v == nil || strings.HasPrefix(k, "*") || strings.HasPrefix(k, "+") {
			delete(rest, k)
		}
	}
	if len(rest) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(rest)
	if err != nil {
		return nil, errors.New("front matter cannot be kept: " + err.Error())
	}
	return b, nil
}

// relink turns [[["X"]]] back into "[[X]]".
func relink(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) == 1 {
			if inner, ok := v[0].([]any); ok && len(inner) == 1 {
				if s, ok := inner[0].(string); ok {
					return "[[" + s + "]]"
				}
			}
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = relink(v[i])
			if inner, ok := v[i].([]any); ok && len(inner) == 1 {
				if in2, ok := inner[0].([]any); ok && len(in2) == 1 {
					out[i] = "[[" + fmt.Sprint(in2[0]) + "]]"
				}
			}
		}
		return out
	case map[string]any:
		for k := range v {
			v[k] = relink(v[k])
		}
	}
	return v
}
