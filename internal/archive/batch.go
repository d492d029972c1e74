package archive

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// maxBatch is the highest number of operations in one batch.
const maxBatch = 100

func batchWrites(d *deps) []*op.Operation {
	return []*op.Operation{defineWrite(d, op.Spec{
		Name: "batch_cards",
		Asked: []string{
			"several pages at once", "make many entries in one go", "bulk edit", "import a list of articles",
			"bring several notes in as pages in one go", "put in a whole list of pages",
			"create a dozen pages at a stroke", "add all of these notes", "a heap of entries at the same time",
			"many pages at a time", "a whole heap of entries", "make several articles together",
			"bulk load of notes",
		},
		Title: "Create and change many cards",
		Doc: "Create and change up to 100 cards in one call. mode per_item (the default) commits the operations one by one, in order, and reports each result; " +
			"mode transactional commits all or none. fetch_or_initialize updates an existing card or creates a missing one.",
		Route: "POST /api/mcp/cards/batch", Interactive: true,
		Examples: []op.Example{
			{Title: "Two cards",
				Input: `{"ops": [{"action": "create", "name": "Card1", "content": "<p>One</p>"}, {"action": "create", "name": "Card2", "content": "<p>Two</p>"}]}`},
			{Title: "All or none, with a child and a patch",
				Input: `{"mode": "transactional", "ops": [{"action": "create", "name": "mail", "fetch_or_initialize": true, "children": [{"name": "*from", "type": "Phrase", "content": "a@b.example"}]}, {"action": "update", "name": "Index", "patch": {"mode": "items", "add": ["mail"]}, "if_version": 2}]}`},
			{Title: "Only check", Input: `{"dry_run": true, "ops": [{"action": "create", "name": "Rent Quay"}]}`},
		},
	}, batchCards)}
}

type batchIn struct {
	Ops    []batchOp `json:"ops" minitems:"1" maxitems:"100" jsonschema:"The cards (pages, notes) to create or change, in order."`
	Mode   string    `json:"mode,omitzero" enum:"per_item,transactional" default:"per_item" jsonschema:"Whether operations are committed one by one, or all or none."`
	DryRun bool      `json:"dry_run,omitzero" jsonschema:"Only check the operations; with per_item, each by itself."`
	op.Answers
}

// batchOp is one operation of a batch.
type batchOp struct {
	Action string `json:"action,omitzero" enum:"create,update" jsonschema:"Default: update the card if it exists, otherwise create it."`
	Name   string `json:"name" minlen:"1" maxlen:"1020"`
	cardIn
	Children          []childIn  `json:"children,omitzero" maxitems:"100" jsonschema:"Cards to write below it, nested at most 5 deep."`
	FetchOrInitialize bool       `json:"fetch_or_initialize,omitzero" jsonschema:"Update the card if it exists, otherwise create it."`
	Patch             *patchIn   `json:"patch,omitzero" jsonschema:"A change of part of the content, in one mode."`
	IfVersion         uint32     `json:"if_version,omitzero" min:"1" numeric:"string" jsonschema:"The version that the change is meant for; another one is refused."`
	IfMatch           op.ReadTag `json:"if_match,omitzero" jsonschema:"The etag that get_card gave, in place of if_version. An agent must send it if content replaces the content of an existing card."`
}

// batchResult is the result of one operation.
type batchResult struct {
	Status           string        `json:"status" enum:"ok,error"`
	Name             string        `json:"name"`
	ID               *canon.CardID `json:"id,omitzero"`
	Version          uint32        `json:"version,omitzero"`
	Message          string        `json:"message,omitzero"`
	Code             string        `json:"code,omitzero"`
	ValidationErrors []fault.Field `json:"validation_errors,omitzero"`
}

type batchOut struct {
	Results []batchResult `json:"results"`
	Mode    string        `json:"mode"`
	Applied int           `json:"applied" jsonschema:"Operations that were applied."`
	DryRun  bool          `json:"dry_run,omitzero" jsonschema:"Nothing was changed."`
}

// step is one operation of a batch, parsed and checked as far as possible without reading cards.
type step struct {
	sheet
	action   string
	orCreate bool
	bad      error // the fault of its input; nil if there is none
}

func batchCards(ctx context.Context, d *deps, c *op.Call, in batchIn) (batchOut, error) {
	if err := d.Canon.Read(ctx, c.Grant, checkBatchRole); err != nil {
		return batchOut{}, err
	}
	steps := make([]step, len(in.Ops))
	for i := range in.Ops {
		steps[i] = readStep(in.Ops[i])
	}
	commit := batchPerItem
	if in.Mode == "transactional" {
		commit = batchAllOrNone
	}
	out, err := commit(ctx, d, c, steps)
	if in.DryRun {
		out.DryRun, out.Applied = true, 0
	}
	return out, err
}

