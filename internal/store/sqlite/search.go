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

// newLibrary makes the store's search indexes, whose files lie beside the store's.
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
				return c.query(ctx, func(r row) error { ids = append(ids, search.ID(r.bytes(0))); return nil },
					"SELECT i.id FROM world_ids i JOIN worlds w ON w.w = i.w")
			})
			return ids, err
		},
		Changed: s.Changed,
		Warn:    warnOfIndex,
	})
}

// Writes reports whether the reader is of a transaction.
func (r *reader) Writes() bool { return r.writes != nil }

// Source gives what is searched of a world.
func (r *reader) Source(ctx context.Context, id access.WorldID) (search.Source, bool, error) {
	if r.writes != nil {
		if err := r.writes.tellUntold(ctx); err != nil {
			return nil, false, err
		}
	}
	w, err := r.world(ctx, id)
	return source{r, id, w}, err == nil && w != 0, err
}

// source is what is searched of a world, in a snapshot.
type source struct {
	r  *reader
	id access.WorldID
	w  int64
}

func (s source) State(ctx context.Context) (at search.State, err error) {
	if t := s.r.writes; t != nil && t.searched[s.w] != nil {
		return finder.Bound(*t.searched[s.w]), nil
	}
	at, _, err = s.r.state(ctx, s.w)
	return finder.Bound(at), err
}

func (r *reader) state(ctx context.Context, w int64) (at search.State, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return at, false, err
	}
	found, err = r.c.one(context.Background(), func(row row) error {
		at = search.State{Tag: row.text(0), Epoch: row.int(1), Scrub: row.int(2), Gen: row.int(3)}
		return nil
	}, "SELECT "+stateColumns+", +(SELECT max(gen) FROM docs WHERE w = ?1) AS \"\" FROM searched WHERE w = ?1", w)
	return at, found, err
}

var stateColumns = nameless("tag, epoch, scrub")

func (s source) Changes(ctx context.Context, after int64, most int) ([]search.Change, error) {
	return s.changes(ctx, "d.gen > ?2 ORDER BY d.gen LIMIT ?3", after, most)
}

func (s source) Documents(ctx context.Context, ids []search.ID) ([]search.Change, error) {
	return s.changes(ctx, "d.card IN (SELECT unhex(f.value) FROM json_each(?2) f)", hexes(ids...))
}

