package campaign

import (
	"context"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func entityWrites(d *deps) []*op.Operation {
	return []*op.Operation{
		defineWrite(d, op.Spec{
			Name: "entity_create",
			Asked: []string{
				"invent a new character", "add a person, item, clue or monster to the story", "new suspect",
				"introduce somebody", "put a new person into the story", "make up a stranger",
				"new thing for the players to find", "add a person to the cast", "there is a new villain",
				"write up a monster or an heirloom", "add a person to the story", "new character, clue or place",
				"enter somebody in the notes", "introduce a villain", "register an item", "a figure of ours",
			},
			Title: "Create an entity",
			Doc: "Add an entity to the campaign. For the GM. Players do not see it until it is revealed, unless revealed is set. " +
				"If there are entities with similar names, they are returned and nothing is created: use one of them, or repeat with allow_similar. " +
				"Put secrets that players must not learn into attributes.secrets or gm_notes, never into the description.",
			Route: "POST /api/campaigns/{campaign_id}/entities", Status: 201,
			Examples: []op.Example{
				{Title: "A person with a secret",
					Input: `{"campaign_id": "ashlar-pass", "name": "Ottilie Brandt", "entity_type": "npc", "description": "Matron of the sanatorium.", "attributes": {"age": 52, "secrets": "She signs for two dead patients."}, "tags": ["sanatorium"]}`},
			},
		}, entityCreate),
		defineWrite(d, op.Spec{
			Name: "entity_update",
			Asked: []string{
				"change a character's facts", "note about a person for me alone", "give somebody a new trait",
				"correct an age", "somebody is dead now", "jot down a secret",
				"from now on the person is older, dead or gone", "remember for myself about a person",
				"change told of somebody", "she is now forty", "note for myself about somebody",
				"change is known of a person", "he has lost a hand", "change notes on a person",
				"correct the age", "he has died", "add a trait", "set an attribute",
			},
			Title: "Change an entity",
			Doc: "Change an entity's name, type, description, attributes, tags, sources or GM notes. For the GM. Attributes are merged; null removes one. " +
				"source_document names the source of the new values. If the entity is AUTHORITATIVE and comes from another source, a canon conflict is recorded instead of a change, for canon_resolve.",
			Route: "PATCH /api/campaigns/{campaign_id}/entities/{entity_id}", Target: "entity_id",
			Examples: []op.Example{
				{Title: "A new attribute",
					Input: `{"campaign_id": "ashlar-pass", "entity_id": "01920000-0000-7000-8000-000000000001", "attributes": {"age": 53}}`},
			},
		}, entityUpdate),
		defineWrite(d, op.Spec{
			Name: "entity_delete",
			Asked: []string{
				"remove a character from the story", "throw an item out", "strike somebody from the notes",
				"remove a clue",
			},
			Title: "Delete an entity",
			Doc: "Move an entity to the trash, with its notes, secrets and everything below it; its relationships are hidden with it. For the GM. " +
				"An admin can restore it. dry_run counts the cards and relationships that would be affected.",
			Effect: access.Destroy,
			Route:  "DELETE /api/campaigns/{campaign_id}/entities/{entity_id}", Target: "entity_id",
			Examples: []op.Example{
				{Title: "Preview a deletion",
					Input: `{"campaign_id": "ashlar-pass", "entity_id": "01920000-0000-7000-8000-000000000001", "dry_run": true}`},
			},
		}, entityDelete),
	}
}

// entityIn is the input for an entity apart from name, type and description.
type entityIn struct {
	Attributes        attributes `json:"attributes,omitzero" jsonschema:"Values by name. Attributes that the type declares secret (by default secrets) are not shown to players."`
	Aliases           *[]string  `json:"aliases,omitzero" maxitems:"50" minlen:"1" maxlen:"200" jsonschema:"Other names by which it can be found."`
	Tags              *[]string  `json:"tags,omitzero" maxitems:"50" minlen:"1" maxlen:"200" jsonschema:"All tags."`
	SourceDocument    *string    `json:"source_document,omitzero" maxlen:"500" jsonschema:"Source of these values: a book, a page, a session."`
	SourceConfidence  *string    `json:"source_confidence,omitzero" enum:"DRAFT,AUTHORITATIVE,SUPERSEDED" jsonschema:"Reliability of the entity."`
	GMNotes           *string    `json:"gm_notes,omitzero" maxlen:"50000" jsonschema:"Notes for the GM alone, in Markdown."`
	DiscoveredSession *int       `json:"discovered_session,omitzero" min:"-1" max:"100000" jsonschema:"Number of the session in which the players discovered it; -1 removes it. Players never see it."`
	AllowSimilar      bool       `json:"allow_similar,omitzero" jsonschema:"Continue even if there are entities with similar names."`
	DryRun            bool       `json:"dry_run,omitzero" jsonschema:"Only check."`
	op.Answers
}

func (in entityIn) toDraft() entityDraft {
	return entityDraft{attributes: in.Attributes, aliases: in.Aliases, tags: in.Tags, source: in.SourceDocument,
		confidence: in.SourceConfidence,
		notes:      notesEdit{text: in.GMNotes, session: in.DiscoveredSession}}
}

func (p *problems) checkName(field string, name *string) {
	if name != nil && strings.ContainsAny(strings.TrimSpace(*name)[:min(len(strings.TrimSpace(*name)), 1)], "~:") {
		p.Add(field, "cannot begin with ~ or :, which stand for ids and codenames")
	}
}

type entityCreateIn struct {
	inCampaign
	Name        string `json:"name" minlen:"1" maxlen:"200" jsonschema:"Name of the new entity."`
	EntityType  string `json:"entity_type" enum:"npc,location,item,faction,clue,creature,organization,event,document,other" jsonschema:"What it is."`
	Description string `json:"description,omitzero" maxlen:"10000" jsonschema:"Public description, in Markdown; [[Name]] links to another entity."`
	Revealed    bool   `json:"revealed,omitzero" jsonschema:"Players see it immediately."`
	entityIn
}

// writtenEntity is an entity after a write.
type writtenEntity struct {
	entity
	Conflicts []conflict `json:"conflicts,omitzero" jsonschema:"Changes that were not made, because the entity is authoritative and comes from another source; decide them with canon_resolve."`
	DryRun    bool       `json:"dry_run,omitzero" jsonschema:"Nothing was changed."`
}

func entityCreate(ctx context.Context, d *deps, c *op.Call, in entityCreateIn) (writtenEntity, error) {
	var wrong problems
	wrong.checkName("name", &in.Name)
	wrong.checkAttributes(in.Attributes)
	if err := wrong.Err(); err != nil {
		return writtenEntity{}, err
	}
	draft := in.toDraft()
	draft.name, draft.kind, draft.description = &in.Name, &in.EntityType, &in.Description
	return surface.Commit(ctx, d.Kit, c, surface.Change[writtenEntity]{
		Plan: func(p *canon.Plan) error {
			if !in.AllowSimilar {
				list, err := findSimilar(ctx, p.Snapshot, in.Name, canon.CardID{})
				if err == nil {
					err = checkSimilar(list)
				}
				if err != nil {
					return err
				}
			}
			card, err := draft.createEntity(ctx, p, in.Revealed)
			p.Target(card.ID)
			return err
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (writtenEntity, error) { return replyEntity(ctx, l, c, r) },
	})
}

// replyEntity describes the entity that a call wrote.
func replyEntity(ctx context.Context, l *canon.Snapshot, c *op.Call, r canon.Receipt) (writtenEntity, error) {
	card, err := replyCard(ctx, l, r, "the entity")
	if err != nil {
		return writtenEntity{}, err
	}
	e, err := describeEntity(ctx, l, card)
	if err != nil {
		return writtenEntity{}, err
	}
	if !r.DryRun {
		if c.Reply.ETag, err = digestOf(e); err != nil {
			return writtenEntity{}, err
		}
		c.Reply.Location = "/api/campaigns/" + l.World().Slug + "/entities/" + card.ID.String()
	}
	return writtenEntity{entity: e, DryRun: r.DryRun}, nil
}

type entityUpdateIn struct {
	inCampaign
	EntityID    ref        `json:"entity_id" jsonschema:"Id of the entity; entity_search finds it."`
	Name        *string    `json:"name,omitzero" minlen:"1" maxlen:"200" jsonschema:"New name."`
	EntityType  *string    `json:"entity_type,omitzero" enum:"npc,location,item,faction,clue,creature,organization,event,document,other" jsonschema:"New type."`
	Description *string    `json:"description,omitzero" maxlen:"10000" jsonschema:"New description, in Markdown."`
	IfVersion   uint32     `json:"if_version,omitzero" min:"1" jsonschema:"The version that the change is meant for; another one is refused."`
	IfMatch     op.ReadTag `json:"if_match,omitzero" jsonschema:"The etag that entity_get gave, in place of if_version. An agent must send it with a new description or gm_notes, from a read that was not cut."`
	entityIn
}

func entityUpdate(ctx context.Context, d *deps, c *op.Call, in entityUpdateIn) (writtenEntity, error) {
	var wrong problems
	wrong.checkName("name", in.Name)
	wrong.checkAttributes(in.Attributes)
	if err := wrong.Err(); err != nil {
		return writtenEntity{}, err
	}
	draft := in.toDraft()
	draft.name, draft.kind, draft.description = in.Name, in.EntityType, in.Description
	return surface.Commit(ctx, d.Kit, c, surface.Change[writtenEntity]{
		Plan: func(p *canon.Plan) error {
			card, err := entityOf(ctx, p.Snapshot, in.EntityID)
			if err != nil {
				return err
			}
			p.Target(card.ID)
			if err := in.checkUpdate(ctx, d, c, p, card); err != nil {
				return err
			}
			_, err = draft.updateEntity(ctx, p, card)
			return err
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (writtenEntity, error) {
			out, err := replyEntity(ctx, l, c, r)
			if err != nil {
				return out, err
			}
			out.Conflicts, err = raisedBy(ctx, l, r, out.ID)
			return out, err
		},
	})
}

// checkUpdate refuses a change that is meant for another version, and a new name that is similar to
// other entities' names.
func (in entityUpdateIn) checkUpdate(ctx context.Context, d *deps, c *op.Call, p *canon.Plan, card canon.Card) error {
	if err := in.checkReadTag(ctx, d, c, p.Snapshot, card); err != nil {
		return err
	}
	if in.Name == nil || in.AllowSimilar || strings.TrimSpace(*in.Name) == card.Name {
		return nil
	}
	list, err := findSimilar(ctx, p.Snapshot, *in.Name, card.ID)
	if err != nil {
		return err
	}
	return checkSimilar(list)
}

// checkReadTag refuses a change that is meant for another version, and a change that would
// overwrite text of which its author has read only a part.
func (in entityUpdateIn) checkReadTag(ctx context.Context, d *deps, c *op.Call, l *canon.Snapshot,
	card canon.Card) error {
	e, err := describeEntity(ctx, l, card)
	if err != nil {
		return err
	}
	tag := in.IfMatch
	if tag == "" {
		tag = op.VersionTag(in.IfVersion)
	}
	held := e.heldEntity(l)
	if shown, err := digestOf(e); err == nil && string(tag) == shown { // in the form of the HTTP entity tag
		tag = d.tags.Whole(held)
	}
	held.Length = 0
	if in.Description != nil {
		held.Length += len([]rune(e.Description))
	}
	if in.GMNotes != nil && e.GMNotes != nil {
		held.Length += len([]rune(*e.GMNotes))
	}
	return d.tags.Check(c, held, tag, in.Description != nil || in.GMNotes != nil)
}

type entityDeleteIn struct {
	inCampaign
	EntityID ref  `json:"entity_id" jsonschema:"Id of the entity; entity_search finds it."`
	DryRun   bool `json:"dry_run,omitzero" jsonschema:"Only count the objects that would be deleted."`
}

type entityDeleted struct {
	deletedOut
	Below         int `json:"below,omitzero" jsonschema:"Of a dry run: number of cards below it that would be deleted too, such as notes, secrets and tags."`
	Relationships int `json:"relationships,omitzero" jsonschema:"Of a dry run: number of relationships that would be hidden."`
}

func entityDelete(ctx context.Context, d *deps, c *op.Call, in entityDeleteIn) (entityDeleted, error) {
	return surface.Commit(ctx, d.Kit, c, surface.Change[entityDeleted]{
		Plan: func(p *canon.Plan) error {
			card, err := entityOf(ctx, p.Snapshot, in.EntityID)
			if err != nil {
				return err
			}
			return p.Trash(card)
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (entityDeleted, error) {
			out := entityDeleted{deletedOut: deletedOut{in.EntityID.toCardID().String(), !r.DryRun, r.DryRun}}
			if !r.DryRun {
				return out, nil
			}
			return out, out.countBelow(ctx, l, in.EntityID)
		},
	})
}

// countBelow counts the cards and relationships that deleting an entity would affect.
func (o *entityDeleted) countBelow(ctx context.Context, l *canon.Snapshot, id ref) error {
	card, err := entityOf(ctx, l, id)
	if err != nil {
		return err
	}
	_, n, err := l.Descendants(ctx, card.ID, canon.MaxNesting, canon.Page{Limit: 1})
	if err != nil {
		return err
	}
	list, more, err := relationsOf(ctx, l, card)
	o.Below, o.Relationships = n.Count, len(list)+more
	return err
}
