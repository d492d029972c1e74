package canon

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// adminTypes are the types of the cards that belong to a world's admin with any label.
var adminTypes = map[markup.Key]bool{markup.KeyOf(TypeCardtype): true, markup.KeyOf(TypeSetting): true,
	markup.KeyOf(TypeUser): true}

// isAdmins reports whether a card is the admin's: labelled admin, below a card so labelled, or of a type of the admin.
func (c Card) isAdmins() bool {
	return c.Label.Level == access.LevelAdmin || adminTypes[markup.KeyOf(c.Type)]
}

// CheckManages refuses callers who may not set the level of a card, rename, delete or restore it. An admin may do so
// with every card. A game master may if the world's ManagerRole allows it and neither the card nor a card that goes
// with it is the admin's. Cards that the caller does not see do not count: a refusal would tell of them.
func (p *Plan) CheckManages(id CardID) error {
	role := p.grant.Role()
	if role >= access.RoleAdmin {
		return nil
	}
	if least := p.world.Settings.ManagerRole(); role < least {
		return fault.New(fault.Denied, "managing cards needs the role %s here; this call has %s", least, role).
			With("required_role", least.String())
	}
	cards, err := p.cardsWith(id)
	if err != nil {
		return err
	}
	for _, c := range cards {
		if c.isAdmins() {
			return fault.New(fault.Denied, "%q is the admin's; ask an admin of the world", c.Name).
				With("required_role", access.RoleAdmin.String())
		}
	}
	return nil
}

// cardsWith returns a card before the plan, living or in the trash, with those below it or in the trash with it.
func (p *Plan) cardsWith(id CardID) ([]Card, error) {
	cards, err := p.r.FindCards(p.ctx, p.visibility, CardQuery{ID: id})
	if err != nil || len(cards) == 0 {
		return cards, err
	}
	if cards[0].Trashed() {
		return p.TrashedWith(p.ctx, id)
	}
	below, err := Collect(p.AllDescendants(p.ctx, id, MaxNesting))
	return append(cards, below...), err
}

// checkOwn refuses a change of cards that the caller did not create, for callers who may change their own only. A link
// belongs to the card that it comes from.
func checkOwn(ctx context.Context, r Reader, g access.Grant, w access.WorldID, set ChangeSet) error {
	if !g.WritesOwnOnly() {
		return nil
	}
	made := map[CardID]bool{}
	for _, ch := range set.Changes {
		var id CardID
		switch {
		case ch.Card != nil && ch.Card.Act == ActCreate:
			made[ch.Card.ID] = true
			continue
		case ch.Card != nil:
			id = ch.Card.ID
		case ch.Link != nil:
			id = ch.Link.From
		case ch.Layer != nil:
			id = ch.Layer.Card
		default:
			continue
		}
		if made[id] {
			continue
		}
		c, _, err := First(r.FindCards(ctx, Visibility{w, access.View{Level: access.LevelAll}}, CardQuery{ID: id}))
		if err != nil {
			return err
		}
		if c.CreatedBy != g.Caller().Subject {
			return fault.New(fault.Denied, "you write only your own cards, and somebody else created this one; propose "+
				"the change")
		}
		made[id] = true
	}
	return nil
}
