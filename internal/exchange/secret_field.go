package exchange

import (
	"fmt"
	"regexp"
	"strings"

	"loregate/internal/markup"
)

// partKey matches keys whose value alone is secret, such as dm-notes; the note itself is not.
var partKey = regexp.MustCompile(`^(?:secrets|geheimnisse|secretos|(?:(?:gm|dm|mj|sl|keeper|storyteller|secret|private|hidden)s?|game_?master|dungeon_?master)_?(?:notes?|secrets?|infos?|notizen))$`)

// isSecretField reports whether a value of front matter is a secret part of its note. A yes or no
// is not: it is about the whole note.
func isSecretField(name string, v any) bool {
	key := strings.NewReplacer("-", "_", " ", "_").Replace(markup.Fold(name))
	return truthOf(v) == isText && (partKey.MatchString(key) || personKey.MatchString(key) && isPerson(v))
}

// takeFields removes the secret fields from a note's front matter and returns them as Markdown.
func (v *vault) takeFields(n *note) string {
	var b strings.Builder
	for _, k := range sortedKeys(n.meta) {
		if !isSecretField(k, n.meta[k]) || !v.choices.decideMark(mark{ruleFrontMatter, k, false}, n.path, true) {
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
