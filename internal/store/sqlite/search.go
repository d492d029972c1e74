package sqlite

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/search"
	"loregate/internal/store/finder"
	"loregate/internal/store/sqlstore"
)

// newFinder returns the finder of the store's search indexes. Their files are in a folder beside the
// store's file.
func newFinder(s *Store) *finder.Finder {
	return sqlstore.NewFinder(sqlstore.LibraryConfig{Dir: s.cfg.Path + "-search", Log: s.cfg.Log, Changed: s.Changed,
		Read: func(ctx context.Context, f func(*sqlstore.Reader, sqlstore.Sources) error) error {
			return s.read(ctx, func(c *conn) error {
				r := newUnindexedReader(s, c)
				return f(&r.Reader, r)
			})
		}})
}

// Source returns the search data of a world; false if the store does not have the world.
func (r *reader) Source(ctx context.Context, id access.WorldID) (search.Source, bool, error) {
	if r.tx != nil {
		if err := r.tx.flushReindex(ctx); err != nil {
			return nil, false, err
		}
	}
	of, ok, err := r.SourceOf(ctx, id)
	return source{of, r}, ok, err
}

// source is the search.Source of a world in one snapshot.
type source struct {
	sqlstore.Source
	r *reader
}

func (s source) State(ctx context.Context) (at search.State, err error) {
	if t := s.r.tx; t != nil && t.searched[s.W] != nil {
		return finder.WithRowFormat(*t.searched[s.W]), nil
	}
	at, _, err = s.r.loadSearchState(ctx, s.W)
	return finder.WithRowFormat(at), err
}

func (r *reader) loadSearchState(ctx context.Context, w int64) (at search.State, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return at, false, err
	}
	rows := r.c.Query(context.Background(), "SELECT "+stateColumns+
		`, +(SELECT max(gen) FROM docs WHERE w = $1) AS "" FROM searched WHERE w = $1`, w)
	if found = rows.Next(); found {
		at = search.State{Tag: rows.Text(0), Epoch: rows.Int(1), Scrub: rows.Int(2), Gen: rows.Int(3)}
	}
	return at, found, rows.Close()
}

var stateColumns = unnamedColumns("tag, epoch, scrub")

func (s source) Changes(ctx context.Context, after int64, most int) ([]search.Change, error) {
	return s.queryChanges(ctx, "d.gen > $2 ORDER BY d.gen LIMIT $3", after, most)
}

func (s source) Documents(ctx context.Context, ids []search.ID) ([]search.Change, error) {
	return s.queryChanges(ctx, "d.card IN (SELECT unhex(f.value) FROM json_each($2) f)", hexIDs(ids...))
}

func (s source) queryChanges(ctx context.Context, where string, args ...any) ([]search.Change, error) {
	var list []sqlstore.IndexRow
	const at = sqlstore.CardWidth
	err := sqlstore.Each(ctx, s.r.c, func(row sqlstore.Row) error {
		c, label, err := sqlstore.ScanCard(row)
		one := sqlstore.IndexRow{Gen: row.Int(at), ID: sqlstore.ReadID[canon.CardID](row, at+1)}
		if !c.ID.IsZero() && !c.Trashed() {
			one.Card, one.Level = &c, max(label.Level, row.Int(at+2))
		}
		switch {
		case one.Card == nil || row.Int(at+3) == 0:
		case row.Int(at+4) != 0:
			one.Doc = &canon.SearchDoc{Name: row.Text(at + 5), Text: row.Text(at + 6)}
		default:
			one.Doc = &canon.SearchDoc{Name: c.Name, Text: canon.PlainText(c.TextKind(), string(row.Bytes(at+7)))}
		}
		list = append(list, one)
		return err
	}, "SELECT "+dialect.Columns.Card+`, d.gen, d.card, d.level, d.sum IS NOT NULL, x.card IS NOT NULL, x.name, x.text,
			CASE WHEN x.card IS NULL THEN b.body END
		FROM docs d LEFT JOIN cards c ON c.w = d.w AND c.id = d.card LEFT JOIN doc_texts x ON x.w = d.w AND x.card = d.card
		LEFT JOIN bodies b ON b.w = c.w AND b.hash = c.content WHERE d.w = $1 AND `+where,
		append([]any{s.W}, args...)...)
	if err != nil {
		return nil, err
	}
	return s.IndexChanges(ctx, list)
}

// Named returns the living cards that the caller sees only because their labels name the subject.
func (r *reader) Named(ctx context.Context, s canon.Visibility) ([]finder.Named, error) {
	cards, err := r.NamedCards(ctx, s)
	if err != nil || len(cards) == 0 {
		return nil, err
	}
	w, err := r.WorldNumber(ctx, s.World)
	if err != nil {
		return nil, err
	}
	docs := make([]*canon.SearchDoc, len(cards))
	for i, c := range cards {
		d, ok, err := r.indexedText(ctx, w, c)
		if err != nil {
			return nil, err
		}
		if ok {
			docs[i] = &d
		}
	}
	return r.NamedWith(ctx, s.World, cards, docs)
}

