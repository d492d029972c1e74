// Package canon is the one door to the canon of every world: cards, links, layers and
// the commits that change them.
//
// Its invariant: nothing is read but through a Grant, which shows only what it opens, and
// nothing changes but by Canon.Commit, which is validated, atomic, attributed, in order
// and chained by hash. Hidden things are left out by the store's queries, before anything
// is counted, ordered or cut. What a surface makes of cards is the surface's matter; how
// rows are kept is the store's, behind the ports in ports.go.
package canon

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// CardID identifies a card in its world; a UUIDv7, so ids sort by creation.
type CardID uuid.UUID

// String is the canonical text of the id.
func (c CardID) String() string { return uuid.UUID(c).String() }

// IsZero reports whether the id names no card.
func (c CardID) IsZero() bool { return c == CardID{} }

// MarshalText gives the id its JSON form.
func (c CardID) MarshalText() ([]byte, error) { return uuid.UUID(c).MarshalText() }

// UnmarshalText reads the canonical text of an id.
func (c *CardID) UnmarshalText(b []byte) error { return (*uuid.UUID)(c).UnmarshalText(b) }

// Hash is the SHA-256 of stored bytes. The zero Hash stands for no bytes at all.
type Hash [32]byte

// String is the hash in hexadecimal; "" for the zero Hash.
func (h Hash) String() string {
	if h == (Hash{}) {
		return ""
	}
	return hex.EncodeToString(h[:])
}

// MarshalText gives the hash its JSON form.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads hexadecimal.
func (h *Hash) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*h = Hash{}
		return nil
	}
	_, err := hex.Decode(h[:], b)
	return err
}

// Seq is the number of a commit in its stream, from 1. It is never shown below gm:
// gaps would count hidden work.
type Seq uint64

// Counts numbers a card's versions for each level: Counts[l-1] is how many versions were
// written while level l saw the card. A viewer is shown the count of its own level, so
// that what was written out of its sight leaves no gap.
type Counts [3]uint32

// For is the version number that a level is shown.
func (c Counts) For(l access.Level) uint32 {
	return c[min(max(l, access.LevelUser), access.LevelAdmin)-1]
}

// addVersion counts one more version, written at a level.
func (c Counts) addVersion(at access.Level) Counts {
	for l := at; l <= access.LevelAdmin; l++ {
		c[l-1]++
	}
	return c
}

// Card is everything that has a name, as it stands now. Content is not part of it: it is
// kept by hash, and read with Canon.Content.
type Card struct {
	World    access.WorldID
	ID       CardID
	Parent   CardID // nearest ancestor that exists; zero for a root
	Part     string // own part of the name as written; compound where ancestors are missing
	Codename string // stable id; "" for none

	Type    string          // name of the type as written
	Content Hash            // of the content's bytes
	Size    int             // bytes of content
	Length  int             // characters of content
	Fields  json.RawMessage // canonical JSON object; nil for none
	Own     access.Label    // label given to the card itself

	// Projections of the card and its ancestors.
	Name  string
	Key   markup.Key
	Label access.Label // effective: own, the ancestors' and the name rules', met

	Rev       uint32 // counts every version, for conflict checks; never shown
	Counts    Counts
	CreatedAt time.Time
	CreatedBy access.Subject
	UpdatedAt time.Time
	UpdatedBy access.Subject
	Seq       Seq       // commit that wrote the current version
	TrashedAt time.Time // zero while alive
	TrashRoot CardID    // the card whose trashing took this one along; itself for that card
}

// Trashed reports whether the card is in the trash.
func (c Card) Trashed() bool { return !c.TrashedAt.IsZero() }

// CompareHomonyms puts the lowest level first, then what is open to more subjects, then goes by id.
func CompareHomonyms(a, b Card) int {
	return cmp.Or(
		cmp.Compare(a.Label.Level, b.Label.Level),
		cmp.Compare(len(b.Label.Subjects), len(a.Label.Subjects)),
		bytes.Compare(a.ID[:], b.ID[:]))
}

// Version is the version number that a view is shown of the card.
func (c Card) Version(v access.View) uint32 { return c.Counts.For(max(v.Level, levelShown(c, v))) }

// levelShown is the level whose numbering a view gets: its own, or for a card seen only
// by being named, the card's.
func levelShown(c Card, v access.View) access.Level {
	if v.Level >= c.Label.Level {
		return v.Level
	}
	return c.Label.Level
}

// Version is one state of a card that was current in commits [From, To).
type Version struct {
	World   access.WorldID
	Card    CardID
	Rev     uint32
	From    Seq
	To      Seq // 0 while current
	Counts  Counts
	Label   access.Label // effective label: the card's while current, and since then what it was last
	Name    string       // compound name when it was written, or when it last came into sight of more
	Former  FormerName   `json:",omitzero"` // name when it was written, where Name is another
	Type    string
	Content Hash
	Size    int
	Length  int
	Fields  json.RawMessage
	Trashed bool
	Purged  bool // its body was erased by the operator
	At      time.Time
	By      access.Subject
	Op      string    // operation that wrote it
	Change  uuid.UUID // id of the commit
}

// FormerName is a name and who may see it: those who saw the card while it bore the name.
type FormerName struct {
	Name  string
	Label access.Label
}

