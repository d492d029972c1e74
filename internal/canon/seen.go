package canon

import (
	"context"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Witnesses tells from the access records who was shown cards. access.Log implements it.
type Witnesses interface {
	SeenBy(ctx context.Context, w access.WorldID, cards [][16]byte, since time.Time) ([]access.Seen, error)
}

// SeenBy tells a game master who was shown some cards of the grant's world since a time: for each card, the latest
// first; see access.Log.SeenBy. The entries name the role of each reader: game masters are among them. Cards that the
// grant does not see are left out. A card in the trash is seen by the roles that see the trash. Without Witnesses it
// tells of nobody.
func (c *Canon) SeenBy(ctx context.Context, g access.Grant, cards []CardID, since time.Time) ([]access.Seen, error) {
	if g.Role() < access.RoleGM {
		return nil, fault.New(fault.Denied, "only a game master can ask who has seen a card").
			With("required_role", access.RoleGM.String())
	}
	var seen [][16]byte
	err := c.Read(ctx, g, func(s *Snapshot) error {
		for _, id := range cards {
			found, err := s.r.FindCards(ctx, s.visibility, CardQuery{ID: id})
			if err != nil {
				return err
			}
			if len(found) > 0 {
				seen = append(seen, id)
			}
		}
		return nil
	})
	if err != nil || c.witnesses == nil || len(seen) == 0 {
		return nil, err
	}
	return c.witnesses.SeenBy(ctx, g.World(), seen, since)
}
