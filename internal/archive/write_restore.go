package archive

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func restoreWrites(d *deps) []*op.Operation {
	return []*op.Operation{
		defineWrite(d, op.Spec{
			Name: "restore_card",
			Asked: []string{
				"bring back a deleted page", "recover from the bin", "return an article to an earlier wording",
				"go back to how it was", "un-delete", "roll back to its first state",
				"page back to its second wording", "get a thrown away page back", "rescue from the bin",
				"I want the deleted page back", "reset it to it said first", "bring it back from the dead",
				"undelete", "get a deleted page back", "fish an article out of the bin",
				"I deleted it by mistake", "revive a binned entry",
			},
			Title: "Restore a card",
			Doc: "Restore a card from the trash, with everything that was deleted with it. With to_version, revert a card to the name, type, content, fields and children of an older version. " +
				"list_trash lists the deleted cards, get_card_history the versions of a card. " +
				"Refused if the version was hidden from some who read the card. " +
				"dry_run lists everything that would become readable.",
			Route: "POST /api/mcp/cards/{name}/restore", Target: "name", MinRole: access.RoleAdmin, Manages: true,
			Examples: []op.Example{
				{Title: "From the trash", Input: `{"name": "Old Notes"}`},
				{Title: "To its second version", Input: `{"name": "Rent Quay", "to_version": 2}`},
			},
		}, restoreCard),
		defineWrite(d, op.Spec{
			Name: canon.OpUndo,
			Asked: []string{
				"take back my last edit", "that was a mistake, reverse it", "cancel an edit",
				"put it back as before", "take that edit back", "somebody scribbled nonsense, revert it",
				"undo vandalism", "revert somebody just did", "oops, cancel that",
				"remove the nonsense that was just written", "reverse the last alteration",
				"revert the last edit", "go back to the state before", "roll an edit back", "cancel my change",
				"that edit was wrong",
			},
			Title: "Undo a change",
			Doc: "Revert one change with a new change. recent_changes and every write return its id. " +
				"Refused if later changes depend on it. dry_run lists everything that would become readable. " +
				"Only an admin can undo a change that only an admin can make, and an " +
				"undo can only be undone with the role of its maker.",
			Route: "POST /api/mcp/changes/{id}/undo", Target: "id",
			Examples: []op.Example{{Title: "Undo", Input: `{"id": "01900000-0000-7000-8000-000000000000"}`}},
		}, undoChange),
	}
}

type restoreIn struct {
	namedCard
	ToVersion uint32 `json:"to_version,omitzero" alias:"act_id" min:"1" numeric:"string" jsonschema:"Version to revert to, of a card that is not in the trash."`
	FromTrash bool   `json:"from_trash,omitzero" jsonschema:"Restore the card from the trash, as without to_version."`
	DryRun    bool   `json:"dry_run,omitzero" jsonschema:"Only list the data that more readers would see, in opens."`
}

type restoreOut struct {
	writtenCard
	Restored int      `json:"restored" jsonschema:"Number of cards that were restored or changed, including the card itself."`
	Others   []string `json:"also_in_trash,omitzero" jsonschema:"Further cards of this name in the trash; restore one of them as ~ID."`

	version   uint32        // version that the card went back to; 0 if it came from the trash
	writtenAt surface.Stamp // time of that version
}

