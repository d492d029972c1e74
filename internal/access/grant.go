package access

import (
	"sync/atomic"

	"github.com/google/uuid"
)

// Effect is the effect of an operation on the canon.
type Effect string

// The effects.
const (
	Read    Effect = "read"    // changes nothing
	Write   Effect = "write"   // commits
	Destroy Effect = "destroy" // commits, and hides or removes data
	Propose Effect = "propose" // stores a proposal, never the canon
)

// Class is the class of limits that an operation counts against.
type Class string

// The classes of the limits in the mcp-and-rest contract. Every tool call counts as ClassCall; a
// write also counts as ClassWrite.
const (
	ClassCall     Class = "calls"
	ClassResource Class = "resources"
	ClassList     Class = "lists"      // first pages of all lists except tools/list
	ClassPage     Class = "list_pages" // further pages of any list
	ClassTools    Class = "tool_lists" // first pages of tools/list, so that other lists do not use up its allowance
	ClassWrite    Class = "writes"
	ClassAuth     Class = "auth"
	ClassCommand  Class = "commands" // commands of players; they do not count as ClassWrite
	ClassPlayers  Class = "players"  // calls for players, of one caller together; each player has the other limits for itself
	ClassWork     Class = "work"     // milliseconds of processor time that the calls of a caller below GM take
	ClassGMWork   Class = "gm_work"  // the same for callers whose role in the call's world is GM or more
	ClassFree     Class = ""         // not limited: health and key material
)

// Request describes a call that a Guard is asked to admit.
type Request struct {
	Operation string
	Surface   string
	Effect    Effect
	Class     Class
	MinRole   Role   // lowest role in World; RoleNone admits any caller
	Operator  bool   // only the instance's operator is admitted
	People    bool   // only a person's credential is admitted, and none that may only propose
	Audience  string // audience of credentials that may call it, apart from those for the whole API; "" means none
	World     WorldID
	Target    string    // name of the target, for the access record; never content
	Player    uuid.UUID // whom the call is for; zero for nobody

	Correlation    string // id of the call in logs and commits
	IdempotencyKey string // "" if the caller sent none
	InputHash      [32]byte
	Plays          bool   // an act of play: it changes the caller's own place in a game or a story
	DryRun         bool   // plan and validate, but commit nothing
	Part           bool   // part of a call that was counted as a call; only its writes and its work count
	Unshown        bool   // its answer is compared and not shown, so that its access record names no card
	Waits          bool   // most of its time is that of others: of its parts, a model, a program, a stream's reader
	Unsure         Unsure // the fate of marks of secrecy that may mean none
	TakesAnswer    bool   // a call may say what such marks, and copies of hidden sentences, are
	DryRunID       uint64 // set by DryRuns of canon.Canon, which collects the dry runs; 0 for none
}

// Unsure is the answer of a caller who hides parts of texts, about new marks without an end and those that only look
// secret.
type Unsure uint8

// The answers.
const (
	UnsureRefused Unsure = iota // there is none: a text with such marks is refused
	UnsureText                  // they are text, and hide nothing
	UnsureHides                 // they hide
)

// Grant is the right to make one call. Guard.Admit makes it, and every method of canon.Canon that
// serves a caller requires it. The zero Grant opens nothing. Grants are values and safe to share.
type Grant struct{ in *admitted }

type admitted struct {
	caller  Caller
	request Request
	role    Role
	view    View
	call    *callState
}

// callState is the state of a call that all of its grants share.
type callState struct {
	wrote    atomic.Bool // whether a commit was made
	recorded bool        // the call has an access record that names the cards shown
	shown    shownCards
}

// Valid reports whether a Guard made this grant.
func (g Grant) Valid() bool { return g.in != nil }

// Caller returns the admitted caller.
func (g Grant) Caller() Caller {
	if g.in == nil {
		return Caller{}
	}
	return g.in.caller
}

// Request returns the admitted request.
func (g Grant) Request() Request {
	if g.in == nil {
		return Request{}
	}
	return g.in.request
}

// World returns the world that the grant is for.
func (g Grant) World() WorldID { return g.Request().World }

