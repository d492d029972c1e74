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

// sheet is a card as an import wants it.
type sheet struct {
	file     string // where it comes from, for reports
	id       canon.CardID
	name     string       // whole name; of a sheet above which there is another, the part below that
	above    *sheet       // the sheet it lies below; nil: found by name
	parent   canon.CardID // id of the card it lies below, where the file says so
	root     bool         // lies below none, whatever bears the names above
	least    access.Level // level that it has whatever the rules of this world say
	typ      string       // "" leaves an existing card's type
	body     func(context.Context) (string, error)
	data     func() ([]byte, error) // of a card that holds a file
	fields   json.RawMessage
	codename string
	own      access.Label
	exact    bool // the card's whole state: fields are replaced, ancestors are not made
	items    bool // the body's items are added to those that are there
	folder   bool // stands for a folder: an existing card stays as it is
	shy      bool // does not take over a card of its name that came from elsewhere

	ready reading    // what body and data gave
	got   canon.Card // the card, once it is there
	done  bool
}

// reading is a sheet's content, read just before its commit.
type reading struct {
	typ  string
	text *string
	file []byte
}

// edge is a link as an import wants it.
type edge struct {
	file     string
	id       canon.LinkID // zero: derived from both ends, kind and direction
	kind     string
	from, to end
	attrs    map[string]any
	label    *access.Label // nil: who sees both ends
}

// end is one end of an edge: a sheet, an id or a name.
type end struct {
	sheet *sheet
	id    canon.CardID
	name  string
}

// overlay is a layer as an import wants it.
type overlay struct {
	file     string
	id       canon.LayerID // zero: derived from the card, kind, time and number
	on       *sheet
	kind     string
	text     string
	from, to int64
	number   int
	label    *access.Label // nil: who sees the card
}

// collection is all that an import wants.
type collection struct {
	sheets   []*sheet
	edges    []*edge
	overlays []*overlay
	hidden   int // secrets taken out of readable cards
	problems []Problem

	byKey map[markup.Key][]*sheet
	byID  map[canon.CardID]*sheet
}

func newCollection() *collection {
	return &collection{byKey: map[markup.Key][]*sheet{}, byID: map[canon.CardID]*sheet{}}
}

func (c *collection) problem(file string, line int, format string, args ...any) {
	c.problems = append(c.problems, Problem{file, line, fmt.Sprintf(format, args...)})
}

// add takes a sheet in. Two of one id are one card too many: the later is left out.
func (c *collection) add(s *sheet) bool {
	if other := c.byID[s.id]; other != nil {
		c.problem(s.file, 0, "has the same id as %s; left out", other.file)
		return false
	}
	c.byID[s.id] = s
	c.byKey[s.key()] = append(c.byKey[s.key()], s)
	c.sheets = append(c.sheets, s)
	return true
}

// whole is the sheet's whole name as the import gives it.
func (s *sheet) whole() string {
	if s.above != nil {
		return markup.Join(s.above.whole(), s.name)
	}
	return s.name
}

func (s *sheet) key() markup.Key { return markup.KeyOf(s.whole()) }

func (s *sheet) depth() int { return len(s.key().Parts()) }

// lowest is the sheet that a name means: the lowest-labelled one of that key.
func (c *collection) lowest(key markup.Key) *sheet {
	list := c.byKey[key]
	if len(list) == 0 {
		return nil
	}
	return slices.MinFunc(list, func(a, b *sheet) int { return cmp.Compare(a.own.Level, b.own.Level) })
}

// settle hangs sheets of compound names below the sheets of their ancestors, and orders
// all so that types come first and what lies above comes before what lies below.
func (c *collection) settle() {
	for _, s := range c.sheets {
		if s.above != nil || s.root {
			continue
		}
		if !s.parent.IsZero() {
			if above := c.byID[s.parent]; above != nil && s.key().HasPrefix(above.key()) && s.key() != above.key() {
				c.hang(s, above)
			}
			continue
		}
		parts := markup.Parts(s.name)
		for i := len(parts) - 1; i > 0; i-- {
			if above := c.lowest(markup.KeyOf(markup.Join(parts[:i]...))); above != nil {
				c.hang(s, above)
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
		return cmp.Or(cmp.Compare(isType(a), isType(b)), cmp.Compare(a.depth(), b.depth()))
	})
	c.sheets = upwards(c.sheets)
}

func (c *collection) hang(s, above *sheet) {
	s.name = markup.Join(markup.Parts(s.name)[above.depth():]...)
	s.above = above
}

// upwards puts each sheet after the one above it and leaves the order otherwise.
func upwards(sheets []*sheet) []*sheet {
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
