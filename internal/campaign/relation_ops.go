package campaign

import (
	"context"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func relationOps(d *deps) []*op.Operation {
	return []*op.Operation{
		defineWrite(d, op.Spec{
			Name: "relationship_create",
			Asked: []string{
				"two people are friends, enemies, kin or lovers", "somebody works for somebody",
				"tie between characters", "owes, hates, loves, married to, rival of", "record a bond",
				"from now on they hate each other", "one is the other's sister, debtor or ally",
				"they are brothers", "he owes her money", "she distrusts him from now on",
				"make two people allies", "make two persons friends or enemies", "tie one to another",
				"they are married now", "who belongs to whom: note it", "connect two figures",
			},
			Title: "Relate two entities",
			Doc: "Record how one entity is related to another: by a type such as ally of or parent of, with a tone and a strength. For the GM. " +
				"Each type has a name for each side; use either. Two entities can have only one relationship of a type. Players do not see a secret relationship until it is revealed.",
			Route: "POST /api/campaigns/{campaign_id}/relationships", Status: 201, Target: "source_id",
			Examples: []op.Example{
				{Title: "Two allies",
					Input: `{"campaign_id": "ashlar-pass", "source_id": "01920000-0000-7000-8000-000000000001", "target_id": "01920000-0000-7000-8000-000000000002", "type": "ally of", "tone": "friendly", "strength": 6}`},
			},
		}, relationshipCreate),
		defineWrite(d, op.Spec{
			Name: "relationship_delete",
			Asked: []string{
				"they are no longer friends", "cut a tie between two people", "break up",
				"they are no longer married", "their feud is over", "they fell out", "end a tie",
				"no longer allies",
			},
			Title:  "Delete a relationship",
			Doc:    "Delete a relationship between two entities. For the GM.",
			Effect: access.Destroy,
			Route:  "DELETE /api/campaigns/{campaign_id}/relationships/{relationship_id}", Target: "relationship_id",
			Examples: []op.Example{
				{Title: "Take one back",
					Input: `{"campaign_id": "ashlar-pass", "relationship_id": "01920000-0000-7000-8000-000000000009"}`},
			},
		}, relationshipDelete),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "relationship_types",
			Asked: []string{
				"which kinds of ties are there", "words for how people are connected", "possible bonds",
				"which ties can we record", "ways in which people can be linked",
				"words for kin, friends and foes", "list of bonds", "kinds of connections",
			},
			Title:    "List types of relationship",
			Doc:      "List the types of relationship, each with its name from the other side.",
			Route:    "GET /api/campaigns/{campaign_id}/relationship-types",
			Examples: []op.Example{{Title: "All of them", Input: `{"campaign_id": "ashlar-pass"}`}},
		}, relationshipTypes),
		defineWrite(d, op.Spec{
			Name: "relationship_type_create",
			Asked: []string{
				"a new kind of tie", "invent a word for how people are connected",
				"add a bond such as owes money to", "there is no word yet for this tie",
				"we need a new word for a tie", "a kind of bond that is missing", "new word for kinship",
			},
			Title: "Add a type of relationship",
			Doc:   "Add a type of relationship to this campaign. For the GM. Give inverse, its name from the other side, unless it is symmetric. Players see the name in relationships that they can see.",
			Route: "POST /api/campaigns/{campaign_id}/relationship-types", Status: 201,
			Examples: []op.Example{
				{Title: "A type with two sides",
					Input: `{"campaign_id": "ashlar-pass", "name": "blackmails", "inverse": "blackmailed by"}`},
			},
		}, relationshipTypeCreate),
	}
}

type relateIn struct {
	maybeCampaign
	SourceID ref    `json:"source_id" jsonschema:"Id of the source: Ann, in Ann is parent of Bo."`
	TargetID ref    `json:"target_id" jsonschema:"Id of the target: Bo, in Ann is parent of Bo."`
	Type     string `json:"type" minlen:"1" maxlen:"60" jsonschema:"Type, from the source's side; relationship_types lists them."`
	Tone     string `json:"tone,omitzero" enum:"friendly,hostile,neutral,romantic,professional,fearful,respectful,unknown" default:"unknown" jsonschema:"Attitude between the two."`
	Strength int    `json:"strength,omitzero" default:"5" min:"1" max:"10" jsonschema:"How strong it is, from 1 to 10."`
	Secret   bool   `json:"secret,omitzero" jsonschema:"Hide it from players until it is revealed."`
}

func (in relateIn) toTerms() relationTerms {
	level := access.LevelUser
	if in.Secret {
		level = access.LevelGM
	}
	return relationTerms{in.Tone, in.Strength, access.NewLabel(level)}
}

// relation is a relationship with both its ends.
type relation struct {
	ID       canon.LinkID `json:"id"`
	Type     string       `json:"type" jsonschema:"Relation of the source to the target."`
	Inverse  string       `json:"inverse" jsonschema:"Relation of the target to the source."`
	Source   mention      `json:"source"`
	Target   mention      `json:"target"`
	Tone     string       `json:"tone"`
	Strength int          `json:"strength"`
	KnownTo  knownTo      `json:"known_to,omitzero" jsonschema:"For the GM: the players who see the relationship, if they see both ends."`
}

