package exchange

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/wait"
)

// Writer writes the cards, links and layers of a collection into a world. If an error stops it, the
// parts that it committed before remain.
type Writer struct {
	Canon      *canon.Canon
	Grant      access.Grant
	Collection *Collection
	Summary    *Summary              // counts of the written cards are added to it
	Progress   func(done, total int) // if set, called after every commit
	// Known is the memory of an earlier import of the same source; nil: there is none. Sheets that it
	// knows are not planned again, and changes made here are not overwritten.
	Known map[canon.CardID]Memory
	// Exported is the last commit whose changes the source had when it was exported from this world; 0: none. Changes made
	// here until then are no conflict.
	Exported   canon.Seq
	Remembered map[canon.CardID]Memory // the memory of this import, once it is written
	Conflicts  map[*Sheet]bool         // sheets whose cards were changed here and at the source
	there      map[canon.CardID]canon.Card
	holders    map[canon.CardID][]canon.Card // of the hidden parts of these cards
	hidden     HiddenTexts                   // of the world before
	claimed    map[canon.CardID]*Sheet       // cards that earlier commits matched with a sheet
	commits    int                           // number of commits so far
	steps      int                           // progress, out of total
	total      int
}

// Limits of one commit.
const (
	batchCards = 200
	batchBytes = 8 << 20
)

// Write writes all cards, then the links and layers. Parents are written before their children.
func (w *Writer) Write(ctx context.Context) error {
	w.Collection.Arrange()
	if err := w.loadKnown(ctx); err != nil {
		return err
	}
	if err := w.readHidden(ctx); err != nil {
		return err
	}
	w.total = len(w.Collection.Sheets) + len(w.Collection.Edges) + len(w.Collection.Overlays)
	if err := w.importCards(ctx); err != nil {
		return err
	}
	if w.Collection.Late != nil {
		late := w.Collection.Late()
		w.Collection.Edges, w.total = append(w.Collection.Edges, late...), w.total+len(late)
	}
	if err := w.importLinks(ctx); err != nil {
		return err
	}
	return w.importLayers(ctx)
}

func (w *Writer) addSteps(n int) {
	w.steps += n
	if w.Progress != nil {
		w.Progress(w.steps, w.total)
	}
}

// tally counts the effects of one run of a plan. The canon may run a plan again; each run then
// starts with a new tally.
type tally struct {
	created, updated, unchanged, links, attached, tagLists int
	problems                                               []Problem
	claimed                                                map[canon.CardID]*Sheet
	got                                                    map[*Sheet]canon.Card
	digests, texts                                         map[*Sheet]digest // of the sheets in got, see Memory
	parts                                                  map[*Sheet]digest // of the hidden parts of their cards
	conflicts, resolved                                    []*Sheet
	undone                                                 []canon.Card // to be restored before the sheets are written
}

// count counts a sheet whose card was created, updated or is unchanged, as the counter says. A list of tags
// is part of another card, and counts by itself if it changed.
func (t *tally) count(s *Sheet, counter *int) {
	if !s.isTagList() {
		*counter++
	} else if counter != &t.unchanged {
		t.tagLists++
	}
}

func (t *tally) addProblem(file, format string, args ...any) {
	t.problems = append(t.problems, NewProblem(file, 0, format, args...))
}

// outageTries is the number of times that a commit is tried while the store is unavailable, at intervals of a
// second: another server of the database takes over in less than half a minute.
const outageTries = 60

// persist calls f again while the store is unavailable. f must have no further effect if it is repeated after it
// had its effect and failed nevertheless.
func persist(ctx context.Context, f func() error) error {
	for tries := 1; ; tries++ {
		err := f()
		if fault.KindOf(err) != fault.Unavailable || tries == outageTries || !wait.For(ctx, time.Second) {
			return err
		}
	}
}

// errUndone makes a commit wait for the cards that are restored before it.
var errUndone = errors.New("exchange: cards are in the trash")

