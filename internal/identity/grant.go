package identity

import (
	"loregate/internal/access"
)

// newCaller makes the caller of a key from the key, the token issued for it (nil for the key
// itself) and its subject's current memberships.
//
// The role in a world is the lowest of: the key's highest role, the key's role there, the token's
// role, the membership there. A key that names no world opens those of its subject's memberships;
// an operator's opens all. A token for one world opens only that one. A token with a lower role
// than its key's highest is not an operator's. Approve does not depend on roles; the items that it
// decides on require a role of their own.
func newCaller(k Key, c *claims, memberships []Membership) access.Caller {
	ceiling, lowered := k.MaxRole, false
	if c != nil {
		lowered = c.Role < k.MaxRole
		ceiling = min(ceiling, c.Role)
	}
	person := k.Actor == access.Person
	caller := access.Caller{
		Subject: k.Subject, Key: k.ID, Actor: k.Actor,
		Roles:      rolesOf(k, ceiling, memberships),
		May:        mayOf(memberships),
		Operator:   k.Operator && person && !lowered,
		Approve:    k.Approve && person,
		Advisory:   k.Advisory,
		ReadOnly:   k.ReadOnly,
		Surfaces:   k.Surfaces,
		Operations: k.Operations,
		RateClass:  k.RateClass,
		Audience:   audienceOfCaller(k),
		Player:     k.Player,
		Seat:       k.Seat,
		Vouched:    k.Vouched,
	}
	if k.Operator && person && len(k.Worlds) == 0 {
		caller.EveryRole = ceiling
	}
	if k.Seat != "" && caller.Audience == "" && !areSeatSurfaces(k.Surfaces) {
		caller.Surfaces = []string{SeatSurface}
	}
	if c != nil {
		caller.TokenExpires = c.expiryTime()
		narrowToWorld(&caller, c.World.WorldID)
	}
	return caller
}

// audienceOfCaller returns the audience that the holder of a key is restricted to. A session and a grant
// open the whole API: only where they may be used is restricted.
func audienceOfCaller(k Key) string {
	if k.Audience == AudienceConsole || k.Audience == AudienceGrant {
		return ""
	}
	return k.Audience
}

func rolesOf(k Key, ceiling access.Role, memberships []Membership) map[access.WorldID]access.Role {
	if len(k.Worlds) == 0 {
		roles := map[access.WorldID]access.Role{}
		for _, m := range memberships {
			putRole(roles, m.World, min(m.Role, ceiling))
		}
		return roles
	}
	return capRoles(k.Worlds, ceiling, memberships)
}

// capRoles returns the roles in worlds, none above the ceiling or above the subject's membership
// there.
func capRoles(worlds map[access.WorldID]access.Role, ceiling access.Role,
	memberships []Membership) map[access.WorldID]access.Role {
	roles := map[access.WorldID]access.Role{}
	for w, r := range worlds {
		putRole(roles, w, min(r, ceiling))
	}
	for _, m := range memberships {
		if r, ok := roles[m.World]; ok && m.Role < r {
			delete(roles, m.World)
			putRole(roles, m.World, m.Role)
		}
	}
	return roles
}

// mayOf returns the rights of memberships, for the worlds where they are less than all.
func mayOf(memberships []Membership) map[access.WorldID]access.May {
	var may map[access.WorldID]access.May
	for _, m := range memberships {
		if m.Role == access.RoleUser && m.May != access.MayWrite {
			if may == nil {
				may = map[access.WorldID]access.May{}
			}
			may[m.World] = m.May
		}
	}
	return may
}

func putRole(roles map[access.WorldID]access.Role, w access.WorldID, r access.Role) {
	if r > access.RoleNone {
		roles[w] = r
	}
}

// narrowToWorld limits a caller to its token's one world. It is no operator's then, whose operations are on the whole
// instance.
func narrowToWorld(c *access.Caller, w access.WorldID) {
	if w.IsZero() {
		return
	}
	only := map[access.WorldID]access.Role{}
	putRole(only, w, c.Role(w))
	c.Home, c.Roles, c.EveryRole, c.Operator = w, only, access.RoleNone, false
}
