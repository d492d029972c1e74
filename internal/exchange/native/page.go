package native

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
	"loregate/internal/marked"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// page holds everything that an export writes into the note of one card.
type page struct {
	path     string
	card     canon.Card
	text     string
	label    access.Label // the card's own label, as it is written
	minLevel access.Level // level that the world's name rules give the card; LevelNone if they do not raise it
	parent   string       // id, or "none"; "" if it follows from the name
	tags     []string
	tagsID   canon.CardID // zero if it is derived from the card's id
	file     string       // base name of the attachment
	hidden   []string     // names of the fields that only the GM reads
	beside   bool         // the card holds hidden parts of the text above; text is its other text
	whole    secrecy.Text // text with its hidden parts
	asIs     bool         // the note says where the parts are, because its marks say something else
	head     string       // digest of front matter whose marks say something else; see digestHead
	links    []metaObject
	layers   []metaObject
}

// metaObject is a link or layer in front matter.
type metaObject struct {
	keys   []string
	values map[string]any
}

func (l *metaObject) set(key string, v any) {
	if l.values == nil {
		l.values = map[string]any{}
	}
	l.keys = append(l.keys, key)
	l.values[key] = v
}

// renderNote writes a page so that reading it gives the same card. It tries the candidate formats
// in order, then all of them again with every string quoted. ok is false if none preserves
// everything. Once ctx has ended the note is incomplete.
func (p *page) renderNote(ctx context.Context) (out []byte, ok bool) {
	for _, quoteAll := range []bool{false, true} {
		for _, format := range p.candidateFormats() {
			if ctx.Err() != nil {
				return nil, false
			}
			body, encodable := p.bodyText(ctx, format)
			if !encodable {
				continue
			}
			for p.asIs, p.head = false, ""; ; {
				out = p.encodeNote(format, body, quoteAll)
				n := markdown.Parse(p.path+".md", out)
				head, text := p.isReversible(ctx, n)
				if head && text {
					return out, true
				}
				if (head || p.head != "") && (text && head || p.asIs) {
					break
				}
				p.asIs = p.asIs || !text || p.head != ""
				if !head {
					p.head = digestHead(n)
				}
			}
		}
	}
	return out, false
}

// candidateFormats returns the formats to try, the most readable first. "" is Markdown for an HTML
// card, and the card's own text otherwise.
func (p *page) candidateFormats() []string {
	if p.card.TextKind() == canon.TextHTML {
		return []string{"", "html", "json"}
	}
	return []string{"", "json"}
}

func (p *page) bodyText(ctx context.Context, format string) (string, bool) {
	switch {
	case format == "json":
		b, err := json.Marshal(p.text)
		return string(b), err == nil
	case format == "" && p.card.TextKind() == canon.TextHTML:
		md, err := marked.ToMarkdown(ctx, p.text)
		return md, err == nil
	}
	return p.text, true
}

// encodeNote returns the bytes of the file. quoteAll quotes every string and writes objects as JSON.
func (p *page) encodeNote(format, body string, quoteAll bool) []byte {
	w := metaWriter{quoteAll: quoteAll}
	c := p.card
	w.put("loregate", json.Number("1"))
	w.put("name", c.Name)
	w.put("id", c.ID.String())
	if c.Type != canon.TypeRichText {
		w.put("type", c.Type)
	}
	w.putLabel(p.label)
	if p.minLevel > access.LevelNone {
		w.put("at_least", p.minLevel.String())
	}
	w.putNonEmpty("parent", p.parent)
	w.putNonEmpty("codename", c.Codename)
	if len(p.tags) > 0 {
		w.put("tags", p.tags)
		if !p.tagsID.IsZero() {
			w.put("tags_id", p.tagsID.String())
		}
	}
	w.putFields(c.Fields)
	if c.Format != canon.FormatHTML {
		w.put("text_format", c.Format.String())
	}
	if len(p.hidden) > 0 {
		w.put("hidden_fields", p.hidden)
	}
	if p.asIs {
		w.put("text_digest", exchange.DigestText(p.text))
		w.put("hidden_parts", partRanges(p.whole))
	}
	w.putNonEmpty("head_digest", p.head)
	if p.beside {
		w.put("beside", true)
	}
	w.putNonEmpty("format", format)
	w.putNonEmpty("file", p.file)
	w.putObjects("links", p.links)
	w.putObjects("layers", p.layers)
	var b bytes.Buffer
	b.WriteString("---\n")
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: w.nodes}); err != nil {
		return nil // isReversible then fails
	}
	b.WriteString("---\n")
	if p.file == "" {
		b.WriteString(body)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// metaWriter collects the nodes of front matter.
type metaWriter struct {
	quoteAll bool
	nodes    []*yaml.Node
}

func (w *metaWriter) put(key string, v any) {
	w.nodes = append(w.nodes, w.scalarNode(key), w.yamlNode(v))
}

func (w *metaWriter) putNonEmpty(key, text string) {
	if text != "" {
		w.put(key, text)
	}
}

func (w *metaWriter) putLabel(l access.Label) {
	if l.Level > access.LevelUser {
		w.put("level", l.Level.String())
	}
	if len(l.Subjects) > 0 {
		w.put("subjects", subjectsOf(l))
	}
}

func subjectsOf(l access.Label) []string {
	list := make([]string, len(l.Subjects))
	for i, s := range l.Subjects {
		list[i] = string(s)
	}
	return list
}

// putFields writes the fields. Aliases get their own key, where other programs expect them.
func (w *metaWriter) putFields(fields json.RawMessage) {
	all := decoded.ParseObject(string(fields))
	if len(all) == 0 {
		return
	}
	if w.quoteAll {
		w.put("fields", string(fields))
		return
	}
	if list, ok := all["aliases"].([]any); ok && len(decoded.ListOf(list)) == len(list) && len(list) > 0 {
		w.put("aliases", list)
		delete(all, "aliases")
	}
	if len(all) > 0 {
		w.put("fields", all)
	}
}

func (w *metaWriter) putObjects(key string, lines []metaObject) {
	if len(lines) == 0 {
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, l := range lines {
		item := metaWriter{quoteAll: w.quoteAll}
		for _, k := range l.keys {
			v := l.values[k]
			if m, ok := v.(map[string]any); ok && w.quoteAll {
				v = string(decoded.EncodeFields(m))
			}
			item.put(k, v)
		}
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.MappingNode, Content: item.nodes})
	}
	w.nodes = append(w.nodes, w.scalarNode(key), list)
}

