package canon

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// CardID identifies a card in its world. It is a UUIDv7, so ids sort by creation.
type CardID uuid.UUID

// String returns the canonical text of the id.
func (c CardID) String() string { return uuid.UUID(c).String() }

// IsZero reports whether the id is zero, which identifies no card.
func (c CardID) IsZero() bool { return c == CardID{} }

// MarshalText encodes the id as its canonical text.
func (c CardID) MarshalText() ([]byte, error) { return uuid.UUID(c).MarshalText() }

// UnmarshalText decodes the canonical text of an id.
func (c *CardID) UnmarshalText(b []byte) error { return (*uuid.UUID)(c).UnmarshalText(b) }

// Hash is the SHA-256 of stored bytes. The zero Hash means that there are no bytes.
type Hash [32]byte

// String returns the hash in hexadecimal, or "" for the zero Hash.
func (h Hash) String() string {
	if h == (Hash{}) {
		return ""
	}
	return hex.EncodeToString(h[:])
}

// MarshalText encodes the hash in hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText decodes 64 hexadecimal digits; empty text is the zero Hash.
func (h *Hash) UnmarshalText(b []byte) error {
	switch len(b) {
	case 0:
		*h = Hash{}
		return nil
	case hex.EncodedLen(len(h)):
	default:
		return fault.New(fault.Invalid, "a hash has %d hexadecimal digits, not %d bytes", hex.EncodedLen(len(h)), len(b))
	}
	_, err := hex.Decode(h[:], b)
	return err
}

// Seq is the number of a commit in its stream, from 1. It is never shown to callers below GM, who
// could count hidden commits by the gaps.
type Seq uint64

// Counts holds a card's version number at each level: Counts[l-1] is the number of versions that
// were written while level l saw the card. A viewer is shown the number of their own level, so
// versions that were hidden from them leave no gap.
type Counts [3]uint32

// For returns the version number that is shown to a level.
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

// Card is the current state of a card: anything in a world that has a name. Content is not part of
// it: it is stored under its hash and read with Snapshot.Content.
type Card struct {
	World    access.WorldID
	ID       CardID
	Parent   CardID // nearest ancestor that exists; zero for a root
	Part     string // own part of the name as written; several parts where ancestors are missing
	Codename string // stable id; "" if there is no codename

	Type    string          // name of the type as written
	Format  TextFormat      `json:",omitzero"` // of the content; see TextKind
	Content Hash            // of the content's bytes
	Size    int             // bytes of content
	Length  int             // characters of content
	Fields  json.RawMessage // canonical JSON object; nil if empty
	Own     access.Label    // label given to the card itself
	Places  *Places         `json:",omitempty"` // of the parts in its content; nil if it holds none

	// Computed from the card and its ancestors.
	Name  string
	Key   markup.Key
	Label access.Label // effective label: the meet of Own, the labels of the ancestors and the name rules

	Parts PartsKind `json:",omitzero"` // parts of its text in cards below it, ever

	Rev       uint32 // counts all versions, for conflict checks; never shown
	Counts    Counts
	CreatedAt time.Time
	CreatedBy access.Subject
	UpdatedAt time.Time
	UpdatedBy access.Subject
	Seq       Seq       // commit that wrote the current version
	TrashedAt time.Time // zero while the card is alive
	TrashRoot CardID    // card whose trashing took this one along; its own id for that card
}

// Trashed reports whether the card is in the trash.
func (c Card) Trashed() bool { return !c.TrashedAt.IsZero() }

// CompareHomonyms orders cards by level, lowest first; then by the number of subjects, most first;
// then by id.
func CompareHomonyms(a, b Card) int {
	return cmp.Or(
		cmp.Compare(a.Label.Level, b.Label.Level),
		cmp.Compare(len(b.Label.Subjects), len(a.Label.Subjects)),
		bytes.Compare(a.ID[:], b.ID[:]))
}

// Version returns the version number of the card that is shown to a view.
func (c Card) Version(v access.View) uint32 { return c.Counts.For(max(v.Level, levelShown(c, v))) }

// levelShown returns the level whose version numbers a view is shown: the view's own or, for a card
// that the view sees only through its subject, the card's.
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
	Label   access.Label // effective label: the card's while current, afterwards the last one it had
	Name    string       // compound name when it was written, or when it was last opened to more viewers
	Former  FormerName   `json:",omitzero"` // name when it was written, if Name is a different one
	Type    string
	Format  TextFormat `json:",omitzero"`
	Content Hash
	Size    int
	Length  int
	Fields  json.RawMessage
	Places  *Places `json:",omitempty"`
	Trashed bool
	Purged  bool // the operator erased its body
	At      time.Time
	By      access.Subject
	Op      string    // operation that wrote it
	Change  uuid.UUID // id of the commit

	parts Seq // last change of hidden parts, in the lists of those who see them
}

// FormerName is a former name of a card and its label: the viewers who saw the card while it had
// the name.
type FormerName struct {
	Name  string
	Label access.Label
}

// OpEdit is the name that players are shown for the operations that decide who reads a text.
const OpEdit = "update_card"

// tellingOps are the operations whose name tells that something is or was hidden. For players they are edits.
var tellingOps = []string{"hide_part", "reveal_part", OpHideMarked, "set_card_level", "reveal", "unreveal"}