// commit runs plan in one commit and adds its tally to the summary. A commit that was made without an answer is
// found when it is repeated: by the grant's idempotency key, or as cards that are as the source has them.
func (w *Writer) commit(ctx context.Context, plan func(*canon.Plan, *tally) error) error {
	var t *tally
	w.commits++
	part := w.Grant.Part(strconv.Itoa(w.commits), w.Grant.Request().InputHash)
	err := persist(ctx, func() error {
		_, err := w.Canon.Update(ctx, part, func(p *canon.Plan) error {
			t = &tally{claimed: map[canon.CardID]*Sheet{}, got: map[*Sheet]canon.Card{},
				digests: map[*Sheet]digest{}, texts: map[*Sheet]digest{}, parts: map[*Sheet]digest{}}
			if err := plan(p, t); err != nil || len(t.undone) == 0 || part.Request().DryRun {
				return err
			}
			return errUndone
		})
		return err
	})
	if errors.Is(err, errUndone) {
		if err := w.restoreUndone(ctx, t.undone); err != nil {
			return err
		}
		return w.commit(ctx, plan)
	}
	if err != nil || t == nil { // no tally: an earlier attempt of the same call already made the commit
		return err
	}
	w.Summary.Created += t.created
	w.Summary.Updated += t.updated
	w.Summary.Unchanged += t.unchanged
	w.Summary.Links += t.links
	w.Summary.Attached += t.attached
	w.Summary.TagLists += t.tagLists
	w.Summary.Problems = AppendProblems(w.Summary.Problems, t.problems...)
	for id, s := range t.claimed {
		if w.claimed == nil {
			w.claimed = map[canon.CardID]*Sheet{}
		}
		w.claimed[id] = s
	}
	for s, c := range t.got {
		s.finish(c)
	}
	w.rememberCards(t)
	for s, c := range t.got {
		w.countLevel(s, c)
	}
	return nil
}

// rememberCards adds the cards of a commit to the memory. A card in conflict keeps its old memory,
// so that the conflict is found again.
func (w *Writer) rememberCards(t *tally) {
	if w.Remembered == nil || w.Grant.Request().DryRun {
		return
	}
	for s, c := range t.got {
		m := Memory{Sheet: t.digests[s], Card: digestCard(c), Parts: t.parts[s], Text: t.texts[s], Want: s.Label, Own: c.Own}
		if c.ID != s.ID {
			m.ID = c.ID
		}
		w.Remembered[s.ID] = m
	}
	for _, s := range t.resolved { // the card stays changed
		m := w.Remembered[s.ID]
		m.Card, m.Parts, m.Own = w.Known[s.ID].Card, w.Known[s.ID].Parts, w.Known[s.ID].Own
		w.Remembered[s.ID] = m
	}
	for _, s := range t.conflicts {
		w.Remembered[s.ID] = w.Known[s.ID]
		if w.Conflicts == nil {
			w.Conflicts = map[*Sheet]bool{}
		}
		w.Conflicts[s] = true
	}
}

// countLevel counts an imported card by its level.
func (w *Writer) countLevel(s *Sheet, c canon.Card) {
	if s.isTagList() {
		return
	}
	if w.Summary.Levels == nil {
		w.Summary.Levels = map[access.Level]int{}
	}
	w.Summary.Levels[s.asCard().Label.Level]++
}

