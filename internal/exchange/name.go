package exchange

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// bearer is who cannot share a name: names are taken for each level.
type bearer struct {
	key   markup.Key
	level access.Level
}

// distinguish gives foreign notes that bear one name longer ones, by their folders, and
// numbers where folders do not help.
func (v *vault) distinguish() {
	groups, order := map[bearer][]*note{}, []bearer{}
	for _, n := range v.notes {
		if v.native(n) {
			continue
		}
		b := bearer{markup.KeyOf(n.name), n.level}
		if groups[b] == nil {
			order = append(order, b)
		}
		groups[b] = append(groups[b], n)
	}
	used := map[bearer]bool{}
	for _, b := range order {
		used[b] = true
	}
	for _, b := range order {
		if same := groups[b]; len(same) > 1 {
			v.rename(same, used)
		}
	}
}

func (v *vault) rename(same []*note, used map[bearer]bool) {
	was := same[0].name
	var rest []*note
	for depth := 1; len(same) > 0; depth++ {
		at := map[bearer][]*note{}
		for _, n := range same {
			n.name = n.below(depth)
			b := bearer{markup.KeyOf(n.name), n.level}
			at[b] = append(at[b], n)
		}
		next := same[:0:0]
		for _, n := range same {
			b := bearer{markup.KeyOf(n.name), n.level}
			switch {
			case len(at[b]) > 1 && depth <= maxFolders:
				next = append(next, n)
			case len(at[b]) > 1 || used[b] && markup.KeyOf(was) != b.key:
				rest = append(rest, n)
			default:
				used[b] = true
				v.renamed(n, was)
			}
		}
		same = next
	}
	for _, n := range rest {
		base := n.name
		for i := 2; used[bearer{markup.KeyOf(n.name), n.level}]; i++ {
			n.name = fmt.Sprintf("%s (%d)", base, i)
		}
		used[bearer{markup.KeyOf(n.name), n.level}] = true
		v.renamed(n, was)
	}
}

func (v *vault) renamed(n *note, was string) {
	if n.name != was {
		n.report(0, "another file is called %q too; this one becomes %q", was, n.name)
	}
}

// sayDropped reports what of a file's name cannot stand in a card's.
func (v *vault) sayDropped(n *note) {
	written := path.Base(n.stem())
	if name := plainName(written); name != strings.Join(strings.Fields(norm.NFC.String(written)), " ") {
		n.report(0, "%q cannot be a card's name as it is; the card is called %q", written, name)
	}
}

// below is a note's own name below up to depth of its folders.
func (n *note) below(depth int) string {
	parts := strings.Split(n.stem(), "/")
	parts = parts[max(0, len(parts)-1-depth):]
	for i := range parts {
		parts[i] = plainName(parts[i])
	}
	return markup.Join(parts...)
}

// notInNames gives way to a space: it would end a part, a link or a nest.
var notInNames = strings.NewReplacer("+", " ", "|", " ", "[", " ", "]", " ", "{", " ", "}", " ", "/", " ")

// plainName makes a file or folder name one part of a card's name.
func plainName(s string) string {
	name := strings.Join(strings.Fields(notInNames.Replace(norm.NFC.String(markup.Clean(s)))), " ")
	if r := []rune(name); len(r) > 120 {
		name = strings.TrimSpace(string(r[:120]))
	}
	if markup.CheckName(name) == nil {
		return name
	}
	return fmt.Sprintf("Untitled %x", sha256.Sum256([]byte(s)))[:15]
}
