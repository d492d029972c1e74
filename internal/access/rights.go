package access

import (
	"maps"
	"slices"
)

// SameRights reports whether two callers are the same and have the same rights. Only TokenExpires
// may differ. An open stream ends when this is no longer true for its caller.
func (c Caller) SameRights(b Caller) bool {
	return c.Subject == b.Subject && c.Key == b.Key && c.Actor == b.Actor && c.Audience == b.Audience &&
		c.Player == b.Player && c.Seat == b.Seat &&
		c.EveryRole == b.EveryRole && c.Operator == b.Operator && c.Approve == b.Approve && c.Advisory == b.Advisory &&
		c.Home == b.Home && c.RateClass == b.RateClass && c.Unlimited == b.Unlimited && maps.Equal(c.Roles, b.Roles) &&
		slices.Equal(c.Surfaces, b.Surfaces) && slices.Equal(c.Operations, b.Operations)
}
