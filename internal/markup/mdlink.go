package markup

import (
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"loregate/internal/lazyregexp"
)

// maxReference is the maximum length of a link or nest in Markdown, in bytes.
const maxReference = 2000

// readBracket reads [[target]], ![[target]], a footnote's mark, or the bracket that may open a link.
func (m *markdownScanner) readBracket(at, end int) (int, markdownItem) {
	s := m.content[at:min(end, at+maxReference)]
	mark := strings.TrimPrefix(s, "!")
	if len(mark) == 0 || mark[0] != '[' {
		return at, markdownItem{}
	}
	sign := len(s) - len(mark)
	if strings.HasPrefix(mark, "[[") && m.closing.findClosing(0, at+sign+2, "]]") < end {
		if r, ok := wikiRef(s, sign); ok {
			m.addRef(r, at)
			return at + r.End, markdownItem{start: at + r.targetStart, end: at + r.targetEnd, text: shownText(r, s), dropped: r.Kind == NestRef}
		}
	}
	if sign == 0 && strings.HasPrefix(mark, "[^") {
		if n := len(footnoteMark.FindString(mark)); n > 0 {
			return at + n, markdownItem{start: at, dropped: true}
		}
	}
	m.opened = append(m.opened, len(m.items))
	return at + sign + 1, markdownItem{start: at, end: at + sign + 1, text: s[:sign+1]}
}

