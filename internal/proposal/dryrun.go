package proposal

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// authoredChange is the change of one proposal, to be made or dry-run with its author's rights.
type authoredChange struct {
	rec    *judgedEvent
	kind   *Kind
	draft  Draft
	author access.Caller // with current rights
	world  access.WorldID
	cause  uuid.UUID        // the record that the change follows from
	shown  bool             // it must be exactly the change that the proposal's preview shows
	seen   *canon.ChangeSet // that change, if it was dry-run just now
	again  bool             // it may already be in the canon
}

// change returns the candidate's change.
func (c *candidate) change() authoredChange {
	return authoredChange{rec: &c.rec, kind: c.kind, draft: c.draft, author: c.grant.Caller(), world: c.grant.World()}
}

// dryRunChange dry-runs a proposal, as the one change that it would commit, including its event.
func (s *Service) dryRunChange(ctx context.Context, g access.Grant, w authoredChange) (canon.DryRun, error) {
	if d, ok := w.draft.(changeDraft); ok {
		return s.dryRunOperation(ctx, g, w, d)
	}
	runs, err := s.cfg.Canon.DryRuns(g, func(g access.Grant) error {
		_, err := s.cfg.Canon.Update(ctx, g, func(p *canon.Plan) error { return w.planDraft(ctx, p) })
		return err
	})
	if err != nil {
		return canon.DryRun{}, err
	}
	return runs[0], nil // a draft's plan always has an event
}

// checkNotApplied returns alreadyApplied if the proposal is in the canon.
func (w authoredChange) checkNotApplied(ctx context.Context, snap *canon.Snapshot) error {
	list, _, err := snap.Events(ctx, canon.EventQuery{Key: eventKey(w.rec.ID), Page: canon.Page{Limit: 1}})
	if err == nil && len(list) > 0 {
		err = alreadyApplied{list[0].ID}
	}
	return err
}

// planDraft plans a draft on a snapshot if its check still passes.
func (w authoredChange) planDraft(ctx context.Context, p *canon.Plan) error {
	if w.again {
		if err := w.checkNotApplied(ctx, p.Snapshot); err != nil {
			return err
		}
	}
	found, err := w.draft.Check(ctx, State{Snapshot: p.Snapshot})
	if err != nil {
		return err
	}
	if len(found.Issues) > 0 {
		return issuesFault(found.Issues)
	}
	e, err := w.draft.Plan(ctx, p, found.Label)
	if err != nil {
		return err
	}
	for _, t := range w.draft.Texts() {
		if err := p.CheckNotCopied(found.Label, "", t.Text); err != nil {
			return err
		}
	}
	e.Key, e.Version = eventKey(w.rec.ID), w.kind.Version
	if e.Actor.Kind == "" {
		e.Actor = actorOf(w.rec.Author.Actor, p.Grant())
	}
	p.Cause(w.cause)
	earlier, sent, err := p.EventOnce(e)
	if err == nil && sent {
		err = alreadyApplied{earlier.ID}
	}
	return err
}

// actorOf returns the actor of an event whose draft sets none.
func actorOf(a access.Actor, g access.Grant) canon.EventActor {
	if a == access.AI {
		return canon.EventActor{Kind: "ai"}
	}
	if p := g.Caller().Player; p != uuid.Nil {
		return canon.EventActor{Kind: "player", ID: p.String()}
	}
	return canon.EventActor{Kind: "system"}
}

// issuesFault returns a fault that lists issues.
func issuesFault(issues []Issue) error {
	e := fault.New(fault.Rule, "it no longer fits the world: %s", issues[0].Error)
	for _, i := range issues {
		e.Fields = append(e.Fields, fault.Field(i))
	}
	return e
}

// dryRunOperation is dryRunChange for a change that an operation makes.
func (s *Service) dryRunOperation(ctx context.Context, g access.Grant, w authoredChange,
	d changeDraft) (canon.DryRun, error) {
	if w.again {
		if err := s.cfg.Canon.Read(ctx, g, func(l *canon.Snapshot) error { return w.checkNotApplied(ctx, l) }); err != nil {
			return canon.DryRun{}, err
		}
	}
	runs, err := s.cfg.Canon.DryRuns(g, func(g access.Grant) error {
		_, err := d.operation.Run(ctx, &op.Call{Grant: g, Transport: cmp.Or(w.rec.Author.Transport, "proposal")}, d.input)
		return err
	})
	switch {
	case len(runs) > 1:
		return canon.DryRun{}, fault.New(
			fault.Rule,
			"%s makes several commits, and a person can only approve one; propose them one by one, or as one transactional batch",
			d.operation.Name,
		)
	case len(runs) == 0 && err == nil:
		return canon.DryRun{}, fault.New(fault.Rule,
			"%s would make no change that can be shown in advance; ask somebody whose key may write", d.operation.Name)
	case len(runs) == 0:
		return canon.DryRun{}, err
	}
	run := runs[0] // if there is an error, only the reply to the dry run failed
	payload, err := json.Marshal(map[string]string{"operation": d.operation.Name, "proposalId": w.rec.ID.String()})
	run.Set.Cause = w.cause
	run.Set.Event = &canon.Event{Type: EventCanonChange, Scope: "global:world", Payload: payload, Label: labelOf(run),
		Key: eventKey(w.rec.ID), Version: w.kind.Version, Actor: actorOf(w.rec.Author.Actor, g)}
	return run, err
}

// EventCanonChange is the type of the event of an accepted canon_change.
const EventCanonChange = "Canon.Change.Accepted"

// labelOf returns the label of callers who may know of everything that a change affects.
func labelOf(run canon.DryRun) access.Label {
	l := access.NewLabel(access.LevelUser)
	for _, c := range run.Receipt.Cards {
		l = l.Meet(c.Label)
	}
	for _, ch := range run.Set.Changes {
		switch {
		case ch.Link != nil:
			l = l.Meet(ch.Link.Label)
		case ch.Layer != nil:
			l = l.Meet(ch.Layer.Label)
		case ch.Text != nil:
			l = l.Meet(ch.Text.Label)
		case ch.World != nil, ch.Member != nil, ch.Purge != nil:
			l = l.Meet(access.NewLabel(access.LevelAdmin))
		}
	}
	return l
}
