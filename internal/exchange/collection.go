package exchange

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Sheet describes a card to import.
type Sheet struct {
	File        string // its source, for reports
	ID          canon.CardID
	Name        string           // full name; if Above is set, only the part below it
	Above       *Sheet           // the parent's sheet; nil: found by name
	Parent      canon.CardID     // id of the parent, if the file names it
	Root        bool             // has no parent, even if cards with the names above exist
	MinLevel    access.Level     // minimum level, independent of this world's name rules
	Type        string           // "" keeps an existing card's type
	Format      canon.TextFormat // of the body
	Body        func(context.Context) (string, error)
	Data        func() ([]byte, error) // set for a card that holds a file
	Fields      json.RawMessage
	Codename    string
	Label       access.Label
	Exact       bool     // describes the whole card: fields are replaced, and no parents are created
	Items       bool     // the body's items are added to the existing ones
	Gone        []string // items that the source had at the last import, and has no more
	Folder      bool     // stands for a folder: an existing card is left unchanged
	MatchIDOnly bool     // does not update a card of the same name that has another id

	// Hide are ranges of the body, and HideFields names of fields, that are hidden besides those with an exact mark.
	Hide       []secrecy.Range
	HideFields []string
	InPlace    bool            // the body has its hidden parts at their places; else marks in it are text
	MarksKnown bool            // Hide has all ranges of the body that marks hide
	HiddenIn   string          // a card that hides text of the sheet: the sheet's card is hidden, or keeps its text
	Asks       bool            // a changed text with a mark of which it is not known whether it hides is not imported
	Unsure     *secrecy.Unsure // a mark of the text as its source wrote it, which Asks asks about
	Exported   *Exported       // the hidden parts of the body, if it is as it was exported
	Beside     bool            // the body is the text beside the hidden parts that the card holds

	Opens     []string // texts of hidden parts that the importer's user opens
	OpensCard bool     // the importer's user opens the card: it gets the label even if a former import hid it
	Hides     []string // texts of parts that the importer's user hides, also if they were opened here
	HidesCard bool     // the importer's user hides the card, also if it was opened here
	NameWas   string   // its name at the last import, from which the source has renamed it; "" if it has not

	Past []Past // the card's earlier versions, oldest first; those that it has already are left out

	Content Content  // results of body and data
	card    cardMark // of the imported card, valid once done is set
	done    bool
}

// cardMark is the part of an imported card that the sheets and links after it need.
type cardMark struct {
	id    canon.CardID
	name  string
	label access.Label
}

// finish notes the card of a sheet and lets its content go.
func (s *Sheet) finish(c canon.Card) {
	s.card, s.done = cardMark{c.ID, c.Name, c.Label}, true
}

// Card returns the id, name and label of the card of a sheet that was written; ok is false before.
func (s *Sheet) Card() (c canon.Card, ok bool) { return s.card.asCard(), s.done }

// asCard returns a card with the parts that are known.
func (m cardMark) asCard() canon.Card { return canon.Card{ID: m.id, Name: m.name, Label: m.label} }

// asCard returns the card of a sheet with its label below the cards of the sheets above, which a dry run does not
// store.
func (s *Sheet) asCard() canon.Card {
	c := s.card.asCard()
	for above := s.Above; above != nil; above = above.Above {
		c.Label = c.Label.Meet(above.card.label)
	}
	return c
}

// Content is a sheet's content, read just before its commit.
type Content struct {
	Type string
	Text *string
	file []byte
}

// Past is an earlier version of a card.
type Past struct {
	Body   func(context.Context) (string, error)
	Fields json.RawMessage
}

// Edge describes a link to import.
type Edge struct {
	File     string
	ID       canon.LinkID // zero: derived from both ends, kind and direction
	Kind     string
	From, To End
	Attrs    map[string]any
	Label    *access.Label // nil: visible to readers of both ends
}

// End is one end of an edge: a sheet, an id or a name.
type End struct {
	Sheet *Sheet
	ID    canon.CardID
	Name  string
}

// Overlay describes a layer to import.
type Overlay struct {
	File     string
	ID       canon.LayerID // zero: derived from the card, kind, time and number
	On       *Sheet
	Kind     string
	Text     string
	From, To int64
	Number   int
	Label    *access.Label // nil: visible to readers of the card
}

// Collection holds everything that an import is going to write.
type Collection struct {
	Sheets   []*Sheet
	Edges    []*Edge
	Overlays []*Overlay
	Hidden   int // number of secrets taken out of readable cards
	Problems []Problem
	// Late, if set, returns further edges once the cards are written.
	Late  func() []*Edge
	Begin *Sheet // where players begin in the source; nil if it does not say

	ByKey map[markup.Key][]*Sheet
	byID  map[canon.CardID]*Sheet
}

// NewCollection returns an empty collection.
func NewCollection() *Collection {
	return &Collection{ByKey: map[markup.Key][]*Sheet{}, byID: map[canon.CardID]*Sheet{}}
}