// For is a version as a view is shown it: named as it was written to those who may see
// that name, to others as it came into their sight.
func (v Version) For(view access.View) Version {
	if v.Former.Name != "" && view.Sees(v.Former.Label) {
		v.Name = v.Former.Name
	}
	v.Former = FormerName{}
	return v
}

// setLabel gives a current version the label that its card has now. Where that opens it to
// more, it bears for them the name that the card has now: it may have had a secret one
// when the version was written, or one of those above it may.
func (v *Version) setLabel(c Card) {
	if !v.Label.Meet(c.Label).Equal(c.Label) {
		if v.Former.Name == "" {
			v.Former = FormerName{v.Name, v.Label}
		}
		if v.Name = c.Name; v.Former.Name == v.Name {
			v.Former = FormerName{}
		}
	}
	v.Label, v.Counts = c.Label, c.Counts
}

// RefKind says how one card's content points at another name.
type RefKind uint8

// The kinds of reference derived from content.
const (
	RefLink RefKind = iota + 1 // [[Target]]
	RefNest                    // {{Target}}
	RefTag                     // an item of X+tags, pointing from X
)

// Ref is a reference derived from a card's content. Its target is a key, for it may not
// exist, or exist differently for different readers.
type Ref struct {
	From   CardID
	Kind   RefKind
	Target markup.Key
	Name   string // target as written, relative names resolved
	Order  int    // position in the content, from 0
}

// LinkID identifies a link in its world.
type LinkID uuid.UUID

// String is the canonical text of the id.
func (l LinkID) String() string { return uuid.UUID(l).String() }

// MarshalText gives the id its JSON form.
func (l LinkID) MarshalText() ([]byte, error) { return uuid.UUID(l).MarshalText() }

// UnmarshalText reads the canonical text of an id.
func (l *LinkID) UnmarshalText(b []byte) error { return (*uuid.UUID)(l).UnmarshalText(b) }

// linkSpace is the name space of LinkIDOf.
var linkSpace = uuid.MustParse("6f1c2b0e-5a52-5d0b-9d7e-2f7d3c0a9e41")

// LinkIDOf is the id of a link that there can be one of, such as the exit of a place in a
// direction, the holder of an item or where a player is: a UUIDv5 of the parts.
func LinkIDOf(parts ...string) LinkID {
	return LinkID(uuid.NewSHA1(linkSpace, []byte(strings.Join(parts, "\x00"))))
}

// Link is a typed, directed edge between cards. It is visible where its label and both
// ends are. Changing a link raises no card's version.
type Link struct {
	World access.WorldID
	ID    LinkID
	Kind  string // exit, within, borders, member_of, relationship, at, holds, …
	From  CardID
	To    CardID
	Attrs json.RawMessage // canonical JSON object; nil for none
	Label access.Label
	Since Seq // commit that wrote this state
	Until Seq // commit that ended it; 0 while current
	At    time.Time
}

// LayerID identifies a layer in its world.
type LayerID uuid.UUID

// String is the canonical text of the id.
func (l LayerID) String() string { return uuid.UUID(l).String() }

// MarshalText gives the id its JSON form.
func (l LayerID) MarshalText() ([]byte, error) { return uuid.UUID(l).MarshalText() }

// UnmarshalText reads the canonical text of an id.
func (l *LayerID) UnmarshalText(b []byte) error { return (*uuid.UUID)(l).UnmarshalText(b) }

// Layer is text laid over a place or realm for a span of world time.
type Layer struct {
	World    access.WorldID
	ID       LayerID
	Card     CardID // the place or realm
	Kind     string // base, ambient, dynamic, weather, lighting
	Text     string
	FromTick int64 // milliseconds of world time
	ToTick   int64 // last tick it is active at; 0 for without end
	Label    access.Label
	At       time.Time
	Since    Seq
	Until    Seq // 0 while current
}

// World is a tenant: a campaign, a wiki or a game setting.
type World struct {
	ID        access.WorldID
	Slug      string
	Title     string
	Settings  Settings
	CreatedAt time.Time
	Origin    access.WorldID // world it was forked from; zero for none
	OriginSeq Seq
}

// Settings is what a world's admin configures. The zero value is the default.
type Settings struct {
	Description   string            `json:"description,omitempty"`
	GMParts       []string          `json:"gm_parts,omitzero"` // name parts that make a card GM; nil means gm and ai
	BatchRole     string            `json:"batch_role,omitempty"`
	Starter       string            `json:"starter_location,omitempty"`
	KeepCodenames bool              `json:"keep_codenames,omitempty"` // refuse to trash cards with a codename
	Extra         map[string]string `json:"extra,omitempty"`
}

// LanguageSetting is the extra setting that says which language a world is written in.
const LanguageSetting = "language"

// Language is the code of the language that a world is written in; English by default.
func (s Settings) Language() string { return cmp.Or(s.Extra[LanguageSetting], "en") }

// Member is somebody's role in a world.
type Member struct {
	World   access.WorldID
	Subject access.Subject
	Role    access.Role // RoleNone for somebody who was removed: closes the world to their keys too
	Player  CardID      // player card the subject is bound to; zero for none
}
