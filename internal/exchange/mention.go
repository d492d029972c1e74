package exchange

import (
	"path"
	"strings"
	"unicode"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// Mention is a text that players read and that names or links a hidden card.
type Mention struct {
	File string // of the text
	Of   string // the hidden card
	Link bool   // it links the card; it may name it besides
}

// mentions gathers what readable texts say of hidden notes.
type mentions struct {
	list  []Mention
	seen  map[[2]string]int
	names map[string]*note // names and aliases of hidden notes, as lettersOf gives them
	words int              // most words of a name
}

// maxNameWords bounds names that are looked for in texts, in words; leastName those of
// one word, in bytes: shorter ones are words of many texts.
const (
	maxNameWords = 8
	leastName    = 4
)

// indexMentions makes the names of hidden notes findable that no open note bears.
func (v *vault) indexMentions() {
	m := &v.mentions
	m.seen, m.names = map[[2]string]int{}, map[string]*note{}
	open := map[string]bool{}
	for _, n := range v.notes {
		for _, name := range n.names() {
			key := mentionKey(name)
			words := strings.Count(key, " ") + 1
			switch {
			case n.level < access.LevelGM:
				open[key] = true
			case words <= maxNameWords && (words > 1 || len(key) >= leastName):
				m.names[key] = n
				m.words = max(m.words, words)
			}
		}
	}
	for key := range open {
		delete(m.names, key)
	}
}

// names are what texts may call a note.
func (n *note) names() []string {
	return append([]string{n.name, path.Base(n.stem())}, append(n.list("aliases"), n.list("alias")...)...)
}

func mentionKey(text string) string {
	return strings.Join(strings.FieldsFunc(markup.Fold(text), notInWords), " ")
}

func notInWords(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// link notes a link, and that a text which players read links a hidden note.
func (v *vault) link(from, to *note, level access.Level) {
	if to != nil && to != from {
		v.linked[markup.KeyOf(to.name)]++
	}
	if level < access.LevelGM && to != nil && to.level > level {
		v.mention(from, to, true)
	}
}

func (v *vault) mention(from, to *note, link bool) {
	key := [2]string{from.path, to.path}
	if i, ok := v.mentions.seen[key]; ok {
		v.mentions.list[i].Link = v.mentions.list[i].Link || link
		return
	}
	if v.mentions.seen == nil {
		v.mentions.seen = map[[2]string]int{}
	}
	v.mentions.seen[key] = len(v.mentions.list)
	v.mentions.list = append(v.mentions.list, Mention{File: from.path, Of: to.name, Link: link})
}

// findNames notes the hidden notes that a text which players read names.
func (v *vault) findNames(from *note, texts ...string) {
	if len(v.mentions.names) == 0 {
		return
	}
	for _, text := range texts {
		key := mentionKey(text)
		var starts []int
		for i := range len(key) + 1 {
			if i < len(key) && key[i] != ' ' {
				if i == 0 || key[i-1] == ' ' {
					if starts = append(starts, i); len(starts) > v.mentions.words {
						starts = starts[1:]
					}
				}
				continue
			}
			for _, start := range starts { // the words that end here
				if to := v.mentions.names[key[start:i]]; to != nil {
					v.mention(from, to, false)
				}
			}
		}
	}
}

// fieldLinks looks at the links in front matter that players read, and makes those to
// hidden notes plain text where that was asked for.
func (v *vault) fieldLinks(n *note, value any) any {
	switch value := value.(type) {
	case string:
		if !strings.Contains(value, "[[") {
			return value
		}
		out, _ := v.replaceLinks(n, value)
		return out
	case []any:
		for i := range value {
			value[i] = v.fieldLinks(n, value[i])
		}
	case map[string]any:
		for k := range value {
			value[k] = v.fieldLinks(n, value[k])
		}
	}
	return value
}

// replaceLinks is a text in which links to hidden notes are noted and, where that was
// asked for, plain.
func (v *vault) replaceLinks(n *note, text string) (out string, hidden bool) {
	var b strings.Builder
	for {
		at := strings.Index(text, "[[")
		if at < 0 {
			break
		}
		inner, rest, ok := strings.Cut(text[at+2:], "]]")
		if !ok {
			break
		}
		b.WriteString(text[:at])
		target, label, _ := strings.Cut(inner, "|")
		name, _, _ := strings.Cut(target, "#")
		to := v.find(n, strings.TrimSpace(name))
		v.link(n, to, n.level)
		if to != nil && to.level > n.level && v.o.HideLinks {
			b.WriteString(plainLink(target, label))
			hidden = true
		} else {
			b.WriteString("[[" + inner + "]]")
		}
		text = rest
	}
	b.WriteString(text)
	return b.String(), hidden
}

// plainLink is what a link shows.
func plainLink(target, label string) string {
	if label = strings.TrimSpace(label); label != "" {
		return label
	}
	name, part, _ := strings.Cut(target, "#")
	if name = path.Base(strings.TrimSpace(name)); name == "." {
		return strings.TrimSpace(part)
	}
	return strings.TrimSuffix(name, ".md")
}
