package canon

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// OpUndoImport is the operation that undoes a step, in the records of all versions.
const OpUndoImport = "undo_import"

// StepUndo configures the undo of a step. The zero value leaves alone every card that was changed since.
type StepUndo struct {
	LoseEdits bool // also undo the changes made since
	// Last reports whether a card that the step made stays as long as any other card does. It is undone after all
	// others. nil: there is none.
	Last func(Card) bool
	// Opened is called with the receipt of each commit, planned ones of a dry run included; nil is allowed.
	Opened func(Receipt) error
}

// Undone are the effects of the undo of a step, made or planned.
type Undone struct {
	Step    Step      // that it undoes
	ID      uuid.UUID // of the undo, which is a step too; zero if it changed nothing
	Trashed []Card    // went to the trash
	Back    []Card    // came back from the trash
	Former  []Card    // got back their former text, name or label
	Edits   []LostEdit
	Kept    []KeptCard // stay as they are, for another reason than edits
	Links   int        // that it ended or gave back
	Layers  int
	// KeptLinks is the number of links and layers that were changed since and stay.
	KeptLinks int
}

// LostEdit is a card that was changed since a step, with its latest change.
type LostEdit struct {
	Card Card
	By   access.Subject
	At   time.Time
	Lost bool // it is undone too; else the card stays as it is
}

// KeptCard is a card that an undo leaves as it is.
type KeptCard struct {
	Card Card
	Why  string
}

// undoBatch is the number of cards of one commit of the undo of a step.
const undoBatch = 100

// stepItem is a card, link or layer that a step wrote, with the first and the last commit that did.
type stepItem struct {
	card        CardID
	link        LinkID
	layer       LayerID
	first, last Seq
	order       int // of the last change to it
	moved       bool
	labelled    bool
}

func (it *stepItem) isCard() bool { return !it.card.IsZero() }

// stepUndo is the undo of a step while it is made.
type stepUndo struct {
	StepUndo
	canon *Canon
	grant access.Grant
	step  Step
	going Step // the undo that this one goes on with; its ID is zero if there is none
	items []*stepItem
	ours  map[Seq]bool // commits of the step and of its undo
	done  map[Seq]bool // of the undo
	known map[CardID]bool
	out   *Undone
	gone  map[CardID]bool // cards that the undo puts in the trash
	back  map[CardID]bool // cards that it takes out
}

// UndoStep brings the world back to the time before a step, in commits that are a step of their own. It goes on
// with an undo that was cut off, and undoes the undo of an undo. Data that the view does not see stay as they are,
// and so do cards whose former text was hidden from some who would read it. Only somebody with the role of the
// caller who made the step, or a higher one, can undo it.
func (c *Canon) UndoStep(ctx context.Context, g access.Grant, id uuid.UUID, o StepUndo) (Undone, error) {
	u := &stepUndo{StepUndo: o, canon: c, grant: g.Unkeyed(), ours: map[Seq]bool{}, done: map[Seq]bool{},
		known: map[CardID]bool{}, gone: map[CardID]bool{}, back: map[CardID]bool{}, out: &Undone{}}
	if err := c.Read(ctx, g, func(s *Snapshot) error { return u.load(ctx, s, id) }); err != nil {
		return Undone{}, err
	}
	u.out.Step = u.step
	next := u.going
	next.Kind, next.Source, next.Format, next.Of = KindUndo, u.step.Source, u.step.Format, u.step.ID
	made, err := c.makeStep(ctx, u.grant, next, access.LevelGM, func() error { return u.run(ctx) })
	u.out.ID = made
	return *u.out, err
}

// load reads the records of the step and of its undo by an earlier call.
func (u *stepUndo) load(ctx context.Context, s *Snapshot, id uuid.UUID) error {
	all, err := s.Steps(ctx)
	if err != nil {
		return err
	}
	byID := map[uuid.UUID]Step{}
	for _, step := range all {
		byID[step.ID] = step
	}
	step, err := s.Step(ctx, id)
	if err != nil {
		return err
	}
	for step.UndoneBy != uuid.Nil && byID[step.UndoneBy].UndoneBy != uuid.Nil { // it was made again
		step = byID[byID[step.UndoneBy].UndoneBy]
	}
	if step.Role > u.grant.Role() {
		return fault.New(fault.Denied, "that was done by somebody with the role %s; this call has %s", step.Role,
			u.grant.Role()).With("required_role", step.Role.String())
	}
	u.step, u.going = step, byID[step.UndoneBy]
	if u.isRunning() {
		return fault.New(fault.Conflict, "it is still running; wait for its end")
	}
	if u.going.ID != uuid.Nil {
		going := u.going
		going.Last = 0
		err := s.stepRecords(ctx, going, func(rec Record) error {
			u.ours[rec.Seq], u.done[rec.Seq] = true, true
			return nil
		})
		if err != nil {
			return err
		}
	}
	return u.loadItems(ctx, s)
}

