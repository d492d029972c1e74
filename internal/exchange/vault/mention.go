package vault

import (
	"path"
	"strings"
	"unicode"

	"loregate/internal/access"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/markup"
)

// mentions collects the hidden notes that are named or linked in texts visible to players.
type mentions struct {
	list  []exchange.Mention
	seen  map[[2]string]int
	names map[string]*note // names and aliases of hidden notes, by mentionKey
	words int              // number of words in the longest name
}

// maxNameWords is the maximum length of a searched name, in words. minNameBytes is the minimum
// length of a searched one-word name, in bytes: shorter names are common words.
const (
	maxNameWords = 8
	minNameBytes = 4
)

// indexHiddenNames indexes the names of hidden notes. A name that an open note has too is left out.
func (v *vault) indexHiddenNames() {
	m := &v.mentions
	m.seen, m.names = map[[2]string]int{}, map[string]*note{}
	open := map[string]bool{}
	for _, n := range v.notes {
		for _, name := range n.allNames() {
			key := mentionKey(name)
			words := strings.Count(key, " ") + 1
			switch {
			case n.level < access.LevelGM:
				open[key] = true
			case words <= maxNameWords && (words > 1 || len(key) >= minNameBytes):
				m.names[key] = n
				m.words = max(m.words, words)
			}
		}
	}
	for key := range open {
		delete(m.names, key)
	}
}

// allNames returns the names under which texts may mention a note.
func (n *note) allNames() []string {
	return append([]string{n.name, path.Base(n.Stem())}, append(n.List("aliases"), n.List("alias")...)...)
}

func mentionKey(text string) string {
	return strings.Join(strings.FieldsFunc(markup.Fold(text), notInWords), " ")
}

func notInWords(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// countLink counts a link. If players read the text and the target is hidden from them, it also
// records a mention.
func (v *vault) countLink(from, to *note, level access.Level) {
	if to != nil && to != from {
		v.linked[markup.KeyOf(to.name)]++
	}
	if level < access.LevelGM && to != nil && to.level > level {
		v.addMention(from, to, true)
	}
}

func (v *vault) addMention(from, to *note, link bool) {
	key := [2]string{from.Path, to.Path}
	if i, ok := v.mentions.seen[key]; ok {
		v.mentions.list[i].Link = v.mentions.list[i].Link || link
		return
	}
	if v.mentions.seen == nil {
		v.mentions.seen = map[[2]string]int{}
	}
	v.mentions.seen[key] = len(v.mentions.list)
	v.mentions.list = append(v.mentions.list, exchange.Mention{File: from.Path, Of: to.name, Link: link})
}

// findMentions records the hidden notes that are named in texts visible to players.
func (v *vault) findMentions(from *note, texts ...string) {
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
			for _, start := range starts { // try all names that end here
				if to := v.mentions.names[key[start:i]]; to != nil {
					v.addMention(from, to, false)
				}
			}
		}
	}
}

// replaceFieldLinks counts the links in a front matter value that players read. If HideLinks is set, it returns the
// value with plain text in place of links to hidden notes.
func (v *vault) replaceFieldLinks(n *note, value any) any {
	switch value := value.(type) {
	case string:
		_, signs := v.findReferences(n, value, n.level)
		return withoutSigns(value, signs)
	case []any:
		for i := range value {
			value[i] = v.replaceFieldLinks(n, value[i])
		}
	case map[string]any:
		for _, k := range decoded.SortedKeys(value) {
			value[k] = v.replaceFieldLinks(n, value[k])
		}
	}
	return value
}

// plainLink returns the visible text of a link.
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
