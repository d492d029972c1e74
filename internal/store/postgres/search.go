package postgres

import (
	"context"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/search"
	"loregate/internal/store/finder"
	"loregate/internal/store/sqlstore"
)

// newFinder returns the finder of the store's search indexes.
func newFinder(s *Store) *finder.Finder {
	return sqlstore.NewFinder(sqlstore.LibraryConfig{Dir: s.cfg.Search, Log: s.cfg.Log, Changed: s.Changed,
		Read: func(ctx context.Context, f func(*sqlstore.Reader, sqlstore.Sources) error) error {
			return s.readLong(ctx, func(c *conn, known *sqlstore.Caches) error {
				r := newUnindexedReader(c, known)
				return f(&r.Reader, r)
			})
		}})
}

// Search finds cards by a query.
func (r *reader) Search(ctx context.Context, s canon.Visibility, q canon.SearchQuery,
	p canon.Page) (canon.SearchResult, error) {
	q.Q = storableText(q.Q)
	return r.SnapshotFinder.Search(ctx, s, q, p)
}

// Source returns the search data of a world; false if the store does not have the world.
func (r *reader) Source(ctx context.Context, id access.WorldID) (search.Source, bool, error) {
	of, ok, err := r.SourceOf(ctx, id)
	return source{of, r}, ok, err
}

// source is the search.Source of a world in one snapshot.
type source struct {
	sqlstore.Source
	r *reader
}

func (s source) State(ctx context.Context) (at search.State, err error) {
	_, err = sqlstore.One(ctx, s.r.c, func(r sqlstore.Row) error {
		at = search.State{Tag: r.Text(0), Epoch: r.Int(1), Gen: r.Int(2), Scrub: r.Int(3)}
		return nil
	}, "SELECT tag, epoch, coalesce((SELECT max(d.gen) FROM docs d WHERE d.w = s.w), 0), scrub FROM searched s WHERE w = $1", s.W)
	return finder.WithRowFormat(at), err
}

func (s source) Changes(ctx context.Context, after int64, most int) ([]search.Change, error) {
	return s.queryChanges(ctx, "gen > $2 ORDER BY gen LIMIT $3", after, int64(most))
}

func (s source) Documents(ctx context.Context, ids []search.ID) ([]search.Change, error) {
	return s.queryChanges(ctx, "card = ANY($2::uuid[])", sqlstore.RawIDs(ids))
}

func (s source) queryChanges(ctx context.Context, where string, args ...any) ([]search.Change, error) {
	var list []sqlstore.IndexRow
	var ids [][16]byte
	rows := s.r.c.Query(ctx, "SELECT gen, card, level, name, body FROM docs WHERE w = $1 AND "+where, append([]any{s.W}, args...)...)
	for rows.Next() {
		one := sqlstore.IndexRow{Gen: rows.Int(0), ID: sqlstore.ReadID[canon.CardID](rows, 1), Level: rows.Int(2)}
		if rows.Raw(3) != nil {
			one.Doc = &canon.SearchDoc{Name: rows.Text(3), Text: rows.Text(4)}
		}
		list, ids = append(list, one), append(ids, uuidOf(one.ID))
	}
	if err := rows.Close(); err != nil || len(ids) == 0 {
		return nil, err
	}
	cards, err := s.r.QueryCards(ctx, s.ID, "SELECT "+dialect.Columns.Card+
		" FROM cards c WHERE c.w = $1 AND c.id = ANY($2::uuid[]) AND c.trashed = 0", s.W, ids)
	if err != nil {
		return nil, err
	}
	living := make(map[canon.CardID]*canon.Card, len(cards))
	for i := range cards {
		living[cards[i].ID] = &cards[i]
	}
	for i := range list {
		if c := living[list[i].ID]; c != nil {
			list[i].Card, list[i].Level = c, max(list[i].Level, int64(c.Label.Level), int64(access.LevelUser))
		}
	}
	return s.IndexChanges(ctx, list)
}

// Named returns the living cards that the caller sees only because their labels name the subject.
func (r *reader) Named(ctx context.Context, s canon.Visibility) ([]finder.Named, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok || !sc.Named {
		return nil, err
	}
	var docs []*canon.SearchDoc
	cards, err := r.QueryCardsWith(ctx, sc.World, func(_ canon.Card, r sqlstore.Row) {
		var doc *canon.SearchDoc
		if r.Raw(sqlstore.CardWidth) != nil {
			doc = &canon.SearchDoc{Name: r.Text(sqlstore.CardWidth), Text: r.Text(sqlstore.CardWidth + 1)}
		}
		docs = append(docs, doc)
	}, fmt.Sprintf(`SELECT %s, d.name, d.body FROM cards c
		LEFT JOIN docs d ON d.w = c.w AND d.card = c.id AND d.level = c.level AND d.label = c.label
		WHERE c.w = $1 AND c.trashed = 0 AND %s ORDER BY c.key, c.id`, dialect.Columns.Card, sc.NamedOnly("c")), sc.Args...)
	if err != nil {
		return nil, err
	}
	return r.NamedWith(ctx, s.World, cards, docs)
}

// Text returns the searchable text of a card.
func (r *reader) Text(ctx context.Context, c canon.Card) (d canon.SearchDoc, err error) {
	w, err := r.WorldNumber(ctx, c.World)
	if err != nil {
		return d, err
	}
	_, err = sqlstore.One(ctx, r.c, func(r sqlstore.Row) error { d = canon.SearchDoc{Name: r.Text(0), Text: r.Text(1)}; return nil },
		"SELECT name, body FROM docs WHERE w = $1 AND card = $2 AND name IS NOT NULL", w, uuidOf(c.ID))
	return d, err
}

// Index replaces the searchable text of a card.
func (t *tx) Index(ctx context.Context, c canon.Card, doc *canon.SearchDoc) error {
	w, of, err := t.EnsureLabel(ctx, c.World, c.Label)
	if err != nil {
		return err
	}
	if c.IsTagList() { // the card above it is found by its words
		t.reindexCard(w, c.Parent)
	}
	if doc == nil {
		t.c.enqueue("UPDATE docs SET gen = nextval('docs_gen'), level = 0, label = 0, name = NULL, body = NULL WHERE w = $1 AND card = $2", w, uuidOf(c.ID))
		return nil
	}
	t.c.enqueueInstead(reindexDoc, `INSERT INTO docs (w, card, level, label, name, body) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (w, card) DO UPDATE SET gen = nextval('docs_gen'), level = $3, label = $4, name = $5, body = $6`,
		w, uuidOf(c.ID), of.Level, of.Label, doc.Name, doc.Text)
	return nil
}

const reindexDoc = "INSERT INTO docs (w, card, level, label) VALUES ($1, $2, 0, 0) ON CONFLICT (w, card) DO UPDATE SET gen = nextval('docs_gen')"

// reindexCard marks a card to be indexed again.
func (t *tx) reindexCard(w int64, id canon.CardID) {
	if t.touched == nil {
		t.touched = map[int64]int64{}
	}
	t.touched[w]++
	t.c.enqueue(reindexDoc, w, uuidOf(id))
}

// scrubIndex makes the index files be rewritten without erased text.
func (t *tx) scrubIndex(id access.WorldID, w int64) {
	t.c.enqueue("UPDATE searched SET scrub = scrub + 1 WHERE w = $1", w)
	t.scrubbed = append(t.scrubbed, id)
}
