package access

import "fmt"

// May is the right of a member with the role user in a world. Each value includes those after it. The zero May is all
// that the role may do, as with memberships and invitations of before there was a choice. Higher roles are never
// narrowed.
type May uint8

// The values, from the widest to the narrowest. Rows and records keep their numbers and names.
const (
	MayWrite   May = iota // "write": create cards, and edit any card that players read
	MayOwn                // "own": propose, create cards, and edit those that the member created
	MayPropose            // "propose": read, propose and play; every other write becomes a proposal
	MayRead               // "read": read only
)

var mayNames = [...]string{MayWrite: "write", MayOwn: "own", MayPropose: "propose", MayRead: "read"}

func (m May) String() string { return mayNames[min(int(m), len(mayNames)-1)] }

// ParseMay parses "write", "own", "propose" or "read".
func ParseMay(s string) (May, bool) {
	for m, name := range mayNames {
		if name == s {
			return May(m), true
		}
	}
	return MayRead, false
}

// MarshalText encodes the value as its name.
func (m May) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText decodes a name.
func (m *May) UnmarshalText(b []byte) (err error) {
	ok := false
	if *m, ok = ParseMay(string(b)); !ok {
		err = fmt.Errorf("access: %q is not write, own, propose or read", b)
	}
	return err
}

// Narrower returns the narrower of two values.
func (m May) Narrower(b May) May { return max(m, b) }

// For returns the right of a member with a role: a higher role than user is not narrowed.
func (m May) For(r Role) May {
	if r != RoleUser {
		return MayWrite
	}
	return m
}

// InvitedMay returns the right of people who are invited with a role, if nobody has chosen: players suggest.
func InvitedMay(r Role) May { return MayPropose.For(r) }

// MayIn returns the caller's right in a world: the narrower one of its key's and its membership's.
func (c Caller) MayIn(w WorldID) May {
	may := c.May[w].For(c.Role(w))
	if c.Advisory {
		may = may.Narrower(MayPropose)
	}
	if c.ReadOnly {
		may = MayRead
	}
	return may
}

// IsDiverted reports whether the caller's writes in a world become proposals. Acts of play by a member are not
// proposed: they change the member's own place in a game or a story, and no text of the world.
func (c Caller) IsDiverted(w WorldID, plays bool) bool {
	return c.MayIn(w) == MayPropose && (c.Advisory || !plays)
}

// Suggests reports whether a write of the caller may become a proposal, in some world.
func (c Caller) Suggests() bool { return c.Advisory || c.narrowedAnywhere(MayPropose) }

// ReadsOnly reports whether the caller may write in no world, not even propose.
func (c Caller) ReadsOnly() bool {
	if c.ReadOnly {
		return true
	}
	for w := range c.Roles {
		if c.MayIn(w) != MayRead {
			return false
		}
	}
	return c.EveryRole == RoleNone && len(c.Roles) > 0
}

func (c Caller) narrowedAnywhere(to May) bool {
	for w := range c.May {
		if c.MayIn(w) == to {
			return true
		}
	}
	return false
}

// Approved returns the caller for a change that somebody else has agreed to: it may make all changes that its roles
// allow, unless it only reads.
func (c Caller) Approved() Caller {
	may := make(map[WorldID]May, len(c.May))
	for w, m := range c.May {
		if m == MayRead {
			may[w] = m
		}
	}
	c.Advisory, c.May = false, may
	return c
}