// isRunning reports whether a call of this process is making the step, or its undo.
func (u *stepUndo) isRunning() (running bool) {
	u.canon.steps.Range(func(_, v any) bool {
		id, _ := v.(*openStep).state()
		running = running || id == u.step.ID || v.(*openStep).of == u.step.ID
		return true
	})
	return running
}

// loadItems lists the cards, links and layers that the step wrote, the latest first.
func (u *stepUndo) loadItems(ctx context.Context, s *Snapshot) error {
	type key struct {
		card  CardID
		link  LinkID
		layer LayerID
	}
	items, order := map[key]*stepItem{}, 0
	err := s.stepRecords(ctx, u.step, func(rec Record) error {
		u.ours[rec.Seq] = true
		for _, ch := range rec.Changes {
			var k key
			switch {
			case ch.Card != nil && ch.Card.Places != nil:
				k.card = ch.Card.Parent // hidden parts are undone with the text that they are parts of
			case ch.Card != nil:
				k.card = ch.Card.ID
			case ch.Link != nil:
				k.link = ch.Link.ID
			case ch.Layer != nil:
				k.layer = ch.Layer.ID
			default:
				continue
			}
			it := items[k]
			if it == nil {
				it = &stepItem{card: k.card, link: k.link, layer: k.layer, first: rec.Seq}
				items[k] = it
				u.items = append(u.items, it)
				u.known[k.card] = true
			}
			order++
			it.last, it.order = rec.Seq, order
			if ch.Card != nil && ch.Card.Places == nil {
				it.moved = it.moved || ch.Card.Act == ActRename
				it.labelled = it.labelled || ch.Card.Act == ActLabel
			}
		}
		return nil
	})
	slices.SortFunc(u.items, func(a, b *stepItem) int { return b.order - a.order })
	return err
}

// run undoes all items. Those that Last selects come at the end.
func (u *stepUndo) run(ctx context.Context) error {
	items, last, err := u.splitLast(ctx)
	if err != nil {
		return err
	}
	for len(items) > 0 {
		n := 1
		for n < min(len(items), undoBatch) && items[n].isCard() == items[0].isCard() {
			n++ // a link is not seen before its ends are back
		}
		if err := u.undo(ctx, items[:n]); err != nil {
			return err
		}
		items = items[n:]
	}
	if len(last) == 0 {
		return nil
	}
	return u.undo(ctx, last)
}

// splitLast separates the items that Last selects.
func (u *stepUndo) splitLast(ctx context.Context) (items, last []*stepItem, err error) {
	if u.Last == nil {
		return u.items, nil, nil
	}
	err = u.canon.Read(ctx, u.grant, func(s *Snapshot) error {
		for part := range slices.Chunk(u.items, stepLookups) {
			var ids []CardID
			for _, it := range part {
				if it.isCard() {
					ids = append(ids, it.card)
				}
			}
			cards, err := s.ByIDs(ctx, ids)
			if err != nil {
				return err
			}
			chosen := map[CardID]bool{}
			for _, c := range cards {
				chosen[c.ID] = u.Last(c)
			}
			for _, it := range part {
				if it.isCard() && chosen[it.card] {
					last = append(last, it)
				} else {
					items = append(items, it)
				}
			}
		}
		return nil
	})
	return items, last, err
}

// errAgain makes a batch be planned again, without an item that was refused after it had planned changes.
var errAgain = errors.New("canon: plan again")

