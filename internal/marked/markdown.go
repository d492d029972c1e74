package marked

import (
	"context"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// HTMLView shows Markdown as HTML, MarkdownView shows HTML as Markdown, both with their marked parts.
var HTMLView, MarkdownView = markup.Views(ToHTML, ToMarkdown)

// FitMarkdown returns an edited MarkdownView in which each marked part is written as the view shows it.
func FitMarkdown(ctx context.Context, markdown string) (string, error) {
	k := newKeeper(markdown)
	rest, err := k.takeFromMarkdown(ctx, markdown, func(part, html string) (string, bool) {
		kept := keptHTML(html)
		return kept, kept != strings.TrimSpace(part)
	})
	return k.intoMarkdown(rest), err
}

// FitHTML returns an edited HTMLView in which each marked part is written as the view shows it.
func FitHTML(ctx context.Context, html string) (string, error) {
	h := split(html, secrecy.HTML)
	k := newKeeper("")
	var b strings.Builder
	at := 0
	for _, p := range h.Parts {
		shown, err := k.partHTML(ctx, keptHTML(p.Text))
		if err != nil {
			return "", err
		}
		b.WriteString(h.Open[at:p.At] + shown)
		at = p.At
	}
	return b.String() + h.Open[at:], nil
}

// ToMarkdown is markup.ToMarkdown for a text that is going to be stored, or edited. Marked parts stay in it as HTML.
func ToMarkdown(ctx context.Context, html string) (string, error) {
	h := split(html, secrecy.HTML)
	k := newKeeper(html)
	var b strings.Builder
	at := 0
	for _, p := range h.Parts {
		b.WriteString(h.Open[at:p.At])
		at = p.At
		raw := keptHTML(p.Text)
		if word := k.hold(raw); blockStart.MatchString(raw) {
			b.WriteString("<p>" + word + "</p>")
		} else {
			b.WriteString(word)
		}
	}
	b.WriteString(h.Open[at:])
	markdown, err := markup.ToMarkdown(ctx, b.String())
	return k.intoMarkdown(markdown), err
}

var (
	blockStart = lazyregexp.New("^" + blockForm.String())
	blankLines = lazyregexp.New(`\n[ \t]*(?:\n[ \t]*)+`)
	indents    = lazyregexp.New(`\n[ \t]{4,}`)
)

// keptHTML returns a marked part of HTML as it stands in Markdown: without lines that would end it or be code.
func keptHTML(part string) string {
	part = strings.TrimSpace(part)
	if strings.HasPrefix(part, "<!-- ") && strings.Index(part, "-->") == len(part)-len("-->") {
		return part
	}
	part = indents.ReplaceAllString(blankLines.ReplaceAllString(part, "\n"), "\n")
	if isMarked(part, secrecy.Markdown) {
		return part
	}
	return "<div class=\"secret\">\n" + part + "\n</div>"
}

// intoMarkdown puts the parts back into Markdown. The lines of a part get the beginning of the line in which it stands,
// and one whose word was left out stands at the end.
func (k *keeper) intoMarkdown(markdown string) string {
	var b strings.Builder
	used := make([]bool, len(k.parts))
	line := ""
	for rest := markdown; rest != ""; {
		text, i, after := k.cut(rest)
		b.WriteString(text)
		if at := strings.LastIndexByte(text, '\n'); at >= 0 {
			line = text[at+1:]
		} else {
			line += text
		}
		if rest = after; i < 0 || used[i] {
			continue
		}
		used[i] = true
		begin := "\n" + beginOf(line)
		if strings.HasPrefix(strings.TrimSpace(line), "|") {
			begin = " "
		}
		b.WriteString(strings.ReplaceAll(k.parts[i], "\n", begin))
	}
	for i, part := range k.parts {
		if !used[i] {
			b.WriteString("\n\n" + part)
		}
	}
	return strings.TrimSpace(b.String())
}
