package sqlite

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/search"
	"loregate/internal/store/finder"
)

// newLibrary returns the store's search indexes. Their files are in a folder beside the store's
// file.
func newLibrary(s *Store) *search.Library {
	return search.NewLibrary(search.LibraryConfig{
		Dir: s.cfg.Path + "-search",
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
				return c.query(ctx, func(r row) error { ids = append(ids, search.ID(r.bytesAt(0))); return nil },
					"SELECT i.id FROM world_ids i JOIN worlds w ON w.w = i.w")
			})
			return ids, err
		},
		Changed: s.Changed,
		Warn:    warnOfIndex,
	})
}

// Writes reports whether the reader belongs to a write transaction.
func (r *reader) Writes() bool { return r.writes != nil }

// Source returns the search data of a world; false if the store does not have the world.
func (r *reader) Source(ctx context.Context, id access.WorldID) (search.Source, bool, error) {
	if r.writes != nil {
		if err := r.writes.flushReindex(ctx); err != nil {
			return nil, false, err
		}
	}
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
	if t := s.r.writes; t != nil && t.searched[s.w] != nil {
		return finder.WithRowFormat(*t.searched[s.w]), nil
	}
	at, _, err = s.r.loadSearchState(ctx, s.w)
	return finder.WithRowFormat(at), err
}

func (r *reader) loadSearchState(ctx context.Context, w int64) (at search.State, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return at, false, err
	}
	found, err = r.c.queryOne(context.Background(), func(row row) error {
		at = search.State{Tag: row.textAt(0), Epoch: row.intAt(1), Scrub: row.intAt(2), Gen: row.intAt(3)}
		return nil
	}, "SELECT "+stateColumns+", +(SELECT max(gen) FROM docs WHERE w = ?1) AS \"\" FROM searched WHERE w = ?1", w)
	return at, found, err
}

var stateColumns = unnamedColumns("tag, epoch, scrub")

func (s source) Changes(ctx context.Context, after int64, most int) ([]search.Change, error) {
	return s.queryChanges(ctx, "d.gen > ?2 ORDER BY d.gen LIMIT ?3", after, most)
}

func (s source) Documents(ctx context.Context, ids []search.ID) ([]search.Change, error) {
	return s.queryChanges(ctx, "d.card IN (SELECT unhex(f.value) FROM json_each(?2) f)", hexIDs(ids...))
}

func (s source) queryChanges(ctx context.Context, where string, args ...any) ([]search.Change, error) {
	type found struct {
		gen   int64
		id    canon.CardID
		card  cardRow
		level int64
		doc   *canon.SearchDoc
	}
	var list []found
	err := s.r.c.query(ctx, func(row row) error {
		c, err := scanCard(row)
		at := row[cardWidth:]
		f := found{gen: at.intAt(0), id: readBlob[canon.CardID](at.bytesAt(1)), card: c, level: at.intAt(2)}
		switch {
		case at.intAt(3) == 0 || c.card.ID.IsZero() || c.card.Trashed():
		case at[4] != nil:
			f.doc = &canon.SearchDoc{Name: at.textAt(4), Text: at.textAt(5)}
		default:
			f.doc = &canon.SearchDoc{Name: c.card.Name, Text: canon.PlainText(c.card.Type, string(at.bytesAt(6)))}
		}
		list = append(list, f)
		return err
	}, "SELECT "+cardColumns+`, d.gen, d.card, d.level, d.sum IS NOT NULL, x.name, x.text, CASE WHEN x.card IS NULL THEN b.body END
		FROM docs d LEFT JOIN cards c ON c.w = d.w AND c.id = d.card LEFT JOIN doc_texts x ON x.w = d.w AND x.card = d.card
		LEFT JOIN bodies b ON b.w = c.w AND b.hash = c.content WHERE d.w = ?1 AND `+where,
		append([]any{s.w}, args...)...)
	if err != nil {
		return nil, err
	}
	var lists []canon.CardID
	for _, f := range list {
		if canon.HoldsTags(f.card.card.Key) {
			lists = append(lists, f.id)
		}
	}
	tags, err := s.readTags(ctx, lists)
	if err != nil {
		return nil, err
	}
	changes := make([]search.Change, len(list))
	for i, f := range list {
		changes[i] = search.Change{Gen: f.gen, ID: search.ID(f.id)}
		c, level := &f.card.card, f.card.level
		if c.ID.IsZero() || c.Trashed() {
			continue
		}
		c.World = s.id
		if f.doc != nil {
			level = max(level, f.level)
		}
		changes[i].Doc = finder.Document(c, int(level), f.doc, tags[f.id])
	}
	return changes, nil
}

