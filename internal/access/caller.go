// Package access decides who may do what: callers with their roles, labels and views,
// the Guard that admits a call once, and the Grant it gives.
//
// Its invariant: a Grant exists only because a Guard admitted a call, and it opens no
// more than that call's role in that world. Who a caller is, is identity's matter;
// what a grant opens is enforced by the canon's door.
package access

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// Role is what somebody is in a world. Each role includes those below it.
type Role uint8

// The roles. RoleNone may do nothing and see nothing.
const (
	RoleNone  Role = 0
	RoleUser  Role = 1
	RoleGM    Role = 2
	RoleAdmin Role = 3
)

func (r Role) String() string { return Level(r).String() }

// Level is the highest level that the role reads.
func (r Role) Level() Level { return Level(r) }

// ParseRole reads "user", "gm" or "admin".
func ParseRole(s string) (Role, bool) {
	l, ok := ParseLevel(s)
	return Role(l), ok
}

// MarshalText gives a role its JSON form.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Actor says whether a person or a program decides what a key sends.
type Actor string

// The actors.
const (
	Person Actor = "person"
	AI     Actor = "ai"
)

// Caller is an authenticated somebody, as identity found them. The zero Caller may
// do nothing. A Caller is a value; its maps and slices are not changed after it is made.
type Caller struct {
	Subject Subject
	Key     string // id of the API key in use; "" for the local command line
	Actor   Actor

	Roles     map[WorldID]Role // role per world
	EveryRole Role             // role in every world: the operator's and the local command line's

	Operator bool // backups, signing keys, all worlds
	Approve  bool // may decide on proposals
	Advisory bool // every write becomes a proposal

	Surfaces   []string // surfaces the key opens; empty means all
	Operations []string // operations the key opens; empty means all
	Home       WorldID  // the token's world, or the zero id
	RateClass  string   // limits profile; "" is the default one
	// Audience is what the credential was made for; "" is the whole API. A caller with
	// an audience opens only operations that are declared for it.
	Audience  string
	Player    uuid.UUID // player card that the credential is bound to; zero for none
	Seat      string    // "game/player" that the credential is bound to; "" for none
	Unlimited bool      // the stdio profile has no limits

	TokenExpires time.Time // of the token in use; zero for keys and stdio
}

// Role is the caller's role in a world; RoleNone when it has none there.
func (c Caller) Role(w WorldID) Role { return max(c.Roles[w], c.EveryRole) }

// SeveralWorlds reports whether more than one world may be open to the caller.
func (c Caller) SeveralWorlds() bool { return c.EveryRole > RoleNone || len(c.Roles) > 1 }

// MayUse reports whether the key's own allow-list opens an operation of a surface.
func (c Caller) MayUse(surface, operation string) bool {
	if len(c.Surfaces) > 0 && surface != "" && !slices.Contains(c.Surfaces, surface) {
		return false
	}
	return len(c.Operations) == 0 || slices.Contains(c.Operations, operation)
}

// Account is what limits and idempotency keys count by: the key, else the subject.
func (c Caller) Account() string {
	if c.Key != "" {
		return c.Key
	}
	return "subject:" + string(c.Subject)
}
