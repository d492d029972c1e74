package access

// Effect is what an operation does to the canon.
type Effect string

// The effects.
const (
	Read    Effect = "read"    // changes nothing
	Write   Effect = "write"   // commits
	Destroy Effect = "destroy" // commits, and takes something away from view
	Propose Effect = "propose" // stores a proposal, never the canon
)

// Class is the limit that an operation counts against.
type Class string

// The classes of mcp-and-rest limits. Every tool call counts as ClassCall; a write
// counts as ClassWrite besides.
const (
	ClassCall     Class = "calls"
	ClassResource Class = "resources"
	ClassList     Class = "lists"      // first pages of lists but tools/list
	ClassPage     Class = "list_pages" // further pages of any list
	ClassTools    Class = "tool_lists" // first pages of tools/list: no other list takes a client's tools
	ClassWrite    Class = "writes"
	ClassAuth     Class = "auth"
	ClassCommand  Class = "commands" // of players; outside ClassWrite
	ClassFree     Class = ""         // not limited: health and key material
)

// Request is what a Guard is asked to admit.
type Request struct {
	Operation string
	Surface   string
	Effect    Effect
	Class     Class
	MinRole   Role   // least role in World; RoleNone where any caller may
	Operator  bool   // only the instance's operator
	Audience  string // whose credentials open it besides the whole API's; "" is nobody's
	World     WorldID
	Target    string // name of what is acted on, for the access record; never content

	Correlation    string // id that follows the call through logs and commits
	IdempotencyKey string // "" when the caller sent none
	InputHash      [32]byte
	DryRun         bool // plan and validate, commit nothing
}

// Grant is the right to one call, made by Guard.Admit and asked for by every method of
// the canon's door. The zero Grant opens nothing. Grants are values and safe to share.
type Grant struct{ in *admitted }

type admitted struct {
	caller  Caller
	request Request
	role    Role
	view    View
}

// Valid reports whether a Guard made this grant.
func (g Grant) Valid() bool { return g.in != nil }

// Caller is who was admitted.
func (g Grant) Caller() Caller {
	if g.in == nil {
		return Caller{}
	}
	return g.in.caller
}

// Request is what was admitted.
func (g Grant) Request() Request {
	if g.in == nil {
		return Request{}
	}
	return g.in.request
}

// World is the world the grant is for.
func (g Grant) World() WorldID { return g.Request().World }

// Role is the role in force.
func (g Grant) Role() Role {
	if g.in == nil {
		return RoleNone
	}
	return g.in.role
}

// View is what the grant shows.
func (g Grant) View() View {
	if g.in == nil {
		return View{}
	}
	return g.in.view
}

// Writes reports whether the grant may commit.
func (g Grant) Writes() bool {
	e := g.Request().Effect
	return e == Write || e == Destroy
}

// As is the grant with the view of a lower audience, for previews and for text that is
// written for others. It never widens, and it keeps the caller, who stays accountable.
// The lowered view names no subject.
func (g Grant) As(level Level) Grant {
	if g.in == nil || level >= g.in.view.Level {
		return g
	}
	c := *g.in
	c.view = View{Level: level}
	c.role = min(c.role, Role(level))
	return Grant{&c}
}

// AsPlayer is As for one player, with the things that are open to them by name; "" is any
// player. What lies above the grant's own view stays out of sight, whoever it names.
func (g Grant) AsPlayer(s Subject) Grant {
	if g.in == nil || g.in.view.Level == LevelNone {
		return g
	}
	c := *g.in
	c.view = View{Level: LevelUser, Subject: s, Ceiling: g.in.view.Level}
	c.role = min(c.role, RoleUser)
	return Grant{&c}
}

// Part is the grant for one part of a call that makes several commits, such as one
// operation of a batch: it has an idempotency key and input hash of its own.
func (g Grant) Part(suffix string, input [32]byte) Grant {
	if g.in == nil {
		return g
	}
	c := *g.in
	if c.request.IdempotencyKey != "" {
		c.request.IdempotencyKey += "#" + suffix
	}
	c.request.InputHash = input
	return Grant{&c}
}

// Unkeyed is the grant without its idempotency key, for what is told from a repetition by
// other means.
func (g Grant) Unkeyed() Grant {
	if g.in == nil {
		return g
	}
	c := *g.in
	c.request.IdempotencyKey = ""
	return Grant{&c}
}

// On is the grant as one that was given on a surface. A call that gathers from several
// surfaces asks each with it. It opens nothing that the caller's key does not open there.
func (g Grant) On(surface string) Grant {
	if g.in == nil || g.in.request.Surface == surface {
		return g
	}
	if !g.in.caller.MayUse(surface, "") && len(g.in.caller.Operations) == 0 {
		return Grant{}
	}
	c := *g.in
	c.request.Surface = surface
	return Grant{&c}
}

// DryRun is the grant with DryRun set: everything is planned and checked, nothing is
// committed.
func (g Grant) DryRun() Grant {
	if g.in == nil {
		return g
	}
	c := *g.in
	c.request.DryRun = true
	return Grant{&c}
}