// undo undoes a batch of items in one commit. Items that the canon refuses stay as they are.
func (u *stepUndo) undo(ctx context.Context, batch []*stepItem) error {
	refused := map[*stepItem]string{}
	for {
		var part *Undone
		var gone, back []CardID
		receipt, err := u.canon.Update(ctx, u.grant, func(p *Plan) error {
			t := &undoPlan{stepUndo: u, Plan: p, part: &Undone{}}
			for _, it := range batch {
				planned := len(p.set.Changes)
				err := t.undoItem(it, refused[it])
				if !isRefusal(err) {
					if err != nil {
						return err
					}
					continue
				}
				if refused[it] = messageOf(err); len(p.set.Changes) > planned {
					return errAgain
				}
				if err := t.undoItem(it, refused[it]); err != nil {
					return err
				}
			}
			part, gone, back = t.part, t.went, t.came
			return nil
		})
		switch {
		case errors.Is(err, errAgain):
			continue
		case isRefusal(err) && len(batch) > 1:
			half := len(batch) / 2
			if err := u.undo(ctx, batch[:half]); err != nil {
				return err
			}
			return u.undo(ctx, batch[half:])
		case isRefusal(err) && refused[batch[0]] == "":
			refused[batch[0]] = messageOf(err)
			continue
		case err != nil:
			return err
		}
		u.add(part)
		for _, id := range gone {
			u.gone[id] = true
		}
		for _, id := range back {
			u.back[id] = true
		}
		if receipt.Seq > 0 && !receipt.DryRun {
			u.ours[receipt.Seq], u.done[receipt.Seq] = true, true
		}
		if u.Opened != nil && len(receipt.Opened) > 0 {
			return u.Opened(receipt)
		}
		return nil
	}
}

// add adds the outcome of a batch.
func (u *stepUndo) add(p *Undone) {
	o := u.out
	o.Trashed, o.Back, o.Former = append(o.Trashed, p.Trashed...), append(o.Back, p.Back...), append(o.Former, p.Former...)
	o.Edits, o.Kept = append(o.Edits, p.Edits...), append(o.Kept, p.Kept...)
	o.Links, o.Layers, o.KeptLinks = o.Links+p.Links, o.Layers+p.Layers, o.KeptLinks+p.KeptLinks
}

// isRefusal reports whether an error is a refusal of the data, and not a failure.
func isRefusal(err error) bool {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Rule, fault.Denied, fault.NotFound, fault.Conflict, fault.TooLarge:
		return err != nil
	}
	return false
}

func messageOf(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	return err.Error()
}

// undoPlan plans one batch.
type undoPlan struct {
	*Plan
	*stepUndo
	part       *Undone
	went, came []CardID
}

// undoItem plans the undo of an item, or keeps it if it was refused.
func (t *undoPlan) undoItem(it *stepItem, refused string) error {
	switch {
	case it.link != LinkID{}:
		if refused != "" {
			t.part.KeptLinks++
			return nil
		}
		return t.undoLink(it)
	case it.layer != LayerID{}:
		if refused != "" {
			t.part.KeptLinks++
			return nil
		}
		return t.undoLayer(it)
	}
	c, ok, err := First(t.r.FindCards(t.ctx, t.visibility, CardQuery{ID: it.card}))
	if err != nil || !ok || t.done[c.Seq] {
		return err
	}
	if refused != "" {
		t.keep(c, refused)
		return nil
	}
	if now, ok := t.now[c.ID]; ok && !c.Trashed() {
		c = *now
	}
	return t.undoCard(it, c)
}

func (t *undoPlan) keep(c Card, why string) { t.part.Kept = append(t.part.Kept, KeptCard{c, why}) }

// undoCard plans a card's state before the step.
func (t *undoPlan) undoCard(it *stepItem, c Card) error {
	before, existed, err := t.stateBefore(it, c)
	if err != nil {
		return err
	}
	existed = existed && !before.Trashed
	if c.Trashed() && !existed {
		return nil
	}
	edit, err := t.latestEdit(it, c)
	if err != nil {
		return err
	}
	if edit != nil {
		t.part.Edits = append(t.part.Edits, *edit)
		if !t.LoseEdits {
			return nil
		}
	}
	switch {
	case !existed:
		return t.undoMade(c)
	case c.Trashed():
		return t.takeBack(it, c, before)
	}
	return t.undoWritten(it, c, before)
}

// stateBefore returns the version of a card that was current before the step.
func (t *undoPlan) stateBefore(it *stepItem, c Card) (Version, bool, error) {
	return t.versionBefore(c, it.first)
}