func (w *metaWriter) yamlNode(v any) *yaml.Node {
	switch v := v.(type) {
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.Content = append(n.Content, w.scalarNode(k), w.yamlNode(v[k]))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v {
			n.Content = append(n.Content, w.yamlNode(item))
		}
		return n
	case []string:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, item := range v {
			n.Content = append(n.Content, w.scalarNode(item))
		}
		return n
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(string(v), ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: string(v)}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	case string:
		return w.scalarNode(v)
	}
	return w.scalarNode(fmt.Sprint(v))
}

func (w *metaWriter) scalarNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if w.quoteAll || strings.TrimSpace(s) != s || strings.ContainsFunc(s,
		func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x85 || r == 0xfeff }) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// isReversible reports whether reading a note gives the page that it was written from: its head, and its text.
func (p *page) isReversible(ctx context.Context, n *markdown.Note) (head, text bool) {
	c := exchange.NewCollection()
	x := &Reader{Collection: c}
	if n.Broken || x.Add(ctx, n) != nil || len(n.Reports) > 0 || len(c.Problems) > 0 || len(c.Sheets) == 0 {
		return false, false
	}
	s := c.Sheets[0]
	head = s.Name == p.card.Name && s.ID == p.card.ID && s.Type == p.card.Type && s.Format == p.card.Format &&
		s.Codename == p.card.Codename && s.Label.Equal(p.label) && sameJSON(s.Fields, p.card.Fields) &&
		sameNames(s.HideFields, p.hidden) && len(c.Edges) == len(p.links) && len(c.Overlays) == len(p.layers) &&
		p.isGraphReversible(ctx, c)
	if p.file != "" {
		return head, true
	}
	whole, err := s.ReadText(ctx)
	return head, err == nil && whole == p.text && (p.isForMasters() || sameParts(s.Divide(whole), p.whole))
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func (p *page) isGraphReversible(ctx context.Context, c *exchange.Collection) bool {
	if want := markup.SetItems(p.tags); want != "" {
		if len(c.Sheets) != 2 {
			return false
		}
		if text, err := c.Sheets[1].Body(ctx); err != nil || text != want {
			return false
		}
	}
	for i, e := range c.Edges {
		l := p.links[i].values
		if e.To.Name != l["to"] && l["to_id"] == nil {
			return false
		}
		attrs, _ := l["attrs"].(map[string]any)
		if !bytes.Equal(decoded.EncodeFields(e.Attrs), decoded.EncodeFields(attrs)) {
			return false
		}
	}
	for i, o := range c.Overlays {
		if o.Text != p.layers[i].values["value"] {
			return false
		}
	}
	return true
}

// isForMasters reports whether a page's text is one that has no hidden parts because only game masters read it.
func (p *page) isForMasters() bool {
	l := p.card.Label
	return p.beside || len(p.whole.Parts) == 0 && l.Level >= access.LevelGM && len(l.Subjects) == 0
}

func sameParts(a, b secrecy.Text) bool {
	return a.Open == b.Open && slices.EqualFunc(a.Parts, b.Parts, func(x, y secrecy.Passage) bool {
		return x.At == y.At && x.Text == y.Text && x.Label.Equal(y.Label)
	})
}

func sameJSON(a, b json.RawMessage) bool {
	return string(decoded.EncodeFields(decoded.ParseObject(string(a)))) == string(decoded.EncodeFields(decoded.ParseObject(string(b))))
}