// For returns the version as a view is shown it. A view that may see the former name gets the name
// as it was written; other views get the name that the card had when it became visible to them. Views below the game
// master are not shown that the operation hid or revealed something.
func (v Version) For(view access.View) Version {
	if view.Level < access.LevelGM && slices.Contains(tellingOps, v.Op) {
		v.Op = OpEdit
	}
	if v.Former.Name != "" && view.Sees(v.Former.Label) {
		v.Name = v.Former.Name
	}
	v.Former = FormerName{}
	return v
}

// setLabel gives a current version its card's present label. If that opens the version to more
// viewers, they see the card's present name: the name at the time of writing, or an ancestor's, may
// have been secret.
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

// RefKind is the way in which a card's content refers to another name.
type RefKind uint8

// The kinds of reference derived from content.
const (
	RefLink RefKind = iota + 1 // [[Target]]
	RefNest                    // {{Target}}
	RefTag                     // an item of X+tags, pointing from X
)

// Ref is a reference derived from a card's content. Its target is a key, since the target card may
// not exist, or may be a different card for different readers.
type Ref struct {
	From   CardID
	Kind   RefKind
	Target markup.Key
	Name   string // target as written, relative names resolved
	Order  int    // position in the content, from 0
}

// LinkID identifies a link in its world.
type LinkID uuid.UUID

// String returns the canonical text of the id.
func (l LinkID) String() string { return uuid.UUID(l).String() }

// MarshalText encodes the id as its canonical text.
func (l LinkID) MarshalText() ([]byte, error) { return uuid.UUID(l).MarshalText() }

// UnmarshalText decodes the canonical text of an id.
func (l *LinkID) UnmarshalText(b []byte) error { return (*uuid.UUID)(l).UnmarshalText(b) }

// linkSpace is the UUID name space of LinkIDOf.
var linkSpace = uuid.MustParse("6f1c2b0e-5a52-5d0b-9d7e-2f7d3c0a9e41")

// LinkIDOf returns a fixed id for a link of which only one may exist, such as the exit of a place
// in a direction, the holder of an item or the position of a player. The id is a UUIDv5 of the
// parts.
func LinkIDOf(parts ...string) LinkID {
	return LinkID(uuid.NewSHA1(linkSpace, []byte(strings.Join(parts, "\x00"))))
}

// Link is a typed, directed edge between cards. It is visible to a view that sees its label and
// both ends. Changing a link creates no new version of a card.
type Link struct {
	World access.WorldID
	ID    LinkID
	Kind  string // exit, within, borders, member_of, relationship, at, holds, …
	From  CardID
	To    CardID
	Attrs json.RawMessage // canonical JSON object; nil if empty
	Label access.Label
	Since Seq // commit that wrote this state
	Until Seq // commit that ended it; 0 while current
	At    time.Time
}

// LayerID identifies a layer in its world.
type LayerID uuid.UUID

// String returns the canonical text of the id.
func (l LayerID) String() string { return uuid.UUID(l).String() }

// MarshalText encodes the id as its canonical text.
func (l LayerID) MarshalText() ([]byte, error) { return uuid.UUID(l).MarshalText() }

// UnmarshalText decodes the canonical text of an id.
func (l *LayerID) UnmarshalText(b []byte) error { return (*uuid.UUID)(l).UnmarshalText(b) }

// Layer is text that is added to a place or realm for a span of world time.
type Layer struct {
	World    access.WorldID
	ID       LayerID
	Card     CardID // the place or realm
	Kind     string // base, ambient, dynamic, weather, lighting
	Text     string
	FromTick int64 // milliseconds of world time
	ToTick   int64 // last tick at which it is active; 0 means without end
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
	Origin    access.WorldID // world that it was forked from; zero if it is no fork
	OriginSeq Seq
}

// Settings is the configuration of a world, set by its admin. The zero value is the default.
type Settings struct {
	Description string `json:"description,omitempty"`
	// name parts that raise a card to GM level; nil means gm and ai
	GMParts       []string `json:"gm_parts,omitzero"`
	BatchRole     string   `json:"batch_role,omitempty"`
	Starter       string   `json:"starter_location,omitempty"`
	KeepCodenames bool     `json:"keep_codenames,omitempty"` // refuse to trash cards with a codename
	// GMRights is who manages cards, that is sets levels and renames, deletes and restores: GMRightsAll for game
	// masters too, GMRightsCampaign or "" for admins.
	GMRights string            `json:"gm_rights,omitempty"`
	Extra    map[string]string `json:"extra,omitempty"`
}

// The values of Settings.GMRights. Game masters have the rights that the surface campaign gives them in any case.
const (
	GMRightsCampaign = "campaign"
	GMRightsAll      = "all"
)

// ManagerRole returns the lowest role that manages cards in the world; see Plan.CheckManages for which ones.
func (s Settings) ManagerRole() access.Role {
	if s.GMRights == GMRightsAll {
		return access.RoleGM
	}
	return access.RoleAdmin
}

// LanguageSetting is the name of the extra setting for the language that a world is written in.
const LanguageSetting = "language"

// Language returns the code of the world's language; English by default.
func (s Settings) Language() string { return cmp.Or(s.Extra[LanguageSetting], "en") }

// Member is a subject's role in a world.
type Member struct {
	World   access.WorldID
	Subject access.Subject
	Role    access.Role // RoleNone for a removed member: it closes the world to their keys as well
	May     access.May  `json:",omitzero"` // of RoleUser
	Player  CardID      // player card that the subject is bound to; zero if there is none
}
