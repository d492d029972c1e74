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
	blockIDForm = regexp.MustCompile(`(?m)[ \t]+\^[A-Za-z0-9-]+[ \t]*$`)
	kramdown    = regexp.MustCompile(`(?m)^\{:[^}\n]*\}[ \t]*$\n?`)
	inCode      = strings.NewReplacer("[[", `\[[`, "{{", `\{{`)
)

// rewriteText converts the links and embeds in a foreign note's text to ours and returns the
// attachments that the text shows. Links inside code are escaped, so that code looks the same.
// level is the level of the text's readers.
func (v *vault) rewriteText(n *note, body string, level access.Level) (out string, shown []string) {
	body = strings.ReplaceAll(body, "`=this.file.name`", n.name)
	body = blockIDForm.ReplaceAllString(kramdown.ReplaceAllString(body, ""), "")
	code := markdown.NewCodeScanner(body)
	var b strings.Builder
	for at := 0; at < len(body); {
		if c := code.CodeLength(at); c > 0 {
			b.WriteString(inCode.Replace(body[at : at+c]))
			at += c
			continue
		}
		text, length, file := v.rewriteReference(n, body[at:], level)
		if length == 0 {
			b.WriteByte(body[at])
			at++
			continue
		}
		if file != "" {
			shown = append(shown, file)
		}
		b.WriteString(text)
		at += length
	}
	return b.String(), shown
}

// rewriteReference rewrites the link or embed at the start of s. length is 0 if there is none.
func (v *vault) rewriteReference(n *note, s string, level access.Level) (text string, length int, file string) {
	switch {
	case strings.HasPrefix(s, "{{"):
		return `\{{`, 2, "" // the braces of a template are not a nest
	case strings.HasPrefix(s, "[[") || strings.HasPrefix(s, "![["):
		inner := s[strings.Index(s, "[[")+2:]
		inner = inner[:min(len(inner), 2000)]
		inner, _, ok := strings.Cut(inner, "]]")
		if !ok || strings.Contains(inner, "\n") || strings.Contains(inner, "[[") {
			return "", 0, ""
		}
		length = strings.Index(s, "[[") + 4 + len(inner)
		text, file = v.rewriteWikilink(n, strings.ReplaceAll(inner, `\|`, "|"), s[0] == '!', level)
		return text, length, file
	case !isBracketed(s):
	case strings.HasPrefix(s, "!["):
		if m := mdImageForm.FindStringSubmatch(s[:min(len(s), 2000)]); m != nil {
			target, err := url.PathUnescape(m[2] + m[3])
			if f := v.findAttachment(target); err == nil && f != "" && !strings.Contains(target, "://") {
				return "{{" + v.fileName(f) + "}}", len(m[0]), f
			}
		}
	case s[0] == '[':
		if m := mdLinkForm.FindStringSubmatch(s[:min(len(s), 2000)]); m != nil && !strings.Contains(m[2]+m[3], "://") {
			target, err := url.PathUnescape(m[2] + m[3])
			if to := v.findNote(n, target); err == nil && to != nil {
				if v.countLink(n, to, level); v.isLinkHidden(to, level) {
					return m[1], len(m[0]), ""
				}
				return "[[" + shownName(level, to, plainTarget(target)) + "|" + m[1] + "]]", len(m[0]), ""
			}
		}
	}
	return "", 0, ""
}

// isBracketed reports whether s begins like a Markdown link or image, [text]( or ![text](.
func isBracketed(s string) bool {
	if s[0] != '[' && !strings.HasPrefix(s, "![") {
		return false
	}
	end := strings.IndexByte(s[:min(len(s), 2000)], ']')
	return end > 0 && end+1 < len(s) && s[end+1] == '('
}

// shownName returns the name to write in a link: the target's card name or, if the target is hidden
// from the text's readers, the name as written.
func shownName(level access.Level, to *note, written string) string {
	if to.level > level || to.name == "" {
		return written
	}
	return to.name
}

// isLinkHidden reports whether a link to a note becomes plain text for readers of a level.
func (v *vault) isLinkHidden(to *note, level access.Level) bool {
	return v.o.HideLinks && level < access.LevelGM && to != nil && to.level > level
}

// rewriteWikilink rewrites the text between double brackets. Links always point to whole cards, so
// headings and block ids are dropped from the target; they stay in the link's text.
func (v *vault) rewriteWikilink(n *note, inner string, embed bool, level access.Level) (text, file string) {
	target, label, labelled := strings.Cut(inner, "|")
	name, part, _ := strings.Cut(target, "#")
	name, part = strings.TrimSpace(name), strings.TrimSpace(strings.TrimPrefix(part, "^"))
	to := v.findNote(n, name)
	if name == "" {
		to = n
	}
	if embed && to == nil {
		if f := v.findAttachment(name); f != "" {
			return "{{" + v.fileName(f) + "}}", f
		}
	}
	if v.countLink(n, to, level); v.isLinkHidden(to, level) {
		return plainLink(target, label), ""
	}
	final := plainTarget(name)
	if to != nil {
		final = shownName(level, to, final)
	}
	if embed {
		return "{{" + final + "}}", ""
	}
	switch {
	case labelled && strings.TrimSpace(label) != "":
		return "[[" + final + "|" + strings.TrimSpace(label) + "]]", ""
	case part != "" && name != "":
		return "[[" + final + "|" + path.Base(name) + " > " + part + "]]", ""
	case part != "":
		return "[[" + final + "|" + part + "]]", ""
	case final != path.Base(name):
		return "[[" + final + "|" + path.Base(name) + "]]", ""
	}
	return "[[" + final + "]]", ""
}

// plainTarget returns the card name of a link target that is not a note of the vault.
func plainTarget(name string) string {
	if strings.HasSuffix(strings.ToLower(name), ".md") {
		name = name[:len(name)-len(".md")]
	}
	if strings.Contains(name, "/") {
		return path.Base(name)
	}
	return name
}

// fileName returns the name of the card for an attachment.
func (v *vault) fileName(file string) string {
	base := exchange.PlainName(path.Base(file))
	if dir := path.Dir(file); len(v.attached[exchange.FoldCase(path.Base(file))]) > 1 && dir != "." {
		return exchange.PlainName(path.Base(dir)) + "+" + base
	}
	return base
}
