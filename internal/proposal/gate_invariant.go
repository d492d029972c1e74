package proposal

import (
	"context"
	"fmt"
	"unicode/utf8"

	"loregate/internal/canon"
	"loregate/internal/fault"
)

// checkInvariant is the third gate: the length of each text, the token budget, the kind's own check against the
// world, a second reading of claims that this check could not settle, and, for a proposal that waits for a person,
// a dry run. It also finds out whether a person must look at the proposal. For that it needs the sources of the
// replay gate, and reads them first, since no snapshot is open while others are asked.
//
// A recorded proposal is checked on the world as it was, without a dry run.
func (s *Service) checkInvariant(ctx context.Context, c *candidate) (o outcome, err error) {
	if err := s.readSources(ctx, c); err != nil {
		return o, err
	}
	var world canon.World
	var forked []canon.CardID
	err = s.cfg.Canon.Read(ctx, c.grant, func(snap *canon.Snapshot) (err error) {
		if c.recorded == nil {
			c.rec.World = snap.Now()
		}
		if o, err = s.checkDraft(ctx, c, State{Snapshot: snap, At: c.asOf, Basis: c.rec.Basis}); err != nil || o.refused != nil {
			return err
		}
		if c.recorded == nil && c.sources.refusal == "" && s.exceptionReason(c) == "" {
			world = snap.World()
			c.imported, forked, err = s.restsOnImport(ctx, snap, c)
		}
		return err
	})
	if err != nil || o.refused != nil {
		return o, err
	}
	o.opinion = s.askDoubtReader(ctx, c)
	if denial, ok := c.finding.findDenial(o.opinion); ok {
		o.refuseFor(denial)
	}
	if o.refused != nil || c.recorded != nil {
		return o, nil
	}
	if !c.imported && len(forked) > 0 {
		if c.imported, err = s.importedInOrigin(ctx, world, c.view.Level, forked); err != nil {
			return o, err
		}
	}
	if s.reviewReason(c) != "" {
		err = s.dryRunCandidate(ctx, c, &o)
	}
	if o.refused == nil {
		c.rec.Outcome = c.finding.Label
	}
	return o, err
}

// checkDraft checks a candidate's texts and tokens, and its draft against a world.
func (s *Service) checkDraft(ctx context.Context, c *candidate, world State) (outcome, error) {
	// The commit is recorded next to the hash and not hashed. A reader who knows the payload could
	// otherwise find the commit number by trying, and from it the amount of hidden changes.
	o := outcome{input: c.input}
	for _, t := range c.texts {
		if n := utf8.RuneCountInString(t.Text); t.Max > 0 && n > t.Max {
			o.issues = append(o.issues, Issue{t.Field, fmt.Sprintf("has %d characters; at most %d are allowed", n, t.Max)})
		}
	}
	if c.kind.Tokens > 0 && c.rec.Tokens > c.kind.Tokens {
		o.issues = append(o.issues, Issue{"", fmt.Sprintf("has about %d tokens; the budget of %s is %d", c.rec.Tokens,
			c.kind.Name, c.kind.Tokens)})
	}
	found, err := c.draft.Check(ctx, world)
	if err != nil {
		return o, err
	}
	c.finding, c.rec.Basis = found, found.Basis
	o.refuseFor(found.Issues...)
	return o, nil
}

// refuseFor adds issues, and refuses the proposal if it has any.
func (o *outcome) refuseFor(issues ...Issue) {
	o.issues = append(o.issues, issues...)
	if len(o.issues) == 0 {
		return
	}
	first := o.issues[0].Error
	if o.issues[0].Field != "" {
		first = o.issues[0].Field + ": " + first
	}
	o.refused = &Rejection{Message: "it does not fit the world (" + first + "); change that and propose again",
		Details: map[string]any{"issues": o.issues}}
}

// dryRunCandidate dry-runs a candidate and records its preview and the hash that an approval must
// name. It refuses a change that cannot be carried out.
func (s *Service) dryRunCandidate(ctx context.Context, c *candidate, o *outcome) error {
	w := c.change()
	a, err := s.admitAuthor(ctx, w)
	if err == nil {
		c.seen, err = s.previewChange(ctx, a.Grant, w)
		a.Done(ctx, 0, err)
		c.rec.Preview, c.rec.Expected, c.finding.Label = c.seen.items, s.expectedHash(&c.rec, c.seen), c.seen.label
		c.rec.Cards = c.seen.cards()
	}
	if err == nil {
		return nil
	}
	if !isFinal(err) {
		return fault.New(fault.Unavailable, "the dry run of the change failed").Because(err)
	}
	o.issues = issuesOf(err)
	o.refused = &Rejection{Message: "it cannot be applied in this world (" + o.issues[0].Error +
		"); change that and propose again",
		Details: map[string]any{"issues": o.issues, detailStatus: fault.KindOf(err).HTTPStatus()}}
	return nil
}

// detailStatus is the detail of a rejection with the HTTP status that the change itself would have got.
const detailStatus = "status"