func (w *Writer) importCards(ctx context.Context) error {
	for rest := w.Collection.Sheets; len(rest) > 0; {
		n, size := 0, 0
		var batch []*Sheet
		for n < len(rest) && len(batch) < batchCards && size < batchBytes {
			s := rest[n]
			n++
			bytes := w.readSheet(ctx, s)
			if w.keepKnown(s) {
				s.Content = Content{}
				continue
			}
			size += bytes
			batch = append(batch, s)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if n > len(batch) {
			w.addSteps(n - len(batch))
		}
		if len(batch) > 0 {
			if err := w.putSheets(ctx, batch); err != nil {
				return err
			}
		}
		rest = rest[n:]
	}
	return nil
}

// WriteBatch creates or updates the cards of sheets in one commit. Unlike run, it keeps nothing of
// them afterwards. The sheets must have their content and ids of their own, and parents must come
// before their children.
func (w *Writer) WriteBatch(ctx context.Context, batch []*Sheet) error {
	err := w.putSheets(ctx, batch)
	clear(w.claimed)
	return err
}

// putSheets creates or updates the cards of sheets that were read, in one commit.
func (w *Writer) putSheets(ctx context.Context, batch []*Sheet) error {
	if err := w.putPast(ctx, batch); err != nil {
		return err
	}
	err := w.commit(ctx, func(p *canon.Plan, t *tally) error {
		for _, s := range batch {
			if w.Remembered != nil {
				t.digests[s], t.texts[s] = digestSheet(s), digestSource(s) // before the plan changes its label
			}
			put := w.putSheet
			if w.isConflict(s) {
				put = w.putConflict
			}
			if err := put(ctx, p, t, s); err != nil {
				return fmt.Errorf("%s: %w", s.File, err)
			}
		}
		return nil
	})
	for _, s := range batch { // they are not needed again
		s.Content, s.Body, s.Data, s.Past = Content{}, nil, nil, nil
	}
	w.addSteps(len(batch))
	return err
}

// putPast writes the earlier versions of the cards of sheets: one commit for the oldest of each, one for
// the next, and so on.
func (w *Writer) putPast(ctx context.Context, batch []*Sheet) error {
	for age := 0; ; age++ {
		var old []*Sheet
		for _, s := range batch {
			if age < len(s.Past) {
				was := *s
				was.Body, was.Fields, was.Past = s.Past[age].Body, s.Past[age].Fields, nil
				w.readSheet(ctx, &was)
				old = append(old, &was)
			}
		}
		if len(old) == 0 {
			return ctx.Err()
		}
		all := w.Summary
		w.Summary = &Summary{}
		err := w.commit(ctx, func(p *canon.Plan, t *tally) error {
			for _, s := range old {
				if err := w.putSheet(ctx, p, t, s); err != nil {
					return fmt.Errorf("%s: %w", s.File, err)
				}
			}
			return nil
		})
		part := w.Summary
		w.Summary = all
		all.Versions += part.Created + part.Updated
		all.Problems = AppendProblems(all.Problems, part.Problems...)
		if err != nil {
			return err
		}
		if !w.Grant.Request().DryRun { // the newest version will count as an update of a card that is new
			all.Created, all.Updated = all.Created+part.Created, all.Updated-part.Created
		}
	}
}

// readSheet reads a sheet's content into s.ready and returns its size in bytes.
func (w *Writer) readSheet(ctx context.Context, s *Sheet) (size int) {
	s.Content = Content{Type: s.Type}
	if s.Data != nil {
		data, err := s.Data()
		if err != nil {
			w.Summary.Problems = AppendProblems(w.Summary.Problems,
				NewProblem(s.File, 0, "the file cannot be attached: %s", ErrorText(err)))
		}
		s.Content.file = data
		return len(data)
	}
	if s.Body == nil {
		return 0
	}
	text, err := s.ReadText(ctx)
	if failed := (notConverted{}); errors.As(err, &failed) {
		w.Summary.Problems = AppendProblems(w.Summary.Problems, NewProblem(s.File, 0, "stays Markdown: %s", failed.Error()))
		s.Content.Type = "Markdown"
	}
	s.Content.Text = &text
	return len(text)
}

// ErrorText returns an error's message without file paths and system error codes.
func ErrorText(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err.Error()
}

// WriteSheet reads the content of one sheet and writes its card.
func (w *Writer) WriteSheet(ctx context.Context, s *Sheet) error {
	w.readSheet(ctx, s)
	return w.WriteBatch(ctx, []*Sheet{s})
}
