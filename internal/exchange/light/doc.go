// Package light imports text worlds in the format of the LIGHT project.
//
// Its invariant: a room has one exit in each direction, and every node that is left out or moved is
// reported.
package light
