package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// partition is a world's level, the unit of search: its number is 4w + level. Its tables
// hold what cards of that level say, and nothing else has a part in their statistics.
//
//	fts_N   name and body of each card, by doc. The name's tokens stand in it twice,
//	        the second time behind the mark, so that a word in names is a term of its own
//	tri_N   folded names between bounds, in runs of three characters, by the card's rid
//	voc_N   the distinct tokens of fts_N in runs of three characters, by tokens.id
//	ftsv_N  how many cards have each term
type partition struct{ n int64 }

func (p partition) text() string   { return fmt.Sprintf("fts_%d", p.n) }
func (p partition) names() string  { return fmt.Sprintf("tri_%d", p.n) }
func (p partition) tokens() string { return fmt.Sprintf("voc_%d", p.n) }
func (p partition) terms() string  { return fmt.Sprintf("ftsv_%d", p.n) }

const (
	// mark begins each token of a name's second copy. unicode61 takes characters of
	// private use for letters; in what people write it is a blank.
	mark = "\ue000"
	// The bounds around a folded name let its ends be found, and give the last two
	// characters runs of three of their own.
	nameStart = "\x02"
	nameEnd   = "\x01\x01"
)

// bounded is a name as the name index has it.
func bounded(name string) string { return nameStart + foldName(name) + nameEnd }

// foldName folds as comparisons without case and accents do, and keeps out what has a
// meaning in the index.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if r <= 2 {
			return ' '
		}
		return r
	}, markup.Fold(name))
}

// plain takes out of a text what has a meaning in the index.
func plain(s string) string {
	if !strings.ContainsAny(s, "\x00"+mark) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == 0 || string(r) == mark {
			return ' '
		}
		return r
	}, s)
}

// partition gives the partition of a level, made where it is not there.
func (t *tx) partition(ctx context.Context, w, level int64) (partition, error) {
	p := partition{w*4 + level}
	if _, ok := t.epochs[p.n]; ok {
		return p, nil
	}
	var epoch int64
	found, err := t.c.one(ctx, func(r row) error { epoch = r.int(0); return nil }, "SELECT epoch FROM parts WHERE part = ?1", p.n)
	if err == nil && !found {
		err = t.makePartition(ctx, p)
	}
	if err != nil {
		return p, err
	}
	if t.epochs == nil {
		t.epochs, t.gens = map[int64]int64{}, map[int64]int64{}
	}
	t.epochs[p.n] = epoch
	return p, nil
}

func (t *tx) makePartition(ctx context.Context, p partition) error {
	for _, sql := range []string{
		"CREATE VIRTUAL TABLE " + p.text() + " USING fts5(name, body, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2')",
		"CREATE VIRTUAL TABLE " + p.names() + " USING fts5(name, content='', contentless_delete=1, tokenize='trigram case_sensitive 1')",
		"CREATE VIRTUAL TABLE " + p.tokens() + " USING fts5(token, content='', contentless_delete=1, tokenize='trigram case_sensitive 1', detail='full')",
		"CREATE VIRTUAL TABLE " + p.terms() + " USING fts5vocab(" + p.text() + ", row)",
	} {
		if _, err := t.c.exec(ctx, sql); err != nil {
			return fmt.Errorf("make search partition %d: %w", p.n, err)
		}
	}
	for _, table := range []string{p.text(), p.names(), p.tokens()} {
		for option, segments := range map[string]int{"automerge": mergeAt, "crisismerge": mergeNow} {
			if _, err := t.c.exec(ctx, fmt.Sprintf("INSERT INTO %s (%[1]s, rank) VALUES ('%s', ?1)", table, option), segments); err != nil {
				return fmt.Errorf("make search partition %d: %w", p.n, err)
			}
		}
	}
	_, err := t.c.exec(ctx, "INSERT INTO parts (part, gen, epoch) VALUES (?1, 0, 0)", p.n)
	return err
}

// mergeAt is how many segments of one size writes leave before they begin to merge them,
// a little with each, the most that FTS5 takes; mergeNow, before they wait for it. Merging
// is the idle time's work, see tidy: with FTS5's own 4 and 16 a bulk load writes each card
// some three times more.
const (
	mergeAt  = 16
	mergeNow = 64
)

