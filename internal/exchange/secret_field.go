package exchange

import (
	"fmt"
	"regexp"
	"strings"

	"loregate/internal/markup"
)

// partKey is a key whose text alone is the GM's, as dm-notes: it says nothing of the note.
var partKey = regexp.MustCompile(`^(?:secrets|geheimnisse|secretos|(?:(?:gm|dm|mj|sl|keeper|storyteller|secret|private|hidden)s?|game_?master|dungeon_?master)_?(?:notes?|secrets?|infos?|notizen))$`)

// secretPart reports whether a value of front matter is a secret part of its note, and not
// a yes or no about all of it.
func secretPart(name string, v any) bool {
	key := strings.NewReplacer("-", "_", " ", "_").Replace(markup.Fold(name))
	return truthOf(v) == isText && (partKey.MatchString(key) || personKey.MatchString(key) && isPerson(v))
}

// takeFields takes the secret parts out of a note's front matter, as Markdown.
func (v *vault) takeFields(n *note) string {
	var b strings.Builder
	for _, k := range sorted(n.meta) {
		if !secretPart(k, n.meta[k]) || !v.choices.decide(mark{ruleFrontMatter, k, false}, n.path, true) {
			continue
		}
		fmt.Fprintf(&b, "**%s:**\n\n", k)
		if list, ok := n.meta[k].([]any); ok {
			for _, item := range list {
				b.WriteString("- " + strings.Join(strings.Fields(strings.Join(textsOf(item), " ")), " ") + "\n")
			}
			b.WriteByte('\n')
		} else {
			b.WriteString(strings.Join(textsOf(n.meta[k]), "\n\n") + "\n\n")
		}
		delete(n.meta, k)
	}
	return b.String()
}
