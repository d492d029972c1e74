package exchange

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// typePlace is the type of cards that players can stand in.
const typePlace = "Location"

// isPlace reports whether players can begin at a sheet's card.
func (s *sheet) isPlace() bool {
	for above := s; above != nil; above = above.above {
		if above.own.Level > access.LevelUser || len(above.own.Subjects) > 0 || above.least > access.LevelUser {
			return false
		}
	}
	return markup.KeyOf(s.typ) == markup.KeyOf(typePlace)
}

// checkStarter refuses a place to begin at that neither comes in nor is there.
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
			places = append(places, s.whole())
		}
	}
	hint := "no place comes in that players see"
	if len(places) > 0 {
		hint = "places that come in: " + strings.Join(places, ", ")
	}
	return fault.New(fault.Invalid, "starter-location: players cannot begin at %q, which is no place (a card of type Location) that they see; %s", name, hint)
}

// starter is the place that came in from which most is reached: most exits, then most
// other links and references, then the first. "" where none came in.
func (c *collection) starter(mentioned map[markup.Key]int) string {
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
		n := ways[s] + mentioned[s.key()]
		if s.isPlace() && n > most && (!s.done || s.got.Label.Level <= access.LevelUser) {
			best, most = s, n
		}
	}
	switch {
	case best == nil:
		return ""
	case best.done:
		return best.got.Name
	}
	return best.whole()
}

// startAt makes the world's players begin at a place, the one asked for or the best that
// came in. A place that the world has already is left.
func (im *importer) startAt(ctx context.Context, asked string, mentioned map[markup.Key]int) error {
	start := asked
	if start == "" {
		start = im.c.starter(mentioned)
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

func (s Summary) printTypes(b *strings.Builder) {
	if len(s.Types) > 0 {
		b.WriteString("Types of cards (--types WORD=TYPE changes them):\n")
	}
	for _, u := range s.Types[:min(len(s.Types), maxShown)] {
		typ := u.Type
		if typ == "" {
			typ = canon.TypeRichText
		}
		fmt.Fprintf(b, "  %s: %d %s\n", u.By, u.Many, typ)
	}
	if s.Starter != "" {
		fmt.Fprintf(b, "Players begin at %q (--starter-location changes it).\n", s.Starter)
	}
}
