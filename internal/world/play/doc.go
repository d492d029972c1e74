// Package play lets people play in a world: it creates players, carries out their commands,
// narrates the results, and streams the events around a player.
//
// Its invariant: play changes only links. A player is at one place, its clock never goes back, no
// quantity is negative, and no player's act moves the world's time. An act that the story does
// not allow changes nothing. The event of an act is at least as hidden as every card that the act
// involves.
//
// Each act of a command is one commit: command.go runs the acts in order and makes the steps of
// the clocks that must come before one, turn.go plans an act, and cost.go computes its length. Acts
// that an agent suggests pass the gates of package proposal; propose.go defines how such an act is
// checked and carried out.
//
// The model of places and clocks is in package world, the grammar of commands in package command.
// The narration here is made of templates; the words of a language model are up to package agent.
package play
