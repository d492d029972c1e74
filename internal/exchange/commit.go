package exchange

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// importer puts what a collection wants into a world.
type importer struct {
	canon   *canon.Canon
	grant   access.Grant
	c       *collection
	sum     *Summary
	claimed map[canon.CardID]*sheet // cards that a sheet has taken
	parts   int                     // commits so far
	steps   int                     // done, of total
	total   int
	tell    func(done, total int)
}

// Bounds of a commit.
const (
	batchCards = 200
	batchBytes = 8 << 20
)

func (im *importer) run(ctx context.Context) error {
	im.total = len(im.c.sheets) + len(im.c.edges) + len(im.c.overlays)
	if err := im.cards(ctx); err != nil {
		return err
	}
	if err := im.links(ctx); err != nil {
		return err
	}
	return im.layers(ctx)
}

func (im *importer) step(n int) {
	im.steps += n
	if im.tell != nil {
		im.tell(im.steps, im.total)
	}
}

// tally is what one run of a plan did. A plan may run again, then from a new one.
type tally struct {
	created, updated, unchanged, links, attached int
	problems                                     []Problem
	claimed                                      map[canon.CardID]*sheet
	got                                          map[*sheet]canon.Card
}

func (t *tally) problem(file, format string, args ...any) {
	t.problems = append(t.problems, Problem{File: file, Why: fmt.Sprintf(format, args...)})
}

// commit makes one commit of what plan does and then counts it.
func (im *importer) commit(ctx context.Context, plan func(*canon.Plan, *tally) error) error {
	var t *tally
	im.parts++
	part := im.grant.Part(strconv.Itoa(im.parts), im.grant.Request().InputHash)
	_, err := im.canon.Update(ctx, part, func(p *canon.Plan) error {
		t = &tally{claimed: map[canon.CardID]*sheet{}, got: map[*sheet]canon.Card{}}
		return plan(p, t)
	})
	if err != nil || t == nil { // no tally: the commit was made by the same call before
		return err
	}
	im.sum.Created += t.created
	im.sum.Updated += t.updated
	im.sum.Unchanged += t.unchanged
	im.sum.Links += t.links
	im.sum.Attached += t.attached
	im.sum.Problems = append(im.sum.Problems, t.problems...)
	for id, s := range t.claimed {
		if im.claimed == nil {
			im.claimed = map[canon.CardID]*sheet{}
		}
		im.claimed[id] = s
	}
	for s, c := range t.got {
		s.got, s.done = c, true
	}
	im.countLevels(t)
	return nil
}

// countLevels counts who may see what a commit took. In a dry run an earlier commit left
// nothing behind whose label a card could have met: it meets those of its sheets.
func (im *importer) countLevels(t *tally) {
	if im.sum.Levels == nil {
		im.sum.Levels = map[access.Level]int{}
	}
	for s, c := range t.got {
		label := c.Label
		for above := s.above; above != nil; above = above.above {
			label = label.Meet(above.got.Label)
		}
		im.sum.Levels[label.Level]++
	}
}

func (im *importer) cards(ctx context.Context) error {
	for rest := im.c.sheets; len(rest) > 0; {
		n, size := 0, 0
		for n < len(rest) && n < batchCards && size < batchBytes {
			size += im.read(ctx, rest[n])
			n++
		}
		if err := im.putAll(ctx, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// putAll makes or changes the cards of sheets that are ready, in one commit.
func (im *importer) putAll(ctx context.Context, batch []*sheet) error {
	err := im.commit(ctx, func(p *canon.Plan, t *tally) error {
		for _, s := range batch {
			if err := im.put(ctx, p, t, s); err != nil {
				return fmt.Errorf("%s: %w", s.file, err)
			}
		}
		return nil
	})
	for _, s := range batch {
		s.ready = reading{}
	}
	im.step(len(batch))
	return err
}

// read gets a sheet's content ready and gives its size.
func (im *importer) read(ctx context.Context, s *sheet) (size int) {
	s.ready = reading{typ: s.typ}
	if s.data != nil {
		data, err := s.data()
		if err != nil {
			im.sum.Problems = append(im.sum.Problems, Problem{File: s.file, Why: "the file cannot be attached: " + plainly(err)})
		}
		s.ready.file = data
		return len(data)
	}
	if s.body == nil {
		return 0
	}
	text, err := s.body(ctx)
	if failed := (notConverted{}); errors.As(err, &failed) {
		im.sum.Problems = append(im.sum.Problems, Problem{File: s.file, Why: "stays Markdown: " + failed.Error()})
		s.ready.typ = "Markdown"
	}
	s.ready.text = &text
	return len(text)
}

// plainly is an error without the paths and codes of this machine.
func plainly(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Message
	}
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err.Error()
}