// Text returns the searchable text of a card.
func (r *reader) Text(ctx context.Context, c canon.Card) (canon.SearchDoc, error) {
	w, err := r.WorldNumber(ctx, c.World)
	if err != nil {
		return canon.SearchDoc{}, err
	}
	d, _, err := r.indexedText(ctx, w, c)
	return d, err
}

// indexedText returns the searchable text of a card; false if the card is not indexed.
func (r *reader) indexedText(ctx context.Context, w int64, c canon.Card) (d canon.SearchDoc, ok bool, err error) {
	var sum []byte
	if _, err = sqlstore.One(context.Background(), r.c, func(row sqlstore.Row) error { sum = row.Bytes(0); return nil },
		"SELECT sum FROM docs WHERE w = $1 AND card = $2", w, c.ID[:]); err != nil || sum == nil {
		return d, false, err
	}
	d, _, err = r.readDocument(ctx, w, sum, c)
	return d, err == nil, err
}

// readDocument returns the indexed text of a card. same is false if the text must be derived from
// the card and no longer matches sum, the digest of the indexed text.
func (r *reader) readDocument(ctx context.Context, w int64, sum []byte,
	c canon.Card) (d canon.SearchDoc, same bool, err error) {
	found, err := sqlstore.One(context.Background(), r.c,
		func(row sqlstore.Row) error { d.Name, d.Text = row.Text(0), row.Text(1); return nil },
		"SELECT name, text FROM doc_texts WHERE w = $1 AND card = $2", w, c.ID[:])
	if err != nil || found {
		return d, found, err
	}
	b, _, err := r.Body(ctx, c.World, c.Content)
	d = canon.SearchDoc{Name: c.Name, Text: canon.PlainText(c.TextKind(), string(b))}
	return d, bytes.Equal(docSum(&d), sum), err
}

// docSum returns the digest of a document. The store keeps it instead of the text to detect
// changes.
func docSum(doc *canon.SearchDoc) []byte {
	h := sha256.New()
	h.Write([]byte(doc.Name))
	h.Write([]byte{0})
	h.Write([]byte(doc.Text))
	return h.Sum(nil)
}

// searchState returns a world's search state for the transaction to modify.
func (t *tx) searchState(ctx context.Context, w int64) (*search.State, error) {
	if at := t.searched[w]; at != nil {
		return at, nil
	}
	at, found, err := t.loadSearchState(ctx, w)
	if err != nil {
		return nil, err
	}
	if t.searched == nil {
		t.searched, t.before = map[int64]*search.State{}, map[int64]search.State{}
	}
	t.before[w] = at
	if !found {
		at = search.State{Tag: rand.Text(), Epoch: 1}
	}
	t.searched[w] = &at
	return &at, nil
}

// reindexLater marks a card to be indexed again. The mark is written before the next read of the
// search data or at the end of the transaction: usually Index follows and writes it with the text.
func (t *tx) reindexLater(ctx context.Context, w int64, id canon.CardID) error {
	if err := t.flushReindex(ctx); err != nil {
		return err
	}
	t.pendingReindex = cardRef{w, id}
	return nil
}

// flushReindex writes the mark that reindexLater left pending.
func (t *tx) flushReindex(ctx context.Context) error {
	c := t.pendingReindex
	if c == (cardRef{}) {
		return nil
	}
	t.pendingReindex = cardRef{}
	return t.reindexCard(ctx, c.w, c.id)
}

// reindexCard marks a card to be indexed again.
func (t *tx) reindexCard(ctx context.Context, w int64, id canon.CardID) error {
	at, err := t.searchState(ctx, w)
	if err != nil {
		return err
	}
	at.Gen++
	_, err = t.c.Exec(ctx,
		"INSERT INTO docs (w, card, gen, level, label) VALUES ($1, $2, $3, 0, 0) ON CONFLICT (w, card) DO UPDATE SET gen = $3", w, id[:], at.Gen)
	return err
}

// Index replaces the searchable text of a card.
func (t *tx) Index(ctx context.Context, c canon.Card, doc *canon.SearchDoc) error {
	w, of, err := t.EnsureLabel(ctx, c.World, c.Label)
	if err != nil {
		return err
	}
	if c.IsTagList() { // the card above it is found by its words
		if err := t.reindexCard(ctx, w, c.Parent); err != nil {
			return err
		}
	}
	if doc == nil {
		return t.unindexCard(ctx, w, c.ID)
	}
	if t.pendingReindex == (cardRef{w, c.ID}) {
		t.pendingReindex = cardRef{}
	}
	isNew := t.made == cardRef{w, c.ID}
	t.made = cardRef{}
	at, err := t.searchState(ctx, w)
	if err != nil {
		return err
	}
	at.Gen++
	if _, err := t.c.Exec(ctx, `INSERT INTO docs (w, card, gen, level, label, sum) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (w, card) DO UPDATE SET gen = $3, level = $4, label = $5, sum = $6`, w, c.ID[:], at.Gen, of.Level, of.Label, docSum(doc)); err != nil {
		return err
	}
	keep, err := t.needsText(ctx, w, c, doc)
	if err != nil {
		return err
	}
	if !keep && isNew {
		return nil
	}
	if !keep {
		_, err = t.c.Exec(ctx, "DELETE FROM doc_texts WHERE w = $1 AND card = $2", w, c.ID[:])
		return err
	}
	return t.storeText(ctx, w, c.ID, doc)
}

