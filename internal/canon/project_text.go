package canon

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"loregate/internal/markup"
)

// indexCard writes what follows from a card's content: references and the search index.
func (p *projector) indexCard(ctx context.Context, c Card) error {
	content := ""
	kind := TextOf(c.Type)
	if kind != TextFile && c.Content != (Hash{}) {
		b, ok := p.fresh[c.Content]
		if !ok {
			var err error
			if b, err = p.loadBody(ctx, c); err != nil {
				return err
			}
		}
		content = string(b)
	}
	return p.indexContent(ctx, c, kind, content)
}

// loadBody is a card's stored content. That of an erased version is nothing, even where the
// same bytes have come to be stored again for another card.
func (p *projector) loadBody(ctx context.Context, c Card) ([]byte, error) {
	v, ok, err := p.tx.VersionByRev(ctx, p.world, c.ID, c.Rev)
	if err != nil || ok && v.Purged {
		return nil, err
	}
	b, _, err := p.tx.Body(ctx, p.world, c.Content)
	return b, err
}

func (p *projector) indexContent(ctx context.Context, c Card, kind TextKind, content string) error {
	if err := p.tx.PutRefs(ctx, p.world, c.ID, refsOf(c, kind, content)); err != nil {
		return err
	}
	names := strings.Join(append([]string{c.Name}, c.Aliases()...), "\n")
	return p.tx.Index(ctx, c, &SearchDoc{Name: names, Text: PlainText(c.Type, content), Derived: kind != TextFile})
}

func (p *projector) unindexCard(ctx context.Context, c Card) error {
	if err := p.tx.PutRefs(ctx, p.world, c.ID, nil); err != nil {
		return err
	}
	return p.tx.Index(ctx, c, nil)
}

// PlainText is a card's content as it is searched and excerpted: readable text without
// markup.
func PlainText(typ, content string) string {
	switch TextOf(typ) {
	case TextHTML, TextItems, TextMarkdown:
		return markup.Text(content)
	case TextFile:
		return ""
	}
	return content
}

// FieldText gives the texts and lists of texts in the fields of a card, in the order of the
// fields' names, a line each. Aliases are names, and no part of it, nor are the
// fields that are left out. Objects are passed over: they hold numbers and codes more
// often than prose.
func FieldText(fields json.RawMessage, leftOut ...string) string {
	var own map[string]any
	if len(fields) == 0 || json.Unmarshal(fields, &own) != nil {
		return ""
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if name == "aliases" || slices.Contains(leftOut, name) {
			continue
		}
		list, isList := own[name].([]any)
		if !isList {
			list = []any{own[name]}
		}
		for _, v := range list {
			if text, ok := v.(string); ok {
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, "\n")
}

// tagPart is the key of the part under which a card's tags are kept: X+tags.
const tagPart = "tag"

// HoldsTags reports whether the card of a key lists the tags of the one above it.
func HoldsTags(key markup.Key) bool { return strings.HasSuffix(string(key), "+"+tagPart) }

func refsOf(c Card, kind TextKind, content string) []Ref {
	if kind == TextData || kind == TextFile || content == "" {
		return nil
	}
	var refs []Ref
	add := func(kind RefKind, target string) {
		name := markup.Resolve(target, c.Name)
		if key := markup.KeyOf(name); key != "" && len(name) <= 1024 {
			refs = append(refs, Ref{From: c.ID, Kind: kind, Target: key, Name: name, Order: len(refs)})
		}
	}
	for _, r := range markup.Refs(content) {
		switch {
		case r.External:
		case r.Kind == markup.NestRef:
			add(RefNest, r.Target)
		default:
			add(RefLink, r.Target)
		}
	}
	if HoldsTags(c.Key) {
		for _, item := range markup.Items(content) {
			add(RefTag, item)
		}
	}
	return refs
}
