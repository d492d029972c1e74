package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/store/storetest"
)

func openTest(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func openNew(t testing.TB) *Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "canon.db")
	writeEmpty(t, path)
	return openTest(t, path)
}

var writeEmpty = storetest.Template(func(path string) error {
	s, err := Open(context.Background(), Config{Path: path})
	if err != nil {
		return err
	}
	return s.Close()
})

var (
	testWorld = access.WorldID{1}
	testTime  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func visibilityOf(l access.Level) canon.Visibility {
	return canon.Visibility{World: testWorld, View: access.View{Level: l}}
}

func idOf(n int) (id canon.CardID) {
	binary.BigEndian.PutUint64(id[:], uint64(n))
	return id
}

// cardOf returns card number n with a name, a label and a text.
func cardOf(n int, name string, l access.Label, text string) canon.Card {
	at := testTime.Add(time.Duration(n) * time.Millisecond)
	return canon.Card{
		World: testWorld, ID: idOf(n), Part: name, Name: name, Key: markup.KeyOf(name), Type: "RichText",
		Content: sha256.Sum256([]byte(text)), Size: len(text), Length: len(text), Own: l, Label: l,
		Rev: 1, Counts: canon.Counts{1, 1, 1}, CreatedAt: at, CreatedBy: "ann", UpdatedAt: at, UpdatedBy: "ann",
		Seq: canon.Seq(n),
	}
}

// putDoc writes everything that a commit writes for one card.
func putDoc(t testing.TB, tx canon.Tx, c canon.Card, text string) {
	t.Helper()
	ctx := t.Context()
	v := canon.Version{World: c.World, Card: c.ID, Rev: c.Rev, From: c.Seq, Counts: c.Counts, Label: c.Label, Name: c.Name,
		Type:    c.Type,
		Content: c.Content, Size: c.Size, Length: c.Length, At: c.UpdatedAt, By: c.UpdatedBy, Op: "create_card"}
	for _, err := range []error{
		tx.PutBody(ctx, c.World, c.Content, []byte(text)),
		tx.PutCard(ctx, c),
		tx.PutVersion(ctx, v),
		tx.PutRefs(ctx, c.World, c.ID, nil),
		tx.Index(ctx, c, &canon.SearchDoc{Name: c.Name, Text: text}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// mustWrite writes or fails the test.
func mustWrite(t testing.TB, s *Store, f func(canon.Tx)) {
	t.Helper()
	if err := s.Write(t.Context(), func(tx canon.Tx) error { f(tx); return nil }); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t testing.TB, s *Store, f func(canon.Reader) error) {
	t.Helper()
	if err := s.Read(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

// prose generates text from a vocabulary in which the word of rank n is 1/n as frequent as the
// first.
type prose struct {
	rnd   *rand.Rand
	words []string
	sums  []float64
}

func newProse(seed uint64, vocabulary int) *prose {
	p := &prose{rnd: rand.New(rand.NewPCG(seed, 7))}
	syllables := strings.Fields("ba ke lo mi nu ra se ti vo wen dar gol hin jas kur lem mor nel pash quin rok sul tam urd vex wyn yar zel an ost")
	seen := map[string]bool{}
	sum := 0.0
	for len(p.words) < vocabulary {
		var b strings.Builder
		for range 2 + p.rnd.IntN(3) {
			b.WriteString(syllables[p.rnd.IntN(len(syllables))])
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			p.words = append(p.words, w)
			sum += 1 / float64(len(p.words))
			p.sums = append(p.sums, sum)
		}
	}
	return p
}

func (p *prose) word() string {
	x := p.rnd.Float64() * p.sums[len(p.sums)-1]
	lo, hi := 0, len(p.sums)-1
	for lo < hi {
		if mid := (lo + hi) / 2; p.sums[mid] < x {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return p.words[lo]
}

// text returns about size bytes of prose.
func (p *prose) text(size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(p.word())
		b.WriteByte(' ')
	}
	return b.String()
}

// fillStore writes n cards of 1 KB, 500 to a write, seven out of ten with LevelUser.
func fillStore(t testing.TB, s *Store, n int) *prose {
	t.Helper()
	p := newProse(1, 40_000)
	for at := 0; at < n; at += 500 {
		mustWrite(t, s, func(tx canon.Tx) {
			for i := at; i < min(at+500, n); i++ {
				level := access.LevelUser
				if i%10 >= 7 {
					level = access.LevelGM
				}
				text := p.text(1000)
				name := fmt.Sprintf("%s %s %d", p.words[i%1000], p.words[int(math.Abs(float64(i*7919%40000)))], i)
				putDoc(t, tx, cardOf(i+1, name, access.NewLabel(level), text), text)
			}
		})
	}
	return p
}