// readTags returns the tags of each given tag list card.
func (s source) readTags(ctx context.Context, lists []canon.CardID) (map[canon.CardID][]markup.Key, error) {
	if len(lists) == 0 {
		return nil, nil
	}
	found := map[canon.CardID][]markup.Key{}
	err := s.r.c.query(ctx, func(row row) error {
		id := readBlob[canon.CardID](row.bytesAt(0))
		found[id] = append(found[id], markup.Key(row.textAt(1)))
		return nil
	}, "SELECT f.from_card, f.target FROM refs f WHERE f.w = ?1 AND f.from_card IN (SELECT unhex(l.value) FROM json_each(?2) l) AND f.kind = 3", s.w, hexIDs(lists...))
	return found, err
}

func (s source) Head(ctx context.Context) (seq uint64, hash string, err error) {
	h, err := s.r.Head(ctx, canon.WorldStream(s.id))
	return uint64(h.Seq), h.Hash.String(), err
}

func (s source) HasCommit(ctx context.Context, seq uint64, hash string) (bool, error) {
	n, head, err := s.r.readStream(ctx, canon.WorldStream(s.id))
	if err != nil || uint64(head.Seq) <= seq || seq == 0 {
		return seq == 0 || uint64(head.Seq) == seq && head.Hash.String() == hash, err
	}
	var found canon.Hash
	_, err = s.r.c.queryOne(ctx, func(r row) error { found = readBlob[canon.Hash](r.bytesAt(0)); return nil },
		"SELECT hash FROM commits WHERE n = ?1", n<<streamShift+int64(seq))
	return found.String() == hash, err
}

// Named returns the living cards that the caller sees only because their labels name the subject.
func (r *reader) Named(ctx context.Context, s canon.Visibility) ([]finder.Named, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok || sc.subject == "" {
		return nil, err
	}
	cards, err := r.queryCards(ctx, sc.id, "SELECT "+cardColumns+
		" FROM cards c INDEXED BY cards_named WHERE c.w = ?1 AND "+sc.namedOnlyCond("c")+
		" AND c.trashed = 0 ORDER BY c.key, c.id", sc.withArgs()...)
	if err != nil {
		return nil, err
	}
	list := make([]finder.Named, len(cards))
	for i, c := range cards {
		list[i].Card = c
		d, ok, err := r.indexedText(ctx, sc.w, c)
		if err != nil {
			return nil, err
		}
		if ok {
			list[i].Doc = &d
		}
	}
	return list, nil
}

// NamedBearers returns the cards that have a tag through a tag list that the caller sees only
// because the list's label names the subject.
func (r *reader) NamedBearers(ctx context.Context, s canon.Visibility,
	tag markup.Key) (found []canon.CardID, err error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok || sc.subject == "" {
		return nil, err
	}
	err = r.c.query(ctx, func(row row) error { found = append(found, readBlob[canon.CardID](row.bytesAt(0))); return nil },
		`SELECT DISTINCT b.id FROM cards t INDEXED BY cards_named CROSS JOIN cards b ON b.w = t.w AND b.id = t.parent
			WHERE t.w = ?1 AND t.trashed = 0 AND b.trashed = 0 AND `+sc.namedOnlyCond("t")+" AND "+sc.visibleCond("b")+" AND "+tagListOf("t", "b")+`
			AND EXISTS (SELECT 1 FROM refs f WHERE f.w = t.w AND f.from_card = t.id AND f.kind = 3 AND f.target = ?3)`, sc.withArgs(string(tag))...)
	return found, err
}

// Text returns the searchable text of a card.
func (r *reader) Text(ctx context.Context, c canon.Card) (canon.SearchDoc, error) {
	w, err := r.findWorldNumber(ctx, c.World)
	if err != nil {
		return canon.SearchDoc{}, err
	}
	d, _, err := r.indexedText(ctx, w, c)
	return d, err
}

// indexedText returns the searchable text of a card; false if the card is not indexed.
func (r *reader) indexedText(ctx context.Context, w int64, c canon.Card) (d canon.SearchDoc, ok bool, err error) {
	var sum []byte
	if _, err = r.c.queryOne(context.Background(), func(row row) error { sum = row.bytesAt(0); return nil },
		"SELECT sum FROM docs WHERE w = ?1 AND card = ?2", w, c.ID[:]); err != nil || sum == nil {
		return d, false, err
	}
	d, _, err = r.readDocument(ctx, w, sum, c)
	return d, err == nil, err
}

// readDocument returns the indexed text of a card. same is false if the text must be derived from
// the card and no longer matches sum, the digest of the indexed text.
func (r *reader) readDocument(ctx context.Context, w int64, sum []byte,
	c canon.Card) (d canon.SearchDoc, same bool, err error) {
	found, err := r.c.queryOne(context.Background(),
		func(row row) error { d.Name, d.Text = row.textAt(0), row.textAt(1); return nil },
		"SELECT name, text FROM doc_texts WHERE w = ?1 AND card = ?2", w, c.ID[:])
	if err != nil || found {
		return d, found, err
	}
	b, _, err := r.Body(ctx, c.World, c.Content)
	d = canon.SearchDoc{Name: c.Name, Text: canon.PlainText(c.Type, string(b))}
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
	_, err = t.c.exec(ctx,
		"INSERT INTO docs (w, card, gen, level, label) VALUES (?1, ?2, ?3, 0, 0) ON CONFLICT (w, card) DO UPDATE SET gen = ?3", w, id[:], at.Gen)
	return err
}

