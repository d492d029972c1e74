package exchange

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Names of the rules that every format shares.
const (
	RuleFolder  = "folder"
	RuleSetting = "setting"
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
	old    bool // of an earlier import
}

// choices are the items of Open or of Confirm. Of several that mean the same the first counts.
type choices struct {
	all []*choice
	by  map[string]*choice // by their folded text
}

func newChoices(texts []string) choices {
	l := choices{by: map[string]*choice{}}
	for _, text := range texts {
		c := &choice{text: text, folded: foldChoice(text)}
		if l.by[c.folded] == nil {
			l.by[c.folded] = c
			l.all = append(l.all, c)
		}
	}
	return l
}

// maxMark is the greatest length of the text of a mark, so that a choice can name it.
const maxMark = 500

// foldChoice returns the form in which a choice and the names of a mark are compared. A form on a page changes line
// ends and control characters on their way back.
func foldChoice(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError
	})
	return FoldCase(strings.Trim(strings.Join(words, " "), "/ "))
}

// Choices decide which marks hide, and count them.
type Choices struct {
	open, confirm choices
	hides         map[secrecy.Mark]*Hide
	order         []secrecy.Mark
	seen          map[string]bool // marks already counted, by mark and file
}

// NewChoices returns the choices with the items of Open, which show suspicions, and of Confirm,
// which keep them secret.
func NewChoices(open, confirm []string) *Choices {
	return &Choices{open: newChoices(open), confirm: newChoices(confirm), hides: map[secrecy.Mark]*Hide{}, seen: map[string]bool{}}
}

// Remember adds the decisions of earlier imports, except where a new one says the opposite.
func (c *Choices) Remember(open, confirm []string) {
	c.open.remember(open, c.confirm)
	c.confirm.remember(confirm, c.open)
}

func (l *choices) remember(texts []string, opposite choices) {
	for _, text := range texts {
		folded := foldChoice(text)
		if l.by[folded] != nil || opposite.by[folded] != nil && !opposite.by[folded].old {
			continue
		}
		k := &choice{text: text, folded: folded, used: true, old: true}
		l.by[folded] = k
		l.all = append(l.all, k)
	}
}

// Decisions returns the items of Open and of Confirm, with those that are remembered.
func (c *Choices) Decisions() (open, confirm []string) { return c.open.texts(), c.confirm.texts() }

func (l choices) texts() (all []string) {
	for _, k := range l.all {
		all = append(all, k.text)
	}
	return all
}

// HasOpen reports whether any decision opens something.
func (c *Choices) HasOpen() bool { return len(c.open.all) > 0 }

// Opens reports whether a decision opens the text that a mark hides.
func (c *Choices) Opens(m secrecy.Mark, file string) bool {
	if !m.Doubt || len(c.open.all) == 0 {
		return false
	}
	m.What = markup.Clip(m.What, maxMark)
	names := namesOfMark(m, file)
	return len(c.open.matching(names)) > 0 && len(c.confirm.matching(names)) == 0
}

// AskAgain takes back the remembered decisions that open a mark of a file.
func (c *Choices) AskAgain(m secrecy.Mark, file string) {
	m.What = markup.Clip(m.What, maxMark)
	for _, o := range c.open.matching(namesOfMark(m, file)) {
		if o.old {
			delete(c.open.by, o.folded)
			c.open.all = slices.DeleteFunc(c.open.all, func(k *choice) bool { return k == o })
		}
	}
}

// namesOfMark returns the texts by which a choice refers to a mark of a file: the file, the rule, or the text of the
// mark; for a folder its base name is enough.
func namesOfMark(m secrecy.Mark, file string) []string {
	names := []string{m.What, m.Rule, m.Rule + " " + m.What, m.Rule + ": " + m.What, file,
		strings.TrimSuffix(file, path.Ext(file))}
	if m.Rule == RuleFolder {
		names = append(names, path.Base(m.What))
	}
	for i, n := range names {
		names[i] = foldChoice(n)
	}
	for _, n := range names {
		if tag, ok := strings.CutPrefix(n, "#"); ok {
			names = append(names, tag)
		}
	}
	return names
}

// matching returns the choices that refer to one of some names.
func (l choices) matching(names []string) (found []*choice) {
	if len(l.all) == 0 {
		return nil
	}
	for _, n := range names {
		if c := l.by[n]; c != nil && n != "" {
			found = append(found, c)
		}
	}
	return found
}

// IsConfirmed reports whether an item of Confirm is one of the given paths or names.
func (c *Choices) IsConfirmed(names ...string) bool {
	if len(c.confirm.all) == 0 {
		return false
	}
	folded := make([]string, len(names))
	for i, name := range names {
		folded[i] = foldChoice(name)
	}
	found := c.confirm.matching(folded)
	for _, k := range found {
		k.used = true
	}
	return len(found) > 0
}

// Decide reports whether a mark hides a file, or a part of it, and counts it if so. A mark that
// was both opened and confirmed hides.
func (c *Choices) Decide(m secrecy.Mark, file string, part bool) bool {
	m.What = markup.Clip(m.What, maxMark)
	opened, kept := false, false
	if len(c.open.all)+len(c.confirm.all) > 0 {
		names := namesOfMark(m, file)
		for _, o := range c.open.matching(names) {
			if o.exact = o.exact || !m.Doubt; m.Doubt {
				o.used, opened = true, true
			}
		}
		for _, k := range c.confirm.matching(names) {
			k.used, kept = true, true
		}
	}
	if opened && !kept {
		return false
	}
	m.Doubt = m.Doubt && !kept
	c.countMark(m, file, part)
	return true
}

func (c *Choices) countMark(m secrecy.Mark, file string, part bool) {
	key := secrecy.Mark{Rule: m.Rule, What: FoldCase(m.What), Doubt: m.Doubt}
	h := c.hides[key]
	if h == nil {
		h = &Hide{Rule: m.Rule, What: m.What, Doubt: m.Doubt}
		c.hides[key] = h
		c.order = append(c.order, key)
	}
	seen := m.Rule + "\x00" + key.What + "\x00" + file
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

// List returns the counts of hidden notes by mark: suspicions first, then by number of notes
// and parts.
func (c *Choices) List() (all []Hide) {
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

// CheckUnused returns an error if a choice matched no mark.
func (c *Choices) CheckUnused() error {
	for _, o := range c.open.all {
		switch {
		case o.used:
		case o.exact:
			return fault.New(fault.Invalid,
				"open: %q is an exact mark and no suspicion; remove the mark from the notes", o.text)
		default:
			return fault.New(fault.Invalid,
				"open: there is no suspicion called %q; a dry run lists the suspicions under \"hidden, please confirm\"", o.text)
		}
	}
	for _, k := range c.confirm.all {
		if !k.used {
			return fault.New(fault.Invalid,
				"confirm: there is no folder, note or suspicion called %q; a dry run lists the suspicions", k.text)
		}
	}
	return nil
}
