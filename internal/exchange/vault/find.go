package vault

import (
	"iter"
	"path"
	"strings"

	"loregate/internal/decoded"
	"loregate/internal/exchange"
)

// endsOf yields the ends of a path that begin at a part of it: a/b/c, b/c and c.
func endsOf(p string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for yield(p) {
			var ok bool
			if _, p, ok = strings.Cut(p, "/"); !ok {
				return
			}
		}
	}
}

// findNote returns the note to which a link in another note points, or nil. A link names a path, a
// file or an alias, in any case. Of several matches the nearest wins.
func (v *vault) findNote(from *note, target string) *note {
	t := exchange.FoldCase(strings.TrimSpace(target))
	t = strings.TrimSuffix(t, ".md")
	if t == "" {
		return nil
	}
	dir := exchange.FoldCase(path.Dir(from.Path))
	for _, p := range []string{path.Join(dir, t), strings.TrimPrefix(path.Clean("/"+t), "/")} {
		if n := v.byPath[p]; n != nil {
			return n
		}
	}
	found := v.byEnd[t]
	if len(found) == 0 {
		found = v.alias[t]
	}
	if len(found) < 2 {
		return firstOf(found)
	}
	if v.nearest[t] == nil {
		v.nearest[t] = newNearest(found)
	}
	return v.nearest[t].to(dir)
}

func firstOf(list []*note) *note {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// nearest finds the one of some notes that is the fewest folder steps away.
type nearest struct {
	below map[string]*candidate // the one that is the fewest steps below a folder; of equal ones the first
}

// candidate is a note with the number of its folders and its place in the list of notes.
type candidate struct {
	note         *note
	depth, place int
}

// before reports whether c is taken when both are in the same folder or below it.
func (c *candidate) before(other *candidate) bool {
	return other == nil || c.depth < other.depth || c.depth == other.depth && c.place < other.place
}

func newNearest(list []*note) *nearest {
	x := &nearest{below: map[string]*candidate{}}
	for i, n := range list {
		dir := exchange.FoldCase(path.Dir(n.Path))
		c := &candidate{n, depthOf(dir), i}
		for at := range foldersOf(dir) {
			if c.before(x.below[at]) {
				x.below[at] = c
			}
		}
	}
	return x
}

// depthOf returns the number of parts of a folder's path; the top has one, its name ".".
func depthOf(dir string) int { return strings.Count(dir, "/") + 1 }

// foldersOf yields a folder, those above it, and "", which all have above them.
func foldersOf(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir != "" && yield(dir) {
			dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
		}
		if dir == "" {
			yield("")
		}
	}
}

// to returns the note nearest to a folder. The way leads up to a folder that holds both, and down again.
func (x *nearest) to(dir string) *note {
	var best *candidate
	least, here := 0, depthOf(dir)
	for at := range foldersOf(dir) {
		c := x.below[at]
		if c == nil {
			continue
		}
		shared := 0
		if at != "" {
			shared = depthOf(at)
		}
		if steps := here + c.depth - 2*shared; best == nil || steps < least || steps == least && c.place < best.place {
			best, least = c, steps
		}
	}
	return best.note
}

// findAttachment returns the file that an embed shows, or "".
func (v *vault) findAttachment(target string) string {
	list := v.attached[exchange.FoldCase(path.Base(target))]
	if len(list) == 0 {
		return ""
	}
	if v.fileEnd == nil {
		v.indexFiles()
	}
	if p, ok := v.fileEnd[exchange.FoldCase(strings.TrimLeft(target, "./"))]; ok {
		return p
	}
	return list[0]
}

func (v *vault) indexFiles() {
	v.fileEnd = map[string]string{}
	for _, base := range decoded.SortedKeys(v.attached) {
		for _, p := range v.attached[base] {
			for end := range endsOf(exchange.FoldCase(p)) {
				if _, ok := v.fileEnd[end]; !ok {
					v.fileEnd[end] = p
				}
			}
		}
	}
}
