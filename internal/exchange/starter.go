package exchange

import (
	"context"
	"math"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// typePlace is the type of the cards where players can be.
const typePlace = "Location"

// isPlace reports whether a sheet is a place where players can begin.
func (s *Sheet) isPlace() bool {
	for above := s; above != nil; above = above.Above {
		if above.Label.Level > access.LevelUser || len(above.Label.Subjects) > 0 || above.MinLevel > access.LevelUser {
			return false
		}
	}
	return markup.KeyOf(s.Type) == markup.KeyOf(typePlace)
}

// CheckStarter returns an error if name is neither an imported nor an existing place that players
// see.
func (c *Collection) CheckStarter(ctx context.Context, l *canon.Snapshot, name string) error {
	if name == "" {
		return nil
	}
	if slices.ContainsFunc(c.ByKey[markup.KeyOf(name)], (*Sheet).isPlace) {
		return nil
	}
	there, ok, err := l.As(access.LevelUser).Exists(ctx, name)
	if err != nil || ok && markup.KeyOf(there.Type) == markup.KeyOf(typePlace) {
		return err
	}
	var places []string
	for _, s := range c.Sheets {
		if s.isPlace() && len(places) < 5 {
			places = append(places, s.FullName())
		}
	}
	hint := "the import contains no place that players see"
	if len(places) > 0 {
		hint = "places in the import: " + strings.Join(places, ", ")
	}
	return fault.New(fault.Invalid,
		"starter-location: players cannot begin at %q: it is not a place (a card of type Location) that they see; %s",
		name, hint)
}

// findStarter returns the name of the place that the source names, if players see it, or else of the
// best connected imported place: the one with most exits, then
// most other links and references, then the first. It returns "" if no place was imported.
func (c *Collection) findStarter(mentioned map[markup.Key]int) string {
	ways := map[*Sheet]int{}
	for _, e := range c.Edges {
		for _, s := range []*Sheet{e.From.Sheet, e.To.Sheet} {
			if s == nil {
				continue
			}
			if ways[s]++; e.Kind == "exit" {
				ways[s] += 1000
			}
		}
	}
	var best *Sheet
	most := -1
	if b := c.Begin; b != nil && b.isPlace() && (!b.done || b.card.label.Level <= access.LevelUser) {
		best, most = b, math.MaxInt
	}
	for _, s := range c.Sheets {
		n := ways[s] + mentioned[s.Key()]
		if s.isPlace() && n > most && (!s.done || s.card.label.Level <= access.LevelUser) {
			best, most = s, n
		}
	}
	switch {
	case best == nil:
		return ""
	case best.done:
		return best.card.name
	}
	return best.FullName()
}

// SetStarter sets the place where the world's players begin: the given one or, if none is given,
// the best imported one. Without a given place, an existing starter is kept. It does nothing unless
// the grant has the role admin.
func (w *Writer) SetStarter(ctx context.Context, asked string, mentioned map[markup.Key]int) error {
	start := asked
	if start == "" {
		start = w.Collection.findStarter(mentioned)
	}
	if start == "" || w.Grant.Role() < access.RoleAdmin {
		return nil
	}
	change := false
	err := w.Canon.Read(ctx, w.Grant, func(l *canon.Snapshot) error {
		there := l.World().Settings.Starter
		change = there == "" || asked != "" && there != asked
		if !change {
			w.Summary.Starter = there
		}
		return nil
	})
	if err != nil || !change {
		return err
	}
	w.Summary.Starter = start
	return w.commit(ctx, func(p *canon.Plan, _ *tally) error {
		w := p.World()
		w.Settings.Starter = start
		return p.Configure(w.Title, w.Settings)
	})
}
