package canon

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// ChangeSet is what a write operation plans: changes, and what it read to decide on
// them. It is inert until Canon.Commit applies it whole or not at all.
type ChangeSet struct {
	Reads   []ReadMark // cards and links the plan rests on; Commit refuses where one has moved
	Changes []Change
	Targets []CardID  // cards the caller acted on, in the order of its input; kept for the reply
	Event   *Event    // domain event; nil for none
	Cause   uuid.UUID // the change that this one follows from; zero for none
	Note    string    // why, in the author's words; "" for none

	bodies map[Hash][]byte
	keys   []markup.Key                        // that cards made or renamed are to have
	once   bool                                // the event's key must not have been used of late
	only   func(context.Context, Reader) error // refuses where the change must not be made now; nil for never
}

// ReadMark is a card as a plan saw it or, where Card is zero, a link.
type ReadMark struct {
	Card  CardID
	Rev   uint32
	Link  LinkID
	Since Seq // commit that wrote the link's current state; 0 where there is none in sight
}

// Change is one change; exactly one field is set. In a ChangeSet and in a commit's
// record it is an after-image: the state that the thing has afterwards, with content
// named by its hash.
type Change struct {
	World  *WorldImage  `json:"world,omitempty"`
	Member *MemberImage `json:"member,omitempty"`
	Card   *CardImage   `json:"card,omitempty"`
	Link   *LinkImage   `json:"link,omitempty"`
	Layer  *LayerImage  `json:"layer,omitempty"`
	Purge  *PurgeImage  `json:"purge,omitempty"`
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
	Player  CardID         `json:"player,omitzero"`
}

// Act says what a change does to a card beyond its new state.
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
	Content  Hash            `json:"content,omitzero"`
	Size     int             `json:"size,omitempty"`
	Length   int             `json:"length,omitempty"`
	Fields   json.RawMessage `json:"fields,omitempty"`
	Own      access.Label    `json:"label"`
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

// StreamID names a stream: the unit of order, locking and chain. A world's canon is
// "world:<uuid>"; for others see LedgerStream.
type StreamID string

// worldKind is the kind of the streams of worlds' canons.
const worldKind = "world"

// WorldStream is the stream of a world's canon.
func WorldStream(w access.WorldID) StreamID { return StreamID(worldKind + ":" + w.String()) }

// StreamRange gives the ids between which those of a kind's streams lie, the second
// exclusive: what Reader.Streams asks an index for.
func StreamRange(kind string) (from, to StreamID) {
	if kind == "" {
		return "", "\U0010FFFF"
	}
	return StreamID(kind + ":"), StreamID(kind + ";")
}

// Record is a commit. Its JSON encoding is what is stored and hashed: a commit's hash is
// SHA-256 over the previous commit's hash and those bytes.
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
}

// StoredCommit is a commit as a stream keeps it.
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

// Head is the last commit of a stream; the zero Head is an empty stream's.
type Head struct {
	Seq  Seq
	Hash Hash
}

// StreamHead is a stream with its last commit.
type StreamHead struct {
	Stream StreamID
	Head
}

// Receipt says what a commit did.
type Receipt struct {
	Change   uuid.UUID // id of the commit; zero when nothing changed or nothing was committed
	Seq      Seq
	At       time.Time
	Targets  []CardID
	Replayed bool   // the idempotency key was used before; nothing was done now
	DryRun   bool   // everything held, nothing was committed
	Cards    []Card // the changed cards as they stand afterwards, in order of change

	// For LookAfter.
	seen   *createCache
	bodies map[Hash][]byte // that the change brought
}
