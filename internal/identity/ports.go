package identity

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"

	"loregate/internal/access"
)

// Hash is the SHA-256 of a secret as it was shown.
type Hash [sha256.Size]byte

// Store keeps keys and invitations. Every write is durable when it returns.
type Store interface {
	// Keys yields all keys, including revoked ones, by creation.
	Keys(ctx context.Context) iter.Seq2[Key, error]
	KeyByID(ctx context.Context, id string) (Key, bool, error)
	KeyByHash(ctx context.Context, h Hash) (Key, bool, error)
	// AddKey returns ErrExists if the id or hash is in use.
	AddKey(ctx context.Context, k Key) error
	// RevokeKey marks a key as revoked; a key that is already revoked keeps its time. It reports
	// whether the key exists.
	RevokeKey(ctx context.Context, id string, at time.Time) (bool, error)
	// DeleteKeys deletes keys, all or nothing. Ids that name no key are no error.
	DeleteKeys(ctx context.Context, ids []string) error

	// SigningKeys returns all signing keys, latest first. Backups leave them out.
	SigningKeys(ctx context.Context) ([]SigningKey, error)
	// AddSigningKey adds k if the kid of the latest key is after ("" if there are no keys). It sets
	// the Until of that latest key, and deletes the keys whose Until is before k.Created; all or
	// nothing. It reports whether it added k: another process may have been first.
	AddSigningKey(ctx context.Context, k SigningKey, after string, until time.Time) (bool, error)

	// AddInvitation returns ErrExists if the id or hash is in use.
	AddInvitation(ctx context.Context, i Invitation) error
	InvitationByHash(ctx context.Context, h Hash) (Invitation, bool, error)
	// Invitations lists a world's invitations, by creation.
	Invitations(ctx context.Context, w access.WorldID) ([]Invitation, error)
	// ClaimInvitation assigns an invitation to a subject. It reports whether the invitation is that
	// subject's: nobody else claimed it, and it is neither accepted nor withdrawn.
	ClaimInvitation(ctx context.Context, id string, s access.Subject) (bool, error)
	// CloseInvitation ends an invitation as accepted or withdrawn. It reports whether it was open.
	CloseInvitation(ctx context.Context, id string, as InvitationState, at time.Time) (bool, error)

	// Generation changes with every write to the store by any process.
	Generation(ctx context.Context) (uint64, error)
}

// ErrExists is returned by a Store if an id or a hash is in use.
var ErrExists = errors.New("identity: the id or hash is already used")

// Membership is a subject's role in a world.
type Membership struct {
	World   access.WorldID
	Subject access.Subject
	Role    access.Role // RoleNone for a removed member: closes the world to the subject's keys too
	May     access.May  // of RoleUser
	Player  uuid.UUID   // player card that the subject is bound to; zero if it is not bound
}

// Worlds is the part of the canon that identity uses.
type Worlds interface {
	// Memberships returns a subject's current memberships.
	Memberships(ctx context.Context, s access.Subject) ([]Membership, error)
	// FindWorld finds a world by its slug or UUID.
	FindWorld(ctx context.Context, text string) (access.WorldID, bool, error)
}

// Joiner creates the memberships of accepted invitations. Joining again with the same role changes
// nothing.
type Joiner interface {
	Join(ctx context.Context, m Membership, invitedBy access.Subject) error
}

// Key is an API key as it is stored.
type Key struct {
	ID   string `json:"id"`
	Hash Hash   `json:"-"`
	KeySpec
	Created time.Time `json:"created"`
	Revoked time.Time `json:"revoked,omitzero"` // zero if it is not revoked
}

