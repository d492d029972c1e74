package postgres

import (
	"bytes"
	"context"
	"sync"

	"loregate/internal/store/words"
)

// maxSpelt bounds how many tokens a process remembers to be in the vocabularies, some
// 30 MB of them; those it forgets are offered again.
const maxSpelt = 400_000

// spelt remembers tokens that are in the vocabularies for good, so that a document of
// usual words offers none.
type spelt struct {
	mu    sync.Mutex // guards known
	known map[vocable]struct{}
}

type vocable struct {
	w     int64
	token string
}

// without gives those of some lexemes' tokens that are not remembered.
func (s *spelt) without(w int64, list []lexeme) (fresh []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range list {
		if _, ok := s.known[vocable{w, l.token}]; !ok {
			fresh = append(fresh, l.token)
		}
	}
	return fresh
}

func (s *spelt) add(list []vocable) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(list) == 0 {
		return
	}
	if s.known == nil || len(s.known)+len(list) > maxSpelt {
		s.known = make(map[vocable]struct{}, len(list))
	}
	for _, v := range list {
		s.known[v] = struct{}{}
	}
}

// change is what a transaction did to a world's index.
type change struct {
	docs, tokens int64
}

func (t *tx) countIndexed(w int64) {
	if t.changes == nil {
		t.changes = make(map[int64]change)
	}
	c := t.changes[w]
	c.docs++
	t.changes[w] = c
}

// spell puts a document's tokens into the world's vocabulary.
func (t *tx) spell(w int64, list []lexeme) {
	fresh := t.s.known.spelt.without(w, list)
	n := 0
	for _, token := range fresh {
		v := vocable{w, token}
		if _, ok := t.spelt[v]; ok {
			continue
		}
		if t.spelt == nil {
			t.spelt = make(map[vocable]struct{})
		}
		t.spelt[v] = struct{}{}
		fresh[n] = token
		n++
	}
	if n == 0 {
		return
	}
	c := t.changes[w]
	c.tokens++
	t.changes[w] = c
	t.c.later("INSERT INTO tokens (w, token) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING", w, fresh[:n])
}

// settle counts up how often the transaction indexed: once, however much it did.
func (t *tx) settle() {
	for w, c := range t.changes {
		t.c.later("INSERT INTO indexed (w, docs, tokens) VALUES ($1, $2, $3) ON CONFLICT (w) DO UPDATE SET docs = indexed.docs + $2, tokens = indexed.tokens + $3",
			w, c.docs, c.tokens)
	}
}

// vocabulary is the tokens that a world's documents ever had, of all levels, in memory.
// It says which words a piece of a word may stand for, and so how to look; what is found
// the documents in sight decide.
type vocabulary struct {
	mu   sync.Mutex // guards all below
	seen int64      // the world's count of additions that it is up to date with
	last int64      // n of the last token read
	text []byte     // the tokens, between zero bytes
	full bool       // there are more than maxVocabulary bytes of them, and none are kept
}

// maxVocabulary bounds a vocabulary, some four million words. Pieces of words of a world
// that has more are looked for in the texts.
const maxVocabulary = 32 << 20

// upTo reads the tokens that a snapshot has and the vocabulary does not. One that is ahead
// of the snapshot does no harm: what has a token that is in no document in sight? It gives
// nil where the vocabulary is full.
func (v *vocabulary) upTo(ctx context.Context, r *reader, w, additions int64) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.full || v.seen >= additions && v.text != nil {
		return v.text, nil
	}
	text, last := v.text, v.last
	if text == nil {
		text = []byte{0}
	}
	var there []vocable
	err := r.c.query(ctx, func(row row) error {
		if text = append(append(text, row[1]...), 0); len(text) > maxVocabulary {
			return errStop
		}
		last = row.int(0)
		if r.writes == nil && len(there) < maxSpelt { // else it may yet be undone
			there = append(there, vocable{w, row.text(1)})
		}
		return nil
	}, "SELECT n, token FROM tokens WHERE w = $1 AND n > $2 ORDER BY n", w, last)
	if err != nil {
		return nil, err
	}
	r.s.known.spelt.add(there)
	if len(text) > maxVocabulary {
		v.full, v.text = true, nil
		return nil, nil
	}
	v.text, v.last, v.seen = text, last, additions
	return text, nil
}

// fitting gives the tokens of a vocabulary's text that a piece stands for, most at the
// most, and whether there are more.
func fitting(text []byte, p words.Piece, most int) (list []string, more bool) {
	if text == nil {
		return nil, true
	}
	look := []byte(p.Text)
	switch p.How {
	case words.Ends:
		look = append(look, 0)
	case words.Begins:
		look = append([]byte{0}, look...)
	}
	for at := 0; ; {
		i := bytes.Index(text[at:], look)
		if i < 0 {
			return list, false
		}
		if len(list) == most {
			return list, true
		}
		i += at
		if p.How == words.Begins {
			i++
		}
		start := bytes.LastIndexByte(text[:i], 0) + 1
		end := i + bytes.IndexByte(text[i:], 0)
		list = append(list, string(text[start:end]))
		at = end
	}
}

// state is what a snapshot says of a world's index.
type state struct {
	docs, tokens int64
}

func (r *reader) indexState(ctx context.Context, w int64) (s state, err error) {
	_, err = r.c.one(ctx, func(r row) error { s = state{r.int(0), r.int(1)}; return nil }, "SELECT docs, tokens FROM indexed WHERE w = $1", w)
	return s, err
}

// tokensOf gives the text of the vocabulary that a search in a world is to use. Inside a
// writing transaction that is one of its own: what it added may yet be undone.
func (r *reader) tokensOf(ctx context.Context, w int64, s state) ([]byte, error) {
	if r.writes != nil {
		return new(vocabulary).upTo(ctx, r, w, 0)
	}
	v, _ := r.s.known.vocabularies.LoadOrStore(w, new(vocabulary))
	return v.(*vocabulary).upTo(ctx, r, w, s.tokens)
}