func relationOf(ctx context.Context, l *canon.Snapshot, k canon.Link) (relation, error) {
	names, err := mentionsByID(ctx, l, []canon.CardID{k.From, k.To})
	b := attrsOf(k)
	return relation{k.ID, b.Type, b.Inverse, names[k.From], names[k.To], b.Tone, b.Strength, shownTo(l, k.Label)}, err
}

func relationshipCreate(ctx context.Context, d *deps, c *op.Call, in relateIn) (relation, error) {
	return surface.Commit(ctx, d.Kit, c, surface.Change[relation]{
		Plan: func(p *canon.Plan) error { return planRelationship(ctx, p, in) },
		Reply: func(l *canon.Snapshot, _ canon.Receipt) (relation, error) {
			at, err := relationKeyOf(ctx, l, in)
			if err != nil {
				return relation{}, err
			}
			k, ok, err := at.findLink(ctx, l)
			if err == nil && !ok { // it was deleted after the first call, and this is a repeated call
				err = goneFault("the relationship")
			}
			if err != nil {
				return relation{}, err
			}
			return relationOf(ctx, l, k)
		},
	})
}

type unrelateIn struct {
	maybeCampaign
	RelationshipID ref  `json:"relationship_id" jsonschema:"Id of the relationship; entity_get and relationship_map show it."`
	DryRun         bool `json:"dry_run,omitzero" jsonschema:"Only check."`
}

type deletedOut struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
	DryRun  bool   `json:"dry_run,omitzero"`
}

func relationshipDelete(ctx context.Context, d *deps, c *op.Call, in unrelateIn) (deletedOut, error) {
	return surface.Commit(ctx, d.Kit, c, surface.Change[deletedOut]{
		Plan: func(p *canon.Plan) error {
			k, err := relationByID(ctx, p.Snapshot, in.RelationshipID)
			if err != nil {
				return err
			}
			p.DependOnLink(k)
			p.Unlink(k)
			return nil
		},
		Reply: func(_ *canon.Snapshot, r canon.Receipt) (deletedOut, error) {
			return deletedOut{in.RelationshipID.toLinkID().String(), !r.DryRun, r.DryRun}, nil
		},
	})
}

// relationByID returns the visible relationship with an id.
func relationByID(ctx context.Context, l *canon.Snapshot, id ref) (canon.Link, error) {
	k, ok, err := l.LinkByID(ctx, id.toLinkID())
	if err == nil && (!ok || k.Kind != kindRelation) {
		err = absentFault("relationship", id, "relationship_map")
	}
	return k, err
}

type relationTypesIn struct{ inCampaign }

type relationTypesOut struct {
	Types []relationType `json:"types"`
}

func relationshipTypes(ctx context.Context, l *canon.Snapshot, _ *op.Call,
	_ relationTypesIn) (relationTypesOut, error) {
	all, err := relationTypesOf(ctx, l)
	return relationTypesOut{all}, err
}

type relationTypeIn struct {
	inCampaign
	Name      string `json:"name" minlen:"1" maxlen:"60" jsonschema:"Name of the type, from the source's side: blackmails."`
	Inverse   string `json:"inverse,omitzero" maxlen:"60" jsonschema:"Its name from the other side: blackmailed by."`
	Symmetric bool   `json:"symmetric,omitzero" jsonschema:"It is the same from both sides."`
}

func (in relationTypeIn) toRelationType() (relationType, error) {
	var p problems
	t := relationType{normalizeType(in.Name), normalizeType(in.Inverse), in.Symmetric}
	if t.Name == "" || !utf8.ValidString(t.Name) {
		p.Add("name", "needs a word")
	}
	switch {
	case t.Symmetric && t.Inverse != "" && t.Inverse != t.Name:
		p.Add("inverse", "is the name itself where the type is symmetric; leave it out")
	case t.Symmetric:
		t.Inverse = t.Name
	case t.Inverse == "" || t.Inverse == t.Name:
		p.Add("inverse", "give its name from the other side, or symmetric: true")
	}
	return t, p.Err()
}

func relationshipTypeCreate(ctx context.Context, d *deps, c *op.Call, in relationTypeIn) (relationType, error) {
	t, err := in.toRelationType()
	if err != nil {
		return relationType{}, err
	}
	return surface.Commit(ctx, d.Kit, c, surface.Change[relationType]{
		Plan: func(p *canon.Plan) error {
			_, err := createRelationType(ctx, p, t)
			return err
		},
		Reply: func(*canon.Snapshot, canon.Receipt) (relationType, error) { return t, nil },
	})
}

// createRelationType plans a type of relationship that only the GM sees.
func createRelationType(ctx context.Context, p *canon.Plan, t relationType) (canon.Card, error) {
	all, err := relationTypesOf(ctx, p.Snapshot)
	if err != nil {
		return canon.Card{}, err
	}
	names := []string{t.Name, t.Inverse}
	if i := slices.IndexFunc(all,
		func(o relationType) bool { return slices.Contains(names, o.Name) || slices.Contains(names, o.Inverse) }); i >= 0 {
		return canon.Card{},
			fault.New(fault.Conflict, "the type %q (from the other side %q) already exists; use it, or choose another name",
				all[i].Name, all[i].Inverse)
	}
	fields, err := json.Marshal(t)
	if err != nil {
		return canon.Card{}, err
	}
	label := access.NewLabel(access.LevelGM)
	return p.Create(canon.NewCard{Name: "Relationship " + t.Name, Type: typeRelation, Fields: fields, Label: &label,
		Root: true})
}