func (t *tx) storeText(ctx context.Context, w int64, id canon.CardID, doc *canon.SearchDoc) error {
	_, err := t.c.Exec(ctx,
		"INSERT INTO doc_texts (w, card, name, text) VALUES ($1, $2, $3, $4) ON CONFLICT (w, card) DO UPDATE SET name = $3, text = $4", w, id[:], doc.Name, doc.Text)
	return err
}

// unindexCard removes a card's text from the search.
func (t *tx) unindexCard(ctx context.Context, w int64, id canon.CardID) error {
	if err := t.reindexCard(ctx, w, id); err != nil {
		return err
	}
	if _, err := t.c.Exec(ctx, "UPDATE docs SET level = 0, label = 0, sum = NULL WHERE w = $1 AND card = $2", w,
		id[:]); err != nil {
		return err
	}
	_, err := t.c.Exec(ctx, "DELETE FROM doc_texts WHERE w = $1 AND card = $2", w, id[:])
	return err
}

// needsText reports whether the text itself must be stored because it cannot be derived from the
// card's body.
func (t *tx) needsText(ctx context.Context, w int64, c canon.Card, doc *canon.SearchDoc) (bool, error) {
	if doc.Name != c.Name || doc.Derived {
		return doc.Name != c.Name, nil
	}
	keep := true
	_, err := sqlstore.One(ctx, t.c, func(r sqlstore.Row) error {
		keep = canon.PlainText(c.TextKind(), string(r.Bytes(0))) != doc.Text
		return nil
	}, "SELECT body FROM bodies WHERE w = $1 AND hash = $2", w, c.Content[:])
	return keep, err
}

// storeTextsOfBody stores the indexed texts that are derived from a body, before the body is
// erased. Bodies are erased so seldom that it may scan all cards of the world.
func (t *tx) storeTextsOfBody(ctx context.Context, id access.WorldID, w int64, h canon.Hash) error {
	cards, err := t.QueryCards(ctx, id, "SELECT "+dialect.Columns.Card+` FROM cards c CROSS JOIN docs d ON d.w = c.w AND d.card = c.id
		WHERE c.w = $1 AND c.content = $2 AND d.sum IS NOT NULL AND NOT EXISTS (SELECT 1 FROM doc_texts x WHERE x.w = d.w AND x.card = d.card)`, w, h[:])
	if err != nil {
		return err
	}
	for _, c := range cards {
		d, err := t.Text(ctx, c)
		if err == nil {
			err = t.storeText(ctx, w, c.ID, &d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scrubIndex makes the index files be rewritten without erased text.
func (t *tx) scrubIndex(ctx context.Context, id access.WorldID, w int64) error {
	at, err := t.searchState(ctx, w)
	if err == nil {
		at.Scrub++
		t.scrubbed = append(t.scrubbed, id)
	}
	return err
}

// emptySearch removes all search data of a world.
func (t *tx) emptySearch(ctx context.Context, w int64) error {
	at, err := t.searchState(ctx, w)
	if err != nil {
		return err
	}
	at.Epoch, at.Gen = at.Epoch+1, 0
	t.made, t.pendingReindex = cardRef{}, cardRef{}
	for _, table := range []string{"docs", "doc_texts"} {
		if _, err := t.c.Exec(ctx, "DELETE FROM "+table+" WHERE w = $1", w); err != nil {
			return fmt.Errorf("clear %s: %w", table, err)
		}
	}
	return nil
}

// flush writes the pending search states. It is the last step before a write is kept.
func (t *tx) flush(ctx context.Context) error {
	if err := t.flushReindex(ctx); err != nil {
		return err
	}
	for w, at := range t.searched {
		was := t.before[w]
		if was.Gen = at.Gen; was == *at { // Gen alone changed, and docs holds that
			continue
		}
		if _, err := t.c.Exec(ctx,
			"INSERT INTO searched (w, tag, epoch, scrub) VALUES ($1, $2, $3, $4) ON CONFLICT (w) DO UPDATE SET epoch = $3, scrub = $4",
			w, at.Tag, at.Epoch, at.Scrub); err != nil {
			return err
		}
	}
	return nil
}

// dropOldSearchTables drops the full-text tables of stores before format 10. Their names depend on
// the worlds, so no migration can name them.
func dropOldSearchTables(ctx context.Context, c *conn) error {
	var names []string
	if err := sqlstore.Each(ctx, c, func(r sqlstore.Row) error { names = append(names, r.Text(0)); return nil },
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%fts5%' ORDER BY name LIKE 'ftsv%' DESC"); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := c.Exec(ctx, "DROP TABLE IF EXISTS "+name); err != nil {
			return err
		}
	}
	return nil
}
