package access

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Role is the role of a caller in a world. Each role includes the lower ones.
type Role uint8

// The roles. RoleNone may do nothing and see nothing.
const (
	RoleNone  Role = 0
	RoleUser  Role = 1
	RoleGM    Role = 2
	RoleAdmin Role = 3
)

func (r Role) String() string { return Level(r).String() }

// Level returns the highest level that the role may read.
func (r Role) Level() Level { return Level(r) }

// ParseRole parses "user", "gm" or "admin".
func ParseRole(s string) (Role, bool) {
	l, ok := ParseLevel(s)
	return Role(l), ok
}

// MarshalText encodes the role as its name.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Actor is the kind of caller that decides on the calls of a key: a person or a program.
type Actor string

// The actors.
const (
	Person Actor = "person"
	AI     Actor = "ai"
)

// Caller is an authenticated caller, as established by package identity. The zero Caller may do
// nothing. A Caller is a value: its maps and slices are never changed after it is made.
type Caller struct {
	Subject Subject
	Key     string // id of the API key in use; "" for the local command line
	Actor   Actor

	Roles     map[WorldID]Role // role per world
	EveryRole Role             // role in every world: the operator's and the local command line's
	// May has the rights of memberships with the role user, for the worlds where they are less than all; see MayIn.
	May map[WorldID]May

	Operator bool // backups, signing keys, all worlds
	Approve  bool // may decide on proposals
	Advisory bool // every write becomes a proposal
	ReadOnly bool // may neither write nor propose: a key made so, or an address that only reads

	Surfaces   []string // surfaces the key opens; empty means all
	Operations []string // operations the key opens; empty means all
	Home       WorldID  // the token's world; zero if there is none
	RateClass  string   // profile of limits; "" is the default one
	// Audience restricts the credential to operations that are declared for this audience;
	// "" opens the whole API.
	Audience  string
	Player    uuid.UUID // player card that the credential is bound to; zero if there is none
	Seat      string    // "game/player" that the credential is bound to; "" if there is none
	Unlimited bool      // no limits apply, as for the stdio profile

	// Vouched: a person's session that somebody else opened by a link of their making. Whoever made the link may
	// hold it, so it proves less than a credential of the person's own.
	Vouched bool
	Lowered bool // made by Lower: the view is that of any caller with the role, without data open to Subject by name

	TokenExpires time.Time // of the token in use; zero for keys and stdio
}

// Role returns the caller's role in a world, or RoleNone.
func (c Caller) Role(w WorldID) Role { return max(c.Roles[w], c.EveryRole) }

// Lower returns the caller with at most a role in every world, for looking at a world as that role
// sees it, without data that is open to the caller by name. It has none of the rights beside roles.
func (c Caller) Lower(most Role) Caller {
	roles := make(map[WorldID]Role, len(c.Roles))
	for w, r := range c.Roles {
		roles[w] = min(r, most)
	}
	c.Roles, c.EveryRole = roles, min(c.EveryRole, most)
	c.Operator, c.Approve, c.Lowered = false, false, true
	return c
}

// SeveralWorlds reports whether the caller may have a role in more than one world.
func (c Caller) SeveralWorlds() bool { return c.EveryRole > RoleNone || len(c.Roles) > 1 }

// MayUse reports whether the key's own allow-list contains an operation of a surface.
func (c Caller) MayUse(surface, operation string) bool {
	if len(c.Surfaces) > 0 && surface != "" && !slices.Contains(c.Surfaces, surface) {
		return false
	}
	return len(c.Operations) == 0 || slices.Contains(c.Operations, operation)
}

// view returns the view of a role.
func (c Caller) view(r Role) View {
	if c.Lowered {
		return View{Level: r.Level()}
	}
	return View{Level: r.Level(), Subject: c.Subject}
}

// Account returns the account for limits and idempotency keys: the key, or else the subject.
func (c Caller) Account() string {
	return cmp.Or(c.Key, "subject:"+string(c.Subject))
}

// SameRights reports whether two callers are the same and have the same rights. Only TokenExpires
// may differ. An open stream ends when this is no longer true for its caller.
func (c Caller) SameRights(b Caller) bool {
	return c.Subject == b.Subject && c.Key == b.Key && c.Actor == b.Actor && c.Audience == b.Audience &&
		c.Player == b.Player && c.Seat == b.Seat &&
		c.EveryRole == b.EveryRole && c.Operator == b.Operator && c.Approve == b.Approve && c.Advisory == b.Advisory &&
		c.ReadOnly == b.ReadOnly && c.Lowered == b.Lowered && c.Vouched == b.Vouched &&
		c.Home == b.Home && c.RateClass == b.RateClass && c.Unlimited == b.Unlimited && maps.Equal(c.Roles, b.Roles) &&
		maps.Equal(c.May, b.May) && slices.Equal(c.Surfaces, b.Surfaces) && slices.Equal(c.Operations, b.Operations)
}
