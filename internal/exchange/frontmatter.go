package exchange

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"loregate/internal/access"
)

// note is a Markdown file taken apart.
type note struct {
	path    string // slash-separated, relative to the vault
	meta    map[string]any
	body    string
	line    int  // line of the file that the body begins at
	broken  bool // its front matter could not be read; its text is kept in raw
	raw     string
	reports []Problem

	name  string       // of its card; vault.index gives it
	level access.Level // least level that its readers have; vault.index gives it
}

func (n *note) report(line int, format string, args ...any) {
	n.reports = append(n.reports, Problem{n.path, line, fmt.Sprintf(format, args...)})
}

// maxMeta bounds front matter, in bytes.
const maxMeta = 1 << 20

// parseNote takes a file apart. Line ends become "\n", a byte order mark goes, and what
// text cannot hold becomes U+FFFD.
func parseNote(path string, data []byte) *note {
	n := &note{path: path, meta: map[string]any{}, line: 1}
	text := strings.ToValidUTF8(strings.TrimPrefix(string(data), "\ufeff"), "\ufffd")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(text)
	if !strings.HasPrefix(text, "---\n") {
		n.body = text
		n.readJSON()
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
	_, n.body, _ = strings.Cut(text[end:], "\n")
	n.line = 1 + strings.Count(text[:len(text)-len(n.body)], "\n")
	if len(head) > maxMeta {
		n.broken = true
		n.report(1, "front matter is longer than %d bytes; the note comes in without it, for the GM only", maxMeta)
		return n
	}
	n.readMeta(head)
	if n.broken {
		n.meta, n.raw = map[string]any{}, head
	}
	return n
}

var jsonStart = regexp.MustCompile(`^\{\s*(?:"|\}[ \t]*\n)`)

// readJSON takes front matter in JSON off the text: an object that it begins with, with
// nothing behind it on its last line.
func (n *note) readJSON() {
	text := n.body
	if !jsonStart.MatchString(text[:min(len(text), maxMeta)]) {
		return
	}
	d := json.NewDecoder(strings.NewReader(text[:min(len(text), maxMeta)]))
	d.UseNumber()
	var meta map[string]any
	err := d.Decode(&meta)
	line, rest, _ := strings.Cut(text[d.InputOffset():], "\n")
	if err != nil || strings.TrimSpace(line) != "" || deeperThan(meta, maxYAMLDepth) {
		n.broken = true
		n.report(1, "the file begins with JSON that cannot be read as front matter; it is taken as text, for the GM only")
		return
	}
	n.meta, n.body = meta, rest
	n.line = 1 + strings.Count(text[:len(text)-len(rest)], "\n")
}

// deeperThan reports whether a JSON value is nested deeper than a number of levels.
func deeperThan(v any, levels int) bool {
	if levels < 0 {
		return true
	}
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return deeperThan(item, levels-1) })
	case map[string]any:
		for _, item := range v {
			if deeperThan(item, levels-1) {
				return true
			}
		}
	}
	return false
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
	return strings.TrimLeft(lineForm.ReplaceAllString(why, ""), ": ")
}

// maxYAMLDepth bounds nesting; aliases are refused, for they can grow without bound.
const maxYAMLDepth = 64

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
			if node.Content[i].Kind != yaml.ScalarNode || key == "<<" {
				n.report(node.Content[i].Line+1, "a key that is not text; left out")
				continue
			}
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

// numberForm is what JSON knows as a number; it is kept as written.
var numberForm = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func scalar(node *yaml.Node) any {
	switch node.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return node.Value == "true" || node.Value == "True" || node.Value == "TRUE"
	case "!!int", "!!float":
		if numberForm.MatchString(node.Value) {
			return json.Number(node.Value)
		}
	}
	return node.Value
}
