package campaign

import (
	"context"
	"encoding/json"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func conflictOps(d *deps) []*op.Operation {
	return []*op.Operation{
		defineGMRead(d, op.Spec{
			Name: "canon_check",
			Asked: []string{
				"contradictions between sources", "where do our notes disagree", "undecided disputes",
				"inconsistencies waiting for me", "on the sources disagree", "two books say different things",
				"on do the sources disagree", "which statements contradict each other",
				"not add up in our notes", "notes that contradict each other", "sources at odds",
				"disputed points", "errors between books",
			},
			Title: "Check canon conflicts",
			Doc: "List the undecided conflicts, in which a source contradicts an authoritative entity. For the GM. Each conflict has the values with their sources. " +
				"Only a person's decision, given to canon_resolve, ends a conflict: do not decide for them.",
			Route: "GET /api/campaigns/{campaign_id}/conflicts",
			Examples: []op.Example{
				{Title: "Undecided conflicts", Input: `{"campaign_id": "ashlar-pass", "status": "DETECTED"}`},
			},
		}, canonCheck),
		defineWrite(d, op.Spec{
			Name: "canon_acknowledge",
			Asked: []string{
				"seen that contradiction, decide later", "put a dispute aside",
				"I know of this contradiction, leave it for now", "I have seen the dispute",
				"leave a contradiction open", "note it for later",
			},
			Title: "Acknowledge a canon conflict",
			Doc:   "Mark a conflict as seen, for a later decision. For the GM.",
			Route: "POST /api/campaigns/{campaign_id}/conflicts/{conflict_id}/acknowledge", Target: "conflict_id",
			Idempotent: true,
			Examples: []op.Example{
				{Title: "Seen", Input: `{"campaign_id": "ashlar-pass", "conflict_id": "01920000-0000-7000-8000-000000000003"}`},
			},
		}, canonAcknowledge),
		defineWrite(d, op.Spec{
			Name: "canon_resolve",
			Asked: []string{
				"settle a contradiction", "which of the two values is right", "decide a dispute between sources",
				"keep the old one or take the new one", "the first source is right, let it stand",
				"which source wins", "the older source is right", "make up my mind about a contradiction",
				"decide which source is right", "settle a dispute", "the other number is correct",
				"end a contradiction",
			},
			Title: "Resolve a canon conflict",
			Doc: "Apply the GM's decision on a conflict: keep the entity's value, replace it with a claimed value, or merge both into a new one. For the GM. " +
				"Rejected values are kept in the conflict as SUPERSEDED.",
			Route: "POST /api/campaigns/{campaign_id}/conflicts/{conflict_id}/resolve", Target: "conflict_id",
			Examples: []op.Example{
				{Title: "The other source is right",
					Input: `{"campaign_id": "ashlar-pass", "conflict_id": "01920000-0000-7000-8000-000000000003", "resolution": "replace"}`},
			},
		}, canonResolve),
	}
}

type checkIn struct {
	inCampaign
	EntityID ref    `json:"entity_id,omitzero" jsonschema:"Only conflicts about this entity."`
	Status   string `json:"status,omitzero" enum:"DETECTED,ACKNOWLEDGED,RESOLVED" jsonschema:"Only conflicts with this status; default all that are not RESOLVED."`
	page
}

type conflictsOut struct {
	Conflicts []conflict `json:"conflicts"`
	paged
}

func canonCheck(ctx context.Context, l *canon.Snapshot, _ *op.Call, in checkIn) (conflictsOut, error) {
	var of canon.Card
	if in.EntityID != "" {
		c, err := entityOf(ctx, l, in.EntityID)
		if err != nil {
			return conflictsOut{}, err
		}
		of = c
	}
	cards, err := conflictsOf(ctx, l, of)
	if err != nil {
		return conflictsOut{}, err
	}
	list := []conflict{}
	for _, c := range cards {
		k, err := conflictOf(ctx, l, c)
		if err != nil {
			return conflictsOut{}, err
		}
		if k.Status == in.Status || in.Status == "" && k.Status != resolved {
			list = append(list, k)
		}
	}
	slices.SortFunc(list, compareConflicts)
	rows, pg := pageOf(list, in.page)
	return conflictsOut{rows, pg}, nil
}

// findOpenConflict finds a conflict that is not resolved yet.
func findOpenConflict(ctx context.Context, p *canon.Plan, id ref) (canon.Card, conflictRecord, error) {
	c, ok, err := p.ByID(ctx, id.toCardID())
	if err != nil {
		return c, conflictRecord{}, err
	}
	if !ok || !isType(c, typeConflict) {
		return c, conflictRecord{}, absentFault("conflict", id, "canon_check")
	}
	d := recordOfConflict(c)
	if d.Status == resolved {
		return c, d, fault.New(fault.Conflict, "this conflict is already resolved (%s); a new claim reopens it",
			d.Resolution)
	}
	return c, d, nil
}

type acknowledgeIn struct {
	maybeCampaign
	ConflictID ref `json:"conflict_id" jsonschema:"Id of the conflict; canon_check lists it."`
}

func canonAcknowledge(ctx context.Context, d *deps, c *op.Call, in acknowledgeIn) (conflict, error) {
	return surface.Commit(ctx, d.Kit, c, surface.Change[conflict]{
		Plan: func(p *canon.Plan) error {
			card, k, err := findOpenConflict(ctx, p, in.ConflictID)
			if err != nil {
				return err
			}
			p.Target(card.ID)
			k.Status = acknowledged
			_, err = updateConflict(p, card, k)
			return err
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (conflict, error) { return replyConflict(ctx, l, r) },
	})
}

func replyConflict(ctx context.Context, l *canon.Snapshot, r canon.Receipt) (conflict, error) {
	card, err := replyCard(ctx, l, r, "the conflict")
	if err != nil {
		return conflict{}, err
	}
	return conflictOf(ctx, l, card)
}

type resolveIn struct {
	maybeCampaign
	ConflictID  ref             `json:"conflict_id" jsonschema:"Id of the conflict; canon_check lists it."`
	Resolution  string          `json:"resolution" enum:"keep,replace,merge" jsonschema:"keep the entity's value, replace it with a claimed value, or merge both into chosen_value."`
	ChosenValue json.RawMessage `json:"chosen_value,omitzero" jsonschema:"For replace: the claimed value to choose, if there are several. For merge: the new value."`
}

func canonResolve(ctx context.Context, d *deps, c *op.Call, in resolveIn) (conflict, error) {
	return surface.Commit(ctx, d.Kit, c, surface.Change[conflict]{
		Plan: func(p *canon.Plan) error {
			card, k, err := findOpenConflict(ctx, p, in.ConflictID)
			if err != nil {
				return err
			}
			p.Target(card.ID)
			decided, value, err := k.resolveWith(in.Resolution, in.ChosenValue)
			if err != nil {
				return err
			}
			if _, err = updateConflict(p, card, decided); err != nil || value == nil {
				return err
			}
			return applyDecision(ctx, p, decided, value)
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (conflict, error) { return replyConflict(ctx, l, r) },
	})
}

// applyDecision sets the entity's field to the value of the decision.
func applyDecision(ctx context.Context, p *canon.Plan, d conflictRecord, value json.RawMessage) error {
	entity, ok, err := p.ByID(ctx, d.Entity)
	if err != nil {
		return err
	}
	if !ok {
		return absentFault("entity", ref(d.Entity.String()), "entity_search")
	}
	draft, err := d.toDraft(value)
	if err != nil {
		return err
	}
	_, err = draft.overwriteEntity(ctx, p, entity)
	return err
}