// clearPartition empties a partition. Its epoch rises, for other processes may know
// tokens that are no longer there.
func (t *tx) clearPartition(ctx context.Context, p partition) error {
	found, err := t.c.number(ctx, "SELECT 1 FROM parts WHERE part = ?1", p.n)
	if err != nil || found == 0 {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	for _, table := range []string{p.text(), p.names(), p.tokens()} {
		if _, err := t.c.exec(ctx, fmt.Sprintf("INSERT INTO %s (%[1]s) VALUES ('delete-all')", table)); err != nil {
			return err
		}
	}
	if _, err := t.c.exec(ctx, "DELETE FROM tokens WHERE part = ?1", p.n); err != nil {
		return err
	}
	delete(t.epochs, p.n)
	delete(t.fresh, p.n)
	_, err = t.c.exec(ctx, "UPDATE parts SET epoch = epoch + 1, gen = gen + 1000000000 WHERE part = ?1", p.n)
	return err
}

// Index replaces what is searchable of a card.
func (t *tx) Index(ctx context.Context, c canon.Card, doc *canon.SearchDoc) error {
	w, err := t.worldNumber(ctx, c.World)
	if err != nil {
		return err
	}
	if err := t.unindex(ctx, w, c.ID); err != nil || doc == nil {
		return err
	}
	level, label, err := t.labelNumbers(ctx, w, c.Label)
	if err != nil {
		return err
	}
	at, err := t.searchedAt(ctx, w, c.ID, level)
	if err != nil {
		return err
	}
	var p partition
	if at > 0 {
		if p, err = t.partition(ctx, w, at); err != nil {
			return err
		}
	}
	n, err := t.c.insert(ctx, "INSERT INTO docs (w, card, part, level, label, sum, kind) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
		w, c.ID[:], p.n, level, label, docSum(doc), string(markup.KeyOf(c.Type)))
	if err != nil {
		return err
	}
	keep, err := t.keepsText(ctx, w, label, c, doc)
	if err != nil {
		return err
	}
	if keep || at == 0 {
		if _, err := t.c.exec(ctx, "INSERT INTO doc_texts (doc, name, text) VALUES (?1, ?2, ?3)", n, doc.Name, doc.Text); err != nil {
			return err
		}
	}
	if at == 0 {
		return nil
	}
	return t.indexText(ctx, p, n, doc)
}

// searchedAt is the level of the partition that a card's text belongs in: the higher of
// the text's and the card's own as it is kept, so that nobody finds by its words a card
// that he does not see. It is 0 where the card does not live.
func (t *tx) searchedAt(ctx context.Context, w int64, id canon.CardID, level int64) (int64, error) {
	kept, err := t.c.number(ctx, "SELECT level FROM cards WHERE w = ?1 AND id = ?2 AND trashed = 0", w, id[:])
	if err != nil || kept == 0 {
		return 0, err
	}
	return max(level, kept), nil
}

// keepsText tells whether the text itself must be kept: where it is matched word by word,
// for the card names subjects, and where the card's body does not give it again.
func (t *tx) keepsText(ctx context.Context, w, label int64, c canon.Card, doc *canon.SearchDoc) (bool, error) {
	if label > 0 || doc.Name != c.Name || doc.Derived {
		return label > 0 || doc.Name != c.Name, nil
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
	type kept struct {
		doc int64
		sum []byte
	}
	var docs []kept
	if err := t.c.query(ctx, func(r row) error { docs = append(docs, kept{r.int(0), r.bytes(1)}); return nil },
		`SELECT d.doc, d.sum FROM cards c CROSS JOIN docs d ON d.w = c.w AND d.card = c.id
		WHERE c.w = ?1 AND c.content = ?2 AND NOT EXISTS (SELECT 1 FROM doc_texts x WHERE x.doc = d.doc)`, w, h[:]); err != nil {
		return err
	}
	for _, k := range docs {
		c, _, err := first(t.cards(ctx, id, "SELECT "+cardColumns+" FROM docs d CROSS JOIN cards c ON c.w = d.w AND c.id = d.card WHERE d.doc = ?1", k.doc))
		if err != nil {
			return err
		}
		d, same, err := t.document(ctx, k.doc, k.sum, c)
		if err != nil || !same {
			return err
		}
		if _, err := t.c.exec(ctx, "INSERT INTO doc_texts (doc, name, text) VALUES (?1, ?2, ?3)", k.doc, d.Name, d.Text); err != nil {
			return err
		}
	}
	return nil
}

// document gives what was indexed of a card, and whether it is as it was then.
func (r *reader) document(ctx context.Context, doc int64, sum []byte, c canon.Card) (d canon.SearchDoc, same bool, err error) {
	found, err := r.c.one(ctx, func(row row) error { d.Name, d.Text = row.text(0), row.text(1); return nil },
		"SELECT name, text FROM doc_texts WHERE doc = ?1", doc)
	if err != nil || found {
		return d, found, err
	}
	b, _, err := r.Body(ctx, c.World, c.Content)
	d = canon.SearchDoc{Name: c.Name, Text: canon.PlainText(c.Type, string(b))}
	return d, bytes.Equal(docSum(&d), sum), err
}

// docSum tells one document from another; the index keeps no text to compare.
func docSum(doc *canon.SearchDoc) []byte {
	h := sha256.New()
	h.Write([]byte(doc.Name))
	h.Write([]byte{0})
	h.Write([]byte(doc.Text))
	return h.Sum(nil)
}

func (t *tx) indexText(ctx context.Context, p partition, n int64, doc *canon.SearchDoc) error {
	name, text := plain(doc.Name), plain(doc.Text)
	marked := strings.Builder{}
	marked.WriteString(indexable(name))
	for token := range tokens(name) {
		marked.WriteString(" " + mark + string(token))
	}
	if err := t.textual(ctx, p.textTable(), n, marked.String(), indexable(text)); err != nil {
		return err
	}
	t.gens[p.n]++
	return t.learnTokens(ctx, p, t.s.known.tokens.unknown(p.n, t.epochs[p.n], name, text))
}

// maxToken is the longest token, in bytes, that can be found by its inside. Longer ones
// are lines of a script without blanks, or noise.
const maxToken = 1024

// learnTokens puts tokens that may be new into the partition's vocabulary.
func (t *tx) learnTokens(ctx context.Context, p partition, tokens []string) error {
	tokens = slices.DeleteFunc(tokens, func(token string) bool { return len(token) > maxToken || t.isFresh(p.n, token) })
	if len(tokens) == 0 {
		return nil
	}
	list, err := json.Marshal(tokens)
	if err != nil {
		return err
	}
	var learnt []textWrite
	if err := t.c.query(ctx, func(r row) error {
		learnt = append(learnt, textWrite{row: r.int(0), texts: []any{nameStart + r.text(1) + nameEnd}})
		return nil
	}, "INSERT INTO tokens (part, token) SELECT ?1, value FROM json_each(?2) WHERE 1 ON CONFLICT DO NOTHING RETURNING id, token", p.n, string(list)); err != nil {
		return err
	}
	if t.fresh == nil {
		t.fresh = map[int64]map[string]struct{}{}
	}
	if t.fresh[p.n] == nil {
		t.fresh[p.n] = map[string]struct{}{}
	}
	for _, token := range tokens {
		t.fresh[p.n][token] = struct{}{}
	}
	for _, w := range learnt {
		if err := t.textual(ctx, p.tokenTable(), w.row, w.texts...); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) isFresh(part int64, token string) bool {
	_, ok := t.fresh[part][token]
	return ok
}

// unindex takes a card out of the search index.
func (t *tx) unindex(ctx context.Context, w int64, id canon.CardID) error {
	var doc, part int64
	found, err := t.c.one(ctx, func(r row) error { doc, part = r.int(0), r.int(1); return nil },
		"SELECT doc, part FROM docs WHERE w = ?1 AND card = ?2", w, id[:])
	if err != nil || !found {
		return err
	}
	if part != 0 {
		if err := t.unindexText(ctx, w, part, doc); err != nil {
			return err
		}
	}
	if _, err := t.c.exec(ctx, "DELETE FROM doc_texts WHERE doc = ?1", doc); err != nil {
		return err
	}
	_, err = t.c.exec(ctx, "DELETE FROM docs WHERE doc = ?1", doc)
	return err
}

func (t *tx) unindexText(ctx context.Context, w, part, doc int64) error {
	p, err := t.partition(ctx, w, part-4*w)
	if err != nil {
		return err
	}
	t.gens[p.n]++
	return t.textual(ctx, p.textTable(), doc)
}

// flush writes what a transaction gathered; the last thing before it is kept.
func (t *tx) flush(ctx context.Context) error {
	for part, n := range t.gens {
		if n == 0 {
			continue
		}
		if _, err := t.c.exec(ctx, "UPDATE parts SET gen = gen + ?2 WHERE part = ?1", part, n); err != nil {
			return err
		}
	}
	return nil
}

// errUnknownTable is what Dump answers for a name that is not in canon.Tables.
var errUnknownTable = errors.New("sqlite: there is no such table to dump")

// maxKnown bounds how many tokens a process remembers of a partition, some 100 MB.
const maxKnown = 1_000_000

// tokenSets remembers the tokens that partitions are known to have, so that most need
// no look-up. Only what is durable goes in.
type tokenSets struct {
	mu   sync.Mutex // guards sets
	sets map[int64]*tokenSet
}

type tokenSet struct {
	epoch int64
	has   map[string]struct{}
}

func (s *tokenSets) set(part, epoch int64) *tokenSet {
	set := s.sets[part]
	if set == nil || set.epoch != epoch || len(set.has) > maxKnown {
		set = &tokenSet{epoch: epoch, has: map[string]struct{}{}}
		if s.sets == nil {
			s.sets = map[int64]*tokenSet{}
		}
		s.sets[part] = set
	}
	return set
}

// unknown gives those tokens of texts that the partition is not known to have.
func (s *tokenSets) unknown(part, epoch int64, texts ...string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.set(part, epoch)
	seen := map[string]struct{}{}
	for _, text := range texts {
		for t := range tokens(text) {
			if _, ok := set.has[string(t)]; ok {
				continue
			}
			if _, ok := seen[string(t)]; !ok {
				seen[string(t)] = struct{}{}
				out = append(out, string(t))
			}
		}
	}
	return out
}

func (s *tokenSets) add(part, epoch int64, tokens map[string]struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.set(part, epoch)
	for t := range tokens {
		set.has[t] = struct{}{}
	}
}
