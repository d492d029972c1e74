package exchange

import (
	"fmt"
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
	RuleUnread  = "text without parts" // in which no mark hides, such as a list
)

// FolderMarks returns the marks in the names of the folders of a file.
func FolderMarks(file string) (all []secrecy.Mark) {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if exact := secrecy.HasAnyMark(path.Base(dir)); exact || secrecy.FindWord(path.Base(dir), false) != "" {
			all = append(all, secrecy.Mark{Rule: RuleFolder, What: dir, Doubt: !exact})
		}
	}
	return all
}

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
	exact  bool     // the choice matches an exact mark, not a suspicion
	rules  []string // of the marks whose text alone it is; it opens the marks of one rule at most
	old    bool     // of an earlier import
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
	left          []string // what looks secret and is open in the world, for the summary
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
	names = append(names, namesInFile(m, file)...)
	for _, n := range names {
		if tag, ok := strings.CutPrefix(n, "#"); ok {
			names = append(names, tag)
		}
	}
	return names
}

// namesInFile returns the texts that refer to a mark in one file alone, such as "Mill.md: label: Secret".
func namesInFile(m secrecy.Mark, file string) (names []string) {
	for _, of := range []string{file, strings.TrimSuffix(file, path.Ext(file))} {
		names = append(names, foldChoice(of+": "+m.What), foldChoice(of+": "+m.Rule+": "+m.What))
	}
	return names
}

// isTextOf reports whether a choice of this import is the text of a mark, without its rule.
func (k *choice) isTextOf(m secrecy.Mark) bool {
	what := foldChoice(m.What)
	return !k.old && k.folded != "" && k.folded != foldChoice(m.Rule) &&
		(k.folded == what || k.folded == strings.TrimPrefix(what, "#"))
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

// Standing is the state of a file, or of a part of it, in the world before an import.
type Standing struct {
	Given bool // the decisions of earlier imports that open it were given for it
	Open  bool // it was opened here
	New   bool // the part of a note that opens now, which no report has named: the name of the note does not mean it
	Alike bool // a mark of the note that opens now has the same text: only its rule with its text means it
}

// Verdict is a decision about a file or part with a mark.
type Verdict int

// The verdicts.
const (
	Hidden    Verdict = iota
	Confirmed         // hidden by a decision of this import, also if it was opened here
	Asked             // hidden as far as it is new: an earlier decision opens the mark elsewhere
	LeftOpen          // opened here, and undecided
	Opened            // by an earlier decision
	OpenedNow         // by a decision of this import
)

// Hides reports whether a verdict hides.
func (v Verdict) Hides() bool { return v <= Asked }

// Judge returns the verdict about a mark of a file, or of a part of it, and counts one that hides. A mark that was both
// opened and confirmed hides.
func (c *Choices) Judge(m secrecy.Mark, file string, part bool, at Standing) Verdict {
	m.What = markup.Clip(m.What, maxMark)
	var opened, openedNow, kept, keptNow bool
	if len(c.open.all)+len(c.confirm.all) > 0 {
		names := namesOfMark(m, file)
		if at.New {
			names = slices.Concat([]string{foldChoice(m.Rule + " " + m.What), foldChoice(m.Rule + ": " + m.What)},
				namesInFile(m, file))
			if !at.Alike {
				names = append(names, foldChoice(m.What))
			}
		}
		for _, o := range c.open.matching(names) {
			if o.isTextOf(m) && m.Doubt && !slices.Contains(o.rules, m.Rule) {
				o.rules = append(o.rules, m.Rule)
			}
			if o.exact = o.exact || !m.Doubt; m.Doubt {
				o.used, opened, openedNow = true, true, openedNow || !o.old
			}
		}
		for _, k := range c.confirm.matching(names) {
			k.used, kept, keptNow = true, true, keptNow || !k.old
		}
	}
	switch {
	case openedNow && !kept:
		return OpenedNow
	case opened && !kept && at.Given:
		return Opened
	case at.Open && !keptNow:
		c.leaveOpen(m, file)
		return LeftOpen
	}
	m.Doubt = m.Doubt && !kept
	c.countMark(m, file, part)
	switch {
	case keptNow:
		return Confirmed
	case opened && !kept:
		return Asked
	}
	return Hidden
}

// Decide reports whether a mark hides a file, or a part of it, of which nothing is known.
func (c *Choices) Decide(m secrecy.Mark, file string, part bool) bool {
	return c.Judge(m, file, part, Standing{}).Hides()
}

func (c *Choices) leaveOpen(m secrecy.Mark, file string) {
	text := fmt.Sprintf("%s %q in %s", m.Rule, m.What, file)
	if !slices.Contains(c.left, text) {
		c.left = append(c.left, text)
	}
}

// LeftOpen returns a sentence about the files and parts that stay open because they were opened here; "" if there are
// none.
func (c *Choices) LeftOpen() string {
	if len(c.left) == 0 {
		return ""
	}
	return fmt.Sprintf("%d things with a mark stay open, because they were opened here: %s. --confirm hides them.",
		len(c.left), FirstNames(c.left))
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
		case len(o.rules) > 1:
			return fault.New(fault.Invalid, "open: %q is the text of marks of several kinds (%s); say which: "+
				"--open %q, or of one note: --open \"NOTE.md: %s: %s\"", o.text, strings.Join(o.rules, ", "), o.rules[0]+": "+o.text, o.rules[0], o.text)
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
