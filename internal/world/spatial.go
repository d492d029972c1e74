package world

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
	"loregate/internal/world/command"
)

type spatialIn struct {
	LocationID string `json:"locationId,omitzero" maxlen:"100" jsonschema:"Id or codename of the place; by default the place where players begin."`
	Depth      int    `json:"depth,omitzero" numeric:"string" default:"2" jsonschema:"Most steps, 1 to 5."`
	AsOf       string `json:"as_of,omitzero" maxlen:"64" jsonschema:"The state at a time such as 2026-01-31T18:00:00Z; for a GM also the number of a commit."`
}

func (s spatialIn) requestedTime() timeInput { return timeInput{AsOf: s.AsOf, Tick: new(int64)} }
func (s *spatialIn) fixTick(int64)           { s.AsOf = "" }

type neighbor struct {
	ID        canon.CardID        `json:"id"`
	Name      string              `json:"name"`
	Depth     int                 `json:"depth"`
	Direction command.Direction   `json:"direction" jsonschema:"The first step."`
	Path      []command.Direction `json:"path" jsonschema:"All steps."`
	InRealms  []int               `json:"inRealms,omitempty" jsonschema:"The realms that the place lies in, by position in realms, from 0."`
}

type spatialContext struct {
	Citation
	LocationID     canon.CardID `json:"locationId"`
	Depth          int          `json:"depth"`
	RequestedDepth *int         `json:"requestedDepth,omitempty" jsonschema:"The requested depth, if it was outside 1 to 5."`
	Warnings       []string     `json:"warnings"`
	InRealms       []int        `json:"inRealms,omitempty" jsonschema:"The realms that the first place lies in, by position in realms."`
	Realms         []mapRealm   `json:"realms" jsonschema:"The realms that any of the places lies in, small scope first."`
	Neighbors      []neighbor   `json:"neighbors"`
}

// mapRealm is a realm that contains places of a spatial context.
type mapRealm struct {
	namedCard
	Category  string `json:"category" jsonschema:"geographic, political, weather or functional."`
	RealmType string `json:"realmType,omitempty"`
	Scope     string `json:"scope,omitempty"`
}

// Bounds of a spatial context. maxPlaces keeps an answer under the 32 KiB that clients accept.
const (
	maxDepth  = 5
	maxPlaces = 200
)

func spatialContextOf(ctx context.Context, m *AsOf, in spatialIn) (out Item[spatialContext], err error) {
	depth := min(max(in.Depth, 1), maxDepth)
	t, ok, err := m.FindPlace(ctx, in.LocationID)
	if err != nil || !ok {
		return out, err
	}
	c := spatialContext{LocationID: t.ID, Depth: depth, Warnings: []string{}}
	if in.Depth != depth {
		c.RequestedDepth = &in.Depth
		c.Warnings = append(c.Warnings, fmt.Sprintf("depth is 1 to %d", maxDepth))
	}
	reached, err := m.Reach(ctx, canon.ReachQuery{From: t.ID, Kinds: []string{LinkExit}, Depth: depth, Limit: maxPlaces,
		AsOf: m.Seq})
	if err != nil {
		return out, err
	}
	if reached.Cut {
		c.Warnings = append(c.Warnings, fmt.Sprintf("only the nearest %d places are listed", maxPlaces-1))
	}
	if c.Neighbors, err = m.shortestPaths(ctx, t.ID, reached, depth); err != nil {
		return out, err
	}
	return Item[spatialContext]{&c}, m.addRealms(ctx, &c)
}

// addRealms adds the realms that the places lie in.
func (m *AsOf) addRealms(ctx context.Context, c *spatialContext) error {
	places := []canon.CardID{c.LocationID}
	for _, n := range c.Neighbors {
		places = append(places, n.ID)
	}
	all, byPlace, cut, err := m.realmsOfAll(ctx, places)
	if err != nil {
		return err
	}
	if cut {
		c.Warnings = append(c.Warnings, fmt.Sprintf("not all realms are listed; they are at most %d", maxMapRealms))
	}
	c.Realms = slicesx.Map(all, func(r realm) mapRealm {
		return mapRealm{namedCard{r.ID, r.Name}, realmCategory(r.RealmType), r.RealmType, r.Scope}
	})
	c.InRealms = byPlace[c.LocationID]
	for i := range c.Neighbors {
		c.Neighbors[i].InRealms = byPlace[c.Neighbors[i].ID]
	}
	return nil
}

// shortestPaths returns the shortest path to each place that can be reached. Of several it returns
// the one whose steps come first in the order of directions.
func (m *AsOf) shortestPaths(ctx context.Context, from canon.CardID, reached canon.Reached,
	depth int) ([]neighbor, error) {
	things, err := m.cardsAsOf(ctx, reached.Cards)
	if err != nil {
		return nil, err
	}
	names := make(map[canon.CardID]string, len(things))
	for _, t := range things {
		if t.IsType(TypeLocation) {
			names[t.ID] = markup.Clean(t.Name)
		}
	}
	steps := stepsOf(reached.Links)
	out, seen := []neighbor{}, map[canon.CardID]bool{from: true}
	front := []neighbor{{ID: from}}
	for n := 1; n <= depth; n++ {
		var next []neighbor
		for _, at := range front {
			for _, s := range steps[at.ID] {
				name, ok := names[s.to]
				if !ok || seen[s.to] {
					continue
				}
				seen[s.to] = true
				path := append(slices.Clone(at.Path), s.by)
				next = append(next, neighbor{ID: s.to, Name: name, Depth: n, Direction: path[0], Path: path})
			}
		}
		out = append(out, next...)
		front = next
	}
	return out, nil
}

type exitStep struct {
	by command.Direction
	to canon.CardID
}

// stepsOf returns the exits of each place in the order of directions.
func stepsOf(links []canon.Link) map[canon.CardID][]exitStep {
	steps := map[canon.CardID][]exitStep{}
	for _, l := range links {
		var a exitAttrs
		DecodeFields(l.Attrs, &a)
		if a.Direction.Valid() {
			steps[l.From] = append(steps[l.From], exitStep{a.Direction, l.To})
		}
	}
	for _, s := range steps {
		slices.SortStableFunc(s, func(a, b exitStep) int { return cmp.Compare(a.by.Index(), b.by.Index()) })
	}
	return steps
}
