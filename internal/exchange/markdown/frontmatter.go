package markdown

import (
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/lazyregexp"
)

// Note is a parsed Markdown file.
type Note struct {
	Path    string // slash-separated, relative to the vault
	Meta    map[string]any
	Head    string // everything before the body: a byte order mark and the front matter
	Body    string
	Line    int  // line of the file where the body begins
	Broken  bool // the front matter could not be read; invalid YAML is kept in raw
	Raw     string
	Reports []exchange.Problem
}

// AddReport reports a part of the file that is left out or changed; line 0 means the whole file.
func (n *Note) AddReport(line int, format string, args ...any) {
	if len(n.Reports) < maxReports {
		n.Reports = append(n.Reports, exchange.NewProblem(n.Path, line, format, args...))
	}
}

// maxReports is the maximum number of problems of one note that are reported.
const maxReports = 50

// maxMeta is the maximum size of front matter, in bytes.
const maxMeta = 1 << 20

// byteOrderMark stands at the start of some files.
const byteOrderMark = "\ufeff"

// Normalize returns the text of a file: with "\n" as its line ends, and with U+FFFD in place of invalid
// UTF-8 and NUL.
func Normalize(data []byte) string {
	text := strings.ToValidUTF8(string(data), "\ufffd")
	if !strings.ContainsAny(text, "\r\x00") {
		return text
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(text)
}

// Parse parses a Markdown file, after Normalize. The head and the body are the whole text.
func Parse(path string, data []byte) *Note {
	whole := Normalize(data)
	n := parseText(path, strings.TrimPrefix(whole, byteOrderMark))
	n.Head = whole[:len(whole)-len(n.Body)]
	return n
}

func parseText(path, text string) *Note {
	n := &Note{Path: path, Meta: map[string]any{}, Line: 1}
	if !strings.HasPrefix(text, "---\n") {
		n.Body = text
		n.readJSON()
		return n
	}
	end := findMetaEnd(text)
	if end < 0 {
		n.Broken = true
		n.Body = text
		n.AddReport(1, "the front matter has no end; the whole file is imported as text, for the GM only")
		return n
	}
	head := text[4:end]
	_, n.Body, _ = strings.Cut(text[end:], "\n")
	n.Line = 1 + strings.Count(text[:len(text)-len(n.Body)], "\n")
	if len(head) > maxMeta {
		n.Broken = true
		n.AddReport(1, "the front matter is longer than %d bytes; the note is imported without it, for the GM only", maxMeta)
		return n
	}
	n.readMeta(head)
	if n.Broken {
		n.Meta, n.Raw = map[string]any{}, head
	}
	return n
}

var jsonStart = lazyregexp.New(`^\{\s*(?:"|\}[ \t]*\n)`)

// readJSON takes JSON front matter off the text: an object at the start of the text, with nothing
// after it on its last line.
func (n *Note) readJSON() {
	text := n.Body
	if !jsonStart.MatchString(text[:min(len(text), maxMeta)]) {
		return
	}
	d := json.NewDecoder(strings.NewReader(text[:min(len(text), maxMeta)]))
	d.UseNumber()
	var meta map[string]any
	err := d.Decode(&meta)
	line, rest, _ := strings.Cut(text[d.InputOffset():], "\n")
	if err != nil || strings.TrimSpace(line) != "" || deeperThan(meta, maxYAMLDepth) {
		n.Broken = true
		n.AddReport(1, "the file begins with JSON that cannot be read as front matter; the file is imported as text, for the GM only")
		return
	}
	n.Meta, n.Body = meta, rest
	n.Line = 1 + strings.Count(text[:len(text)-len(rest)], "\n")
}

// deeperThan reports whether a JSON value is nested more than the given number of levels.
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

// findMetaEnd returns the offset of the line that ends front matter, "---" or "..." alone, or -1.
func findMetaEnd(text string) int {
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

func (n *Note) readMeta(head string) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(head), &doc); err != nil {
		n.Broken = true
		found := decoded.YAMLFaults(err)[0]
		n.AddReport(max(found.Line, 1)+1,
			"the front matter is not YAML (%s); the note is imported without it, for the GM only", found.Why)
		return
	}
	if len(doc.Content) == 0 {
		return
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		n.Broken = true
		n.AddReport(2, "the front matter is not a list of names and values; the note is imported without it, for the GM only")
		return
	}
	n.Meta, _ = n.metaValue(doc.Content[0], 0).(map[string]any)
}

// maxYAMLDepth is the maximum nesting of front matter. Aliases of anything but scalars are refused,
// because they can grow without bound.
const maxYAMLDepth = 64

// metaValue converts a YAML node to a JSON value. Scalars that JSON does not have, such as dates,
// stay text. Of duplicate keys the last counts, and the duplicate is reported.
func (n *Note) metaValue(node *yaml.Node, depth int) any {
	if depth > maxYAMLDepth {
		n.AddReport(node.Line+1, "a value is nested deeper than %d levels; left out", maxYAMLDepth)
		return nil
	}
	switch node.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i].Value
			if node.Content[i].Kind != yaml.ScalarNode || key == "<<" {
				n.AddReport(node.Content[i].Line+1, "a key is not text; left out")
				continue
			}
			if _, again := m[key]; again {
				n.AddReport(node.Content[i].Line+1, "%q is set twice; the last value counts", key)
			}
			m[key] = n.metaValue(node.Content[i+1], depth+1)
		}
		return m
	case yaml.SequenceNode:
		list := make([]any, 0, len(node.Content))
		for _, item := range node.Content {
			list = append(list, n.metaValue(item, depth+1))
		}
		return list
	case yaml.AliasNode:
		if node.Alias != nil && node.Alias.Kind == yaml.ScalarNode {
			return scalarValue(node.Alias)
		}
		n.AddReport(node.Line+1, "a YAML alias of a list or object; left out")
		return nil
	}
	return scalarValue(node)
}

// numberForm matches the numbers of JSON; they are kept as written.
var numberForm = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func scalarValue(node *yaml.Node) any {
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