// wikiRef reads [[target#part|text]], after sign bytes that make it a nest. ok is false if s does not
// begin with a ref that can be closed; a ref to a part of the own card has no target and is none.
func wikiRef(s string, sign int) (r Ref, ok bool) {
	inner, _, closed := strings.Cut(s[sign+2:], "]]")
	if !closed || strings.Contains(inner, "[[") || strings.Contains(inner, "\n") {
		return r, false
	}
	head, text, _ := strings.Cut(inner, "|")
	r = Ref{Kind: LinkRef, Text: text, End: sign + 4 + len(inner), markdown: true}
	if sign > 0 {
		r.Kind = NestRef
	}
	head = strings.TrimSuffix(head, `\`) // in a table
	if isAddress(strings.TrimSpace(head)) {
		r.External, r.Target = true, strings.TrimSpace(head)
		return r, r.Target != ""
	}
	r.setTarget(head, sign+2)
	return r, r.Target != ""
}

// setTarget sets the target from the text before the bar of a ref, which begins at an offset: the base
// name without ".md", and without the part after '#'.
func (r *Ref) setTarget(head string, at int) {
	head, r.part, _ = strings.Cut(head, "#")
	if strings.HasSuffix(strings.ToLower(strings.TrimRight(head, " ")), ".md") {
		head = strings.TrimRight(head, " ")
		head = head[:len(head)-len(".md")]
	}
	r.Path = strings.TrimSpace(head)
	if folder := strings.LastIndexByte(head, '/'); folder >= 0 {
		at += folder + 1
		head = head[folder+1:]
	}
	r.Target = strings.TrimSpace(head)
	r.targetStart = at + strings.Index(head, r.Target)
	r.targetEnd = r.targetStart + len(r.Target)
}

// shownText returns the text that a wiki ref shows.
func shownText(r Ref, s string) string {
	switch text := strings.TrimSpace(r.Text); {
	case r.Kind == NestRef:
		return ""
	case text != "":
		return text
	case r.part != "":
		return r.Target + " > " + strings.TrimLeft(r.part, "^")
	}
	return r.Target
}

var (
	linkTarget = lazyregexp.New(`^\(\s*(?:<([^<>\n]*)>|((?:[^()\s<>]|\([^()\s]*\))*))(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)`)
	linkLabel  = lazyregexp.New(`^\[[^\[\]\n]{0,200}\]`)
)

// closeBracket reads a bracket that may end the text of a link, and the link's target after it.
func (m *markdownScanner) closeBracket(at, end int) (int, markdownItem) {
	if len(m.opened) == 0 {
		return at, markdownItem{}
	}
	opening := m.opened[len(m.opened)-1]
	m.opened = m.opened[:len(m.opened)-1]
	rest := m.content[at+1 : min(end, at+1+maxReference)]
	if label := linkLabel.FindString(rest); label != "" {
		m.items[opening].dropped = true
		return at + 1 + len(label), markdownItem{start: at, dropped: true}
	}
	found := linkTarget.FindStringSubmatchIndex(rest)
	if found == nil {
		return at, markdownItem{}
	}
	m.items[opening].dropped = true
	m.addLinkRef(m.items[opening], at, rest, found)
	return at + 1 + found[1], markdownItem{start: at, dropped: true}
}

// addLinkRef adds the ref of [text](target) or ![text](target), whose text ends at an offset of the
// content. An address is an external ref; a link to a file that is no note is none.
func (m *markdownScanner) addLinkRef(opening markdownItem, at int, rest string, found []int) {
	if m.sink.ref == nil {
		return
	}
	group := 2
	if found[group] < 0 {
		group = 4
	}
	raw := rest[found[group]:found[group+1]]
	nest := strings.HasPrefix(m.content[opening.start:], "!")
	r := Ref{Kind: LinkRef, Start: opening.start, End: at + 1 + found[1], Text: m.content[opening.end:at], markdown: true, encoded: true}
	if strings.Contains(raw, "://") || isAddress(raw) {
		if !nest {
			r.Target, r.External = raw, true
			m.sink.ref(r)
		}
		return
	}
	bare, _, _ := strings.Cut(raw, "#")
	note := strings.EqualFold(path.Ext(bare), ".md")
	if !note && !nest {
		return
	}
	if nest {
		r.Kind = NestRef
	}
	r.setTarget(raw, at+1+found[group])
	r.Target, r.Path = unescaped(r.Target), unescaped(r.Path)
	if r.Target != "" {
		m.sink.ref(r)
	}
}

func unescaped(target string) string {
	if text, err := url.PathUnescape(target); err == nil && utf8.ValidString(text) {
		return text
	}
	return target
}

// RedirectMarkdown writes references in Markdown to other cards: those for which f returns a name. They are written as
// [[name|text]] or ![[name]], and show the text that they have. With a blank name only the text stays.
func RedirectMarkdown(content string, f func(Ref) (name string, ok bool)) string {
	var b strings.Builder
	done := 0
	for _, r := range MarkdownRefs(content) {
		name, ok := f(r)
		if !ok || !r.markdown || r.External || name != "" && !r.canHold(name) {
			continue
		}
		b.WriteString(content[done:r.Start])
		text := strings.TrimSpace(r.Text)
		if text == "" && r.Kind == LinkRef {
			text = r.Target
		}
		if r.part != "" && text == r.Target {
			text += " > " + strings.TrimLeft(r.part, "^")
		}
		bar := "|"
		if strings.Contains(content[r.Start:r.End], `\|`) {
			bar = `\|` // in a table
		}
		switch {
		case name == "":
			b.WriteString(text)
		case r.Kind == NestRef && r.part != "":
			b.WriteString("[[" + name + bar + r.Target + " > " + strings.TrimLeft(r.part, "^") + "]]")
		case r.Kind == NestRef:
			b.WriteString("![[" + name + "]]")
		default:
			b.WriteString("[[" + name + bar + text + "]]")
		}
		done = r.End
	}
	if done == 0 {
		return content
	}
	return b.String() + content[done:]
}

// RewriteMarkdownRefs is RewriteRefs for the refs of MarkdownRefs. Only the name of the target is
// replaced: the folder before it, ".md" and the part after it stay.
func RewriteMarkdownRefs(content string, f func(Ref) (newTarget string, ok bool)) string {
	return rewriteRefs(content, MarkdownRefs(content), f)
}

// MarkdownToWiki writes the refs of Markdown in the form that all cards have: a link to a note or a
// part of it as [[Name|text]], an embedded note as {{Name}}, and nothing in code as a ref. Everything
// else stays byte for byte.
func MarkdownToWiki(content string) string {
	var b strings.Builder
	done := 0
	put := func(start, end int, text string) {
		if start >= done {
			b.WriteString(content[done:start])
			b.WriteString(text)
			done = end
		}
	}
	scanMarkdown(content, markdownSink{
		code: func(start, end int) { put(start, end, codeWithoutRefs.Replace(content[start:end])) },
		ref: func(r Ref) {
			if r.markdown && !r.External && !(r.encoded && r.Kind == NestRef) {
				put(r.Start, r.End, r.wikiForm())
			}
		},
	})
	if done == 0 {
		return content
	}
	b.WriteString(content[done:])
	return b.String()
}

var codeWithoutRefs = strings.NewReplacer(`\[[`, `\[[`, `\{{`, `\{{`, "[[", `\[[`, "{{", `\{{`)

// wikiForm returns the ref in the form that all cards have.
func (r Ref) wikiForm() string {
	text := strings.TrimSpace(r.Text)
	switch {
	case r.Kind == NestRef && r.part != "":
		return "[[" + r.Target + "|" + r.Target + " > " + strings.TrimLeft(r.part, "^") + "]]"
	case r.Kind == NestRef:
		return "{{" + r.Target + "}}"
	case text == "" && r.part != "":
		text = r.Target + " > " + strings.TrimLeft(r.part, "^")
	}
	if text == "" || text == r.Target {
		return "[[" + r.Target + "]]"
	}
	return "[[" + r.Target + "|" + text + "]]"
}
