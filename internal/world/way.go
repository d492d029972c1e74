package world

import (
	"context"

	"loregate/internal/canon"
	"loregate/internal/slicesx"
	"loregate/internal/world/command"
)

// Bounds of the places that a way is looked for in.
const (
	wayDepth  = 4
	wayPlaces = 80
)

// Way is the shortest way to a place.
type Way struct {
	To   canon.CardID
	Name string // of the place
	Path []command.Direction
}

// WaysFrom returns the ways to the places around a place, the nearest first, through exits that the reader sees.
func (m *AsOf) WaysFrom(ctx context.Context, place canon.CardID) ([]Way, error) {
	reached, err := m.Reach(ctx, canon.ReachQuery{From: place, Kinds: []string{LinkExit}, Depth: wayDepth,
		Limit: wayPlaces,
		AsOf:  m.Seq})
	if err != nil {
		return nil, err
	}
	near, err := m.shortestPaths(ctx, place, reached, wayDepth)
	return slicesx.Map(near, func(n neighbor) Way { return Way{n.ID, n.Name, n.Path} }), err
}
