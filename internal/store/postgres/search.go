package postgres

import (
	"context"
	"fmt"
	"log/slog"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/search"
	"loregate/internal/store/finder"
)

// newLibrary returns the store's search indexes.
func newLibrary(s *Store) *search.Library {
	return search.NewLibrary(search.LibraryConfig{
		Dir: s.cfg.Search,
		Read: func(ctx context.Context, world search.ID, f func(search.Source) error) error {
			return s.read(ctx, func(c *conn) error {
				from, ok, err := (&reader{s: s, c: c}).Source(ctx, access.WorldID(world))
				if err != nil || !ok {
					return err
				}
				return f(from)
			})
		},
		Worlds: func(ctx context.Context) (ids []search.ID, err error) {
			err = s.read(ctx, func(c *conn) error {
				return c.query(ctx, func(r row) error { ids = append(ids, readID[search.ID](r[0])); return nil },
					"SELECT i.id FROM world_ids i JOIN worlds w ON w.w = i.w")
			})
			return ids, err
		},
		Changed: s.Changed,
		Warn:    warnOfIndex,
	})
}

func warnOfIndex(err error) {
	slog.Warn("the search index could not be kept up; it is tried again", "error", err)
}

func (r *reader) Search(ctx context.Context, s canon.Visibility, q canon.SearchQuery,
	p canon.Page) (canon.SearchResult, error) {
	q.Q = storableText(q.Q)
	return r.SnapshotFinder.Search(ctx, s, q, p)
}

// Writes reports whether the reader belongs to a write transaction.
func (r *reader) Writes() bool { return r.writes != nil }

// Source returns the search data of a world; false if the store does not have the world.
func (r *reader) Source(ctx context.Context, id access.WorldID) (search.Source, bool, error) {
	w, err := r.findWorldNumber(ctx, id)
	return source{r, id, w}, err == nil && w != 0, err
}

// source is the search.Source of a world in one snapshot.
type source struct {
	r  *reader
	id access.WorldID
	w  int64
}

func (s source) State(ctx context.Context) (at search.State, err error) {
	_, err = s.r.c.queryOne(ctx, func(r row) error {
		at = search.State{Tag: r.textAt(0), Epoch: r.intAt(1), Gen: r.intAt(2), Scrub: r.intAt(3)}
		return nil
	}, "SELECT tag, epoch, coalesce((SELECT max(d.gen) FROM docs d WHERE d.w = s.w), 0), scrub FROM searched s WHERE w = $1", s.w)
	return finder.WithRowFormat(at), err
}

func (s source) Changes(ctx context.Context, after int64, most int) ([]search.Change, error) {
	return s.queryChanges(ctx, "gen > $2 ORDER BY gen LIMIT $3", after, int64(most))
}

func (s source) Documents(ctx context.Context, ids []search.ID) ([]search.Change, error) {
	return s.queryChanges(ctx, "card = ANY($2::uuid[])", uuidsOf(ids))
}

func (s source) queryChanges(ctx context.Context, where string, args ...any) ([]search.Change, error) {
	type text struct {
		level int64
		doc   *canon.SearchDoc
	}
	var list []search.Change
	var texts []text
	var ids [][16]byte
	if err := s.r.c.query(ctx, func(r row) error {
		id := readID[[16]byte](r[1])
		list, ids = append(list, search.Change{Gen: r.intAt(0), ID: id}), append(ids, id)
		t := text{level: r.intAt(2)}
		if r[3] != nil {
			t.doc = &canon.SearchDoc{Name: r.textAt(3), Text: r.textAt(4)}
		}
		texts = append(texts, t)
		return nil
	}, "SELECT gen, card, level, name, body FROM docs WHERE w = $1 AND "+where,
		append([]any{s.w}, args...)...); err != nil || len(ids) == 0 {
		return nil, err
	}
	cards, err := s.r.queryCards(ctx, s.id, "SELECT "+cardColumns+
		" FROM cards c WHERE c.w = $1 AND c.id = ANY($2::uuid[]) AND c.trashed = 0", s.w, ids)
	if err != nil {
		return nil, err
	}
	living := make(map[search.ID]*canon.Card, len(cards))
	var lists [][16]byte
	for i := range cards {
		living[search.ID(cards[i].ID)] = &cards[i]
		if canon.HoldsTags(cards[i].Key) {
			lists = append(lists, uuidOf(cards[i].ID))
		}
	}
	tags, err := s.readTags(ctx, lists)
	if err != nil {
		return nil, err
	}
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c := living[list[i].ID]; c != nil {
			list[i].Doc = finder.Document(c, max(int(c.Label.Level), int(access.LevelUser), int(t.level)), t.doc, tags[c.ID])
		}
	}
	return list, nil
}

