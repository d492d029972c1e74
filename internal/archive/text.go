package archive

import (
	"context"
	"strings"
	"unicode/utf8"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func textReads(d *deps) []*op.Operation {
	return []*op.Operation{
		surface.DefineRead(d.Kit, op.Spec{
			Name: "get_card_outline",
			Asked: []string{
				"headings of a long article", "table of contents", "chapters and sections of a page",
				"structure of a text", "which parts does a long text have", "subheadings", "contents list",
				"chapters of a long article", "headlines of a page", "how is the text divided",
			},
			Cacheable: true,
			Title:     "Outline of a card",
			Doc: "List the headings of a long card before you read it. " +
				"Give a heading's offset and length to get_card as content_offset and max_content_length to read only that section.",
			Route:    "GET /api/mcp/cards/{name}/outline",
			Target:   "name",
			Examples: []op.Example{{Title: "Headings of a card", Input: `{"name": "A Short History of the Lease"}`}},
		}, getCardOutline),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "find_in_card",
			Asked: []string{
				"where in one article does a word occur", "passages of a page with a phrase",
				"look inside a page for a term", "quote the spot", "in which passage does it say",
				"how often does a word occur on a page", "where exactly does the text mention it",
				"find a word within a single page", "show the lines around a word",
				"where in this text does a word occur", "spot a phrase inside one page",
				"places in an article that mention it", "how often does the page say a word",
			},
			Title: "Find in a card",
			Doc: "Find the places of a text in one card, with the surrounding words, without reading the whole card. " +
				"HTML tags never match. Use an offset as content_offset of get_card.",
			Route:  "GET /api/mcp/cards/{name}/find",
			Older:  []op.OlderRoute{{Route: "GET /api/mcp/cards/{name}/search_content"}},
			Target: "name",
			Examples: []op.Example{{Title: "Every mention of a word",
				Input: `{"name": "A Short History of the Lease", "q": "water", "match_mode": "whole_word"}`}},
		}, findInCard),
	}
}

type heading struct {
	Level  int    `json:"level" jsonschema:"1 to 6."`
	Text   string `json:"text"`
	Offset int    `json:"offset" jsonschema:"Characters of content before the heading."`
	Length int    `json:"length" jsonschema:"Characters to the next heading or the end."`
}

type outlineIn struct {
	namedCard
	page
}

type outlineOut struct {
	typ           string
	kind          canon.TextKind
	Name          string    `json:"name"`
	Headings      []heading `json:"headings"`
	ContentLength int       `json:"content_length"`
	paged
}

func getCardOutline(ctx context.Context, l *canon.Snapshot, _ *op.Call, in outlineIn) (outlineOut, error) {
	c, content, err := findContent(ctx, l, in.Name)
	if err != nil {
		return outlineOut{}, err
	}
	out := outlineOut{typ: c.Type, kind: c.TextKind(), Name: c.Name, ContentLength: utf8.RuneCountInString(content)}
	all := headingsOf(c.TextKind(), content)
	list := make([]heading, len(all))
	for i, h := range all {
		end := out.ContentLength
		if i+1 < len(all) {
			end = all[i+1].Offset
		}
		list[i] = heading{h.Level, h.Text, h.Offset, end - h.Offset}
	}
	out.Headings, out.paged = pageOf(list, in.page, false)
	return out, nil
}

func headingsOf(kind canon.TextKind, content string) []markup.Heading {
	switch kind {
	case canon.TextHTML:
		return markup.Outline(content)
	case canon.TextMarkdown:
		return markup.MarkdownOutline(content)
	}
	return nil
}

type findIn struct {
	namedCard
	Q             string `json:"q" minlen:"1" maxlen:"500" jsonschema:"The text to find."`
	MatchMode     string `json:"match_mode,omitzero" enum:"substring,whole_word,phrase" default:"substring" jsonschema:"How it matches."`
	CaseSensitive bool   `json:"case_sensitive,omitzero" jsonschema:"Match case and accents exactly."`
	Context       int    `json:"context,omitzero" alias:"context_chars" default:"80" min:"0" max:"500" jsonschema:"Characters of context before and after the match."`
	page
}

// textMatch is one occurrence of a text in a card.
type textMatch struct {
	Offset int    `json:"offset" jsonschema:"Characters of content before the match."`
	Match  string `json:"match"`
	Before string `json:"before"`
	After  string `json:"after"`
}

type findOut struct {
	query   string
	length  int         // characters of content
	Name    string      `json:"name"`
	Matches []textMatch `json:"matches"`
	paged
}

// maxMatches bounds the number of places that find_in_card counts.
const maxMatches = 10_000

func findInCard(ctx context.Context, l *canon.Snapshot, _ *op.Call, in findIn) (findOut, error) {
	c, content, err := findContent(ctx, l, in.Name)
	if err != nil {
		return findOut{}, err
	}
	shown, quoted, place := searchable(c.TextKind(), content)
	all := markup.FindAll(shown, in.Q, markup.FindOptions{Mode: markup.FindMode(in.MatchMode),
		CaseSensitive: in.CaseSensitive,
		FoldAccents:   !in.CaseSensitive, Limit: maxMatches + 1})
	atLeast := len(all) > maxMatches
	matches, pg := pageOf(all[:min(len(all), maxMatches)], in.page, atLeast)
	out := findOut{query: in.Q, length: utf8.RuneCountInString(content), Name: c.Name,
		Matches: make([]textMatch, len(matches)), paged: pg}
	at, chars := 0, 0
	for i, m := range matches {
		start := place.SourceOffset(m.Start)
		chars += utf8.RuneCountInString(content[min(at, start):start])
		at = max(at, start)
		out.Matches[i] = textMatch{chars, quoted[m.Start:m.End], textBefore(shown[:m.Start], in.Context),
			textAfter(shown[m.End:], in.Context)}
	}
	return out, nil
}

// placer finds the place in a source of a byte of its text.
type placer interface{ SourceOffset(offset int) int }

// samePlace is the placer of a text with the offsets of its source.
type samePlace struct{}

func (samePlace) SourceOffset(offset int) int { return offset }

// searchable returns the text of content in which find_in_card searches, and the text of the same length
// that it quotes.
func searchable(kind canon.TextKind, content string) (shown, quoted string, place placer) {
	switch kind {
	case canon.TextHTML, canon.TextItems:
		return blankTags(content), content, samePlace{}
	case canon.TextMarkdown:
		p := markup.MarkdownPlain(content)
		return p.Text, p.Text, p
	}
	return content, content, samePlace{}
}

// blankTags overwrites tags and comments with spaces, byte for byte, so that offsets in the result
// are also offsets in the content.
func blankTags(html string) string {
	b := []byte(html)
	for i := 0; i < len(b); i++ {
		if b[i] != '<' || i+1 == len(b) || !opensTag(b[i+1]) {
			continue
		}
		end := strings.IndexByte(html[i:], '>')
		if strings.HasPrefix(html[i:], "<!--") {
			if end = strings.Index(html[i:], "-->"); end >= 0 {
				end += 2
			}
		}
		if end < 0 {
			break
		}
		for j := i; j <= i+end; j++ {
			b[j] = ' '
		}
		i += end
	}
	return string(b)
}

func opensTag(c byte) bool { return c == '/' || c == '!' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// textBefore returns the last n characters of s on one line.
func textBefore(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return collapseSpaces(s[at:])
}

func textAfter(s string, n int) string { return collapseSpaces(markup.Clip(s, n)) }

// collapseSpaces replaces every run of white space by one space.
func collapseSpaces(s string) string { return strings.Join(strings.Fields(s), " ") }
