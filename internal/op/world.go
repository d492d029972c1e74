package op

import (
	"context"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// selectWorld selects the world of a call: the token's world, else the requested one, else the
// caller's only one. If a token for one world asks for another, it is refused by comparison with
// the names of its own world, before the other is looked up.
func (l *Local) selectWorld(ctx context.Context, c access.Caller, asked string) (access.WorldID, error) {
	switch {
	case !c.Home.IsZero():
		return l.homeWorld(ctx, c, asked)
	case asked != "":
		return l.worlds.Resolve(ctx, c, asked)
	}
	if w, ok := soleWorld(c); ok {
		return w, nil
	}
	names, err := l.worlds.Names(ctx, c)
	if err != nil {
		return access.WorldID{}, err
	}
	if len(names) == 1 {
		return l.worlds.Resolve(ctx, c, names[0])
	}
	if len(names) == 0 {
		return access.WorldID{}, fault.New(fault.NotFound, "no such world for this key; ask for a world that the key opens")
	}
	e := fault.BadField("world", "this key opens several worlds; name one of %s", strings.Join(names, ", "))
	return access.WorldID{}, e.With("worlds", names)
}

func (l *Local) homeWorld(ctx context.Context, c access.Caller, asked string) (access.WorldID, error) {
	if asked == "" || strings.EqualFold(asked, c.Home.String()) {
		return c.Home, nil
	}
	narrow := c
	narrow.Roles, narrow.EveryRole = map[access.WorldID]access.Role{c.Home: c.Role(c.Home)}, access.RoleNone
	names, err := l.worlds.Names(ctx, narrow)
	if err != nil {
		return access.WorldID{}, err
	}
	for _, n := range names {
		if n == asked {
			return c.Home, nil
		}
	}
	return access.WorldID{},
		fault.New(fault.Denied, "this token is for another world; leave the world out, or get a token for that world")
}

// soleWorld returns the one world where the caller has a role, if that is known without a look-up.
func soleWorld(c access.Caller) (access.WorldID, bool) {
	if c.EveryRole != access.RoleNone {
		return access.WorldID{}, false
	}
	var sole access.WorldID
	n := 0
	for w, r := range c.Roles {
		if r != access.RoleNone {
			sole, n = w, n+1
		}
	}
	return sole, n == 1
}
