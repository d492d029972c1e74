package exchange

import (
	"path"
	"slices"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/markup"
)

// Hide is what an import hides by one mark.
type Hide struct {
	Rule, What string
	Doubt      bool // a suspicion that nobody has confirmed
	Notes      int  // notes and files that it hides
	Parts      int  // parts of notes that it hides
	Files      []string
}

// choice is what a person said about a suspicion.
type choice struct {
	text   string // as the person wrote it
	folded string // as it is compared
	used   bool
	exact  bool // what it names is no suspicion
}

func newChoice(text string) *choice {
	return &choice{text: text, folded: folded(strings.Trim(strings.TrimSpace(text), "/"))}
}

// chooser decides what is hidden, and keeps account of it.
type chooser struct {
	open, keep []*choice
	hides      map[mark]*Hide
	order      []mark
	seen       map[string]bool // mark and file that were counted
}

func newChooser(o MarkdownOptions) *chooser {
	c := &chooser{hides: map[mark]*Hide{}, seen: map[string]bool{}}
	for _, text := range o.Open {
		c.open = append(c.open, newChoice(text))
	}
	for _, text := range o.Confirm {
		c.keep = append(c.keep, newChoice(text))
	}
	return c
}

// names reports whether a choice is about a mark of a file: it says the file, the rule,
// or what the mark was told by; of a folder the name alone is enough.
func (c *choice) names(m mark, file string) bool {
	what := folded(m.what)
	forms := []string{what, m.rule, m.rule + " " + what, m.rule + ": " + what, folded(file), folded(strings.TrimSuffix(file, path.Ext(file)))}
	if m.rule == ruleFolder {
		forms = append(forms, path.Base(what))
	}
	return c.folded != "" && (slices.Contains(forms, c.folded) || slices.Contains(forms, "#"+c.folded))
}

// decide decides on a mark of a file, or of a part of it. Where a mark was both opened and
// confirmed it hides.
func (c *chooser) decide(m mark, file string, part bool) bool {
	opened, kept := false, false
	for _, o := range c.open {
		if o.names(m, file) {
			if !m.doubt {
				o.exact = true
				continue
			}
			o.used, opened = true, true
		}
	}
	for _, k := range c.keep {
		if k.names(m, file) {
			k.used, kept = true, true
		}
	}
	if opened && !kept {
		return false
	}
	m.doubt = m.doubt && !kept
	c.count(m, file, part)
	return true
}

func (c *chooser) count(m mark, file string, part bool) {
	key := mark{m.rule, folded(m.what), m.doubt}
	h := c.hides[key]
	if h == nil {
		h = &Hide{Rule: m.rule, What: m.what, Doubt: m.doubt}
		c.hides[key] = h
		c.order = append(c.order, key)
	}
	seen := m.rule + "\x00" + key.what + "\x00" + file
	switch {
	case part:
		h.Parts++
	case !c.seen[seen]:
		h.Notes++
	}
	if !c.seen[seen] && len(h.Files) < 3 {
		h.Files = append(h.Files, file)
	}
	c.seen[seen] = true
}

// list is what was hidden, suspicions first, then by how much it is.
func (c *chooser) list() (all []Hide) {
	for _, m := range c.order {
		all = append(all, *c.hides[m])
	}
	slices.SortStableFunc(all, func(a, b Hide) int {
		if a.Doubt != b.Doubt {
			if a.Doubt {
				return -1
			}
			return 1
		}
		return b.Notes + b.Parts - a.Notes - a.Parts
	})
	return all
}

// unmatched refuses choices that are about nothing.
func (c *chooser) unmatched() error {
	for _, o := range c.open {
		switch {
		case o.used:
		case o.exact:
			return fault.New(fault.Invalid, "open: %q is marked as secret where it stands, which is no suspicion; take the mark out of the notes", o.text)
		default:
			return fault.New(fault.Invalid, "open: nothing that is suspected is called %q; a dry run lists what is, under \"hidden, please confirm\"", o.text)
		}
	}
	for _, k := range c.keep {
		if !k.used {
			return fault.New(fault.Invalid, "confirm: there is no folder, note or suspicion called %q; a dry run lists what is suspected", k.text)
		}
	}
	return nil
}

// folderMarks are the marks of the folders that a file lies in.
func (v *vault) folderMarks(file string) (all []mark) {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if v.gmFolder(dir) {
			all = append(all, mark{ruleSetting, dir, false})
		} else if secretWord(path.Base(dir), false) != "" {
			all = append(all, mark{ruleFolder, dir, true})
		}
		for _, k := range v.choices.keep {
			if k.folded != "" && (k.folded == folded(dir) || k.folded == path.Base(folded(dir))) {
				k.used = true
				all = append(all, mark{ruleSetting, dir, false})
			}
		}
	}
	return all
}

// gmFolder reports whether a setting names a folder: by its path, or by its own name at
// any depth, compared as names of cards are.
func (v *vault) gmFolder(dir string) bool {
	found := false
	for _, name := range v.o.GMFolders {
		name = strings.Trim(strings.TrimSpace(name), "/")
		if key := markup.PartKey(name); folded(name) == folded(dir) || key != "" && key == markup.PartKey(path.Base(dir)) {
			v.gmUsed[name], found = true, true
		}
	}
	return found
}

// inGMFolder reports whether a setting names a folder that a file lies in.
func (v *vault) inGMFolder(file string) bool {
	found := false
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		found = v.gmFolder(dir) || found
	}
	return found
}

// unmatchedFolders refuses a setting that names no folder: what it was to hide would come
// in open.
func (v *vault) unmatchedFolders() error {
	for _, name := range v.o.GMFolders {
		if name = strings.Trim(strings.TrimSpace(name), "/"); name != "" && !v.gmUsed[name] {
			return fault.New(fault.Invalid, "import.gm_folders: there is no folder %q; name folders as they are called, by name or path from the top of the vault", name)
		}
	}
	return nil
}

// hidesFile reports whether the name of a file, or a folder that it lies in, hides it.
func (v *vault) hidesFile(file string) bool {
	hidden := false
	for _, m := range append(v.folderMarks(file), nameMarks(strings.TrimSuffix(path.Base(file), path.Ext(file)))...) {
		hidden = v.choices.decide(m, file, false) || hidden
	}
	return hidden
}
