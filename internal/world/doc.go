// Package world gives narrators the context of a living world and lets people play in
// it: places, exits, realms, atmosphere, players, lore, commands and domain events.
//
// Its invariant: everything is kept as the canon keeps it (cards, links, layers and
// commits), and read through one canon.Snapshot of the call's grant, so that an edit in the
// wiki shows in the next answer and what a caller may not see is absent from it. Reading
// changes nothing. Play changes links alone: a player stands at one place, its clock
// never falls, no quantity is negative, and nobody's act moves the world's time.
//
// Three clocks (clock.go, anchor.go). The world's is computed from its last step and its
// rate, as long as somebody plays. A player's moves on by the cost of acts (cost.go), at
// most an hour ahead of the world. A place's anchor is the world's time, or up to an hour
// later where players met who were ahead of it. On arriving, on coming back and when joined
// a player and the place come to one time: the later of both, within that hour.
//
// What an agent suggests goes through the gates of package proposal; this package tells
// that one what its kinds mean (propose.go). Text in, text out: who decides what a
// narrator says is not its matter.
//
// How things are kept:
//
//	place      card of type Location; content is the description; fields terrain, tags,
//	           exitAvailability {"pending": {direction: reason}, "forbidden": {…}}
//	exit       link exit, place to place; attributes direction, description,
//	           travelDurationMs, lockState ("locked", "unlocked"), key (name or codename
//	           of the item that unlocks it)
//	realm      card of type Realm; fields realmType, scope, narrativeTags; links within,
//	           member_of, borders, on_route, vassal_of, allied_with, at_war_with
//	player     card of type Player; one link at to where it stands, with attributes clock
//	           (milliseconds) and heading (a direction)
//	anchor     link anchor from a place to itself, attribute clock: the latest time that
//	           players met there, one link for each label of those who met
//	clock      event World.Clock.Advanced: tick, real time and rate from which it runs on
//	thing      card of any other type with a link at to a place, or a link holds from
//	           who or what has it, with attribute quantity (1 where absent)
package world
