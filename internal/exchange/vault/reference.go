package vault

import (
	"net/url"
	"path"
	"strings"

	"loregate/internal/access"
	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
	"loregate/internal/lazyregexp"
)

// mdLinkForm matches a link or image in Markdown. Its target may have brackets in pairs.
var mdLinkForm = lazyregexp.New(`^!?\[([^\]\n]*)\]\(\s*(?:<([^<>\n]+)>|((?:[^()\s<>]|\([^()\s]*\))+))` +
	`(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)`)

// maxTarget is the length in bytes up to which a link is read.
const maxTarget = 2000

// reference is a link or embed in a text.
type reference struct {
	at, length int
	target     string // as written, without the part after '#'; "" is the text's own note
	shown      string // the text that stays if the link is taken out, a part of the reference
	to         *note  // nil: no note of the vault
	file       string // the attachment that it shows or links; "" if there is none
	embed      bool
}

// span is a part of a text between two offsets; to is exclusive.
type span struct{ from, to int }

// findReferences counts the links in a note's text, and returns the attachments that it shows and,
// if links to hidden notes are to be taken out, the signs of these links. level is the level of the
// text's readers. Links inside code do not count.
func (v *vault) findReferences(n *note, body string, level access.Level) (shown []string, signs []span) {
	for _, r := range v.referencesIn(n, body) {
		if r.file != "" {
			shown = append(shown, r.file)
		}
		if v.countLink(n, r.to, level); v.isLinkHidden(r.to, level) {
			from := r.at + strings.LastIndex(body[r.at:r.at+r.length], r.shown)
			signs = append(signs, span{r.at, from}, span{from + len(r.shown), r.at + r.length})
		}
	}
	return shown, signs
}

// referencesIn returns the links and embeds in the text of a file, in order. Links inside code do not count.
func (v *vault) referencesIn(n *note, body string) (all []reference) {
	if !strings.Contains(body, "[") {
		return nil
	}
	code := markdown.NewCodeScanner(body)
	for at := 0; at < len(body); {
		if c := code.CodeLength(at); c > 0 {
			at += c
			continue
		}
		r := v.readReference(n, body[at:])
		if r.length == 0 {
			at++
			continue
		}
		r.at = at
		all = append(all, r)
		at += r.length
	}
	return all
}

// readReference reads the link or embed at the start of s. Its length is 0 if there is none.
func (v *vault) readReference(n *note, s string) (r reference) {
	s = s[:min(len(s), maxTarget)]
	switch {
	case strings.HasPrefix(s, "[[") || strings.HasPrefix(s, "![["):
		open := strings.Index(s, "[[") + 2
		inner, _, ok := strings.Cut(s[open:], "]]")
		if ok && !strings.Contains(inner, "\n") && !strings.Contains(inner, "[[") {
			r = v.readWikilink(n, inner)
			r.length, r.embed = open+len(inner)+2, s[0] == '!'
		}
	case isBracketed(s):
		m := mdLinkForm.FindStringSubmatch(s)
		if m == nil || strings.Contains(m[2]+m[3], ":") && strings.Contains(m[2]+m[3], "://") {
			return r
		}
		written, _, _ := strings.Cut(m[2]+m[3], "#")
		r = reference{target: unescapePath(written), shown: m[1], embed: s[0] == '!'}
		if r.file = v.findAttachment(n, r.target); r.file == "" && strings.EqualFold(path.Ext(r.target), ".md") {
			r.to = v.findNote(n, r.target)
		}
		if r.file != "" || strings.EqualFold(path.Ext(r.target), ".md") {
			r.length = len(m[0])
		}
	}
	return r
}

// unescapePath returns the path that an address in Markdown writes.
func unescapePath(written string) string {
	if p, err := url.PathUnescape(written); err == nil {
		return p
	}
	return written
}

// isBracketed reports whether s begins like a Markdown link or image, [text]( or ![text](.
func isBracketed(s string) bool {
	if s[0] != '[' && !strings.HasPrefix(s, "![") {
		return false
	}
	end := strings.IndexByte(s[:min(len(s), 2000)], ']')
	return end > 0 && end+1 < len(s) && s[end+1] == '('
}

// isLinkHidden reports whether a link to a note becomes plain text for readers of a level.
func (v *vault) isLinkHidden(to *note, level access.Level) bool {
	return v.o.HideLinks && level < access.LevelGM && to != nil && to.level > level
}

// readWikilink reads the text between double brackets.
func (v *vault) readWikilink(n *note, inner string) (r reference) {
	target, label, _ := strings.Cut(strings.ReplaceAll(inner, `\|`, "|"), "|")
	name, _, _ := strings.Cut(target, "#")
	r.target = strings.TrimSpace(name)
	if r.to = v.findNote(n, r.target); r.target == "" {
		r.to = n
	}
	if r.to == nil {
		r.file = v.findAttachment(n, r.target)
	}
	if r.shown = plainLink(target, label); !strings.Contains(inner, r.shown) {
		r.shown = inner
	}
	return r
}

// fileInField returns the attachment that a text in front matter names, or "".
func (v *vault) fileInField(n *note, text string) string {
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "!"), "[["), "]]")
	text, _, _ = strings.Cut(text, "|")
	if path.Ext(text) == "" || strings.Contains(text, "://") || strings.Contains(text, "\n") {
		return ""
	}
	return v.findAttachment(n, strings.TrimSpace(text))
}

// withoutSigns returns a text without the signs of links.
func withoutSigns(text string, signs []span) string {
	var b strings.Builder
	at := 0
	for _, s := range signs {
		b.WriteString(text[at:s.from])
		at = s.to
	}
	return b.String() + text[at:]
}

// fileName returns the name of the card for an attachment.
func (v *vault) fileName(file string) string {
	base := exchange.PlainName(path.Base(file))
	if dir := path.Dir(file); len(v.attached[exchange.FoldCase(path.Base(file))]) > 1 && dir != "." {
		return exchange.PlainName(path.Base(dir)) + "+" + base
	}
	return base
}