// checkBatchRole checks the caller's role against the role that the world requires for batches.
func checkBatchRole(l *canon.Snapshot) error {
	role, ok := access.ParseRole(l.World().Settings.BatchRole)
	if !ok {
		return nil
	}
	return requireRole(l, role, "a batch in this world")
}

func readStep(in batchOp) step {
	if in.Action == "" {
		in.Action, in.FetchOrInitialize = "create", true
	}
	var p problems
	s := step{sheet: p.readSheet("", in.Name, in.cardIn, in.Children), action: in.Action, orCreate: in.FetchOrInitialize}
	s.patch, s.ifMatch = in.Patch, in.IfMatch
	if in.IfMatch == "" {
		s.ifMatch = op.VersionTag(in.IfVersion)
	}
	p.checkPatch("patch", in.Patch, in.textIn)
	if in.Patch != nil && in.Patch.DryRun {
		p.Add("patch.dry_run", "a batch has no previews; preview the patch with update_card")
	}
	if in.Action == "create" && !in.FetchOrInitialize {
		if in.Patch != nil {
			p.Add("patch", "changes an existing card; use action update or fetch_or_initialize")
		}
		if s.ifMatch != "" {
			p.Add("if_version", "applies to an existing card; use action update or fetch_or_initialize")
		}
	}
	if in.Action == "create" && !(in.FetchOrInitialize && isHandle(in.Name)) {
		p.checkNewName("name", in.Name)
	}
	s.bad = p.Err()
	return s
}

// run adds the step's changes to a plan.
func (s *step) run(ctx context.Context, d *deps, c *op.Call, p *canon.Plan) error {
	if s.bad != nil {
		return s.bad
	}
	if err := checkNames(s.nameArgs()...)(p.Snapshot); err != nil {
		return err
	}
	w := newWriter(ctx, d, c, p)
	card, err := s.write(w)
	p.Target(card.ID)
	return err
}

func (s *step) write(w *writer) (canon.Card, error) {
	if s.action == "create" && !s.orCreate {
		return w.createCard(&s.sheet, s.name)
	}
	card, err := onlyCard(w.ctx, w.plan, s.name)
	switch {
	case err == nil:
		return w.updateCard(&s.sheet, card)
	case fault.KindOf(err) == fault.NotFound && s.orCreate && s.ifMatch == "":
		return w.put(&s.sheet, s.name)
	}
	return canon.Card{}, err
}

// batchPerItem commits each step by itself. Each step has its own idempotency key, derived from the
// call's key: a repeated call continues where the first one was interrupted.
func batchPerItem(ctx context.Context, d *deps, c *op.Call, steps []step) (batchOut, error) {
	out := batchOut{Mode: "per_item", Results: make([]batchResult, len(steps))}
	parts := stepGrants(c.Grant)
	if err := d.Canon.Read(ctx, c.Grant,
		func(l *canon.Snapshot) error { return checkSameCall(ctx, l, parts) }); err != nil {
		return batchOut{}, err
	}
	replayed := 0
	for i := range steps {
		r, receipt := d.runStep(ctx, c, parts[i], &steps[i])
		if out.Results[i] = r; r.Status == "ok" {
			out.Applied++
		}
		if receipt.Replayed {
			replayed++
		}
		c.Progress(float64(i+1), float64(len(steps)), "")
	}
	c.Reply.Replayed = replayed > 0 && replayed == out.Applied
	if out.Applied < len(steps) {
		c.Reply.Status = 207
	}
	return out, nil
}

// stepGrants returns one grant for each of the maxBatch steps that a call may have. Each is bound
// to the hash of the whole input, so any step detects a key that was used for another batch.
func stepGrants(g access.Grant) []access.Grant {
	whole := g.Request().InputHash
	parts := make([]access.Grant, maxBatch)
	for i := range parts {
		parts[i] = g.Part(strconv.Itoa(i), sha256.Sum256(binary.BigEndian.AppendUint32(whole[:], uint32(i))))
	}
	return parts
}

