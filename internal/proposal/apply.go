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

// eventKey is the key of the event that a proposal becomes: what shows that it did.
func eventKey(id uuid.UUID) string { return "proposal:" + id.String() }

// applied finds the event that a proposal became.
func applied(ctx context.Context, l *canon.Snapshot, id uuid.UUID) (uuid.UUID, bool, error) {
	list, _, err := l.Events(ctx, canon.EventQuery{Key: eventKey(id), Page: canon.Page{Limit: 1}})
	if err != nil || len(list) == 0 {
		return uuid.Nil, false, err
	}
	return list[0].ID, true, nil
}

// alreadyApplied stops a plan whose proposal is in the canon.
type alreadyApplied struct{ event uuid.UUID }

func (alreadyApplied) Error() string { return "proposal: applied already" }

// runner is a draft that an operation of a surface carries out, in place of a plan.
type runner interface {
	operation(s *Service) (*op.Operation, json.RawMessage, error)
}

// work is one proposal to be carried out, or rehearsed.
type work struct {
	id    uuid.UUID
	kind  *Kind
	draft Draft
	actor access.Actor
	cause uuid.UUID // the record that it follows from
	again bool      // it may be in the canon already
	// transport is how the proposal came; "" where it is carried out later, when what came
	// was judged already.
	transport string
}

// perform carries out a proposal under a grant of its author's, once.
func (s *Service) perform(ctx context.Context, g access.Grant, w work) (canon.Receipt, error) {
	if _, ok := w.draft.(runner); !ok {
		return s.cfg.Canon.Update(ctx, g, func(p *canon.Plan) error { return w.plan(ctx, p) })
	}
	set, _, err := s.propose(ctx, g, w)
	if err != nil {
		return canon.Receipt{}, err
	}
	return s.cfg.Canon.Commit(ctx, g, set)
}

// propose rehearses a proposal and gives the one change that it would commit, with the
// event that tells of it, and what the commit would answer.
func (s *Service) propose(ctx context.Context, g access.Grant, w work) (canon.ChangeSet, canon.Receipt, error) {
	if r, ok := w.draft.(runner); ok {
		return s.run(ctx, g, w, r)
	}
	inner, seen := canon.Capture(ctx)
	_, err := s.cfg.Canon.Update(inner, g.DryRun(), func(p *canon.Plan) error { return w.plan(ctx, p) })
	if err != nil {
		return canon.ChangeSet{}, canon.Receipt{}, err
	}
	return seen.Sets[0], seen.Receipts[0], nil
}

