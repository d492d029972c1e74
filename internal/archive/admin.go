package archive

import (
	"context"
	"strconv"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func adminWrites(d *deps) []*op.Operation {
	return []*op.Operation{
		defineWrite(d, op.Spec{
			Name: "set_card_level",
			Asked: []string{
				"hide a page from players", "make a page secret", "let everyone see it",
				"only game masters may read it", "publish a hidden article", "who is allowed to read", "conceal",
				"nobody but us who lead may see a page", "let players see a page",
				"players should not read this", "who sees it", "keep it from the players",
				"for the eyes of game masters only", "make it public", "lift the secrecy of a page",
				"who may look at it", "lock a page away", "open it to everybody",
				"keep a page from the audience", "only the storyteller may read it", "make a page public",
				"hide or unhide an article", "who is allowed to see it",
			},
			Title: "Set who may see a card",
			Doc: "Set who may see a card: everyone (user), game masters (gm) or admins, and, in addition, to named subjects. " +
				"The cards below it are never visible to more readers. Lowering the level reveals only the current version, not the older ones; " +
				"hidden parts of a text stay hidden. dry_run lists everything that would become readable. " +
				"seen_by lists those who had read a card that is hidden now.",
			Route: "PUT /api/mcp/cards/{name}/level", Target: "name", MinRole: access.RoleAdmin, Manages: true,
			Idempotent: true,
			Examples: []op.Example{
				{Title: "Reveal a card to the players", Input: `{"name": "The Vault", "level": "user"}`},
				{Title: "Open a GM card to one player", Input: `{"name": "The Vault", "level": "gm", "subjects": ["alice"]}`},
			},
		}, setCardLevel),
		defineWrite(d, op.Spec{
			Name: "delete_card",
			Asked: []string{
				"throw a page away", "remove an article", "get rid of an entry", "erase a page", "bin it",
				"we no longer need the page", "get rid of it for good", "bin a page", "this page can go",
			},
			Title: "Delete a card",
			Doc: "Move a card and everything below it to the trash; restore_card brings them back. " +
				"dry_run lists the cards that would be deleted. If there are cards below it, confirm must repeat the card's name.",
			Route: "DELETE /api/mcp/cards/{name}", Target: "name", Effect: access.Destroy, MinRole: access.RoleAdmin,
			Manages: true,
			Examples: []op.Example{
				{Title: "List the cards that would be deleted", Input: `{"name": "Old Notes", "dry_run": true}`},
				{Title: "Delete a card with cards below it", Input: `{"name": "Old Notes", "confirm": "Old Notes"}`},
			},
		}, deleteCard),
	}
}

type levelIn struct {
	namedCard
	Level    string           `json:"level" enum:"user,gm,admin" jsonschema:"Lowest role that sees the card."`
	Subjects []access.Subject `json:"subjects,omitzero" maxitems:"100" minlen:"1" maxlen:"100" jsonschema:"Subjects that see the card regardless of their role; for levels gm and admin."`
	DryRun   bool             `json:"dry_run,omitzero" jsonschema:"Only list the data that more readers would see, in opens."`
}

type levelOut struct {
	writtenCard
	OwnLevel string           `json:"own_level" jsonschema:"The level set on the card itself; level is the effective level, which also follows from the cards above it and the name rules."`
	Subjects []access.Subject `json:"subjects" jsonschema:"Subjects who see the card because they are named."`
	seenBefore
}

func setCardLevel(ctx context.Context, d *deps, c *op.Call, in levelIn) (levelOut, error) {
	level, _ := access.ParseLevel(in.Level) // the schema allows nothing else
	var p problems
	if level == access.LevelUser && len(in.Subjects) > 0 {
		p.Add("subjects", "everyone sees a card of level user; name subjects only with level gm or admin")
	}
	for i, s := range in.Subjects {
		if err := access.CheckSubject(s); err != nil {
			p.Add("subjects["+strconv.Itoa(i)+"]", "%v", err)
		}
	}
	if err := p.Err(); err != nil {
		return levelOut{}, err
	}
	var all []hidden
	out, err := surface.Commit(ctx, d.Kit, c, surface.Change[levelOut]{
		Check: checkNames(in.Name),
		Plan: func(p *canon.Plan) error {
			card, err := onlyCard(ctx, p, in.Name)
			if err != nil {
				return err
			}
			p.Target(card.ID)
			if err := p.CheckManages(card.ID); err != nil {
				return err
			}
			now, err := p.SetLabel(card, access.NewLabel(level, in.Subjects...))
			if all = nil; !now.Label.Covers(card.Label) {
				all = []hidden{{card: card.ID, label: now.Label}}
			}
			return err
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (levelOut, error) {
			out, err := replyWritten(ctx, l, c, r)
			if err != nil {
				return levelOut{}, err
			}
			card, err := targetCard(ctx, l, r, 0)
			return levelOut{writtenCard: out, OwnLevel: card.Own.Level.String(), Subjects: card.Label.Subjects}, err
		},
	})
	if err == nil {
		out.seenBefore = d.findReaders(ctx, c, all)
	}
	return out, err
}

type deleteIn struct {
	namedCard
	Confirm string `json:"confirm,omitzero" maxlen:"1020" jsonschema:"The card's name again, if there are cards below it."`
	Force   bool   `json:"force,omitzero" jsonschema:"Delete without confirm; the deleted cards can be restored."`
	DryRun  bool   `json:"dry_run,omitzero" jsonschema:"Only list the cards that would be deleted."`
}

type deleteOut struct {
	Name     string       `json:"name"`
	ID       canon.CardID `json:"id" jsonschema:"Restores it with restore_card as ~ID."`
	Deleted  bool         `json:"deleted"`
	Below    []childName  `json:"descendants" jsonschema:"Cards below it that are deleted with it, at most 100."`
	Count    int          `json:"descendant_count"`
	DryRun   bool         `json:"dry_run,omitzero"`
	ChangeID string       `json:"change_id,omitzero" jsonschema:"Id of the change; undo_change reverts it."`
}

// maxListed is the number of cards that an answer names at most; beyond it the answer only counts
// them.
const maxListed = 100

func deleteCard(ctx context.Context, d *deps, c *op.Call, in deleteIn) (deleteOut, error) {
	return surface.Commit(ctx, d.Kit, c, surface.Change[deleteOut]{
		Check: checkNames(in.Name),
		Plan: func(p *canon.Plan) error {
			card, err := onlyCard(ctx, p, in.Name)
			if err != nil {
				return err
			}
			p.Target(card.ID)
			if err := p.CheckManages(card.ID); err != nil {
				return err
			}
			if err := checkDelete(ctx, p, card, in); err != nil {
				return err
			}
			return p.Trash(card)
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (deleteOut, error) { return replyDeleted(ctx, l, r) },
	})
}

// checkDelete requires a confirmation if there are cards below the card. If the world keeps
// codenames, it refuses to delete a card with cards below it that have codenames.
func checkDelete(ctx context.Context, p *canon.Plan, card canon.Card, in deleteIn) error {
	below, err := allDescendants(ctx, p.Snapshot, card.ID)
	if err != nil {
		return err
	}
	for _, b := range below {
		if b.Codename != "" && p.World().Settings.KeepCodenames {
			return fault.BrokenRule("name",
				"%q below it has a codename, which other programs may use; remove the codename first", b.Name)
		}
	}
	if len(below) == 0 || in.DryRun || in.Force || markup.KeyOf(in.Confirm) == card.Key {
		return nil
	}
	why := "there are cards below it, which would be deleted too; repeat its name here, or list them with dry_run"
	if in.Confirm != "" {
		why = "is not the card's name; repeat the name here"
	}
	return fault.BrokenRule("confirm", "%s", why).With("name", card.Name).With("descendant_count", len(below))
}

// allDescendants returns all cards below a card.
func allDescendants(ctx context.Context, l *canon.Snapshot, id canon.CardID) ([]canon.Card, error) {
	return canon.Collect(l.AllDescendants(ctx, id, canon.MaxNesting))
}

// replyDeleted lists the cards that were deleted with a card, or, for a dry run, the cards that
// would be.
func replyDeleted(ctx context.Context, l *canon.Snapshot, r canon.Receipt) (deleteOut, error) {
	id := r.Targets[0]
	out := deleteOut{ID: id, DryRun: r.DryRun, ChangeID: changeID(r)}
	var below []canon.Card
	went, err := l.TrashedWith(ctx, id)
	if err != nil {
		return out, err
	}
	if len(went) > 0 {
		out.Name, out.Deleted, below = went[0].Name, true, went[1:]
	} else {
		card, err := l.Find(ctx, "~"+id.String())
		if err != nil {
			return out, err
		}
		out.Name = card.Name
		if below, err = allDescendants(ctx, l, id); err != nil {
			return out, err
		}
	}
	out.Below, out.Count = childNames(below), len(below)
	return out, nil
}

// childNames returns the names of the first maxListed cards of a list.
func childNames(cards []canon.Card) []childName {
	list := []childName{}
	for _, c := range cards[:min(len(cards), maxListed)] {
		list = append(list, childName{c.Name, c.Type, c.ID})
	}
	return list
}