func (s source) changes(ctx context.Context, where string, args ...any) ([]search.Change, error) {
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
		f := found{gen: at.int(0), id: fill[canon.CardID](at.bytes(1)), card: c, level: at.int(2)}
		switch {
		case at.int(3) == 0 || c.card.ID.IsZero() || c.card.Trashed():
		case at[4] != nil:
			f.doc = &canon.SearchDoc{Name: at.text(4), Text: at.text(5)}
		default:
			f.doc = &canon.SearchDoc{Name: c.card.Name, Text: canon.PlainText(c.card.Type, string(at.bytes(6)))}
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
	tags, err := s.tags(ctx, lists)
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

// tags gives the tags in lists of them, by list.
func (s source) tags(ctx context.Context, lists []canon.CardID) (map[canon.CardID][]markup.Key, error) {
	if len(lists) == 0 {
		return nil, nil
	}
	found := map[canon.CardID][]markup.Key{}
	err := s.r.c.query(ctx, func(row row) error {
		id := fill[canon.CardID](row.bytes(0))
		found[id] = append(found[id], markup.Key(row.text(1)))
		return nil
	}, "SELECT f.from_card, f.target FROM refs f WHERE f.w = ?1 AND f.from_card IN (SELECT unhex(l.value) FROM json_each(?2) l) AND f.kind = 3", s.w, hexes(lists...))
	return found, err
}

func (s source) Head(ctx context.Context) (seq uint64, hash string, err error) {
	h, err := s.r.Head(ctx, canon.WorldStream(s.id))
	return uint64(h.Seq), h.Hash.String(), err
}

func (s source) HasCommit(ctx context.Context, seq uint64, hash string) (bool, error) {
	n, head, err := s.r.stream(ctx, canon.WorldStream(s.id))
	if err != nil || uint64(head.Seq) <= seq || seq == 0 {
		return seq == 0 || uint64(head.Seq) == seq && head.Hash.String() == hash, err
	}
	var found canon.Hash
	_, err = s.r.c.one(ctx, func(r row) error { found = fill[canon.Hash](r.bytes(0)); return nil }, "SELECT hash FROM commits WHERE n = ?1", n<<streamShift+int64(seq))
	return found.String() == hash, err
}

// Named gives the living cards that are in sight only because their labels name the
// subject.
func (r *reader) Named(ctx context.Context, s canon.Visibility) ([]finder.Named, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok || sc.subject == "" {
		return nil, err
	}
	cards, err := r.cards(ctx, sc.id, "SELECT "+cardColumns+" FROM cards c INDEXED BY cards_named WHERE c.w = ?1 AND "+sc.byName("c")+" AND c.trashed = 0 ORDER BY c.key, c.id", sc.args()...)
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

// NamedBearers gives the cards that bear a tag by a list that is in sight only because its
// label names the subject.
func (r *reader) NamedBearers(ctx context.Context, s canon.Visibility, tag markup.Key) (found []canon.CardID, err error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok || sc.subject == "" {
		return nil, err
	}
	err = r.c.query(ctx, func(row row) error { found = append(found, fill[canon.CardID](row.bytes(0))); return nil },
		`SELECT DISTINCT b.id FROM cards t INDEXED BY cards_named CROSS JOIN cards b ON b.w = t.w AND b.id = t.parent
			WHERE t.w = ?1 AND t.trashed = 0 AND b.trashed = 0 AND `+sc.byName("t")+" AND "+sc.sees("b")+" AND "+childOf("t", "b")+`
			AND EXISTS (SELECT 1 FROM refs f WHERE f.w = t.w AND f.from_card = t.id AND f.kind = 3 AND f.target = ?3)`, sc.args(string(tag))...)
	return found, err
}

// Text gives what is searchable of a card.
func (r *reader) Text(ctx context.Context, c canon.Card) (canon.SearchDoc, error) {
	w, err := r.world(ctx, c.World)
	if err != nil {
		return canon.SearchDoc{}, err
	}
	d, _, err := r.indexedText(ctx, w, c)
	return d, err
}

// indexedText gives what is searchable of a card; false where nothing is.
func (r *reader) indexedText(ctx context.Context, w int64, c canon.Card) (d canon.SearchDoc, ok bool, err error) {
	var sum []byte
	if _, err = r.c.one(context.Background(), func(row row) error { sum = row.bytes(0); return nil }, "SELECT sum FROM docs WHERE w = ?1 AND card = ?2", w, c.ID[:]); err != nil || sum == nil {
		return d, false, err
	}
	d, _, err = r.document(ctx, w, sum, c)
	return d, err == nil, err
}

// document gives what was indexed of a card, and whether it is as it was then.
func (r *reader) document(ctx context.Context, w int64, sum []byte, c canon.Card) (d canon.SearchDoc, same bool, err error) {
	found, err := r.c.one(context.Background(), func(row row) error { d.Name, d.Text = row.text(0), row.text(1); return nil },
		"SELECT name, text FROM doc_texts WHERE w = ?1 AND card = ?2", w, c.ID[:])
	if err != nil || found {
		return d, found, err
	}
	b, _, err := r.Body(ctx, c.World, c.Content)
	d = canon.SearchDoc{Name: c.Name, Text: canon.PlainText(c.Type, string(b))}
	return d, bytes.Equal(docSum(&d), sum), err
}

// docSum tells one document from another; nothing else keeps a text to compare.
func docSum(doc *canon.SearchDoc) []byte {
	h := sha256.New()
	h.Write([]byte(doc.Name))
	h.Write([]byte{0})
	h.Write([]byte(doc.Text))
	return h.Sum(nil)
}

// searchState gives a world's state to be changed.
func (t *tx) searchState(ctx context.Context, w int64) (*search.State, error) {
	if at := t.searched[w]; at != nil {
		return at, nil
	}
	at, found, err := t.state(ctx, w)
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

// touchLater has the index read a card anew. That is written when it is next read, or at the
// end: most often Index follows, and says so with the text.
func (t *tx) touchLater(ctx context.Context, w int64, id canon.CardID) error {
	if err := t.tellUntold(ctx); err != nil {
		return err
	}
	t.untold = cardRef{w, id}
	return nil
}

// tellUntold writes what touchLater left.
func (t *tx) tellUntold(ctx context.Context) error {
	c := t.untold
	if c == (cardRef{}) {
		return nil
	}
	t.untold = cardRef{}
	return t.touch(ctx, c.w, c.id)
}

// touch has the index read a card anew.
func (t *tx) touch(ctx context.Context, w int64, id canon.CardID) error {
	at, err := t.searchState(ctx, w)
	if err != nil {
		return err
	}
	at.Gen++
	_, err = t.c.exec(ctx, "INSERT INTO docs (w, card, gen, level, label) VALUES (?1, ?2, ?3, 0, 0) ON CONFLICT (w, card) DO UPDATE SET gen = ?3", w, id[:], at.Gen)
	return err
}

// Index replaces what is searchable of a card.
func (t *tx) Index(ctx context.Context, c canon.Card, doc *canon.SearchDoc) error {
	w, err := t.worldNumber(ctx, c.World)
	if err != nil {
		return err
	}
	if doc == nil {
		return t.unindex(ctx, w, c.ID)
	}
	level, label, err := t.labelNumbers(ctx, w, c.Label)
	if err != nil {
		return err
	}
	if t.untold == (cardRef{w, c.ID}) {
		t.untold = cardRef{}
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
	keep, err := t.keepsText(ctx, w, c, doc)
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
	return t.keepText(ctx, w, c.ID, doc)
}

func (t *tx) keepText(ctx context.Context, w int64, id canon.CardID, doc *canon.SearchDoc) error {
	_, err := t.c.exec(ctx, "INSERT INTO doc_texts (w, card, name, text) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (w, card) DO UPDATE SET name = ?3, text = ?4", w, id[:], doc.Name, doc.Text)
	return err
}

// unindex takes the text of a card out of the search.
func (t *tx) unindex(ctx context.Context, w int64, id canon.CardID) error {
	if err := t.touch(ctx, w, id); err != nil {
		return err
	}
	if _, err := t.c.exec(ctx, "UPDATE docs SET level = 0, label = 0, sum = NULL WHERE w = ?1 AND card = ?2", w, id[:]); err != nil {
		return err
	}
	_, err := t.c.exec(ctx, "DELETE FROM doc_texts WHERE w = ?1 AND card = ?2", w, id[:])
	return err
}

// keepsText tells whether the text itself must be kept: where the card's body does not give
// it again.
func (t *tx) keepsText(ctx context.Context, w int64, c canon.Card, doc *canon.SearchDoc) (bool, error) {
	if doc.Name != c.Name || doc.Derived {
		return doc.Name != c.Name, nil
	}
	keep := true
	_, err := t.c.one(ctx, func(r row) error {
		keep = canon.PlainText(c.Type, string(r.bytes(0))) != doc.Text
		return nil
	}, "SELECT body FROM bodies WHERE w = ?1 AND hash = ?2", w, c.Content[:])
	return keep, err
}

// keepTexts keeps the texts that could not be read again without a body, for as long as
// they are indexed. Bodies are erased seldom enough to look at every card.
func (t *tx) keepTexts(ctx context.Context, id access.WorldID, w int64, h canon.Hash) error {
	cards, err := t.cards(ctx, id, "SELECT "+cardColumns+` FROM cards c CROSS JOIN docs d ON d.w = c.w AND d.card = c.id
		WHERE c.w = ?1 AND c.content = ?2 AND d.sum IS NOT NULL AND NOT EXISTS (SELECT 1 FROM doc_texts x WHERE x.w = d.w AND x.card = d.card)`, w, h[:])
	if err != nil {
		return err
	}
	for _, c := range cards {
		d, err := t.Text(ctx, c)
		if err == nil {
			err = t.keepText(ctx, w, c.ID, &d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scrub has what was erased leave the files of the index.
func (t *tx) scrub(ctx context.Context, id access.WorldID, w int64) error {
	at, err := t.searchState(ctx, w)
	if err == nil {
		at.Scrub++
		t.scrubbed = append(t.scrubbed, id)
	}
	return err
}

// emptySearch takes out all that is searched of a world.
func (t *tx) emptySearch(ctx context.Context, w int64) error {
	at, err := t.searchState(ctx, w)
	if err != nil {
		return err
	}
	at.Epoch, at.Gen = at.Epoch+1, 0
	t.made, t.untold = cardRef{}, cardRef{}
	for _, table := range []string{"docs", "doc_texts"} {
		if _, err := t.c.exec(ctx, "DELETE FROM "+table+" WHERE w = ?1", w); err != nil {
			return fmt.Errorf("clear %s: %w", table, err)
		}
	}
	return nil
}

// flush writes what a transaction gathered; the last thing before it is kept.
func (t *tx) flush(ctx context.Context) error {
	if err := t.tellUntold(ctx); err != nil {
		return err
	}
	for w, at := range t.searched {
		was := t.before[w]
		if was.Gen = at.Gen; was == *at { // docs says the rest
			continue
		}
		if _, err := t.c.exec(ctx, "INSERT INTO searched (w, tag, epoch, scrub) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (w) DO UPDATE SET epoch = ?3, scrub = ?4",
			w, at.Tag, at.Epoch, at.Scrub); err != nil {
			return err
		}
	}
	return nil
}

// errUnknownTable is what Dump answers for a name that is not in canon.Tables.
var errUnknownTable = errors.New("sqlite: there is no such table to dump")

// dropFormer drops the full-text tables that stores had before format 10. Their names
// depend on the worlds, so that no migration can name them.
func dropFormer(ctx context.Context, c *conn) error {
	var names []string
	if err := c.query(ctx, func(r row) error { names = append(names, r.text(0)); return nil },
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

// scrubFiles writes the index's files without what a transaction erased, which is durable
// already. Where that fails the background tries again.
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