// AddProblem reports a part of the source; line 0 means the whole file.
func (c *Collection) AddProblem(file string, line int, format string, args ...any) {
	if len(c.Problems) <= maxProblems {
		c.Problems = AppendProblems(c.Problems, NewProblem(file, line, format, args...))
	}
}

// Add adds a sheet. If another sheet has the same id, it reports and leaves out the new one.
func (c *Collection) Add(s *Sheet) bool {
	if other := c.byID[s.ID]; other != nil {
		c.AddProblem(s.File, 0, "has the same id as %s; left out", other.File)
		return false
	}
	c.byID[s.ID] = s
	c.ByKey[s.Key()] = append(c.ByKey[s.Key()], s)
	c.Sheets = append(c.Sheets, s)
	return true
}

// AddTags adds the card X+tags of card X. It adds no card if no tag is left.
func (c *Collection) AddTags(above *Sheet, tags []string) {
	if content := markup.SetItems(tags); content != "" {
		c.Add(NewTagsSheet(above, content))
	}
}

// NewTagsSheet returns the sheet of the card X+tags of card X. The items in content are added to
// those of an existing card.
func NewTagsSheet(above *Sheet, content string) *Sheet {
	return &Sheet{File: above.File, ID: ChildID(above.ID, TagsPart), Above: above, Name: TagsPart,
		Type: canon.TypePointer, Items: true, Label: access.NewLabel(access.LevelUser), Body: PlainBody(content)}
}

// isTagList reports whether the sheet's card is the list of tags of the card above it.
func (s *Sheet) isTagList() bool { return s.Above != nil && markup.PartKey(s.Name) == canon.TagPart }

// FullName returns the sheet's full card name as the import gives it.
func (s *Sheet) FullName() string {
	if s.Above != nil {
		return markup.Join(s.Above.FullName(), s.Name)
	}
	return s.Name
}

// EffectiveLevel returns the level of the sheet's card: the highest of its own label and those of the
// sheets above it.
func (s *Sheet) EffectiveLevel() access.Level {
	level := access.LevelUser
	for at := s; at != nil; at = at.Above {
		level = max(level, at.Label.Level, at.MinLevel)
	}
	return level
}

// Key returns the key of the sheet's full name.
func (s *Sheet) Key() markup.Key { return markup.KeyOf(s.FullName()) }

func (s *Sheet) nameDepth() int { return len(s.Key().Parts()) }

// top returns the sheet above that has none above it, or the sheet itself.
func (s *Sheet) top() *Sheet {
	for s.Above != nil {
		s = s.Above
	}
	return s
}

// findLowest returns the sheet with the lowest level among those with the given key, or nil.
func (c *Collection) findLowest(key markup.Key) *Sheet {
	list := c.ByKey[key]
	if len(list) == 0 {
		return nil
	}
	return slices.MinFunc(list, func(a, b *Sheet) int { return cmp.Compare(a.Label.Level, b.Label.Level) })
}

// Arrange attaches sheets with compound names to the sheets of their parents. It then sorts
// all sheets so that types come first and parents come before their children, but all that stands
// below a sheet soon after it: an import that is cut off has few cards without their children.
func (c *Collection) Arrange() {
	for _, s := range c.Sheets {
		if s.Above != nil || s.Root {
			continue
		}
		if !s.Parent.IsZero() {
			if above := c.byID[s.Parent]; above != nil && s.Key().HasPrefix(above.Key()) &&
				s.Key() != above.Key() {
				c.attachBelow(s, above)
			}
			continue
		}
		parts := markup.Parts(s.Name)
		for i := len(parts) - 1; i > 0; i-- {
			if above := c.findLowest(markup.KeyOf(markup.Join(parts[:i]...))); above != nil {
				c.attachBelow(s, above)
				break
			}
		}
	}
	isType := func(s *Sheet) int {
		if markup.KeyOf(s.Type) == markup.KeyOf(canon.TypeCardtype) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(c.Sheets, func(a, b *Sheet) int {
		return cmp.Or(cmp.Compare(isType(a), isType(b)), cmp.Compare(a.top().nameDepth(), b.top().nameDepth()))
	})
	c.Sheets = parentsFirst(c.Sheets)
}

func (c *Collection) attachBelow(s, above *Sheet) {
	s.Name = markup.Join(markup.Parts(s.Name)[above.nameDepth():]...)
	s.Above = above
}

// parentsFirst moves each sheet after its parent and keeps the order otherwise.
func parentsFirst(sheets []*Sheet) []*Sheet {
	out, placed := make([]*Sheet, 0, len(sheets)), map[*Sheet]bool{}
	var place func(*Sheet)
	place = func(s *Sheet) {
		if placed[s] {
			return
		}
		placed[s] = true
		if s.Above != nil {
			place(s.Above)
		}
		out = append(out, s)
	}
	for _, s := range sheets {
		place(s)
	}
	return out
}