// latestEdit returns the latest change to a card, or to the hidden parts of its text, that is not the step's; nil if
// there is none.
func (t *undoPlan) latestEdit(it *stepItem, c Card) (*LostEdit, error) {
	holders, err := t.Plan.holders(t.ctx, c)
	if err != nil {
		return nil, err
	}
	var latest *Card
	for _, o := range append([]Card{c}, holders...) {
		if o.Seq > it.first && !t.ours[o.Seq] && (latest == nil || o.Seq > latest.Seq) {
			latest = &o
		}
	}
	if latest == nil {
		return nil, nil
	}
	return &LostEdit{Card: c, By: latest.UpdatedBy, At: latest.UpdatedAt, Lost: t.LoseEdits}, nil
}

// undoMade puts a card that the step made in the trash, unless cards below it stay.
func (t *undoPlan) undoMade(c Card) error {
	if t.Last != nil && t.Last(c) && t.staysAny() {
		t.keep(c, "it is needed as long as cards of the import stay")
		return nil
	}
	if err := t.CheckManages(c.ID); err != nil {
		return err
	}
	var taken []LostEdit
	stays := ""
	for below, err := range t.AllDescendants(t.ctx, c.ID, MaxNesting) {
		if err != nil {
			return err
		}
		if below.Places != nil || t.Plan.gone[below.ID] || t.stepUndo.gone[below.ID] {
			continue
		}
		if stays = below.Name; !t.known[below.ID] {
			taken = append(taken, LostEdit{Card: below, By: below.UpdatedBy, At: below.UpdatedAt, Lost: t.LoseEdits})
		}
	}
	t.part.Edits = append(t.part.Edits, taken...)
	if stays != "" && !t.LoseEdits {
		t.keep(c, "cards below it stay, such as "+stays)
		return nil
	}
	if err := t.Trash(c); err != nil {
		return err
	}
	t.part.Trashed, t.went = append(t.part.Trashed, c), append(t.went, c.ID)
	return nil
}

// staysAny reports whether a card of the step stays.
func (t *undoPlan) staysAny() bool {
	for _, o := range []*Undone{t.out, t.part} {
		if len(o.Kept) > 0 || slices.ContainsFunc(o.Edits, func(e LostEdit) bool { return !e.Lost }) {
			return true
		}
	}
	return false
}

// takeBack takes a card out of the trash where the step put it.
func (t *undoPlan) takeBack(it *stepItem, c Card, before Version) error {
	if c.TrashRoot != c.ID {
		return nil // it comes back with the card above it
	}
	if err := t.CheckManages(c.ID); err != nil {
		return err
	}
	t.part.Back, t.came = append(t.part.Back, c), append(t.came, c.ID)
	if t.grant.Request().DryRun && t.stepUndo.back[c.Parent] {
		return nil // the card above it is back only when the undo is made
	}
	back, err := t.Restore(c)
	if err != nil {
		return err
	}
	if back.Content == before.Content && !it.moved && !it.labelled {
		return nil
	}
	return t.restoreState(it, back, before)
}

// undoWritten gives a living card the state that it had before the step.
func (t *undoPlan) undoWritten(it *stepItem, c Card, before Version) error {
	planned := len(t.set.Changes)
	if err := t.restoreState(it, c, before); err != nil {
		return err
	}
	if len(t.set.Changes) > planned {
		t.part.Former = append(t.part.Former, c)
	}
	return nil
}

// restoreState gives a card the text, name and label of a version. A wider label comes last, so that no text is
// shown to more readers than before the step.
func (t *undoPlan) restoreState(it *stepItem, c Card, before Version) (err error) {
	if (it.moved || it.labelled) && t.CheckManages(c.ID) != nil {
		return t.CheckManages(c.ID)
	}
	narrows := it.labelled && !before.Label.Covers(c.Label)
	if narrows {
		if c, err = t.restoreLabel(it, c, before); err != nil {
			return err
		}
	}
	if c, err = t.restoreText(it, c, before); err != nil {
		return err
	}
	if it.moved && markup.KeyOf(before.Name) != c.Key {
		if err := t.keepHidden(c, before.Label, t.isOurs); err != nil {
			return err
		}
		if c, err = t.renameAs(c, before, access.NewLabel(access.LevelUser)); err != nil {
			return err
		}
	}
	if it.labelled && !narrows {
		_, err = t.restoreLabel(it, c, before)
	}
	return err
}

