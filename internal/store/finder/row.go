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
)

// rowFormat tells rows as they are encoded here from those of other programs.
const rowFormat = "/2"

// WithRowFormat is a world's state as indexes are bound to it whose rows are encoded as here.
func WithRowFormat(at search.State) search.State {
	if at.Tag != "" {
		at.Tag += rowFormat
	}
	return at
}

// A row is a card as the index sorts and narrows by it, so that no card is read for that:
//
//	key, 0, id, updated, created, sort value, parent, content, size, length, counts, level, flags, type, 0, names
//
// Ids are 16 bytes, hashes 32, times milliseconds since 1970, times and numbers 8 bytes,
// counts 4 each, big-endian. The names are the card's Names, a line each. Rows sort by key,
// then id.
const (
	atID      = 0 // after the key's end
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
)

// rowOf encodes a card with a label of a level.
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
	b = append(append(append(b, flags), replaceNUL(c.Type)...), 0)
	return append(b, names...)
}

// replaceNUL takes out of a text what ends it in a row.
func replaceNUL(s string) string { return strings.ReplaceAll(s, "\x00", " ") }

// row is an encoded card, taken apart.
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

// nameList gives the card's names.
func (r row) nameList() []string { return strings.Split(string(r.names), "\n") }

// ownName is the card's own name.
func (r row) ownName() string {
	name, _, _ := bytes.Cut(r.names, []byte{'\n'})
	return string(name)
}

// listedCard is what a list shows of a card, for which it need not be read.
func (r row) listedCard(w access.WorldID) canon.Card {
	c := canon.Card{
		World: w, ID: r.cardID(), Parent: r.parentID(), Key: markup.Key(r.key), Name: r.ownName(), Type: string(r.kind),
		UpdatedAt: r.timeAt(atUpdated), CreatedAt: r.timeAt(atCreated),
		Content: canon.Hash(r.fixed[atContent:][:32]), Size: int(r.intAt(atSize)), Length: int(r.intAt(atLength)),
		Label: access.NewLabel(access.Level(r.fixed[atLevel])),
	}
	for i := range c.Counts {
		c.Counts[i] = binary.BigEndian.Uint32(r.fixed[atCounts+4*i:])
	}
	return c
}

// filterCard is what a filter asks of a card.
func (r row) filterCard() canon.Card {
	c := r.listedCard(access.WorldID{})
	if r.fixed[atFlags]&isCoded != 0 {
		c.Codename = "coded"
	}
	if r.fixed[atFlags]&isFilled != 0 {
		c.Length = max(c.Length, 1)
	}
	if at := r.intAt(atSort); at != canon.Unsorted {
		c.Fields = json.RawMessage(`{"` + canon.FieldSort + `":` + strconv.FormatInt(at, 10) + `}`)
	}
	return c
}

// compareBy gives the order of rows for a sort; nil for the order of keys.
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

// Marks of documents: of its type, and of the runs of three characters that are in its
// names, their ends marked as for canon.Likeness, of what a name begins with, and of the tags
// that a list of tags gives the card above it.
const (
	typeMark  = "t"
	runMark   = "r"
	startMark = "s"
	tagMark   = "g"
)

// Document is what is indexed of a living card with a label of a level. doc is what is
// searchable of it; nil where nothing is but its name. tags are its references of
// canon.RefTag.
func Document(c *canon.Card, level int, doc *canon.SearchDoc, tags []markup.Key) *search.Doc {
	d := &search.Doc{ID: search.ID(c.ID), Level: level, Marks: []string{typeMark + string(markup.KeyOf(c.Type))}}
	for _, name := range c.Names() {
		for _, run := range canon.Runs(name) {
			d.Marks = append(d.Marks, runMark+run)
		}
	}
	for _, r := range markup.Fold(c.Name) {
		d.Marks = append(d.Marks, startMark+string(r))
		break
	}
	if len(markup.Parts(c.Part)) == 1 { // else the card above it is not there
		for _, tag := range tags {
			d.Marks = append(d.Marks, tagMark+string(tag))
		}
	}
	if doc != nil {
		d.Name, d.Text, d.Fields = doc.Name, doc.Text, canon.FieldText(c.Fields)
	}
	d.Row = rowOf(c, access.Level(level))
	return d
}
