package proposal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// eventKey returns the key of the event that a proposal becomes. An event with this key shows that
// the proposal is in the canon.
func eventKey(id uuid.UUID) string { return "proposal:" + id.String() }

// alreadyApplied stops a plan whose proposal is already in the canon.
type alreadyApplied struct{ event uuid.UUID }

func (alreadyApplied) Error() string { return "proposal: applied already" }

// operationDraft is a Draft that an operation of a surface carries out instead of its Plan.
type operationDraft interface {
	operationAndInput(s *Service) (*op.Operation, json.RawMessage, error)
}

// applyJob is one proposal to be applied or dry-run.
type applyJob struct {
	id    uuid.UUID
	kind  *Kind
	draft Draft
	actor access.Actor
	cause uuid.UUID // the record that it follows from
	again bool      // it may already be in the canon
	// transport is the transport of the call that proposed. It is "" when the proposal is applied
	// later, since the call was already judged then.
	transport string
}

// commitProposal applies a proposal once, under a grant of its author.
func (s *Service) commitProposal(ctx context.Context, g access.Grant, w applyJob) (canon.Receipt, error) {
	if _, ok := w.draft.(operationDraft); !ok {
		return s.cfg.Canon.Update(ctx, g, func(p *canon.Plan) error { return w.planDraft(ctx, p) })
	}
	run, err := s.dryRunProposal(ctx, g, w)
	if err != nil {
		return canon.Receipt{}, err
	}
	return s.cfg.Canon.Commit(ctx, g, run.Set)
}