// isOurs reports whether a card is as it was before the step, or as the step or its undo left it.
func (t *undoPlan) isOurs(c Card) bool { return c.Seq < t.step.First || t.known[c.ID] && t.ours[c.Seq] }

func (t *undoPlan) restoreLabel(it *stepItem, c Card, before Version) (Card, error) {
	if err := t.keepHidden(c, before.Label, t.isOurs); err != nil {
		return Card{}, err
	}
	own, err := t.ownLabelBefore(c, it.first)
	if err != nil {
		return Card{}, err
	}
	return t.SetLabel(c, own)
}

// restoreText gives a card the text of a version, with the hidden parts of that time.
func (t *undoPlan) restoreText(it *stepItem, c Card, before Version) (Card, error) {
	e, err := t.editTo(c, before.For(t.View()), it.first-1)
	if err != nil {
		return Card{}, err
	}
	same, err := t.isAs(c, e)
	switch {
	case err != nil:
		return Card{}, err
	case same:
		return t.Plan.takeBack(c, it.first-1)
	case before.Purged:
		return Card{}, fault.New(fault.Rule, "its former content was erased")
	case !before.Label.Covers(c.Label):
		return Card{}, fault.New(fault.Rule, "its former text was hidden from some who read the card, and they would read it")
	}
	return t.bringBack(c, before.For(t.View()), it.first-1)
}

// isAs reports whether a card has the state that an edit gives it.
func (t *undoPlan) isAs(c Card, e Edit) (bool, error) {
	if e.File != nil || *e.Type != c.Type || *e.Format != c.Format {
		return false, nil
	}
	holders, err := t.Holders(c)
	if err != nil {
		return false, err
	}
	fields, err := withHidden(c.Fields, holders)
	if err != nil || string(fields) != string(e.Fields) {
		return false, err
	}
	if e.Content == nil {
		return true, nil
	}
	now, err := t.Text(c)
	return now == *e.Content, err
}

// undoLink gives a link the state that it had before the step.
func (t *undoPlan) undoLink(it *stepItem) error {
	now, there, err := findLink(t.ctx, t.r, t.visibility, it.link)
	if err != nil {
		return err
	}
	if there && now.Since > it.first && !t.ours[now.Since] && !t.LoseEdits {
		t.part.KeptLinks++
		return nil
	}
	var before Link
	existed := false
	if it.first > 1 {
		list, _, err := t.Links(t.ctx, LinkQuery{IDs: []LinkID{it.link}, AsOf: it.first - 1, Page: Page{Limit: 1}})
		if before, existed, err = First(list, err); err != nil {
			return err
		}
	}
	switch {
	case existed && there && now.Since == before.Since || existed && there && t.done[now.Since] || !existed && !there:
		return nil
	case existed:
		_, err = t.Link(before)
	default:
		t.Unlink(now)
	}
	t.part.Links++
	return err
}

// undoLayer gives a layer the state that it had before the step.
func (t *undoPlan) undoLayer(it *stepItem) error {
	now, there, err := First(t.Layers(t.ctx, LayerQuery{IDs: []LayerID{it.layer}}))
	if err != nil {
		return err
	}
	if there && now.Since > it.first && !t.ours[now.Since] && !t.LoseEdits {
		t.part.KeptLinks++
		return nil
	}
	var before Layer
	existed := false
	if it.first > 1 {
		before, existed, err = First(t.Layers(t.ctx, LayerQuery{IDs: []LayerID{it.layer}, AsOf: it.first - 1}))
		if err != nil {
			return err
		}
	}
	switch {
	case existed && there && t.done[now.Since] || !existed && !there:
		return nil
	case existed:
		_, err = t.Layer(before)
	default:
		t.set.Changes = append(t.set.Changes, Change{Layer: &LayerImage{ID: now.ID, Card: now.Card, Kind: now.Kind,
			Text: now.Text, FromTick: now.FromTick, ToTick: now.ToTick, Label: now.Label, Gone: true}})
	}
	t.part.Layers++
	return err
}

// WentByUndo reports whether the undo of a step put a card in the trash.
func (s *Snapshot) WentByUndo(ctx context.Context, c Card) (bool, error) {
	v, ok, err := s.r.VersionByRev(ctx, s.world.ID, c.ID, c.Rev)
	return ok && v.Trashed && v.Op == OpUndoImport, err
}
