package vault

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"loregate/internal/access"
	"loregate/internal/exchange"
	"loregate/internal/markup"
)

// nameSlot identifies a card name at one level. Names must be unique at each level.
type nameSlot struct {
	key   markup.Key
	level access.Level
}

// disambiguateNames gives longer names to foreign notes that share a name, except the one with the shortest path: it
// prefixes their folders, and appends numbers if the folders do not suffice. Notes keep the names that they had at the
// last import.
func (v *vault) disambiguateNames() {
	groups, order, used := map[nameSlot][]*note{}, []nameSlot{}, map[nameSlot]bool{}
	for _, n := range v.notes {
		if v.isNative(n) {
			continue
		}
		was := v.named[n.Path]
		b := nameSlot{markup.KeyOf(was), n.level}
		if was != "" && !used[b] {
			used[b], n.name = true, was
			continue
		}
		b.key = markup.KeyOf(n.name)
		if groups[b] == nil {
			order = append(order, b)
		}
		groups[b] = append(groups[b], n)
	}
	for _, b := range order {
		if !used[b] {
			i := slices.Index(groups[b], slices.MinFunc(groups[b], compareNearness))
			groups[b] = slices.Delete(groups[b], i, i+1)
		}
		used[b] = true
	}
	for _, b := range order {
		if len(groups[b]) > 0 {
			v.renameNotes(groups[b], used)
		}
	}
}

// compareNearness orders notes by the length of their paths, as links find them.
func compareNearness(a, b *note) int {
	return cmp.Or(a.pathLength()-b.pathLength(), strings.Compare(a.Path, b.Path))
}

func (v *vault) renameNotes(same []*note, used map[nameSlot]bool) {
	was := same[0].name
	var rest []*note
	deepest := 0
	for _, n := range same {
		deepest = max(deepest, strings.Count(n.Path, "/"))
	}
	for depth := 1; len(same) > 0; depth++ {
		at := map[nameSlot][]*note{}
		for _, n := range same {
			n.name = n.nameWithFolders(depth)
			b := nameSlot{markup.KeyOf(n.name), n.level}
			at[b] = append(at[b], n)
		}
		next := same[:0:0]
		for _, n := range same {
			b := nameSlot{markup.KeyOf(n.name), n.level}
			switch {
			case len(at[b]) > 1 && depth <= deepest:
				next = append(next, n)
			case len(at[b]) > 1 || used[b]:
				rest = append(rest, n)
			default:
				used[b] = true
				v.reportRename(n, was)
			}
		}
		same = next
	}
	next := map[string]int{} // number to try for a name
	for _, n := range rest {
		base := n.name
		i := max(next[base], 2)
		for ; used[nameSlot{markup.KeyOf(n.name), n.level}]; i++ {
			n.name = fmt.Sprintf("%s (%d)", base, i)
		}
		next[base] = i
		used[nameSlot{markup.KeyOf(n.name), n.level}] = true
		v.reportRename(n, was)
	}
}

func (v *vault) reportRename(n *note, was string) {
	if n.name != was {
		n.AddReport(0, "another file has the name %q; this card is called %q", was, n.name)
	}
}

// reportDropped reports a file name with characters that a card name cannot have.
func (v *vault) reportDropped(n *note) {
	written := path.Base(n.Stem())
	if name := exchange.PlainName(written); name != strings.Join(strings.Fields(norm.NFC.String(written)), " ") {
		n.AddReport(0, "%q is not a valid card name; the card is called %q", written, name)
	}
}

// nameWithFolders returns a note's name, prefixed by up to depth of its folders.
func (n *note) nameWithFolders(depth int) string {
	parts := strings.Split(n.Stem(), "/")
	parts = parts[max(0, len(parts)-1-depth):]
	for i := range parts {
		parts[i] = exchange.PlainName(parts[i])
	}
	return markup.Join(parts...)
}