// readTags returns the tags of each given tag list card.
func (s source) readTags(ctx context.Context, lists [][16]byte) (map[canon.CardID][]markup.Key, error) {
	if len(lists) == 0 {
		return nil, nil
	}
	found := map[canon.CardID][]markup.Key{}
	err := s.r.c.query(ctx, func(r row) error {
		id := readID[canon.CardID](r[0])
		found[id] = append(found[id], markup.Key(r.textAt(1)))
		return nil
	}, "SELECT from_card, target FROM refs WHERE w = $1 AND from_card = ANY($2::uuid[]) AND kind = 3", s.w, lists)
	return found, err
}

func (s source) Head(ctx context.Context) (seq uint64, hash string, err error) {
	h, err := s.r.Head(ctx, canon.WorldStream(s.id))
	return uint64(h.Seq), h.Hash.String(), err
}

func (s source) HasCommit(ctx context.Context, seq uint64, hash string) (found bool, err error) {
	if seq == 0 {
		return true, nil
	}
	_, err = s.r.c.queryOne(ctx, func(r row) error { found = hashOf(r[0]).String() == hash; return nil },
		"SELECT c.hash FROM streams s JOIN commits c ON c.s = s.s WHERE s.name = $1 AND c.seq = $2",
		string(canon.WorldStream(s.id)), seq)
	return found, err
}

// Named returns the living cards that the caller sees only because their labels name the subject.
func (r *reader) Named(ctx context.Context, s canon.Visibility) ([]finder.Named, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok || sc.subject == "" {
		return nil, err
	}
	var docs []*canon.SearchDoc
	cards, err := r.queryCardsWith(ctx, sc.id, func(r row) {
		var doc *canon.SearchDoc
		if r[0] != nil {
			doc = &canon.SearchDoc{Name: r.textAt(0), Text: r.textAt(1)}
		}
		docs = append(docs, doc)
	}, fmt.Sprintf("SELECT %s, d.name, d.body FROM cards c LEFT JOIN docs d ON d.w = c.w AND d.card = c.id AND d.level = c.level AND d.label = c.label WHERE c.w = %s AND c.trashed = 0 AND %s ORDER BY c.key, c.id",
		cardColumns, sc.w, sc.namedOnlyCond("c")), sc.args...)
	list := make([]finder.Named, len(cards))
	for i, c := range cards {
		list[i] = finder.Named{Card: c, Doc: docs[i]}
	}
	return list, err
}

// NamedBearers returns the cards that have a tag through a tag list that the caller sees only
// because the list's label names the subject.
func (r *reader) NamedBearers(ctx context.Context, s canon.Visibility,
	tag markup.Key) (found []canon.CardID, err error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok || sc.subject == "" {
		return nil, err
	}
	err = r.c.query(ctx, func(r row) error { found = append(found, readID[canon.CardID](r[0])); return nil },
		fmt.Sprintf(`SELECT DISTINCT b.id FROM cards t JOIN cards b ON b.id = t.parent AND %s
			WHERE t.w = %s AND t.trashed = 0 AND %s AND %s
			AND EXISTS (SELECT FROM refs f WHERE f.w = t.w AND f.from_card = t.id AND f.kind = 3 AND f.target = %s)`,
			sc.livingCond("b"), sc.w, sc.namedOnlyCond("t"), tagListOf("t", "b"), sc.arg(string(tag))), sc.args...)
	return found, err
}

// Text returns the searchable text of a card.
func (r *reader) Text(ctx context.Context, c canon.Card) (d canon.SearchDoc, err error) {
	w, err := r.findWorldNumber(ctx, c.World)
	if err != nil {
		return d, err
	}
	_, err = r.c.queryOne(ctx, func(r row) error { d = canon.SearchDoc{Name: r.textAt(0), Text: r.textAt(1)}; return nil },
		"SELECT name, body FROM docs WHERE w = $1 AND card = $2 AND name IS NOT NULL", w, uuidOf(c.ID))
	return d, err
}

// Index replaces the searchable text of a card.
func (t *tx) Index(ctx context.Context, c canon.Card, doc *canon.SearchDoc) error {
	w, err := t.ensureWorldNumber(ctx, c.World)
	if err != nil {
		return err
	}
	if doc == nil {
		t.c.enqueue("UPDATE docs SET gen = nextval('docs_gen'), level = 0, label = 0, name = NULL, body = NULL WHERE w = $1 AND card = $2", w, uuidOf(c.ID))
		return nil
	}
	level, label, err := t.ensureLabelNumbers(ctx, w, c.Label)
	if err != nil {
		return err
	}
	t.c.enqueueInstead(reindexDoc, `INSERT INTO docs (w, card, level, label, name, body) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (w, card) DO UPDATE SET gen = nextval('docs_gen'), level = $3, label = $4, name = $5, body = $6`,
		w, uuidOf(c.ID), level, label, doc.Name, doc.Text)
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

// scrubFiles rewrites the index files without the text that a durable transaction erased. If that
// fails, the library's background work tries again.
func (t *tx) scrubFiles(ctx context.Context) {
	for _, id := range t.scrubbed {
		if err := t.s.finder.Library.Scrub(context.WithoutCancel(ctx), search.ID(id)); err != nil {
			warnOfIndex(err)
		}
	}
}