// Role returns the caller's role in that world, unless As or AsPlayer has lowered it.
func (g Grant) Role() Role {
	if g.in == nil {
		return RoleNone
	}
	return g.in.role
}

// WritesOwnOnly reports whether the call may change no cards but those that the caller created.
func (g Grant) WritesOwnOnly() bool {
	return !g.Request().Plays && g.Caller().MayIn(g.World()) == MayOwn
}

// MayDecide reports whether the caller may decide on the proposals of others in the grant's world: one who may not
// make a change does not agree to it either.
func (g Grant) MayDecide() bool {
	c := g.Caller()
	return c.Approve && c.May[g.World()].For(c.Role(g.World())) == MayWrite
}

// View returns the view of the grant.
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

// NoteCommit notes that the call has made a commit, for HasCommitted.
func (g Grant) NoteCommit() {
	if g.in != nil {
		g.in.call.wrote.Store(true)
	}
}

// HasCommitted reports whether the call has made a commit: if it fails nevertheless, it had an effect.
func (g Grant) HasCommitted() bool { return g.in != nil && g.in.call.wrote.Load() }

// As returns the grant with the view of a level up to its own, for previews; text that is written
// for others is composed with ForReaders. It never widens the view. It keeps the caller, who stays accountable. The
// view has no subject: data that is open to the caller by name is not for others of its level.
func (g Grant) As(level Level) Grant {
	if g.in == nil || level > g.in.view.Level || level == g.in.view.Level && g.in.view.Subject == "" {
		return g
	}
	c := *g.in
	c.view = View{Level: level}
	c.role = min(c.role, Role(level))
	return Grant{&c}
}

// AsPlayer returns the grant with the view of a player, which includes data that is open to that
// player by name. "" means any player. Data above the grant's own view stays hidden, even if its
// label names the player.
func (g Grant) AsPlayer(s Subject) Grant {
	if g.in == nil || g.in.view.Level == LevelNone {
		return g
	}
	c := *g.in
	c.view = View{Level: LevelUser, Subject: s, Ceiling: g.in.view.Level}
	c.role = min(c.role, RoleUser)
	return Grant{&c}
}

// ForReaders returns the grant with a view of only the data that all readers of a label see, for a call that
// composes a text out of the canon and writes it under that label. It never widens the view. Of
// several named subjects it takes none: data that one of them sees are not for the others.
func (g Grant) ForReaders(l Label) Grant {
	switch {
	case len(l.Subjects) == 0:
		return g.As(l.Level)
	case len(l.Subjects) > 1 || !g.Valid():
		return g.AsPlayer("")
	}
	c := *g.AsPlayer(l.Subjects[0]).in
	c.view.Ceiling = min(c.view.Ceiling, l.Level) // readers by level see no more than that level
	return Grant{&c}
}

// Part returns the grant for one part of a call that makes several commits, such as one operation
// of a batch. The part has its own idempotency key and input hash.
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

// Answering returns the grant of a call with an answer about unsure marks.
func (g Grant) Answering(u Unsure) Grant {
	if g.in == nil || u == UnsureRefused {
		return g
	}
	c := *g.in
	c.request.Unsure = u
	return Grant{&c}
}

// Unkeyed returns the grant without its idempotency key, for operations that detect repetitions by
// other means.
func (g Grant) Unkeyed() Grant {
	if g.in == nil {
		return g
	}
	c := *g.in
	c.request.IdempotencyKey = ""
	return Grant{&c}
}

// On returns the grant for another surface. A call that collects data from several surfaces uses it
// for each of them. It returns the zero Grant if the caller's key does not open that surface.
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

// DryRun returns the grant with DryRun set: everything is planned and checked, nothing is
// committed.
func (g Grant) DryRun() Grant { return g.CollectedDryRun(0) }

// CollectedDryRun is DryRun with the id of a call of DryRuns of canon.Canon, which collects the dry runs.
func (g Grant) CollectedDryRun(id uint64) Grant {
	if g.in == nil {
		return g
	}
	c := *g.in
	c.request.DryRun, c.request.DryRunID = true, id
	return Grant{&c}
}
