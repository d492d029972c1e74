package exchange

import (
	"context"
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
func (s *sheet) isPlace() bool {
	for above := s; above != nil; above = above.above {
		if above.own.Level > access.LevelUser || len(above.own.Subjects) > 0 || above.minLevel > access.LevelUser {
			return false
		}
	}
	return markup.KeyOf(s.typ) == markup.KeyOf(typePlace)
}

// checkStarter returns an error if name is neither an imported nor an existing place that players
// see.
func (c *collection) checkStarter(ctx context.Context, l *canon.Snapshot, name string) error {
	if name == "" {
		return nil
	}
	if slices.ContainsFunc(c.byKey[markup.KeyOf(name)], (*sheet).isPlace) {
		return nil
	}
	there, ok, err := l.As(access.LevelUser).Exists(ctx, name)
	if err != nil || ok && markup.KeyOf(there.Type) == markup.KeyOf(typePlace) {
		return err
	}
	var places []string
	for _, s := range c.sheets {
		if s.isPlace() && len(places) < 5 {
			places = append(places, s.fullName())
		}
	}
	hint := "no place comes in that players see"
	if len(places) > 0 {
		hint = "places that come in: " + strings.Join(places, ", ")
	}
	return fault.New(fault.Invalid,
		"starter-location: players cannot begin at %q, which is no place (a card of type Location) that they see; %s",
		name, hint)
}

// findStarter returns the name of the best connected imported place: the one with most exits, then
// most other links and references, then the first. It returns "" if no place was imported.
func (c *collection) findStarter(mentioned map[markup.Key]int) string {
	ways := map[*sheet]int{}
	for _, e := range c.edges {
		for _, s := range []*sheet{e.from.sheet, e.to.sheet} {
			if s == nil {
				continue
			}
			if ways[s]++; e.kind == "exit" {
				ways[s] += 1000
			}
		}
	}
	var best *sheet
	most := -1
	for _, s := range c.sheets {
		n := ways[s] + mentioned[s.cardKey()]
		if s.isPlace() && n > most && (!s.done || s.card.Label.Level <= access.LevelUser) {
			best, most = s, n
		}
	}
	switch {
	case best == nil:
		return ""
	case best.done:
		return best.card.Name
	}
	return best.fullName()
}

// setStarter sets the place where the world's players begin: the given one or, if none is given,
// the best imported one. Without a given place, an existing starter is kept. It does nothing unless
// the grant has the role admin.
func (im *importer) setStarter(ctx context.Context, asked string, mentioned map[markup.Key]int) error {
	start := asked
	if start == "" {
		start = im.c.findStarter(mentioned)
	}
	if start == "" || im.grant.Role() < access.RoleAdmin {
		return nil
	}
	change := false
	err := im.canon.Read(ctx, im.grant, func(l *canon.Snapshot) error {
		there := l.World().Settings.Starter
		change = there == "" || asked != "" && there != asked
		if !change {
			im.sum.Starter = there
		}
		return nil
	})
	if err != nil || !change {
		return err
	}
	im.sum.Starter = start
	return im.commit(ctx, func(p *canon.Plan, _ *tally) error {
		w := p.World()
		w.Settings.Starter = start
		return p.Configure(w.Title, w.Settings)
	})
}
