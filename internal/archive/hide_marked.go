package archive

import (
	"context"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/slicesx"
)

// ImportMemory reads the memories of imports for the texts of cards.
type ImportMemory interface {
	// Decides reports whether an import has decided about the marks in the text of a card.
	Decides(c canon.Card) bool
	// IsUnplaced reports whether hidden parts of a card's text, which an earlier release imported, are not at their
	// places in it.
	IsUnplaced(ctx context.Context, l *canon.Snapshot, c canon.Card) (bool, error)
	// Place plans that they come to their places, and that nobody else sees them.
	Place(ctx context.Context, p *canon.Plan, c canon.Card) error
}

// noMemory is the memory of a world that imports left nothing in.
type noMemory struct{}

func (noMemory) Decides(canon.Card) bool { return false }
func (noMemory) IsUnplaced(context.Context, *canon.Snapshot, canon.Card) (bool, error) {
	return false, nil
}
func (noMemory) Place(context.Context, *canon.Plan, canon.Card) error { return nil }

// markedPerCommit is the number of cards that a commit of hide_marked changes at most.
const markedPerCommit = 200

func markedWrites(d *deps) []*op.Operation {
	return []*op.Operation{defineWrite(d, op.Spec{
		Name: canon.OpHideMarked, Title: "Hide the marked texts of before",
		Doc: "Hide the marked parts of texts and the secret fields that were stored openly before marks hid, with the earlier " +
			"versions of their cards, and bring the hidden parts that earlier imports kept in +GM cards to their places. " +
			"Nothing opens. Marks of players, and texts that a reveal or an import has opened, stay as they are. " +
			"It makes a commit for every 200 cards; a call that was cut off is made again. undo_change takes a commit back. " +
			"dry_run lists everything that it would hide.",
		Route: "POST /api/mcp/admin/hide-marked", MinRole: access.RoleAdmin, NoTool: true, Idempotent: true,
		Timeout: 10 * time.Minute,
		Examples: []op.Example{
			{Title: "List the texts that it would hide", Input: `{"dry_run": true}`},
			{Title: "Hide it", Input: `{}`},
		},
	}, hideMarked)}
}

type hideMarkedIn struct {
	DryRun bool `json:"dry_run,omitzero" jsonschema:"Only list the texts that would be hidden, and their readers."`
}

type hideMarkedOut struct {
	Cards   []markedCard  `json:"cards" jsonschema:"Cards with marks that were open, at most 100."`
	Count   int           `json:"count" jsonschema:"Number of these cards."`
	Placed  int           `json:"placed" jsonschema:"Number of cards with hidden parts of earlier imports that came to their places."`
	Plain   []plainMark   `json:"plain,omitzero" jsonschema:"Marks of writers who may hide nothing, at most 100; they stay open text. hide_part hides them."`
	Unsure  []unsureCard  `json:"unsure,omitzero" jsonschema:"Cards with a mark without its end, at most 100. hide_part hides a text."`
	Mixed   int           `json:"mixed,omitzero" jsonschema:"Number of the cards whose marks stay open because one of them has no end, and nobody knows which: edit them."`
	Refused []refusedCard `json:"refused,omitzero" jsonschema:"Cards whose marks cannot be hidden, at most 100."`
	DryRun  bool          `json:"dry_run,omitzero"`
	Changes []string      `json:"change_ids,omitzero" jsonschema:"The commits; undo_change takes each back, the last one first."`
	seenBefore

	memory          ImportMemory
	cards, unplaced []canon.Card
}

type markedCard struct {
	Name   string       `json:"name"`
	ID     canon.CardID `json:"id"`
	Hidden []openMark   `json:"hidden" jsonschema:"At most 100."`
}

type openMark struct {
	Text  string           `json:"text,omitzero" jsonschema:"The beginning of the text."`
	Field string           `json:"field,omitzero" jsonschema:"Name of a field that is hidden as a whole."`
	From  string           `json:"from" jsonschema:"Readers who lose it: players, or named readers."`
	Told  []access.Subject `json:"named,omitzero" jsonschema:"The named readers."`
}

type plainMark struct {
	Name string       `json:"name"`
	ID   canon.CardID `json:"id"`
	Text string       `json:"text"`
}

type unsureCard struct {
	Name  string       `json:"name"`
	ID    canon.CardID `json:"id"`
	Text  []string     `json:"text" jsonschema:"The lines with such marks."`
	Mixed bool         `json:"mixed,omitzero" jsonschema:"No mark of this text is hidden, because nobody knows which of them has no end: edit it."`
}

type refusedCard struct {
	Name string       `json:"name"`
	ID   canon.CardID `json:"id"`
	Why  string       `json:"why"`
}

func hideMarked(ctx context.Context, d *deps, c *op.Call, in hideMarkedIn) (out hideMarkedOut, err error) {
	err = d.Canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
		out, err = d.findMarked(ctx, l)
		return err
	})
	if err != nil {
		return out, err
	}
	out.DryRun = in.DryRun
	if !in.DryRun {
		if err := d.commitMarked(ctx, c, &out); err != nil {
			return out, err
		}
	}
	all := make([]hidden, 0, maxListed)
	for _, card := range out.cards[:min(len(out.cards), maxListed)] {
		all = append(all, hidden{card: card.ID, label: access.NewLabel(access.LevelGM)})
	}
	out.seenBefore = d.findReaders(ctx, c, all)
	return out, nil
}

