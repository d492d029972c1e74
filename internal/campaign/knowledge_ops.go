package campaign

import (
	"context"
	"maps"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

func knowledgeOps(d *deps) []*op.Operation {
	preview := op.Spec{
		Name: "preview_as",
		Asked: []string{
			"a player be shown", "look through a player's eyes", "how does the group see it", "player's side",
			"a player get to see of it", "as if I were a player", "a player read here",
			"show it as a player sees it", "see it as a player does", "look through somebody eyes",
			"view of the table", "which version does he see",
		},
		Title: "Preview as a player",
		Doc: "Get exactly the answer that a player gets from one of the reads, before or after a revelation. For the GM. " +
			"subject is a player to whom something was revealed by name; without it, the answer is that for any player.",
		Route:    "POST /api/campaigns/{campaign_id}/preview",
		Surfaces: []string{Surface}, Effect: access.Read, MinRole: access.RoleUser, ListRole: access.RoleGM,
		Examples: []op.Example{
			{Title: "One player's search",
				Input: `{"campaign_id": "ashlar-pass", "subject": "player-ada", "tool": "entity_search", "arguments": {"query": "matron"}}`},
		},
	}
	return []*op.Operation{
		op.Define(preview, d.previewAs),
		defineGMRead(d, op.Spec{
			Name: "player_knowledge",
			Asked: []string{
				"the party found out so far", "the players know", "which secrets are out",
				"who at the table has heard of it", "they learn by then", "does one player know of it",
				"somebody at the table heard of", "have they found it yet", "the party know by now",
				"has she heard of it", "who knows about this", "facts that a player is aware of",
				"have they found it out", "how much does the party know", "known and unknown to somebody",
			},
			Title: "Players' knowledge",
			Doc: "Get the knowledge that all players, or one of them, have of an entity, now or as of a session; without entity_id, the entities that they know. For the GM. " +
				"It includes everything revealed by the end of that session, and everything revealed later with its session_id.",
			Route: "GET /api/campaigns/{campaign_id}/knowledge",
			Examples: []op.Example{
				{Title: "One player's knowledge after the third session",
					Input: `{"campaign_id": "ashlar-pass", "entity_id": "01920000-0000-7000-8000-000000000001", "subject": "player-ada", "as_of_session": 3}`},
			},
		}, playerKnowledge),
	}
}

type knowledgeIn struct {
	inCampaign
	Subject     access.Subject `json:"subject,omitzero" maxlen:"100" jsonschema:"The player whose knowledge it is; default that of any player."`
	EntityID    ref            `json:"entity_id,omitzero" jsonschema:"Id of the entity; without it, all known entities are listed."`
	AsOfSession *int           `json:"as_of_session,omitzero" min:"0" max:"100000" jsonschema:"Number of a session; default now."`
	Limit       int            `json:"limit,omitzero" default:"100" min:"1" max:"100" jsonschema:"Maximum number of entities to list."`
	Offset      int            `json:"offset,omitzero" default:"0" min:"0" max:"1000000" jsonschema:"Entities to skip: next_offset of the page before."`
}

// knownEntity is an entity as far as the players know it.
type knownEntity struct {
	mention
	Description   string           `json:"description"`
	Attributes    attributes       `json:"attributes"`
	Relationships []entityRelation `json:"relationships"`
	Events        []event          `json:"events"`
}

type knowledgeOut struct {
	Of          string       `json:"of" jsonschema:"The player's name, or players."`
	AsOfSession *int         `json:"as_of_session" jsonschema:"null is now."`
	Known       bool         `json:"known" jsonschema:"They know the entity, or without entity_id any entity."`
	Entity      *knownEntity `json:"entity,omitzero" jsonschema:"Their knowledge of the entity."`
	Unknown     []string     `json:"unknown,omitzero" jsonschema:"Names of the entity's attributes that they do not know."`
	Entities    []mention    `json:"entities,omitzero" jsonschema:"Without entity_id: the entities that they know, by name."`
	paged
}

func playerKnowledge(ctx context.Context, l *canon.Snapshot, _ *op.Call, in knowledgeIn) (knowledgeOut, error) {
	k, err := in.toKnowledge(ctx, l)
	if err != nil {
		return knowledgeOut{}, err
	}
	out := knowledgeOut{Of: "players", AsOfSession: in.AsOfSession}
	if in.Subject != "" {
		out.Of = string(in.Subject)
	}
	if in.EntityID == "" {
		return out, k.listKnown(ctx, page{in.Limit, in.Offset}, &out)
	}
	c, err := entityOf(ctx, l, in.EntityID)
	if err != nil {
		return knowledgeOut{}, err
	}
	return out, k.describeKnown(ctx, c, &out)
}

// toKnowledge returns the knowledge of the requested audience at the requested time.
func (in knowledgeIn) toKnowledge(ctx context.Context, l *canon.Snapshot) (knowledge, error) {
	k := knowledge{l: l, view: access.View{Level: access.LevelUser, Subject: in.Subject, Ceiling: l.View().Level},
		at: l.Now()}
	if in.Subject != "" {
		if err := access.CheckSubject(in.Subject); err != nil {
			return k, fault.BadField("subject", "%v", err)
		}
	}
	if in.AsOfSession == nil {
		return k, nil
	}
	h, err := historyFor(ctx, l, *in.AsOfSession)
	k.at, k.later, k.reveals = h.asOf(*in.AsOfSession), h.laterSeqs(*in.AsOfSession), h.reveals
	return k, err
}

// listKnown lists the known entities by name.
func (k knowledge) listKnown(ctx context.Context, p page, out *knowledgeOut) error {
	cards, atLeast, err := canon.CollectUpTo(k.l.AllCards(ctx, canon.Filter{Types: entityTypes}), canon.CountCap)
	if err != nil {
		return err
	}
	all := []mention{}
	for _, c := range cards {
		v, ok, err := k.entityAt(ctx, c.ID)
		if err != nil {
			return err
		}
		if ok {
			all = append(all, mention{c.ID, v.Name, kindByType[markup.KeyOf(v.Type)]})
		}
	}
	out.Entities, out.paged = pageOf(all, p)
	out.Known, out.TotalIsLowerBound = len(all) > 0, atLeast
	return nil
}

// describeKnown describes one entity as far as it is known.
func (k knowledge) describeKnown(ctx context.Context, c canon.Card, out *knowledgeOut) error {
	v, ok, err := k.entityAt(ctx, c.ID)
	if err != nil || !ok {
		return err
	}
	content, err := k.l.AsPlayer(k.view.Subject).ContentAt(ctx, c, v, k.at)
	if err != nil {
		return err
	}
	fields, err := attributesOf(k.l.FieldsOf(v.Type, v.Fields))
	if err != nil {
		return err
	}
	secrets, err := k.knownSecrets(ctx, c)
	if err != nil {
		return err
	}
	e := knownEntity{mention: mention{c.ID, v.Name, kindByType[markup.KeyOf(v.Type)]},
		Description: toMarkdown(ctx, v.TextKind(), content), Attributes: fields.forReaders()}
	maps.Copy(e.Attributes, secrets.forReaders())
	if e.Relationships, err = k.knownRelations(ctx, c); err != nil {
		return err
	}
	if e.Events, err = k.knownEvents(ctx, c); err != nil {
		return err
	}
	out.Known, out.Entity, out.Total = true, &e, 1
	out.Unknown, err = k.unknownAttributes(ctx, c, e.Attributes)
	return err
}

// unknownAttributes returns the names of attributes that an entity has now and the audience does
// not know.
func (k knowledge) unknownAttributes(ctx context.Context, c canon.Card, have attributes) ([]string, error) {
	fields, err := attributesOf(k.l.FieldsOf(c.Type, c.Fields))
	if err != nil {
		return nil, err
	}
	secrets, err := secretsOf(ctx, k.l, c)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, a := range []attributes{fields.forReaders(), secrets.forReaders()} {
		for name := range a {
			if _, ok := have[name]; !ok && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}
