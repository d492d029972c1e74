package identity

import (
	"loregate/internal/access"
)

// grant makes the caller of a key, of the token got for it (nil for the key itself) and
// of its subject's memberships of today.
//
// The role in a world is the lowest of: the key's highest role, the key's role there,
// the token's role, the membership there. A key that names no world opens those of its
// subject's memberships; an operator's opens all. A token for one world opens that one
// only. A token of a lower role than its key's highest is not an operator's; Approve is
// apart from roles, and what it decides on asks for a role besides.
func grant(k Key, c *claims, memberships []Membership) access.Caller {
	ceiling, lowered := k.MaxRole, false
	if c != nil {
		lowered = c.Role < k.MaxRole
		ceiling = min(ceiling, c.Role)
	}
	person := k.Actor == access.Person
	caller := access.Caller{
		Subject: k.Subject, Key: k.ID, Actor: k.Actor,
		Roles:      rolesOf(k, ceiling, memberships),
		Operator:   k.Operator && person && !lowered,
		Approve:    k.Approve && person,
		Advisory:   k.Advisory,
		Surfaces:   k.Surfaces,
		Operations: k.Operations,
		RateClass:  k.RateClass,
		Audience:   k.Audience,
		Player:     k.Player,
		Seat:       k.Seat,
	}
	if k.Operator && person && len(k.Worlds) == 0 {
		caller.EveryRole = ceiling
	}
	if k.Seat != "" && k.Audience == "" {
		caller.Surfaces = []string{SeatSurface}
	}
	if c != nil {
		caller.TokenExpires = c.expires()
		narrow(&caller, c.World.WorldID)
	}
	return caller
}

func rolesOf(k Key, ceiling access.Role, memberships []Membership) map[access.WorldID]access.Role {
	if len(k.Worlds) == 0 {
		roles := map[access.WorldID]access.Role{}
		for _, m := range memberships {
			put(roles, m.World, min(m.Role, ceiling))
		}
		return roles
	}
	return capped(k.Worlds, ceiling, memberships)
}

// capped is roles in worlds, none above a ceiling or above what the subject is a member as.
func capped(worlds map[access.WorldID]access.Role, ceiling access.Role, memberships []Membership) map[access.WorldID]access.Role {
	roles := map[access.WorldID]access.Role{}
	for w, r := range worlds {
		put(roles, w, min(r, ceiling))
	}
	for _, m := range memberships {
		if r, ok := roles[m.World]; ok && m.Role < r {
			delete(roles, m.World)
			put(roles, m.World, m.Role)
		}
	}
	return roles
}

func put(roles map[access.WorldID]access.Role, w access.WorldID, r access.Role) {
	if r > access.RoleNone {
		roles[w] = r
	}
}

// narrow leaves a caller the one world of its token.
func narrow(c *access.Caller, w access.WorldID) {
	if w.IsZero() {
		return
	}
	only := map[access.WorldID]access.Role{}
	put(only, w, c.Role(w))
	c.Home, c.Roles, c.EveryRole = w, only, access.RoleNone
}