func restoreCard(ctx context.Context, d *deps, c *op.Call, in restoreIn) (restoreOut, error) {
	if in.FromTrash && in.ToVersion > 0 {
		return restoreOut{}, fault.BadField("from_trash", "give either from_trash or to_version")
	}
	return surface.Commit(ctx, d.Kit, c, surface.Change[restoreOut]{
		Check: checkNames(in.Name),
		Plan: func(p *canon.Plan) error {
			if in.ToVersion > 0 {
				return planRevert(ctx, p, in)
			}
			found, err := inTrash(ctx, p.Snapshot, in.Name)
			if err != nil {
				return err
			}
			if len(found) == 0 {
				return notInTrash(ctx, p.Snapshot, in.Name)
			}
			p.Target(found[0].ID)
			if err := p.CheckManages(found[0].ID); err != nil {
				return err
			}
			_, err = p.Restore(found[0])
			return err
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (restoreOut, error) { return replyRestored(ctx, l, c, r, in) },
	})
}

func replyRestored(ctx context.Context, l *canon.Snapshot, c *op.Call, r canon.Receipt,
	in restoreIn) (restoreOut, error) {
	w, err := replyWritten(ctx, l, c, r)
	if err != nil {
		return restoreOut{}, err
	}
	out := restoreOut{writtenCard: w, Restored: len(r.Targets), version: in.ToVersion}
	if in.ToVersion > 0 {
		return out, out.setWrittenAt(ctx, l, r.Targets[0])
	}
	below, err := allDescendants(ctx, l, r.Targets[0])
	if err != nil {
		return restoreOut{}, err
	}
	out.Restored += len(below)
	others, err := inTrash(ctx, l, in.Name)
	for _, o := range others {
		out.Others = append(out.Others, "~"+o.ID.String())
	}
	return out, err
}

// setWrittenAt sets the time at which the restored version was written.
func (o *restoreOut) setWrittenAt(ctx context.Context, l *canon.Snapshot, id canon.CardID) error {
	card, ok, err := l.ByID(ctx, id)
	if err != nil || !ok {
		return err
	}
	v, err := l.VersionOf(ctx, card, o.version)
	o.writtenAt = surface.Stamp(v.At)
	return err
}

func planRevert(ctx context.Context, p *canon.Plan, in restoreIn) error {
	card, err := onlyCard(ctx, p, in.Name)
	if err != nil {
		return err
	}
	if err := p.CheckManages(card.ID); err != nil {
		return err
	}
	v, err := p.VersionOf(ctx, card, in.ToVersion)
	if err != nil {
		return err
	}
	if _, err = p.RevertTo(card, v); err != nil {
		return err
	}
	targetAll(p, card.ID)
	return nil
}

// targetAll adds a card, then all other cards that the plan changes, as targets of the call.
func targetAll(p *canon.Plan, first canon.CardID) {
	p.Target(first)
	seen := map[canon.CardID]bool{first: true}
	for _, a := range p.Acts() {
		if !seen[a.Card] {
			seen[a.Card] = true
			p.Target(a.Card)
		}
	}
}

// inTrash finds the cards in the trash by name or id, latest first.
func inTrash(ctx context.Context, l *canon.Snapshot, name string) (found []canon.Card, err error) {
	id, byID := strings.CutPrefix(name, "~")
	key := markup.KeyOf(name)
	for c, err := range l.AllTrash(ctx) {
		if err != nil {
			return nil, err
		}
		if byID && c.ID.String() == strings.ToLower(strings.TrimSpace(id)) || !byID && c.Key == key {
			found = append(found, c)
		}
	}
	return found, nil
}

// notInTrash returns the fault for a name that no card in the trash has.
func notInTrash(ctx context.Context, l *canon.Snapshot, name string) error {
	if c, ok, err := l.Exists(ctx, name); err != nil || ok {
		if err != nil {
			return err
		}
		return fault.BrokenRule("name",
			"%q is not in the trash; give to_version to revert to an older version", c.Name)
	}
	return fault.New(fault.NotFound,
		"there is no card %q in the trash; list_trash lists the cards that can be restored, each with those deleted with it",
		markup.Clean(markup.Clip(name, markup.MaxNameLength)))
}

type undoIn struct {
	ID   string `json:"id,omitzero" maxlen:"64" jsonschema:"The change."`
	Name string `json:"name,omitzero" maxlen:"1020" jsonschema:"In place of id: a card, to take back its latest change."`

	DryRun bool `json:"dry_run,omitzero" jsonschema:"Only list the data that more readers would see, in opens."`
}

// findChange returns the id of the change that is meant.
func (in undoIn) findChange(ctx context.Context, l *canon.Snapshot) (uuid.UUID, error) {
	if in.ID == "" && in.Name != "" {
		card, err := findCard(ctx, l, in.Name)
		if err != nil {
			return uuid.UUID{}, err
		}
		latest, _, err := l.VersionsOf(ctx, card, canon.Page{Limit: 1})
		if err != nil || len(latest) == 0 {
			return uuid.UUID{}, err
		}
		return latest[0].Change, nil
	}
	id, err := uuid.Parse(in.ID)
	if err != nil || len(in.ID) != 36 {
		return uuid.UUID{}, fault.BadField("id",
			"is the id of a change, as recent_changes lists it; or give the name of a card")
	}
	return id, nil
}

type undoOut struct {
	ChangeID string    `json:"change_id" jsonschema:"The change that undoes it, which can be undone too."`
	Undone   string    `json:"undone" jsonschema:"The change that was undone."`
	Cards    []summary `json:"cards" jsonschema:"The affected cards that exist now."`
	DryRun   bool      `json:"dry_run,omitzero" jsonschema:"Nothing was changed."`

	Opens []surface.OpenedData `json:"opens,omitzero" jsonschema:"Everything that more readers see after the change."`
}

func undoChange(ctx context.Context, d *deps, c *op.Call, in undoIn) (undoOut, error) {
	var id uuid.UUID
	return surface.Commit(ctx, d.Kit, c, surface.Change[undoOut]{
		Plan: func(p *canon.Plan) (err error) {
			if id, err = in.findChange(ctx, p.Snapshot); err != nil {
				return err
			}
			if err := p.Undo(id); err != nil {
				return err
			}
			return checkUndo(p)
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (undoOut, error) {
			out := undoOut{ChangeID: changeID(r), Undone: in.ID, Cards: []summary{}, DryRun: r.DryRun}
			var err error
			if out.Opens, err = surface.OpenedBy(ctx, l, r); err != nil {
				return out, err
			}
			if id != uuid.Nil { // else the call is repeated
				out.Undone = id.String()
			}
			seen := map[canon.CardID]bool{}
			for _, id := range r.Targets {
				card, ok, err := l.ByID(ctx, id)
				if err != nil {
					return out, err
				}
				if ok && !seen[id] {
					out.Cards = append(out.Cards, summaryFromCard(l, card))
				}
				seen[id] = true
			}
			return out, nil
		},
	})
}

// checkUndo checks that the caller has the role that each act of the undo requires.
func checkUndo(p *canon.Plan) error {
	for _, a := range p.Acts() {
		p.Target(a.Card)
		if a.Act == canon.ActCreate || a.Act == canon.ActUpdate {
			continue
		}
		if err := p.CheckManages(a.Card); err != nil {
			return err
		}
	}
	return nil
}
