package exchange

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// sheet describes a card to import.
type sheet struct {
	file        string // its source, for reports
	id          canon.CardID
	name        string       // full name; if above is set, only the part below it
	above       *sheet       // the parent's sheet; nil: found by name
	parent      canon.CardID // id of the parent, if the file names it
	root        bool         // has no parent, even if cards with the names above exist
	minLevel    access.Level // minimum level, independent of this world's name rules
	typ         string       // "" keeps an existing card's type
	body        func(context.Context) (string, error)
	data        func() ([]byte, error) // set for a card that holds a file
	fields      json.RawMessage
	codename    string
	own         access.Label
	exact       bool // describes the whole card: fields are replaced, and no parents are created
	items       bool // the body's items are added to the existing ones
	folder      bool // stands for a folder: an existing card is left unchanged
	matchIDOnly bool // does not update a card of the same name that has another id

	ready sheetContent // results of body and data
	card  canon.Card   // the imported card, valid once done is set
	done  bool
}

// sheetContent is a sheet's content, read just before its commit.
type sheetContent struct {
	typ  string
	text *string
	file []byte
}

// edge describes a link to import.
type edge struct {
	file     string
	id       canon.LinkID // zero: derived from both ends, kind and direction
	kind     string
	from, to linkEnd
	attrs    map[string]any
	label    *access.Label // nil: visible to readers of both ends
}

// linkEnd is one end of an edge: a sheet, an id or a name.
type linkEnd struct {
	sheet *sheet
	id    canon.CardID
	name  string
}

// overlay describes a layer to import.
type overlay struct {
	file     string
	id       canon.LayerID // zero: derived from the card, kind, time and number
	on       *sheet
	kind     string
	text     string
	from, to int64
	number   int
	label    *access.Label // nil: visible to readers of the card
}

// collection holds everything that an import is going to write.
type collection struct {
	sheets   []*sheet
	edges    []*edge
	overlays []*overlay
	hidden   int // number of secrets taken out of readable cards
	problems []Problem

	byKey map[markup.Key][]*sheet
	byID  map[canon.CardID]*sheet
}

func newCollection() *collection {
	return &collection{byKey: map[markup.Key][]*sheet{}, byID: map[canon.CardID]*sheet{}}
}

func (c *collection) addProblem(file string, line int, format string, args ...any) {
	c.problems = append(c.problems, Problem{file, line, fmt.Sprintf(format, args...)})
}

// add adds a sheet. If another sheet has the same id, it reports and leaves out the new one.
func (c *collection) add(s *sheet) bool {
	if other := c.byID[s.id]; other != nil {
		c.addProblem(s.file, 0, "has the same id as %s; left out", other.file)
		return false
	}
	c.byID[s.id] = s
	c.byKey[s.cardKey()] = append(c.byKey[s.cardKey()], s)
	c.sheets = append(c.sheets, s)
	return true
}

// addTags adds the card X+tags of card X. It adds no card if no tag is left.
func (c *collection) addTags(above *sheet, tags []string) {
	if content := markup.SetItems(tags); content != "" {
		c.add(newTagsSheet(above, content))
	}
}

// newTagsSheet returns the sheet of the card X+tags of card X. The items in content are added to
// those of an existing card.
func newTagsSheet(above *sheet, content string) *sheet {
	return &sheet{file: above.file, id: childID(above.id, tagsPart), above: above, name: tagsPart,
		typ: canon.TypePointer, items: true, own: access.NewLabel(access.LevelUser), body: plainBody(content)}
}

// fullName returns the sheet's full card name as the import gives it.
func (s *sheet) fullName() string {
	if s.above != nil {
		return markup.Join(s.above.fullName(), s.name)
	}
	return s.name
}

func (s *sheet) cardKey() markup.Key { return markup.KeyOf(s.fullName()) }

func (s *sheet) nameDepth() int { return len(s.cardKey().Parts()) }

// findLowest returns the sheet with the lowest level among those with the given key, or nil.
func (c *collection) findLowest(key markup.Key) *sheet {
	list := c.byKey[key]
	if len(list) == 0 {
		return nil
	}
	return slices.MinFunc(list, func(a, b *sheet) int { return cmp.Compare(a.own.Level, b.own.Level) })
}

// arrangeSheets attaches sheets with compound names to the sheets of their parents. It then sorts
// all sheets so that types come first and parents come before their children.
func (c *collection) arrangeSheets() {
	for _, s := range c.sheets {
		if s.above != nil || s.root {
			continue
		}
		if !s.parent.IsZero() {
			if above := c.byID[s.parent]; above != nil && s.cardKey().HasPrefix(above.cardKey()) &&
				s.cardKey() != above.cardKey() {
				c.attachBelow(s, above)
			}
			continue
		}
		parts := markup.Parts(s.name)
		for i := len(parts) - 1; i > 0; i-- {
			if above := c.findLowest(markup.KeyOf(markup.Join(parts[:i]...))); above != nil {
				c.attachBelow(s, above)
				break
			}
		}
	}
	isType := func(s *sheet) int {
		if markup.KeyOf(s.typ) == markup.KeyOf(canon.TypeCardtype) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(c.sheets, func(a, b *sheet) int {
		return cmp.Or(cmp.Compare(isType(a), isType(b)), cmp.Compare(a.nameDepth(), b.nameDepth()))
	})
	c.sheets = parentsFirst(c.sheets)
}

func (c *collection) attachBelow(s, above *sheet) {
	s.name = markup.Join(markup.Parts(s.name)[above.nameDepth():]...)
	s.above = above
}

// parentsFirst moves each sheet after its parent and keeps the order otherwise.
func parentsFirst(sheets []*sheet) []*sheet {
	out, placed := make([]*sheet, 0, len(sheets)), map[*sheet]bool{}
	var place func(*sheet)
	place = func(s *sheet) {
		if placed[s] {
			return
		}
		placed[s] = true
		if s.above != nil {
			place(s.above)
		}
		out = append(out, s)
	}
	for _, s := range sheets {
		place(s)
	}
	return out
}
