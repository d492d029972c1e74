package vault

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

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

// findNote returns the note to which a link in a file leads, or nil, as Obsidian finds it: a link is a path from the
// top of the vault or from the file's folder, or else the end of a path or an alias. Case and the form of accents
// do not count, unless they alone tell two notes apart. Of several notes in other folders the one with the shortest
// path is meant; if two are as short, the user is asked.
func (v *vault) findNote(from *note, target string) *note {
	t := withoutMD(strings.TrimSpace(target))
	if t == "" {
		return nil
	}
	if n := v.findPath(from, t); n != nil {
		return n
	}
	folded := exchange.FoldCase(strings.TrimPrefix(t, "/"))
	found := v.byEnd[folded]
	if len(found) == 0 {
		found = v.alias[folded]
	}
	return v.chooseNote(t, found)
}

func withoutMD(target string) string {
	if stem := target[:max(len(target)-len(".md"), 0)]; strings.EqualFold(target[len(stem):], ".md") {
		return stem
	}
	return target
}

// findPath returns the note at a path from a file's folder or from the top of the vault, or nil.
func (v *vault) findPath(from *note, target string) *note {
	t := withoutMD(target)
	if t == "" {
		return nil
	}
	for _, p := range pathsOf(from, t) {
		if n := spelled(v.byPath[exchange.FoldCase(p)], p); n != nil {
			return n
		}
	}
	return nil
}

// pathsOf returns the paths that a target in a file may be. A target with folders is one from the top of the vault
// first.
func pathsOf(from *note, target string) []string {
	here, top := path.Join(path.Dir(from.Path), target), strings.TrimPrefix(path.Clean("/"+target), "/")
	switch {
	case strings.HasPrefix(target, "./"), strings.HasPrefix(target, "../"):
		return []string{here}
	case strings.Contains(target, "/"):
		return []string{top, here}
	}
	return []string{here, top}
}

// spelled returns the note of some whose path ends as it is written: with the same bytes, or else with the same
// letters, or else the first.
func spelled(list []*note, written string) *note {
	if len(list) == 0 {
		return nil
	}
	return slices.MinFunc(list, func(a, b *note) int { return a.misspelling(written) - b.misspelling(written) })
}

// misspelling tells how far the end of a note's path is from how it is written: 0 if it is the same.
func (n *note) misspelling(written string) int {
	switch stem := n.Stem(); {
	case strings.HasSuffix(stem, written):
		return 0
	case strings.HasSuffix(norm.NFC.String(stem), norm.NFC.String(written)):
		return 1
	}
	return 2
}

// chooseNote returns the note that a short link means of those that it fits.
func (v *vault) chooseNote(target string, found []*note) *note {
	if len(found) < 2 {
		return spelled(found, target)
	}
	if n, ok := v.chosen[target]; ok {
		return n
	}
	n := v.nearestOf(target, found)
	v.chosen[target] = n
	return n
}

func (v *vault) nearestOf(target string, found []*note) *note {
	best := slices.MinFunc(found, func(a, b *note) int {
		return cmp.Or(a.pathLength()-b.pathLength(), a.misspelling(target)-b.misspelling(target),
			strings.Compare(a.Path, b.Path))
	})
	var same []*note
	for _, n := range found {
		if n.pathLength() == best.pathLength() && n.misspelling(target) == best.misspelling(target) {
			same = append(same, n)
		}
	}
	if len(same) < 2 {
		return best
	}
	return v.askLink(target, same)
}

// askLink returns the note that a link to several means which are equally near: the one that the user has chosen, or
// the first. It is listed for the user to decide.
func (v *vault) askLink(target string, same []*note) *note {
	slices.SortFunc(same, func(a, b *note) int { return strings.Compare(a.Path, b.Path) })
	to, answered := v.answers.choose(target, same)
	ask := exchange.LinkChoice{Target: target, To: to.Path, Answered: answered}
	for _, n := range same {
		if n != to {
			ask.Others = append(ask.Others, n.Path)
		}
	}
	v.asked = append(v.asked, ask)
	return to
}

func (n *note) pathLength() int { return utf8.RuneCountInString(n.Path) }

// findAttachment returns the file that a link or embed in another file means, or "".
func (v *vault) findAttachment(from *note, target string) string {
	list := v.attached[exchange.FoldCase(path.Base(target))]
	if len(list) == 0 {
		return ""
	}
	if v.fileEnd == nil {
		v.indexFiles()
	}
	for _, p := range append(pathsOf(from, target), strings.TrimLeft(target, "./")) {
		for _, end := range []string{p, exchange.FoldCase(p)} {
			if file, ok := v.fileEnd[end]; ok {
				return file
			}
		}
	}
	return list[0]
}

// indexFiles indexes the attached files by each end of their paths, as written and after FoldCase. Of several files
// that with the shortest path counts.
func (v *vault) indexFiles() {
	v.fileEnd = map[string]string{}
	add := func(end, file string) {
		if was, ok := v.fileEnd[end]; !ok || len(file) < len(was) {
			v.fileEnd[end] = file
		}
	}
	for _, base := range decoded.SortedKeys(v.attached) {
		for _, p := range v.attached[base] {
			for end := range endsOf(p) {
				add(end, p)
				add(exchange.FoldCase(end), p)
			}
		}
	}
}