// Index replaces the searchable text of a card.
func (t *tx) Index(ctx context.Context, c canon.Card, doc *canon.SearchDoc) error {
	w, err := t.ensureWorldNumber(ctx, c.World)
	if err != nil {
		return err
	}
	if doc == nil {
		return t.unindexCard(ctx, w, c.ID)
	}
	level, label, err := t.ensureLabelNumbers(ctx, w, c.Label)
	if err != nil {
		return err
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
	if _, err := t.c.exec(ctx, `INSERT INTO docs (w, card, gen, level, label, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
		ON CONFLICT (w, card) DO UPDATE SET gen = ?3, level = ?4, label = ?5, sum = ?6`, w, c.ID[:], at.Gen, level, label, docSum(doc)); err != nil {
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
		_, err = t.c.exec(ctx, "DELETE FROM doc_texts WHERE w = ?1 AND card = ?2", w, c.ID[:])
		return err
	}
	return t.storeText(ctx, w, c.ID, doc)
}

func (t *tx) storeText(ctx context.Context, w int64, id canon.CardID, doc *canon.SearchDoc) error {
	_, err := t.c.exec(ctx,
		"INSERT INTO doc_texts (w, card, name, text) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (w, card) DO UPDATE SET name = ?3, text = ?4", w, id[:], doc.Name, doc.Text)
	return err
}

// unindexCard removes a card's text from the search.
func (t *tx) unindexCard(ctx context.Context, w int64, id canon.CardID) error {
	if err := t.reindexCard(ctx, w, id); err != nil {
		return err
	}
	if _, err := t.c.exec(ctx, "UPDATE docs SET level = 0, label = 0, sum = NULL WHERE w = ?1 AND card = ?2", w,
		id[:]); err != nil {
		return err
	}
	_, err := t.c.exec(ctx, "DELETE FROM doc_texts WHERE w = ?1 AND card = ?2", w, id[:])
	return err
}

// needsText reports whether the text itself must be stored because it cannot be derived from the
// card's body.
func (t *tx) needsText(ctx context.Context, w int64, c canon.Card, doc *canon.SearchDoc) (bool, error) {
	if doc.Name != c.Name || doc.Derived {
		return doc.Name != c.Name, nil
	}
	keep := true
	_, err := t.c.queryOne(ctx, func(r row) error {
		keep = canon.PlainText(c.Type, string(r.bytesAt(0))) != doc.Text
		return nil
	}, "SELECT body FROM bodies WHERE w = ?1 AND hash = ?2", w, c.Content[:])
	return keep, err
}

// storeTextsOfBody stores the indexed texts that are derived from a body, before the body is
// erased. Bodies are erased so seldom that it may scan all cards of the world.
func (t *tx) storeTextsOfBody(ctx context.Context, id access.WorldID, w int64, h canon.Hash) error {
	cards, err := t.queryCards(ctx, id, "SELECT "+cardColumns+` FROM cards c CROSS JOIN docs d ON d.w = c.w AND d.card = c.id
		WHERE c.w = ?1 AND c.content = ?2 AND d.sum IS NOT NULL AND NOT EXISTS (SELECT 1 FROM doc_texts x WHERE x.w = d.w AND x.card = d.card)`, w, h[:])
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
		if _, err := t.c.exec(ctx, "DELETE FROM "+table+" WHERE w = ?1", w); err != nil {
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
		if _, err := t.c.exec(ctx,
			"INSERT INTO searched (w, tag, epoch, scrub) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (w) DO UPDATE SET epoch = ?3, scrub = ?4",
			w, at.Tag, at.Epoch, at.Scrub); err != nil {
			return err
		}
	}
	return nil
}

// errUnknownTable is returned by Dump for a name that is not in canon.Tables.
var errUnknownTable = errors.New("sqlite: there is no such table to dump")

// dropOldSearchTables drops the full-text tables of stores before format 10. Their names depend on
// the worlds, so no migration can name them.
func dropOldSearchTables(ctx context.Context, c *conn) error {
	var names []string
	if err := c.query(ctx, func(r row) error { names = append(names, r.textAt(0)); return nil },
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%fts5%' ORDER BY name LIKE 'ftsv%' DESC"); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := c.exec(ctx, "DROP TABLE IF EXISTS "+name); err != nil {
			return err
		}
	}
	return nil
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

func warnOfIndex(err error) {
	slog.Warn("the search index could not be kept up; it is tried again", "error", err)
}
