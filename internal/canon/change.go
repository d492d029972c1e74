package canon

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// ChangeSet is the plan of a write operation: its changes, and the cards and links that the plan
// read to decide on them. It has no effect until Canon.Commit applies it as a whole or not at all.
type ChangeSet struct {
	Reads   []ReadMark // cards and links that the plan depends on; Commit refuses if one has changed
	Changes []Change
	Targets []CardID  // cards the caller acted on, in the order of its input; kept for the reply
	Event   *Event    // domain event; nil if there is none
	Cause   uuid.UUID // the change that led to this one; zero if there is none
	Note    string    // reason for the change, in the author's words; may be ""

	bodies  map[Hash][]byte
	keys    []markup.Key                        // keys that created and renamed cards will have
	opened  []Opened                            // hidden parts that get a wider label
	ignored []string                            // new marks that hide nothing
	removed []string                            // the hidden parts that a game master's text leaves out, shortened
	copied  []UnsureMark                        // hidden sentences that the author calls text for everybody
	once    bool                                // refuse if the event's key was used recently; see Plan.EventOnce
	only    func(context.Context, Reader) error // called in the write transaction, to refuse the change; may be nil
}

// ReadMark identifies the state of a card that a plan read or, if Card is zero, of a link.
type ReadMark struct {
	Card  CardID
	Rev   uint32
	Link  LinkID
	Since Seq // commit that wrote the link's current state; 0 if the plan saw no link
}

// Change is one change; exactly one field is set. In a ChangeSet and in a commit's record it is an
// after-image: the full state after the change, with content replaced by its hash.
type Change struct {
	World  *WorldImage  `json:"world,omitempty"`
	Member *MemberImage `json:"member,omitempty"`
	Card   *CardImage   `json:"card,omitempty"`
	Link   *LinkImage   `json:"link,omitempty"`
	Layer  *LayerImage  `json:"layer,omitempty"`
	Purge  *PurgeImage  `json:"purge,omitempty"`
	Text   *TextImage   `json:"text,omitempty"`
}

// Content returns the hash of the content that a change names, if it names one.
func (ch Change) Content() (Hash, bool) {
	switch {
	case ch.Card != nil:
		return ch.Card.Content, ch.Card.Content != Hash{}
	case ch.Text != nil:
		return ch.Text.Content, !ch.Text.Gone
	}
	return Hash{}, false
}

// WorldImage is a world's state after a change.
type WorldImage struct {
	Slug      string         `json:"slug"`
	Title     string         `json:"title,omitempty"`
	Settings  Settings       `json:"settings"`
	Origin    access.WorldID `json:"origin,omitzero"`
	OriginSeq Seq            `json:"origin_seq,omitempty"`
}

// MemberImage is a membership after a change; RoleNone removes it.
type MemberImage struct {
	Subject access.Subject `json:"subject"`
	Role    access.Role    `json:"role"`
	May     access.May     `json:"may,omitzero"` // of RoleUser; records of before have none: MayWrite
	Player  CardID         `json:"player,omitzero"`
}

// Act is the kind of a change to a card.
type Act string

// The acts.
const (
	ActCreate  Act = "create"
	ActUpdate  Act = "update"  // content, type, fields or codename
	ActRename  Act = "rename"  // parent or part
	ActLabel   Act = "label"   // own label
	ActTrash   Act = "trash"   // with everything under it
	ActRestore Act = "restore" // from the trash, with everything that went with it
)

// CardImage is a card's own state after a change.
type CardImage struct {
	Act      Act             `json:"act"`
	ID       CardID          `json:"id"`
	Parent   CardID          `json:"parent,omitzero"`
	Part     string          `json:"part"`
	Codename string          `json:"codename,omitempty"`
	Type     string          `json:"type"`
	Format   TextFormat      `json:"text_format,omitzero"` // streams of before have none: HTML
	Content  Hash            `json:"content,omitzero"`
	Size     int             `json:"size,omitempty"`
	Length   int             `json:"length,omitempty"`
	Fields   json.RawMessage `json:"fields,omitempty"`
	Own      access.Label    `json:"label"`
	Places   *Places         `json:"places,omitempty"`
	HidePast bool            `json:"hide_past,omitempty"` // earlier versions get the label of hidden parts too
}