// checkSameCall refuses an idempotency key that was used for another batch, before anything is
// changed.
func checkSameCall(ctx context.Context, l *canon.Snapshot, parts []access.Grant) error {
	if parts[0].Request().IdempotencyKey == "" {
		return nil
	}
	for _, g := range parts {
		if _, _, err := l.Repeated(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// runStep commits one step. If the step panics, only this step fails.
func (d *deps) runStep(ctx context.Context, c *op.Call, g access.Grant,
	s *step) (r batchResult, receipt canon.Receipt) {
	defer func() {
		if p := recover(); p != nil {
			r = d.failedResult(s.name, c, fault.Panicked("a step of a batch", p))
		}
	}()
	if ctx.Err() != nil {
		return d.failedResult(s.name, c, fault.New(fault.Unavailable,
			"the call ended before this operation; send it again")), receipt
	}
	receipt, err := d.Canon.Update(ctx, g, func(p *canon.Plan) error { return s.run(ctx, d, c, p) })
	if err == nil {
		err = d.Canon.Read(ctx, c.Grant, func(l *canon.Snapshot) (err error) {
			r, err = appliedResult(ctx, l, s, receipt, 0)
			return err
		})
	}
	if err != nil {
		return d.failedResult(s.name, c, err), receipt
	}
	return r, receipt
}

// appliedResult returns the result of a step that was carried out. If the caller can no longer see
// the card, the result has the name from the request. An error comes from the store; repeating the
// call then returns the full answer.
func appliedResult(ctx context.Context, l *canon.Snapshot, s *step, r canon.Receipt, n int) (batchResult, error) {
	if r.DryRun {
		return batchResult{Status: "ok", Name: s.name}, nil
	}
	card, err := targetCard(ctx, l, r, n)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return batchResult{}, err
	}
	if err != nil || checkNameRules(l, s.name) != nil {
		return batchResult{Status: "ok", Name: s.name}, nil
	}
	return batchResult{Status: "ok", Name: card.Name, ID: &card.ID, Version: card.Version(l.View())}, nil
}

func (d *deps) failedResult(name string, c *op.Call, err error) batchResult {
	if fault.KindOf(err) == fault.Internal {
		// The call itself goes on and succeeds, so nothing else would log the cause.
		d.logger.Error("a step of a batch failed", "correlation_id", c.Grant.Request().Correlation, "error", err)
	}
	shown := fault.Show(op.WithAnswers(err), c.Grant.Request().Correlation).Error
	return batchResult{Status: "error", Name: name, Message: shown.Message, Code: shown.Code,
		ValidationErrors: shown.ValidationErrors}
}

// batchAllOrNone commits all steps at once or none.
func batchAllOrNone(ctx context.Context, d *deps, c *op.Call, steps []step) (batchOut, error) {
	out := batchOut{Mode: "transactional"}
	if out.Results = d.refusedResults(c, steps); out.Results != nil {
		c.Reply.Status = fault.Rule.HTTPStatus()
		return out, nil
	}
	at := -1
	receipt, err := d.Canon.Update(ctx, c.Grant, func(p *canon.Plan) error {
		for i := range steps {
			at = i
			if err := steps[i].run(ctx, d, c, p); err != nil {
				return err
			}
		}
		at = -1
		return nil
	})
	switch {
	case err != nil && (fault.KindOf(err) == fault.Internal || fault.KindOf(err) == fault.Unavailable):
		return batchOut{}, err
	case err != nil:
		out.Results = d.undoneResults(c, steps, at, err)
		c.Reply.Status = refusedBatchStatus(err)
		return out, nil
	}
	c.Reply.Replayed = receipt.Replayed
	err = d.Canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
		for i := range steps {
			r, err := appliedResult(ctx, l, &steps[i], receipt, i)
			if err != nil {
				return err
			}
			out.Results = append(out.Results, r)
		}
		return nil
	})
	out.Applied = len(steps)
	return out, err
}

const notApplied = "not applied"

// refusedResults returns the results of all steps if any step has a faulty input, else nil.
func (d *deps) refusedResults(c *op.Call, steps []step) []batchResult {
	any := false
	list := make([]batchResult, len(steps))
	for i, s := range steps {
		list[i] = batchResult{Status: "error", Name: s.name, Message: notApplied}
		if s.bad != nil {
			list[i], any = d.failedResult(s.name, c, s.bad), true
		}
	}
	if !any {
		return nil
	}
	return list
}

// undoneResults returns the results of all steps after step number at failed. If at is negative,
// the commit itself failed.
func (d *deps) undoneResults(c *op.Call, steps []step, at int, err error) []batchResult {
	list := make([]batchResult, len(steps))
	for i, s := range steps {
		list[i] = batchResult{Status: "error", Name: s.name, Message: notApplied}
		if i == at || at < 0 {
			list[i] = d.failedResult(s.name, c, err)
		}
	}
	return list
}

// refusedBatchStatus returns the HTTP status of a batch that was not applied.
func refusedBatchStatus(err error) int {
	if k := fault.KindOf(err); k == fault.Conflict || k == fault.Stale {
		return fault.Conflict.HTTPStatus()
	}
	return fault.Rule.HTTPStatus()
}
