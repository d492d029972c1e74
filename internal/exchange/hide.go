package exchange

import (
	"path"
	"slices"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/markup"
)

// Hide counts the notes that an import hides because of one mark.
type Hide struct {
	Rule, What string
	Doubt      bool // a suspicion that the user has not confirmed
	Notes      int  // number of hidden notes and files
	Parts      int  // number of hidden parts of notes
	Files      []string
}

// choice is a user's decision about a suspicion: an item of Open or Confirm.
type choice struct {
	text   string // as the user wrote it
	folded string // for comparison
	used   bool
	exact  bool // the choice matches an exact mark, not a suspicion
}

func newChoice(text string) *choice {
	return &choice{text: text, folded: foldCase(strings.Trim(strings.TrimSpace(text), "/"))}
}

// chooser decides which marks hide, and counts them.
type chooser struct {
	open, confirm []*choice
	hides         map[mark]*Hide
	order         []mark
	seen          map[string]bool // marks already counted, by mark and file
}

func newChooser(o MarkdownOptions) *chooser {
	c := &chooser{hides: map[mark]*Hide{}, seen: map[string]bool{}}
	for _, text := range o.Open {
		c.open = append(c.open, newChoice(text))
	}
	for _, text := range o.Confirm {
		c.confirm = append(c.confirm, newChoice(text))
	}
	return c
}

// isAbout reports whether a choice refers to a mark of a file. The choice may name the file, the
// rule, or the text of the mark; for a folder its base name is enough.
func (c *choice) isAbout(m mark, file string) bool {
	what := foldCase(m.what)
	forms := []string{what, m.rule, m.rule + " " + what, m.rule + ": " + what, foldCase(file),
		foldCase(strings.TrimSuffix(file, path.Ext(file)))}
	if m.rule == ruleFolder {
		forms = append(forms, path.Base(what))
	}
	return c.folded != "" && (slices.Contains(forms, c.folded) || slices.Contains(forms, "#"+c.folded))
}

// decideMark reports whether a mark hides a file, or a part of it, and counts it if so. A mark that
// was both opened and confirmed hides.
func (c *chooser) decideMark(m mark, file string, part bool) bool {
	opened, kept := false, false
	for _, o := range c.open {
		if o.isAbout(m, file) {
			if !m.doubt {
				o.exact = true
				continue
			}
			o.used, opened = true, true
		}
	}
	for _, k := range c.confirm {
		if k.isAbout(m, file) {
			k.used, kept = true, true
		}
	}
	if opened && !kept {
		return false
	}
	m.doubt = m.doubt && !kept
	c.countMark(m, file, part)
	return true
}

func (c *chooser) countMark(m mark, file string, part bool) {
	key := mark{m.rule, foldCase(m.what), m.doubt}
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

// listHides returns the counts of hidden notes by mark: suspicions first, then by number of notes
// and parts.
func (c *chooser) listHides() (all []Hide) {
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

// checkUnusedChoices returns an error if a choice matched no mark.
func (c *chooser) checkUnusedChoices() error {
	for _, o := range c.open {
		switch {
		case o.used:
		case o.exact:
			return fault.New(fault.Invalid,
				"open: %q is marked as secret where it stands, which is no suspicion; take the mark out of the notes", o.text)
		default:
			return fault.New(fault.Invalid,
				"open: nothing that is suspected is called %q; a dry run lists what is, under \"hidden, please confirm\"", o.text)
		}
	}
	for _, k := range c.confirm {
		if !k.used {
			return fault.New(fault.Invalid,
				"confirm: there is no folder, note or suspicion called %q; a dry run lists what is suspected", k.text)
		}
	}
	return nil
}

// folderMarks returns the marks of all folders above a file.
func (v *vault) folderMarks(file string) (all []mark) {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if v.isGMFolder(dir) {
			all = append(all, mark{ruleSetting, dir, false})
		} else if secretWord(path.Base(dir), false) != "" {
			all = append(all, mark{ruleFolder, dir, true})
		}
		for _, k := range v.choices.confirm {
			if k.folded != "" && (k.folded == foldCase(dir) || k.folded == path.Base(foldCase(dir))) {
				k.used = true
				all = append(all, mark{ruleSetting, dir, false})
			}
		}
	}
	return all
}

// isGMFolder reports whether import.gm_folders names a folder: by its path, or by its base name at
// any depth. Base names are compared as card names are.
func (v *vault) isGMFolder(dir string) bool {
	found := false
	for _, name := range v.o.GMFolders {
		name = strings.Trim(strings.TrimSpace(name), "/")
		if key := markup.PartKey(name); foldCase(name) == foldCase(dir) || key != "" &&
			key == markup.PartKey(path.Base(dir)) {
			v.gmUsed[name], found = true, true
		}
	}
	return found
}

// isInGMFolder reports whether import.gm_folders names a folder above a file.
func (v *vault) isInGMFolder(file string) bool {
	found := false
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		found = v.isGMFolder(dir) || found
	}
	return found
}

// checkUnusedFolders returns an error if import.gm_folders names a folder that does not exist: the
// notes it should hide would be imported as visible.
func (v *vault) checkUnusedFolders() error {
	for _, name := range v.o.GMFolders {
		if name = strings.Trim(strings.TrimSpace(name), "/"); name != "" && !v.gmUsed[name] {
			return fault.New(fault.Invalid,
				"import.gm_folders: there is no folder %q; name folders as they are called, by name or path from the top of the vault", name)
		}
	}
	return nil
}

// isFileHidden reports whether a file is hidden by its name or by a folder above it.
func (v *vault) isFileHidden(file string) bool {
	hidden := false
	for _, m := range append(v.folderMarks(file), nameMarks(strings.TrimSuffix(path.Base(file), path.Ext(file)))...) {
		hidden = v.choices.decideMark(m, file, false) || hidden
	}
	return hidden
}
