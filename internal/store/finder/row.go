package finder

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/search"
	"loregate/internal/slicesx"
)

// rowFormat marks indexes whose rows are encoded as in this program.
const rowFormat = "/6"

// WithRowFormat adds the row format to the tag of a world's state, so that indexes with rows in
// another format are not used.
func WithRowFormat(at search.State) search.State {
	if at.Tag != "" {
		at.Tag += rowFormat
	}
	return at
}

// A row is the part of a card that the index sorts and filters by, so that the card need not be
// read:
//
//	key, 0, id, updated, created, sort value, parent, content, size, length, counts, level, flags, type, 0, names
//
// Ids are 16 bytes, hashes 32, times milliseconds since 1970, times and numbers 8 bytes, counts 4
// each, big-endian. The names are the card's Names, one per line. Rows sort by key, then id.
const (
	atID      = 0 // offsets are counted from after the key's 0 byte
	atUpdated = 16
	atCreated = 24
	atSort    = 32
	atParent  = 40
	atContent = 56
	atSize    = 88
	atLength  = 96
	atCounts  = 104
	atLevel   = 116
	atFlags   = 117
	atType    = 118
)

const (
	isCoded = 1 << iota
	isFilled
	isMarkdown
	isTagList
)

// rowOf encodes a card whose label has the given level.
func rowOf(c *canon.Card, level access.Level) []byte {
	names := strings.Join(c.Names(), "\n")
	b := make([]byte, 0, len(c.Key)+1+atType+len(c.Type)+1+len(names))
	b = append(append(b, replaceNUL(string(c.Key))...), 0)
	b = append(b, c.ID[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(c.UpdatedAt.UnixMilli()))
	b = binary.BigEndian.AppendUint64(b, uint64(c.CreatedAt.UnixMilli()))
	b = binary.BigEndian.AppendUint64(b, uint64(c.SortValue()))
	b = append(append(b, c.Parent[:]...), c.Content[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(c.Size))
	b = binary.BigEndian.AppendUint64(b, uint64(c.Length))
	for _, n := range c.Counts {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	b = append(b, byte(level))
	var flags byte
	if c.Codename != "" {
		flags |= isCoded
	}
	if c.Length > 0 || len(c.Fields) > 0 {
		flags |= isFilled
	}
	if c.Format == canon.FormatMarkdown {
		flags |= isMarkdown
	}
	if c.IsTagList() {
		flags |= isTagList
	}
	b = append(append(append(b, flags), replaceNUL(c.Type)...), 0)
	return append(b, names...)
}

// replaceNUL replaces the NUL bytes of a text, since NUL ends a text in a row.
func replaceNUL(s string) string { return strings.ReplaceAll(s, "\x00", " ") }

// row is an encoded card, split into its parts.
type row struct{ key, fixed, kind, names []byte }

func readRow(b []byte) (r row) {
	end := bytes.IndexByte(b, 0)
	r.key, b = b[:end], b[end+1:]
	r.fixed, b = b[:atType], b[atType:]
	end = bytes.IndexByte(b, 0)
	r.kind, r.names = b[:end], b[end+1:]
	return r
}

func (r row) cardID() canon.CardID { return canon.CardID(r.fixed[atID : atID+16]) }

func (r row) parentID() canon.CardID { return canon.CardID(r.fixed[atParent : atParent+16]) }

func (r row) intAt(at int) int64 { return int64(binary.BigEndian.Uint64(r.fixed[at:])) }

func (r row) timeAt(at int) time.Time { return time.UnixMilli(r.intAt(at)).UTC() }

// nameList returns the card's names.
func (r row) nameList() []string { return strings.Split(string(r.names), "\n") }

// ownName returns the card's own name.
func (r row) ownName() string {
	name, _, _ := bytes.Cut(r.names, []byte{'\n'})
	return string(name)
}

// listedCard returns the data of a card that a list shows, without reading the card.
func (r row) listedCard(w access.WorldID) canon.Card {
	c := canon.Card{
		World: w, ID: r.cardID(), Parent: r.parentID(), Key: markup.Key(r.key), Name: r.ownName(), Type: string(r.kind),
		UpdatedAt: r.timeAt(atUpdated), CreatedAt: r.timeAt(atCreated),
		Content: canon.Hash(r.fixed[atContent:][:32]), Size: int(r.intAt(atSize)), Length: int(r.intAt(atLength)),
		Label: access.NewLabel(access.Level(r.fixed[atLevel])),
	}
	if r.fixed[atFlags]&isMarkdown != 0 {
		c.Format = canon.FormatMarkdown
	}
	for i := range c.Counts {
		c.Counts[i] = binary.BigEndian.Uint32(r.fixed[atCounts+4*i:])
	}
	return c
}

// filterCard returns the data of a card that a filter checks.
func (r row) filterCard() canon.Card {
	c := r.listedCard(access.WorldID{})
	if r.fixed[atFlags]&isCoded != 0 {
		c.Codename = "coded"
	}
	if r.fixed[atFlags]&isFilled != 0 {
		c.Length = max(c.Length, 1)
	}
	if r.fixed[atFlags]&isTagList != 0 {
		c.Part = canon.TagPart
	}
	if at := r.intAt(atSort); at != canon.Unsorted {
		c.Fields = json.RawMessage(`{"` + canon.FieldSort + `":` + strconv.FormatInt(at, 10) + `}`)
	}
	return c
}

// compareBy returns the order of rows for a sort; by default the order of keys.
func compareBy(by canon.Sort) func(a, b []byte) int {
	at, latestFirst := 0, true
	switch by {
	case canon.SortUpdated:
		at = atUpdated
	case canon.SortCreated:
		at = atCreated
	case canon.SortField:
		at, latestFirst = atSort, false
	default:
		return func(a, b []byte) int { return bytes.Compare(a, b) }
	}
	return func(a, b []byte) int {
		x, y := readRow(a).intAt(at), readRow(b).intAt(at)
		if latestFirst {
			x, y = y, x
		}
		return cmp.Compare(x, y)
	}
}

// Marks of documents: the card's type, the trigrams of its names, with their ends marked as for
// canon.Likeness, the first letter of its name, whether it has a codename, and the tags that a tag list gives its parent.
const (
	typeMark  = "t"
	runMark   = "r"
	startMark = "s"
	tagMark   = "g"
	codedMark = "c"
)

// TagList returns the index entry of a living list of tags with a label of the given level. Only its
// tags find it.
func TagList(c *canon.Card, level int, tags []markup.Key) *search.Doc {
	marks := slicesx.Map(tags, func(tag markup.Key) string { return tagMark + string(tag) })
	return &search.Doc{ID: search.ID(c.ID), Level: level, Marks: marks, Row: rowOf(c, access.Level(level))}
}

// Document returns the index entry of a living card with a label of the given level. doc is its
// searchable text; nil if only its name can be searched. tags are the names of its tags that everyone who
// sees it sees.
func Document(c *canon.Card, level int, doc *canon.SearchDoc, tags []string) *search.Doc {
	d := &search.Doc{ID: search.ID(c.ID), Level: level, Marks: []string{typeMark + string(markup.KeyOf(c.Type))}}
	for _, name := range c.Names() {
		for _, run := range canon.Trigrams(name) {
			d.Marks = append(d.Marks, runMark+run)
		}
	}
	for _, r := range markup.Fold(c.Name) {
		d.Marks = append(d.Marks, startMark+string(r))
		break
	}
	if c.Codename != "" {
		d.Marks = append(d.Marks, codedMark)
	}
	if doc != nil {
		d.Name, d.Text, d.Fields = doc.Name, doc.Text, canon.FieldText(c.Fields)
	}
	d.Attributes = attributesOf(c, tags)
	d.Row = rowOf(c, access.Level(level))
	return d
}

// attributesOf returns the attributes of a card as words to search; the names of its tags are among
// them.
func attributesOf(c *canon.Card, tags []string) string {
	return strings.Join(append(tags, canon.AttributeText(c.Type, c.Fields)), "\n")
}
