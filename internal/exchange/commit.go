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

// importer writes the cards, links and layers of a collection into a world.
type importer struct {
	canon   *canon.Canon
	grant   access.Grant
	c       *collection
	sum     *Summary
	claimed map[canon.CardID]*sheet // cards that earlier commits matched with a sheet
	parts   int                     // number of commits so far
	steps   int                     // progress, out of total
	total   int
	tell    func(done, total int)
}

// Limits of one commit.
const (
	batchCards = 200
	batchBytes = 8 << 20
)

// run writes all cards, then the links and layers. Parents are written before their children.
func (im *importer) run(ctx context.Context) error {
	im.c.arrangeSheets()
	im.total = len(im.c.sheets) + len(im.c.edges) + len(im.c.overlays)
	if err := im.importCards(ctx); err != nil {
		return err
	}
	if err := im.importLinks(ctx); err != nil {
		return err
	}
	return im.importLayers(ctx)
}

func (im *importer) addSteps(n int) {
	im.steps += n
	if im.tell != nil {
		im.tell(im.steps, im.total)
	}
}

// tally counts the effects of one run of a plan. The canon may run a plan again; each run then
// starts with a new tally.
type tally struct {
	created, updated, unchanged, links, attached int
	problems                                     []Problem
	claimed                                      map[canon.CardID]*sheet
	got                                          map[*sheet]canon.Card
}

func (t *tally) addProblem(file, format string, args ...any) {
	t.problems = append(t.problems, Problem{File: file, Why: fmt.Sprintf(format, args...)})
}

// commit runs plan in one commit and adds its tally to the summary.
func (im *importer) commit(ctx context.Context, plan func(*canon.Plan, *tally) error) error {
	var t *tally
	im.parts++
	part := im.grant.Part(strconv.Itoa(im.parts), im.grant.Request().InputHash)
	_, err := im.canon.Update(ctx, part, func(p *canon.Plan) error {
		t = &tally{claimed: map[canon.CardID]*sheet{}, got: map[*sheet]canon.Card{}}
		return plan(p, t)
	})
	if err != nil || t == nil { // no tally: an earlier attempt of the same call already made the commit
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
		s.card, s.done = c, true
	}
	im.countLevels(t)
	return nil
}

// countLevels counts the committed cards by their level. A dry run stores no cards whose labels
// later cards could inherit, so each label is combined with those of the sheets above it.
func (im *importer) countLevels(t *tally) {
	if im.sum.Levels == nil {
		im.sum.Levels = map[access.Level]int{}
	}
	for s, c := range t.got {
		label := c.Label
		for above := s.above; above != nil; above = above.above {
			label = label.Meet(above.card.Label)
		}
		im.sum.Levels[label.Level]++
	}
}

func (im *importer) importCards(ctx context.Context) error {
	for rest := im.c.sheets; len(rest) > 0; {
		n, size := 0, 0
		for n < len(rest) && n < batchCards && size < batchBytes {
			size += im.readSheet(ctx, rest[n])
			n++
		}
		if err := im.putSheets(ctx, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// writeBatch creates or updates the cards of sheets in one commit. Unlike run, it keeps nothing of
// them afterwards. The sheets must have their content and ids of their own, and parents must come
// before their children.
func (im *importer) writeBatch(ctx context.Context, batch []*sheet) error {
	err := im.putSheets(ctx, batch)
	clear(im.claimed)
	return err
}

// putSheets creates or updates the cards of sheets that were read, in one commit.
func (im *importer) putSheets(ctx context.Context, batch []*sheet) error {
	err := im.commit(ctx, func(p *canon.Plan, t *tally) error {
		for _, s := range batch {
			if err := im.putSheet(ctx, p, t, s); err != nil {
				return fmt.Errorf("%s: %w", s.file, err)
			}
		}
		return nil
	})
	for _, s := range batch {
		s.ready = sheetContent{}
	}
	im.addSteps(len(batch))
	return err
}

// readSheet reads a sheet's content into s.ready and returns its size in bytes.
func (im *importer) readSheet(ctx context.Context, s *sheet) (size int) {
	s.ready = sheetContent{typ: s.typ}
	if s.data != nil {
		data, err := s.data()
		if err != nil {
			im.sum.Problems = append(im.sum.Problems, Problem{File: s.file, Why: "the file cannot be attached: " +
				errorText(err)})
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

// errorText returns an error's message without file paths and system error codes.
func errorText(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Message
	}
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err.Error()
}
