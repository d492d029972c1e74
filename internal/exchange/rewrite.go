package exchange

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"loregate/internal/access"
)

var (
	mdLinkForm = regexp.MustCompile(`^\[([^\]\n]*)\]\(\s*(?:<([^>\n]+?\.(?i:md))(?:#[^>\n]*)?>|([^)\s<>]+?\.(?i:md))(?:#[^)\s]*)?)` +
		`(?:\s+"[^"\n]*")?\s*\)`)
	mdImageForm = regexp.MustCompile(`^!\[([^\]\n]*)\]\(\s*(?:<([^>\n]+)>|([^)\s<>]+))(?:\s+"[^"\n]*")?\s*\)`)
	blockIDForm = regexp.MustCompile(`(?m)[ \t]+\^[A-Za-z0-9-]+[ \t]*$`)
	kramdown    = regexp.MustCompile(`(?m)^\{:[^}\n]*\}[ \t]*$\n?`)
	inCode      = strings.NewReplacer("[[", `\[[`, "{{", `\{{`)
)

// rewrite makes the links and embeds of a foreign note's text ours, and gives the
// attachments that it shows. What stands in code is shown as it is. level is that of the
// text's readers.
func (v *vault) rewrite(n *note, body string, level access.Level) (out string, shown []string) {
	body = strings.ReplaceAll(body, "`=this.file.name`", n.name)
	body = blockIDForm.ReplaceAllString(kramdown.ReplaceAllString(body, ""), "")
	code := newCoder(body)
	var b strings.Builder
	for at := 0; at < len(body); {
		if c := code.length(at); c > 0 {
			b.WriteString(inCode.Replace(body[at : at+c]))
			at += c
			continue
		}
		text, length, file := v.reference(n, body[at:], level)
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

// reference rewrites the link or embed at the start of s; length 0 where there is none.
func (v *vault) reference(n *note, s string, level access.Level) (text string, length int, file string) {
	switch {
	case strings.HasPrefix(s, "{{"):
		return `\{{`, 2, "" // a template's braces are not a nest
	case strings.HasPrefix(s, "[[") || strings.HasPrefix(s, "![["):
		inner := s[strings.Index(s, "[[")+2:]
		inner = inner[:min(len(inner), 2000)]
		inner, _, ok := strings.Cut(inner, "]]")
		if !ok || strings.Contains(inner, "\n") || strings.Contains(inner, "[[") {
			return "", 0, ""
		}
		length = strings.Index(s, "[[") + 4 + len(inner)
		text, file = v.wikilink(n, strings.ReplaceAll(inner, `\|`, "|"), s[0] == '!', level)
		return text, length, file
	case !bracketed(s):
	case strings.HasPrefix(s, "!["):
		if m := mdImageForm.FindStringSubmatch(s[:min(len(s), 2000)]); m != nil {
			target, err := url.PathUnescape(m[2] + m[3])
			if f := v.attachment(target); err == nil && f != "" && !strings.Contains(target, "://") {
				return "{{" + v.fileName(f) + "}}", len(m[0]), f
			}
		}
	case s[0] == '[':
		if m := mdLinkForm.FindStringSubmatch(s[:min(len(s), 2000)]); m != nil && !strings.Contains(m[2]+m[3], "://") {
			target, err := url.PathUnescape(m[2] + m[3])
			if to := v.find(n, target); err == nil && to != nil {
				if v.link(n, to, level); v.plainly(to, level) {
					return m[1], len(m[0]), ""
				}
				return "[[" + shownName(level, to, plainTarget(target)) + "|" + m[1] + "]]", len(m[0]), ""
			}
		}
	}
	return "", 0, ""
}

// bracketed reports whether s begins like a Markdown link or image: [text]( .
func bracketed(s string) bool {
	if s[0] != '[' && !strings.HasPrefix(s, "![") {
		return false
	}
	end := strings.IndexByte(s[:min(len(s), 2000)], ']')
	return end > 0 && end+1 < len(s) && s[end+1] == '('
}

// shownName is what a note may call another: its card's name, unless the other is hidden
// from the note's readers; then only what the note says itself.
func shownName(level access.Level, to *note, written string) string {
	if to.level > level || to.name == "" {
		return written
	}
	return to.name
}

// plainly reports whether a link to a note becomes plain text for readers of a level.
func (v *vault) plainly(to *note, level access.Level) bool {
	return v.o.HideLinks && level < access.LevelGM && to != nil && to.level > level
}

// wikilink rewrites what stands between double brackets. Headings and block ids are left
// out of the target, for cards are linked whole; they stay in the text.
func (v *vault) wikilink(n *note, inner string, embed bool, level access.Level) (text, file string) {
	target, label, labelled := strings.Cut(inner, "|")
	name, part, _ := strings.Cut(target, "#")
	name, part = strings.TrimSpace(name), strings.TrimSpace(strings.TrimPrefix(part, "^"))
	to := v.find(n, name)
	if name == "" {
		to = n
	}
	if embed && to == nil {
		if f := v.attachment(name); f != "" {
			return "{{" + v.fileName(f) + "}}", f
		}
	}
	if v.link(n, to, level); v.plainly(to, level) {
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

// plainTarget is the card name that a link to a file means by itself.
func plainTarget(name string) string {
	if strings.HasSuffix(strings.ToLower(name), ".md") {
		name = name[:len(name)-len(".md")]
	}
	if strings.Contains(name, "/") {
		return path.Base(name)
	}
	return name
}

// fileName is the name of the card that holds an attachment.
func (v *vault) fileName(file string) string {
	base := plainName(path.Base(file))
	if dir := path.Dir(file); len(v.attached[folded(path.Base(file))]) > 1 && dir != "." {
		return plainName(path.Base(dir)) + "+" + base
	}
	return base
}