// plan plans a draft on a snapshot, where it still holds.
func (w work) plan(ctx context.Context, p *canon.Plan) error {
	if w.again {
		event, done, err := applied(ctx, p.Snapshot, w.id)
		if err == nil && done {
			err = alreadyApplied{event}
		}
		if err != nil {
			return err
		}
	}
	found, err := w.draft.Check(ctx, State{Snapshot: p.Snapshot})
	if err != nil {
		return err
	}
	if len(found.Issues) > 0 {
		return broken(found.Issues)
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

// actorOf says in an event who acted, where the draft does not.
func actorOf(a access.Actor, g access.Grant) canon.EventActor {
	if a == access.AI {
		return canon.EventActor{Kind: "ai"}
	}
	if p := g.Caller().Player; p != uuid.Nil {
		return canon.EventActor{Kind: "player", ID: p.String()}
	}
	return canon.EventActor{Kind: "system"}
}

// broken is a fault that says which issues there are.
func broken(issues []Issue) error {
	e := fault.New(fault.Rule, "it does not fit the world any more: %s", issues[0].Error)
	for _, i := range issues {
		e.Fields = append(e.Fields, fault.Field(i))
	}
	return e
}

// run is propose for what an operation carries out.
func (s *Service) run(ctx context.Context, g access.Grant, w work, r runner) (canon.ChangeSet, canon.Receipt, error) {
	err := s.cfg.Canon.Read(ctx, g, func(l *canon.Snapshot) error {
		event, done, err := applied(ctx, l, w.id)
		if err == nil && done {
			err = alreadyApplied{event}
		}
		return err
	})
	if err != nil {
		return canon.ChangeSet{}, canon.Receipt{}, err
	}
	o, input, err := r.operation(s)
	if err != nil {
		return canon.ChangeSet{}, canon.Receipt{}, err
	}
	inner, seen := canon.Capture(ctx)
	_, err = o.Run(inner, &op.Call{Grant: g.DryRun(), Transport: cmp.Or(w.transport, "proposal")}, input)
	switch {
	case len(seen.Sets) > 1:
		err = fault.New(fault.Rule, "%s makes several changes, of which a person could not judge one by one; propose them apart, or as one transactional batch", o.Name)
	case len(seen.Sets) == 1:
		err = nil // what failed after the rehearsal held was the reply to it
	case err == nil:
		err = fault.New(fault.Rule, "%s would change nothing that can be shown beforehand; ask somebody whose key writes", o.Name)
	}
	if err != nil {
		return canon.ChangeSet{}, canon.Receipt{}, err
	}
	set, receipt := seen.Sets[0], seen.Receipts[0]
	payload, err := json.Marshal(map[string]string{"operation": o.Name, "proposalId": w.id.String()})
	set.Cause = w.cause
	set.Event = &canon.Event{Type: EventCanonChange, Scope: "global:world", Payload: payload, Label: labelOf(set, receipt),
		Key: eventKey(w.id), Version: w.kind.Version, Actor: actorOf(w.actor, g)}
	return set, receipt, err
}

// EventCanonChange is the event of an accepted change to the canon by an operation.
const EventCanonChange = "Canon.Change.Accepted"

// labelOf is the label of whoever may know of all that a change touches.
func labelOf(set canon.ChangeSet, r canon.Receipt) access.Label {
	l := access.NewLabel(access.LevelUser)
	for _, c := range r.Cards {
		l = l.Meet(c.Label)
	}
	for _, ch := range set.Changes {
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

// admit admits an author's act: the change that a proposal of theirs asks for. It opens
// what the author may do today, and no more.
func (s *Service) admit(ctx context.Context, c access.Caller, w access.WorldID, j *judged, k *Kind, draft Draft) (*access.Admission, error) {
	req := access.Request{Operation: k.Tool.Name, Surface: j.Author.Surface, Effect: access.Write, Class: access.ClassFree, MinRole: access.RoleUser,
		World: w, Correlation: j.Correlation}
	if j.Expected != (canon.Hash{}) { // what was agreed to is committed as it was shown, and told from a repetition by this
		req.IdempotencyKey, req.InputHash = eventKey(j.ID), j.Hash
	}
	if r, ok := draft.(runner); ok {
		o, _, err := r.operation(s)
		if err != nil {
			return nil, err
		}
		req.Operation, req.MinRole, req.Operator, req.Surface = o.Name, max(o.MinRole, access.RoleUser), o.Operator, surfaceOf(c, o)
	}
	c.Advisory = false
	return s.cfg.Guard.Admit(ctx, c, req)
}

// surfaceOf is the surface on which a caller may use an operation, or its home.
func surfaceOf(c access.Caller, o *op.Operation) string {
	if i := slices.IndexFunc(o.Surfaces, func(s string) bool { return c.MayUse(s, o.Name) }); i >= 0 {
		return o.Surfaces[i]
	}
	return o.Surfaces[0]
}

// accept carries out a candidate whose verdict is stored.
func (s *Service) accept(ctx context.Context, c *candidate, verdict uuid.UUID) (Result, error) {
	var event uuid.UUID
	var err error
	if c.rec.Standing != uuid.Nil { // what was let through is what was rehearsed, and nothing else
		event, err = s.carryAgreed(ctx, c.grant.Caller(), c.grant.World(), c.kind, c.draft, &entry{judged: &c.rec, agreed: verdict})
	} else {
		event, err = s.carryOut(ctx, c.grant.Caller(), c.grant.World(), &c.rec, work{id: c.rec.ID, kind: c.kind, draft: c.draft, actor: c.rec.Author.Actor, cause: verdict})
	}
	r := c.result()
	if err == nil {
		r.EventID = event.String()
		return r, nil
	}
	if !final(err) {
		slog.ErrorContext(ctx, "an accepted proposal waits to be carried out", "proposal", c.rec.ID, "error", err)
		return s.unaudited(ctx, c, fault.New(fault.Unavailable, "not carried out yet").Because(err))
	}
	if err := s.undo(ctx, c.grant, decided{ID: c.rec.ID, Status: Rejected, By: c.rec.Author.Subject, Gate: GateInvariant}); err != nil {
		return Result{}, err
	}
	o := outcome{issues: issuesOf(err)}
	o.refused = &Rejection{Message: "it does not fit the world any more (" + o.issues[0].Error + "); look again and propose anew", Details: map[string]any{"issues": o.issues}}
	c.note(GateInvariant, "invariant/1", o)
	return c.result(), nil
}

// final reports whether trying again cannot help: the world is otherwise than the gates
// found it.
func final(err error) bool {
	switch fault.KindOf(err) {
	case fault.Internal, fault.Unavailable, fault.RateLimited:
		return false
	}
	return true
}

// carryOut makes an accepted proposal's change with its author's rights, and gives its
// event. Done before, it gives the event of that time.
func (s *Service) carryOut(ctx context.Context, author access.Caller, w access.WorldID, j *judged, do work) (uuid.UUID, error) {
	a, err := s.admit(ctx, author, w, j, do.kind, do.draft)
	if err != nil {
		return uuid.Nil, err
	}
	receipt, err := s.perform(ctx, a.Grant, do)
	var done alreadyApplied
	if errors.As(err, &done) {
		receipt.Change, err = done.event, nil
	}
	a.Done(ctx, 0, err)
	if err != nil {
		return uuid.Nil, err
	}
	s.ledger(w).settled(j.ID, receipt.Change)
	return receipt.Change, nil
}

// settle gives the event of an accepted proposal, carrying it out where that was begun
// and not ended: by a process that was killed, say.
func (s *Service) settle(ctx context.Context, g access.Grant, e *entry) (uuid.UUID, error) {
	led := s.ledger(g.World())
	if event, ok := led.event(e.judged.ID); ok {
		return event, nil
	}
	if e.decided != nil && e.decided.Status != Accepted || e.status() != Accepted {
		return uuid.Nil, nil
	}
	k := s.kinds[kindName(e.judged.Kind)]
	if k == nil || s.cfg.Authors == nil && !e.judged.Author.is(g.Caller()) {
		return uuid.Nil, nil
	}
	author, err := s.authorOf(ctx, g, e.judged)
	if err != nil {
		return uuid.Nil, err
	}
	draft, err := k.decode(e.judged.Payload)
	if err != nil {
		return uuid.Nil, fmt.Errorf("proposal: payload of %s: %w", e.judged.ID, err)
	}
	if e.decided == nil && e.judged.Standing != uuid.Nil {
		e.agreed = e.change
	}
	if e.decided != nil || e.judged.Standing != uuid.Nil {
		return s.carryAgreed(ctx, author, g.World(), k, draft, e)
	}
	return s.carryOut(ctx, author, g.World(), e.judged, work{id: e.judged.ID, kind: k, draft: draft, actor: e.judged.Author.Actor, cause: e.change, again: true})
}

// authorOf is a proposal's author as they are today.
func (s *Service) authorOf(ctx context.Context, g access.Grant, j *judged) (access.Caller, error) {
	if c := g.Caller(); j.Author.Subject == c.Subject && j.Author.Key == c.Key {
		return c, nil
	}
	if s.cfg.Authors == nil {
		return access.Caller{}, fault.New(fault.Unavailable, "authors are not known here")
	}
	return s.cfg.Authors.Author(ctx, j.Author.Subject, j.Author.Key)
}

// Resume carries out what was accepted and not ended, in every world's ledger: what a
// killed process left. It goes on past what fails, and gives the first failure.
func (s *Service) Resume(ctx context.Context, g access.Grant) (n int, err error) {
	list, err := s.open(ctx, g)
	if err != nil {
		return 0, err
	}
	for _, e := range list {
		event, failed := s.settle(ctx, g, e)
		switch {
		case failed != nil && final(failed):
			failed = s.undo(ctx, g, decided{ID: e.judged.ID, Status: Rejected, By: e.judged.Author.Subject, Gate: GateInvariant})
		case failed == nil && event != uuid.Nil:
			n++
		}
		if err == nil {
			err = failed
		}
	}
	return n, err
}
