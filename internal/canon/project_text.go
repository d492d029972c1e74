package canon

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"loregate/internal/markup"
)

// indexCard writes the data derived from a card's content: its references and its search text.
func (p *projector) indexCard(ctx context.Context, c Card) error {
	content := ""
	kind := c.TextKind()
	if kind != TextFile && c.Content != (Hash{}) {
		b, ok := p.fresh[c.Content]
		if !ok && p.rehearses {
			return nil // the index has the content
		}
		if !ok {
			var err error
			if b, err = p.loadBody(ctx, c); err != nil {
				return err
			}
			if b == nil {
				return p.indexErased(ctx, c)
			}
		}
		content = string(b)
	}
	return p.indexContent(ctx, c, kind, content)
}

// indexAgain indexes a card whose list of tags has gone elsewhere.
func (p *projector) indexAgain(ctx context.Context, id CardID) error {
	c, err := p.findParent(ctx, id)
	if err != nil {
		return err
	}
	return p.indexCard(ctx, c)
}

// loadBody returns a card's stored content. It returns nil for an erased version, even if the same
// bytes were stored again for another card.
func (p *projector) loadBody(ctx context.Context, c Card) ([]byte, error) {
	v, ok, err := p.tx.VersionByRev(ctx, p.world, c.ID, c.Rev)
	if err != nil || ok && v.Purged {
		return nil, err
	}
	b, _, err := p.tx.Body(ctx, p.world, c.Content)
	return b, err
}

// indexContent writes a card's references and search text from its content.
func (p *projector) indexContent(ctx context.Context, c Card, kind TextKind, content string) error {
	if err := p.tx.PutRefs(ctx, p.world, c.ID, refsOf(c, kind, content)); err != nil {
		return err
	}
	return p.tx.Index(ctx, c, &SearchDoc{Name: searchName(c), Text: PlainText(kind, content), Derived: kind != TextFile})
}

// searchName returns a card's name and aliases, one a line.
func searchName(c Card) string { return strings.Join(append([]string{c.Name}, c.Aliases()...), "\n") }

// indexErased writes that a card whose content was erased has no references and only its name as search text.
// That text is not derived: the bytes may still be stored, for another card or until the end of the commit.
func (p *projector) indexErased(ctx context.Context, c Card) error {
	if err := p.tx.PutRefs(ctx, p.world, c.ID, nil); err != nil {
		return err
	}
	return p.tx.Index(ctx, c, &SearchDoc{Name: searchName(c)})
}

// unindexCard removes a card's references and search text.
func (p *projector) unindexCard(ctx context.Context, c Card) error {
	if err := p.tx.PutRefs(ctx, p.world, c.ID, nil); err != nil {
		return err
	}
	return p.tx.Index(ctx, c, nil)
}

// PlainText returns content of a kind as readable text without markup, for search and excerpts.
func PlainText(kind TextKind, content string) string {
	switch kind {
	case TextHTML, TextItems:
		return markup.Text(content)
	case TextMarkdown:
		return markup.MarkdownText(content)
	case TextFile:
		return ""
	}
	return content
}

// FieldText returns the texts and lists of texts in a card's fields, one per line, in the order of
// the fields' names. It skips the aliases, which are names, and the fields in leftOut. It also
// skips objects, which mostly hold numbers and codes.
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

// TagPart is the key of the part of X+tags, the card that lists the tags of X.
const TagPart = "tag"

// HoldsTags reports whether the card with this key lists the tags of the card above it.
func HoldsTags(key markup.Key) bool { return strings.HasSuffix(string(key), "+"+TagPart) }

// IsTagList reports whether a card is the list of tags of the card above it. Its text is versioned
// like a card's, but it is a part of that card: see Filter.TagLists.
func (c Card) IsTagList() bool {
	return HoldsTags(c.Key) && !c.Parent.IsZero() && markup.KeyOf(c.Part) == TagPart
}

// refsOf returns the references in a card's content. A target name of more than 1024 bytes is no
// reference.
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
	for _, r := range RefsIn(kind, content) {
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