// CountMarked returns the number of cards that hide_marked would change.
func CountMarked(ctx context.Context, l *canon.Snapshot, read func(context.Context, *canon.Snapshot) (ImportMemory, error)) (
	int, error) {
	d := &deps{memories: read}
	out, err := d.findMarked(ctx, l)
	return out.Count + out.Placed + out.Mixed, err
}

// findMarked lists everything that hide_marked has to do.
func (d *deps) findMarked(ctx context.Context, l *canon.Snapshot) (out hideMarkedOut, err error) {
	out.Cards = []markedCard{}
	out.memory = noMemory{}
	if d.memories != nil {
		if out.memory, err = d.memories(ctx, l); err != nil {
			return out, err
		}
	}
	finder, err := l.FindMarked(ctx)
	if err != nil {
		return out, err
	}
	for c, err := range l.AllCards(ctx, canon.Filter{}) {
		if err != nil {
			return out, err
		}
		unplaced, err := out.memory.IsUnplaced(ctx, l, c)
		if err != nil {
			return out, err
		}
		if unplaced {
			out.Placed++
			out.unplaced = append(out.unplaced, c)
		}
		if out.memory.Decides(c) {
			continue
		}
		m, err := finder.In(ctx, c)
		if err != nil {
			return out, err
		}
		if !m.IsEmpty() {
			out.Count++
			out.cards = append(out.cards, c)
			if len(out.Cards) < maxListed {
				out.Cards = append(out.Cards, showMarked(c, m))
			}
		}
		if m.Mixed {
			out.Mixed++
		}
		if len(m.Unsure) > 0 && len(out.Unsure) < maxListed {
			out.Unsure = append(out.Unsure, unsureCard{c.Name, c.ID, slicesx.Map(m.Unsure, shortLine), m.Mixed})
		}
		for _, text := range m.Plain {
			if len(out.Plain) < maxListed {
				out.Plain = append(out.Plain, plainMark{c.Name, c.ID, shortLine(text)})
			}
		}
	}
	return out, nil
}

func showMarked(c canon.Card, m canon.MarkedText) markedCard {
	who := openMark{From: "players"}
	if c.Label.Level > access.LevelUser {
		who = openMark{From: "named readers", Told: c.Label.Subjects}
	}
	card := markedCard{Name: c.Name, ID: c.ID, Hidden: []openMark{}}
	for _, text := range m.Marks[:min(len(m.Marks), maxListed)] {
		one := who
		one.Text = shortLine(text)
		card.Hidden = append(card.Hidden, one)
	}
	for _, name := range m.Fields[:min(len(m.Fields), maxListed-len(card.Hidden))] {
		one := who
		one.Field = name
		card.Hidden = append(card.Hidden, one)
	}
	return card
}

// shortLine returns the beginning of a text in one line.
func shortLine(text string) string {
	return markup.Shorten(markup.OneLine(markup.Clip(text, 1000)), 80)
}

// commitMarked changes the cards that were found, a part of them in each commit. Each commit finds the
// marks of its cards again.
func (d *deps) commitMarked(ctx context.Context, c *op.Call, out *hideMarkedOut) error {
	if err := out.commitEach(ctx, d, c, out.unplaced, func(p *canon.Plan) (planCard, error) {
		return func(card canon.Card) error { return out.memory.Place(ctx, p, card) }, nil
	}); err != nil {
		return err
	}
	err := out.commitEach(ctx, d, c, out.cards, func(p *canon.Plan) (planCard, error) {
		finder, err := p.FindMarked(ctx)
		return func(card canon.Card) error {
			m, err := finder.In(ctx, card)
			if err == nil && !m.IsEmpty() && !out.memory.Decides(card) {
				_, err = p.HideMarked(card, m)
			}
			return err
		}, err
	})
	out.Refused = out.Refused[:min(len(out.Refused), maxListed)]
	return err
}

// planCard plans the change of a card.
type planCard func(canon.Card) error

// commitEach commits the changes of cards that begin plans, and notes those that the canon refuses.
func (out *hideMarkedOut) commitEach(ctx context.Context, d *deps, c *op.Call, cards []canon.Card,
	begin func(*canon.Plan) (planCard, error)) error {
	for part := range slices.Chunk(cards, markedPerCommit) {
		if err := ctx.Err(); err != nil {
			return err
		}
		var refused []refusedCard
		r, err := d.Canon.Update(ctx, c.Grant.Unkeyed(), func(p *canon.Plan) error {
			refused = nil
			plan, err := begin(p)
			if err != nil {
				return err
			}
			for _, card := range part {
				card, ok, err := p.Has("~" + card.ID.String())
				if err == nil && ok {
					err = plan(card)
				}
				switch fault.KindOf(err) {
				case fault.Invalid, fault.Rule, fault.Denied, fault.NotFound, fault.TooLarge:
					refused = append(refused, refusedCard{card.Name, card.ID, fault.Classify(err).Message})
				default:
					if err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if id := changeID(r); id != "" {
			out.Changes = append(out.Changes, id)
		}
		out.Refused = append(out.Refused, refused...)
	}
	return nil
}
