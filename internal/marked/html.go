package marked

import (
	"context"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// ToHTML is markup.ToHTML for a text that is going to be stored. Marked parts stay in it, and stay marked.
func ToHTML(ctx context.Context, markdown string) (string, error) {
	markdown = markup.Clean(markdown)
	k := newKeeper(markdown)
	rest, err := k.takeFromMarkdown(ctx, markdown, func(_, html string) (string, bool) { return html, true })
	if err != nil {
		return "", err
	}
	html, err := markup.ToHTML(ctx, rest)
	if html = k.intoHTML(html); secrecy.HidesWhole(markdown) {
		html = "<div class=\"secret\">\n" + html + "\n</div>"
	}
	return html, err
}

// takeFromMarkdown replaces the marked parts of Markdown by words. as returns what the keeper holds, given a part and
// its HTML; ok is false for a part that stays as it is.
func (k *keeper) takeFromMarkdown(ctx context.Context, markdown string,
	as func(part, html string) (held string, ok bool)) (string, error) {
	h := split(markdown, secrecy.Markdown)
	var b strings.Builder
	at := 0
	for _, p := range h.Parts {
		b.WriteString(h.Open[at:p.At])
		at = p.At
		isBlock := (p.At == 0 || h.Open[p.At-1] == '\n') && endsLine(p.Text, h.Open[p.At:])
		begin := ""
		if isBlock {
			begin = sharedBegin(p.Text, h.Open[:p.At], h.Open[p.At:])
		}
		part := withoutBegin(p.Text, begin)
		html, err := k.partHTML(ctx, part)
		if err != nil {
			return "", err
		}
		switch held, ok := as(part, html); {
		case !ok:
			b.WriteString(p.Text)
		case isBlock:
			blank := strings.TrimRight(begin, " \t") + "\n"
			b.WriteString(blank + begin + k.hold(held) + "\n" + blank)
		default:
			b.WriteString(k.hold(held))
		}
	}
	return b.String() + h.Open[at:], nil
}

// endsLine reports whether a part is the rest of its line.
func endsLine(part, after string) bool {
	return strings.HasSuffix(part, "\n") || after == "" || after[0] == '\n'
}

var beginForm = lazyregexp.New(`^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*`)

// beginOf returns the signs of quotes and the indent with which the lines after a line continue its block.
func beginOf(line string) string {
	return strings.Map(func(r rune) rune {
		if r == '>' || r == '\t' {
			return r
		}
		return ' '
	}, beginForm.FindString(line))
}

// sharedBegin returns the longest beginning that the lines of a part have in common with the line before or after it:
// that of the block in which the part stands.
func sharedBegin(part, before, after string) string {
	own, _, _ := strings.Cut(part, "\n")
	own = beginOf(own)
	before = strings.TrimSuffix(before, "\n")
	after, _, _ = strings.Cut(after, "\n")
	best := ""
	for _, line := range []string{before[strings.LastIndexByte(before, '\n')+1:], after} {
		n := 0
		for other := beginOf(line); n < min(len(own), len(other)) && own[n] == other[n]; n++ {
		}
		if n > len(best) {
			best = own[:n]
		}
	}
	return best
}

// withoutBegin removes a beginning from the lines of a text if all have it.
func withoutBegin(text, begin string) string {
	if begin == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, begin)
		if !ok && strings.TrimSpace(line) != strings.TrimSpace(begin) {
			return text
		}
		if !ok {
			rest = "\n"
		}
		b.WriteString(rest)
	}
	return b.String()
}

// commentForm matches the comments of Markdown and the declarations of HTML, also without an end.
var commentForm = lazyregexp.New(`(?sm)%%(.*?)(?:%%|\z)|<!--(.*?)(?:-->|\z)|` +
	`^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*\[[^\]\n]*\]:[ \t]*<?#?>?[ \t]*[("'](.*?)[)"'][ \t]*$|<[!?]([^>]*)(?:>|\z)`)

// maxConverted is the number of parts that are converted. Further ones become comments, which takes less time.
const maxConverted = 500

// partHTML converts a marked part of Markdown to HTML that is marked.
func (k *keeper) partHTML(ctx context.Context, part string) (string, error) {
	if k.converted++; k.converted > maxConverted {
		return secrecy.Comment(part), ctx.Err()
	}
	return partHTML(ctx, part)
}

func partHTML(ctx context.Context, part string) (string, error) {
	k := newKeeper(part)
	rest := commentForm.ReplaceAllStringFunc(part, func(raw string) string {
		m := commentForm.FindStringSubmatch(raw)
		return k.hold(secrecy.Comment(strings.Join(m[1:], "")))
	})
	if k.isAll(rest) {
		return k.intoHTML(strings.TrimSpace(rest)), nil
	}
	if losesText(ctx, rest) {
		return secrecy.Comment(part), ctx.Err()
	}
	html, err := markup.ToHTML(ctx, rest)
	if html = k.intoHTML(html); err != nil || isMarked(html, secrecy.HTML) {
		return html, err
	}
	if words, ok := soleParagraph(html); ok {
		if isMarked(words, secrecy.HTML) {
			return words, nil
		}
		return `<span class="secret">` + words + "</span>", nil
	}
	return "<div class=\"secret\">\n" + html + "\n</div>", nil
}

// soleParagraph returns the words of HTML that is one paragraph.
func soleParagraph(html string) (words string, ok bool) {
	words, opened := strings.CutPrefix(html, "<p>")
	words, closed := strings.CutSuffix(words, "</p>")
	return words, opened && closed && !blockForm.MatchString(words)
}

// blockForm matches the start tag of an element that is no text in a paragraph.
var blockForm = lazyregexp.New(`(?i)<(?:address|article|aside|blockquote|details|div|dl|figure|footer|h[1-6]|header|` +
	`hr|li|ol|p|pre|section|table|t[rdh]|ul)\b`)

var startForm = lazyregexp.New(`<([A-Za-z][A-Za-z0-9-]*)`)

// losesText reports whether a text has an element, such as a script, of which a conversion leaves out the text.
func losesText(ctx context.Context, text string) bool {
	seen := map[string]bool{}
	for _, m := range startForm.FindAllStringSubmatch(text, -1) {
		if name := strings.ToLower(m[1]); !seen[name] {
			seen[name] = true
			if safe, err := markup.Sanitize(ctx, "<"+name+">x</"+name+">"); err != nil || !strings.Contains(safe, "x") {
				return true
			}
		}
	}
	return false
}