// LinkImage is a link's state after a change; Gone ends it.
type LinkImage struct {
	ID    LinkID          `json:"id"`
	Kind  string          `json:"kind"`
	From  CardID          `json:"from"`
	To    CardID          `json:"to"`
	Attrs json.RawMessage `json:"attrs,omitempty"`
	Label access.Label    `json:"label"`
	Gone  bool            `json:"gone,omitempty"`
}

// LayerImage is a layer's state after a change; Gone ends it.
type LayerImage struct {
	ID       LayerID      `json:"id"`
	Card     CardID       `json:"card"`
	Kind     string       `json:"kind"`
	Text     string       `json:"text"`
	FromTick int64        `json:"from_tick"`
	ToTick   int64        `json:"to_tick,omitempty"`
	Label    access.Label `json:"label"`
	Gone     bool         `json:"gone,omitempty"`
}

// PurgeImage erases the body of one version of a card, keeping its hash.
type PurgeImage struct {
	Card CardID `json:"card"`
	Rev  uint32 `json:"rev"`
	Body Hash   `json:"body"`
}

// TextImage is a text beside the cards, which links and events name by its hash. Gone erases its bytes and keeps
// the hash.
type TextImage struct {
	Content Hash         `json:"content"`
	Size    int          `json:"size,omitempty"`
	Label   access.Label `json:"label"` // of those who may learn the hash
	Gone    bool         `json:"gone,omitempty"`
}

// StreamID identifies a stream, the unit of order, locking and hash chain. A world's canon is
// "world:<uuid>"; for other streams see LedgerStream.
type StreamID string

// worldKind is the kind of the streams of worlds' canons.
const worldKind = "world"

// WorldStream returns the id of the stream of a world's canon.
func WorldStream(w access.WorldID) StreamID { return StreamID(worldKind + ":" + w.String()) }

// StreamRange returns the range of ids of a kind's streams; to is exclusive. Implementations of
// Reader.Streams use it to query an index.
func StreamRange(kind string) (from, to StreamID) {
	if kind == "" {
		return "", "\U0010FFFF"
	}
	return StreamID(kind + ":"), StreamID(kind + ";")
}

// Record is the content of a commit. Its JSON encoding is stored and hashed: the hash of a commit
// is the SHA-256 of the previous commit's hash followed by the JSON.
type Record struct {
	Stream      StreamID       `json:"stream"`
	Seq         Seq            `json:"seq"`
	ID          uuid.UUID      `json:"id"` // the change's public id
	At          time.Time      `json:"at"`
	By          access.Subject `json:"by"`
	Key         string         `json:"key,omitempty"`
	Role        access.Role    `json:"role"`
	Op          string         `json:"op"`
	Correlation string         `json:"correlation_id,omitempty"`
	Causation   string         `json:"causation_id,omitempty"`
	Idempotency string         `json:"idempotency_key,omitempty"`
	Note        string         `json:"note,omitempty"`
	Targets     []CardID       `json:"targets,omitempty"`
	Event       *Event         `json:"event,omitempty"`
	Changes     []Change       `json:"changes,omitempty"`
	Gap         *Gap           `json:"gap,omitempty"` // commits before it that are lost; nil if there are none
}

// StoredCommit is a commit as stored in a stream.
type StoredCommit struct {
	Stream StreamID
	Seq    Seq
	ID     uuid.UUID
	At     time.Time
	By     access.Subject
	Op     string
	Body   []byte // the Record's JSON
	Prev   Hash
	Hash   Hash
}

// Head is the last commit of a stream; the zero Head means that the stream is empty.
type Head struct {
	Seq  Seq
	Hash Hash
}

// StreamHead is a stream with its last commit.
type StreamHead struct {
	Stream StreamID
	Head
}

// Receipt is the result of a commit.
type Receipt struct {
	Change   uuid.UUID // id of the commit; zero when nothing changed or nothing was committed
	Seq      Seq
	At       time.Time
	Targets  []CardID
	Replayed bool     // the idempotency key was used before, and nothing was done now
	DryRun   bool     // all checks passed, and nothing was committed
	Cards    []Card   // changed cards in their state after the change, in order of change
	Opened   []Opened // data that more readers see after the change; not of a replayed one
	// IgnoredMarks are new marks in texts of writers who may hide nothing; not of a replayed change.
	IgnoredMarks []string
	// RemovedParts are the hidden parts that a game master's text left out, shortened; not of a replayed change.
	RemovedParts []string

	// For ReadAfter.
	seen   *createCache
	bodies map[Hash][]byte // content that the change wrote
}
