package exchange

import (
	"path"
	"slices"
	"strings"

	"loregate/internal/fault"
)

// mark is a reason to hide a note, or a part of it, from players.
type mark struct {
	rule  string // name of a rule in Rules
	what  string // the folder's path, word, tag or key that matched
	doubt bool   // a suspicion that the user should confirm
}

// Names of the rules that every format shares.
const (
	ruleFolder  = "folder"
	ruleSetting = "setting"
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

// newChooser returns a chooser with the items of Open and Confirm.
func newChooser(open, confirm []string) *chooser {
	c := &chooser{hides: map[mark]*Hide{}, seen: map[string]bool{}}
	for _, text := range open {
		c.open = append(c.open, newChoice(text))
	}
	for _, text := range confirm {
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

// isConfirmed reports whether an item of Confirm is one of the given paths or names.
func (c *chooser) isConfirmed(names ...string) bool {
	found := false
	for _, k := range c.confirm {
		if k.folded != "" && slices.ContainsFunc(names, func(name string) bool { return foldCase(name) == k.folded }) {
			k.used, found = true, true
		}
	}
	return found
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