// dryRunProposal dry-runs a proposal, as the one change that it would commit, including its event.
func (s *Service) dryRunProposal(ctx context.Context, g access.Grant, w applyJob) (canon.DryRun, error) {
	if r, ok := w.draft.(operationDraft); ok {
		return s.dryRunOperation(ctx, g, w, r)
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
func (w applyJob) checkNotApplied(ctx context.Context, snap *canon.Snapshot) error {
	list, _, err := snap.Events(ctx, canon.EventQuery{Key: eventKey(w.id), Page: canon.Page{Limit: 1}})
	if err == nil && len(list) > 0 {
		err = alreadyApplied{list[0].ID}
	}
	return err
}

// planDraft plans a draft on a snapshot if its check still passes.
func (w applyJob) planDraft(ctx context.Context, p *canon.Plan) error {
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
	e.Key, e.Version = eventKey(w.id), w.kind.Version
	if e.Actor.Kind == "" {
		e.Actor = actorOf(w.actor, p.Grant())
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
	e := fault.New(fault.Rule, "it does not fit the world any more: %s", issues[0].Error)
	for _, i := range issues {
		e.Fields = append(e.Fields, fault.Field(i))
	}
	return e
}

// dryRunOperation is dryRunProposal for a draft that an operation carries out.
func (s *Service) dryRunOperation(ctx context.Context, g access.Grant, w applyJob,
	r operationDraft) (canon.DryRun, error) {
	if w.again {
		if err := s.cfg.Canon.Read(ctx, g, func(l *canon.Snapshot) error { return w.checkNotApplied(ctx, l) }); err != nil {
			return canon.DryRun{}, err
		}
	}
	o, input, err := r.operationAndInput(s)
	if err != nil {
		return canon.DryRun{}, err
	}
	runs, err := s.cfg.Canon.DryRuns(g, func(g access.Grant) error {
		_, err := o.Run(ctx, &op.Call{Grant: g, Transport: cmp.Or(w.transport, "proposal")}, input)
		return err
	})
	switch {
	case len(runs) > 1:
		return canon.DryRun{}, fault.New(fault.Rule,
			"%s makes several changes, of which a person could not judge one by one; propose them apart, or as one transactional batch", o.Name)
	case len(runs) == 0 && err == nil:
		return canon.DryRun{}, fault.New(fault.Rule,
			"%s would change nothing that can be shown beforehand; ask somebody whose key writes", o.Name)
	case len(runs) == 0:
		return canon.DryRun{}, err
	}
	run := runs[0] // if there is an error, only the reply to the dry run failed
	payload, err := json.Marshal(map[string]string{"operation": o.Name, "proposalId": w.id.String()})
	run.Set.Cause = w.cause
	run.Set.Event = &canon.Event{Type: EventCanonChange, Scope: "global:world", Payload: payload, Label: labelOf(run),
		Key: eventKey(w.id), Version: w.kind.Version, Actor: actorOf(w.actor, g)}
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
		case ch.World != nil, ch.Member != nil, ch.Purge != nil:
			l = l.Meet(access.NewLabel(access.LevelAdmin))
		}
	}
	return l
}

// admitAuthor admits the author of a proposal for the change that it asks for. The grant covers
// only rights that the author has at the time of applying.
func (s *Service) admitAuthor(ctx context.Context, c access.Caller, w access.WorldID, j *judgedEvent, k *Kind,
	draft Draft) (*access.Admission, error) {
	req := access.Request{Operation: k.Tool.Name, Surface: j.Author.Surface, Effect: access.Write, Class: access.ClassFree,
		MinRole: access.RoleUser,
		World:   w, Correlation: j.Correlation}
	if j.Expected != (canon.Hash{}) { // the agreed change is committed as it was shown; the key detects a repetition
		req.IdempotencyKey, req.InputHash = eventKey(j.ID), j.Hash
	}
	if r, ok := draft.(operationDraft); ok {
		o, _, err := r.operationAndInput(s)
		if err != nil {
			return nil, err
		}
		req.Operation, req.MinRole, req.Operator, req.Surface = o.Name, max(o.MinRole, access.RoleUser), o.Operator,
			surfaceOf(c, o)
	}
	c.Advisory = false
	return s.cfg.Guard.Admit(ctx, c, req)
}

// surfaceOf returns the first surface on which a caller may use an operation, or else the
// operation's first surface.
func surfaceOf(c access.Caller, o *op.Operation) string {
	if i := slices.IndexFunc(o.Surfaces, func(s string) bool { return c.MayUse(s, o.Name) }); i >= 0 {
		return o.Surfaces[i]
	}
	return o.Surfaces[0]
}

// applyAccepted applies a candidate whose verdict is stored.
func (s *Service) applyAccepted(ctx context.Context, c *candidate, verdict uuid.UUID) (Result, error) {
	var event uuid.UUID
	var err error
	if c.rec.Standing != uuid.Nil { // a standing approval covers exactly the change of the dry run
		event, err = s.applyApproved(ctx, c.grant.Caller(), c.grant.World(), c.kind, c.draft,
			&ledgerEntry{judged: &c.rec, decisionID: verdict})
	} else {
		event, err = s.applyProposal(ctx, c.grant.Caller(), c.grant.World(), &c.rec,
			applyJob{id: c.rec.ID, kind: c.kind, draft: c.draft, actor: c.rec.Author.Actor, cause: verdict})
	}
	r := c.result()
	if err == nil {
		r.EventID = event.String()
		return r, nil
	}
	if !isFinal(err) {
		slog.ErrorContext(ctx, "an accepted proposal waits to be carried out", "proposal", c.rec.ID, "error", err)
		return s.auditUnavailable(ctx, c, fault.New(fault.Unavailable, "not carried out yet").Because(err))
	}
	if err := s.revokeAccepted(ctx, c.grant, decidedEvent{ID: c.rec.ID, Status: Rejected, By: c.rec.Author.Subject,
		Gate: GateInvariant}); err != nil {
		return Result{}, err
	}
	o := outcome{issues: issuesOf(err)}
	o.refused = &Rejection{Message: "it does not fit the world any more (" + o.issues[0].Error +
		"); look again and propose anew", Details: map[string]any{"issues": o.issues}}
	c.addVerdict(GateInvariant, "invariant/1", o)
	return c.result(), nil
}

// isFinal reports whether trying again cannot help, because the world is not as the gates found it.
func isFinal(err error) bool {
	switch fault.KindOf(err) {
	case fault.Internal, fault.Unavailable, fault.RateLimited:
		return false
	}
	return true
}

// applyProposal makes an accepted proposal's change with its author's rights and returns its event.
// If the change was already made, it returns the event of that commit.
func (s *Service) applyProposal(ctx context.Context, author access.Caller, w access.WorldID, j *judgedEvent,
	do applyJob) (uuid.UUID, error) {
	a, err := s.admitAuthor(ctx, author, w, j, do.kind, do.draft)
	if err != nil {
		return uuid.Nil, err
	}
	receipt, err := s.commitProposal(ctx, a.Grant, do)
	var done alreadyApplied
	if errors.As(err, &done) {
		receipt.Change, err = done.event, nil
	}
	a.Done(ctx, 0, err)
	if err != nil {
		return uuid.Nil, err
	}
	s.ledgerOf(w).recordApplied(j.ID, receipt.Change)
	return receipt.Change, nil
}

// finishAccepted returns the event of an accepted proposal. If the proposal was not applied, for
// example because the process was killed, finishAccepted applies it.
func (s *Service) finishAccepted(ctx context.Context, g access.Grant, e *ledgerEntry) (uuid.UUID, error) {
	led := s.ledgerOf(g.World())
	if event, ok := led.appliedEvent(e.judged.ID); ok {
		return event, nil
	}
	if e.decided != nil && e.decided.Status != Accepted || e.status() != Accepted {
		return uuid.Nil, nil
	}
	k := s.kinds[kindName(e.judged.Kind)]
	if k == nil || s.cfg.Authors == nil && !e.judged.Author.isCaller(g.Caller()) {
		return uuid.Nil, nil
	}
	author, err := s.currentAuthor(ctx, g, e.judged)
	if err != nil {
		return uuid.Nil, err
	}
	draft, err := k.decode(e.judged.Payload)
	if err != nil {
		return uuid.Nil, fmt.Errorf("proposal: payload of %s: %w", e.judged.ID, err)
	}
	if e.decided == nil && e.judged.Standing != uuid.Nil {
		e.decisionID = e.change
	}
	if e.decided != nil || e.judged.Standing != uuid.Nil {
		return s.applyApproved(ctx, author, g.World(), k, draft, e)
	}
	return s.applyProposal(ctx, author, g.World(), e.judged,
		applyJob{id: e.judged.ID, kind: k, draft: draft, actor: e.judged.Author.Actor, cause: e.change, again: true})
}

// currentAuthor returns a proposal's author with their current rights.
func (s *Service) currentAuthor(ctx context.Context, g access.Grant, j *judgedEvent) (access.Caller, error) {
	if c := g.Caller(); j.Author.Subject == c.Subject && j.Author.Key == c.Key {
		return c, nil
	}
	if s.cfg.Authors == nil {
		return access.Caller{}, fault.New(fault.Unavailable, "authors are not known here")
	}
	return s.cfg.Authors.Author(ctx, j.Author.Subject, j.Author.Key)
}

// Resume applies the accepted proposals in the ledger of the grant's world that were not applied,
// for example because a process was killed. It continues after a failure and returns the first one.
func (s *Service) Resume(ctx context.Context, g access.Grant) (n int, err error) {
	list, err := s.listUnapplied(ctx, g)
	if err != nil {
		return 0, err
	}
	for _, e := range list {
		event, failed := s.finishAccepted(ctx, g, e)
		switch {
		case failed != nil && isFinal(failed):
			failed = s.revokeAccepted(ctx, g, decidedEvent{ID: e.judged.ID, Status: Rejected, By: e.judged.Author.Subject,
				Gate: GateInvariant})
		case failed == nil && event != uuid.Nil:
			n++
		}
		if err == nil {
			err = failed
		}
	}
	return n, err
}
