package world

import (
	"context"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// findStarter returns the place where players begin.
func (m *AsOf) findStarter(ctx context.Context) (Card, bool, error) {
	return m.resolveID(ctx, "", func() (canon.Card, bool, error) {
		name := m.World().Settings.Starter
		if name == "" {
			return canon.Card{}, false, nil
		}
		c, ok, err := m.Exists(ctx, name)
		if err == nil && !ok {
			c, ok, err = m.Exists(ctx, ":"+name)
		}
		return c, ok, err
	})
}

// CheckStarter returns an error about the field starter_location if players cannot begin at the
// named place: they must see it, and it must be of type Location. "" means no place and is valid.
func CheckStarter(ctx context.Context, snap *canon.Snapshot, name string) error {
	if name == "" {
		return nil
	}
	seen := snap.As(access.LevelUser)
	for _, as := range []string{name, ":" + name} {
		c, ok, err := seen.Exists(ctx, as)
		if err != nil {
			return err
		}
		if ok && CardOf(c).IsType(TypeLocation) {
			return nil
		}
		if ok {
			return fault.BadField("starter_location", "%q is of type %s; players begin at a card of type %s", name, c.Type,
				TypeLocation)
		}
	}
	if _, ok, err := snap.Exists(ctx, name); err != nil || ok {
		if err != nil {
			return err
		}
		return fault.BadField("starter_location", "players do not see %q; lower its level, or choose another place", name)
	}
	places, _, err := seen.Cards(ctx, canon.Filter{Type: TypeLocation, Sort: canon.SortName}, canon.Page{Limit: 5})
	if err != nil {
		return err
	}
	var names []string
	for _, p := range places {
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		return fault.BadField("starter_location",
			"there is no place called %q, and none at all that players see; make a card of type %s first", name, TypeLocation)
	}
	return fault.BadField("starter_location", "there is no place called %q; there are %s", name, strings.Join(names, ", "))
}
