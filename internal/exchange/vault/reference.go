package vault

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"loregate/internal/access"
	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
)

var (
	mdLinkForm = regexp.MustCompile(`^\[([^\]\n]*)\]\(\s*(?:<([^>\n]+?\.(?i:md))(?:#[^>\n]*)?>|([^)\s<>]+?\.(?i:md))(?:#[^)\s]*)?)` +
		`(?:\s+"[^"\n]*")?\s*\)`)
	mdImageForm = regexp.MustCompile(`^!\[([^\]\n]*)\]\(\s*(?:<([^>\n]+)>|([^)\s<>]+))(?:\s+"[^"\n]*")?\s*\)`)
)

// reference is a link or embed in a note's text, or a file named in its front matter.
type reference struct {
	length int
	shown  string // the text that stays if the link is taken out, a part of the reference
	to     *note  // nil: no note of the vault
	file   string // the attachment that it shows; "" if it shows none
}

// span is a part of a text between two offsets; to is exclusive.
type span struct{ from, to int }

// findReferences counts the links in a note's text, and returns the attachments that it shows and,
// if links to hidden notes are to be taken out, the signs of these links. level is the level of the
// text's readers. Links inside code do not count.
func (v *vault) findReferences(n *note, body string, level access.Level) (shown []string, signs []span) {
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
		if r.file != "" {
			shown = append(shown, r.file)
		}
		if v.countLink(n, r.to, level); v.isLinkHidden(r.to, level) {
			from := at + strings.LastIndex(body[at:at+r.length], r.shown)
			signs = append(signs, span{at, from}, span{from + len(r.shown), at + r.length})
		}
		at += r.length
	}
	return shown, signs
}

// readReference reads the link or embed at the start of s. Its length is 0 if there is none.
func (v *vault) readReference(n *note, s string) (r reference) {
	switch {
	case strings.HasPrefix(s, "[[") || strings.HasPrefix(s, "![["):
		open := strings.Index(s, "[[") + 2
		inner := s[open:]
		inner, _, ok := strings.Cut(inner[:min(len(inner), 2000)], "]]")
		if ok && !strings.Contains(inner, "\n") && !strings.Contains(inner, "[[") {
			r = v.readWikilink(n, inner, s[0] == '!')
			r.length = open + len(inner) + 2
		}
	case !isBracketed(s):
	case s[0] == '!':
		if m := mdImageForm.FindStringSubmatch(s[:min(len(s), 2000)]); m != nil {
			target, err := url.PathUnescape(m[2] + m[3])
			if f := v.findAttachment(target); err == nil && f != "" && !strings.Contains(target, "://") {
				return reference{length: len(m[0]), file: f}
			}
		}
	default:
		if m := mdLinkForm.FindStringSubmatch(s[:min(len(s), 2000)]); m != nil && !strings.Contains(m[2]+m[3], "://") {
			if target, err := url.PathUnescape(m[2] + m[3]); err == nil {
				return reference{length: len(m[0]), shown: m[1], to: v.findNote(n, target)}
			}
		}
	}
	return r
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
func (v *vault) readWikilink(n *note, inner string, embed bool) (r reference) {
	target, label, _ := strings.Cut(strings.ReplaceAll(inner, `\|`, "|"), "|")
	name, _, _ := strings.Cut(target, "#")
	name = strings.TrimSpace(name)
	if r.to = v.findNote(n, name); name == "" {
		r.to = n
	}
	if embed && r.to == nil {
		r.file = v.findAttachment(name)
	}
	if r.shown = plainLink(target, label); !strings.Contains(inner, r.shown) {
		r.shown = inner
	}
	return r
}

// fileInField returns the attachment that a text in front matter names, or "".
func (v *vault) fileInField(text string) string {
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "!"), "[["), "]]")
	text, _, _ = strings.Cut(text, "|")
	if path.Ext(text) == "" || strings.Contains(text, "://") || strings.Contains(text, "\n") {
		return ""
	}
	return v.findAttachment(strings.TrimSpace(text))
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