// KeySpec holds the fields of a key that its creator chooses.
type KeySpec struct {
	Name    string         `json:"name"` // for people, to tell keys apart
	Subject access.Subject `json:"subject"`
	Actor   access.Actor   `json:"actor"` // "" is an AI
	MaxRole access.Role    `json:"max_role"`
	// Worlds are the worlds that the key opens, each with its highest role there. Empty means those
	// that the subject is a member of; with Operator, all.
	Worlds     map[access.WorldID]access.Role `json:"worlds,omitempty"`
	Surfaces   []string                       `json:"surfaces,omitempty"`   // empty: all
	Operations []string                       `json:"operations,omitempty"` // empty: all
	RateClass  string                         `json:"rate_class,omitempty"` // limits profile
	Expires    time.Time                      `json:"expires,omitzero"`     // zero: never
	Advisory   bool                           `json:"advisory,omitempty"`   // writes become proposals
	ReadOnly   bool                           `json:"read_only,omitempty"`  // writes and proposals are refused
	Audience   string                         `json:"audience,omitempty"`   // AudiencePlay: the key behind a play token
	Player     uuid.UUID                      `json:"player,omitzero"`      // acts as this player card only
	// "game/player": opens that seat and nothing else
	Seat      string         `json:"seat,omitempty"`
	Approve   bool           `json:"approve,omitempty"`  // never with an AI
	Operator  bool           `json:"operator,omitempty"` // never with an AI
	CreatedBy access.Subject `json:"created_by,omitempty"`
	// Vouched: the admin of a world made the sign-in link, and may hold the session that it opens.
	Vouched bool `json:"vouched,omitempty"`
	// Behalf is the person on whose behalf a program acts under a subject of its own. The key's roles are at
	// most those that this person has as a member today.
	Behalf access.Subject `json:"behalf,omitempty"`
	OAuth  *OAuthKey      `json:"oauth,omitempty"` // of a grant and its secrets
	// Outside limits the key to the roles that an outside issuer gives the person who signed in by it.
	Outside *OutsideKey `json:"outside,omitempty"`
	// Passkey is the public part of a passkey.
	Passkey *webauthn.Credential `json:"passkey,omitempty"`
	// MadeWith is the id of the key that this one was made with through the API. It ends when that
	// key does.
	MadeWith string `json:"made_with,omitempty"`
	// Once names the request that makes the key; "" for none. A repeated request gets the first key without
	// its secret.
	Once string `json:"-"`
}

// Within reports whether a key opens no world but those that another opens by its name. A key that names no world
// opens all of its person's, so nothing is beyond it.
func (k KeySpec) Within(other KeySpec) bool {
	if len(other.Worlds) == 0 {
		return true
	}
	for w := range k.Worlds {
		if _, opens := other.Worlds[w]; !opens {
			return false
		}
	}
	return len(k.Worlds) > 0
}

// Good reports whether the key is usable at a time: neither revoked nor expired.
func (k Key) Good(now time.Time) bool {
	return k.Revoked.IsZero() && (k.Expires.IsZero() || now.Before(k.Expires))
}

// SigningKey is an RSA key that signs tokens, as it is stored.
type SigningKey struct {
	KID     string
	PEM     []byte // PKCS #8, "PRIVATE KEY"
	Created time.Time
	Until   time.Time // expiry of its last token; zero for the key that signs now
}

// InvitationState is the state of an invitation.
type InvitationState string

// The states of an invitation.
const (
	InvitationOpen      InvitationState = "open"
	InvitationAccepted  InvitationState = "accepted"
	InvitationWithdrawn InvitationState = "withdrawn"
)

// Invitation makes holders of its code members of a world: Uses of them, each once. A Store keeps each
// of its places as an invitation of one use.
type Invitation struct {
	ID      string          `json:"id"`
	Hash    Hash            `json:"-"`
	World   access.WorldID  `json:"world"`
	Role    access.Role     `json:"role"`
	May     access.May      `json:"may,omitzero"` // of RoleUser: of those who accept it
	By      access.Subject  `json:"by"`
	Subject access.Subject  `json:"subject,omitempty"` // the intended subject, or the one that claimed it
	State   InvitationState `json:"state"`
	Created time.Time       `json:"created"`
	Expires time.Time       `json:"expires"`
	Closed  time.Time       `json:"closed,omitzero"` // when it was accepted or withdrawn
	Uses    int             `json:"uses"`            // not stored
	Used    int             `json:"used"`            // not stored
}
