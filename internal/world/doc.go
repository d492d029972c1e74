// Package world is the model of a living world for narrators: places, exits, realms,
// atmosphere, players, clocks, and the events of play.
//
// Its invariant: all state is canon state (cards, links, layers and commits), and each call
// reads it through one canon.Snapshot of the caller's grant. An edit in the wiki therefore
// shows in the next answer, and an answer never contains anything that the caller may not
// see. Reads change nothing.
//
// An AsOf is the source that a context is read from: a snapshot, the commit that is shown, and
// the world time. ContextTool declares a tool whose answers can be cited by a proposal and read
// again later (tool.go, ref.go).
//
// There are three kinds of clocks (clock.go, anchor.go). The world's clock is computed from
// its last step and its rate; it runs while somebody plays. A player's clock advances by the
// cost of its acts, to at most an hour ahead of the world. A place's anchor is the world's time,
// or up to an hour later if players met there who were ahead of the world. When a player
// arrives, comes back after a pause or is joined by another player, the player and the place are
// set to one time: the later of both, within that hour.
//
// The acts of players are in package play, their commands in package command, facts and the
// search for them in package lore. Package event delivers the events that this package declares
// (event.go) to their handlers. This package does not choose the words of a narrator: that is up
// to package agent.
//
// Storage format:
//
//	place      card of type Location; content is the description; fields terrain, tags,
//	           exitAvailability {"pending": {direction: reason}, "forbidden": {…}}
//	exit       link exit, place to place; attributes direction, description,
//	           travelDurationMs, lockState ("locked", "unlocked"), key (name or codename
//	           of the item that unlocks it)
//	realm      card of type Realm; fields realmType, scope, narrativeTags; links within,
//	           member_of, borders, on_route, vassal_of, allied_with, at_war_with
//	player     card of type Player; one link at to the place where it is, with attributes
//	           clock (milliseconds) and heading (a direction)
//	anchor     link anchor from a place to itself, attribute clock: the latest time that
//	           players met there, one link for each label of those who met
//	clock      event World.Clock.Advanced: tick, real time and rate from which it runs on
//	thing      card of any other type with a link at to a place, or a link holds from its
//	           holder (player, character, container or place), with attribute quantity
//	           (1 if absent)
package world
