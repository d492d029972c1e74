package sqlite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/identity"
	"loregate/internal/markup"
	"loregate/internal/raceenabled"
	"loregate/internal/store/sqlstore"
	"loregate/internal/store/storetest"
	"loregate/internal/store/words"
	"loregate/internal/waittest"
)

var (
	user = access.NewLabel(access.LevelUser)
	gm   = access.NewLabel(access.LevelGM)
)

func TestVersionNumber(t *testing.T) {
	for text, want := range map[string]int{"3.51.3": oldestSupported, "3.54.1": 3_054_001, "3.51.2": 3_051_002,
		"4.0.0": 4_000_000} {
		if got, ok := versionNumber(text); !ok || got != want {
			t.Errorf("versionNumber(%q) = %d, %v; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "3", "3.51", "3.x.1"} {
		if _, ok := versionNumber(text); ok {
			t.Errorf("versionNumber(%q) is taken", text)
		}
	}
}

func TestReopenKeepsEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	s := openTest(t, path)
	mustWrite(t, s, func(tx canon.Tx) { putDoc(t, tx, cardOf(1, "Hall", user, "an old hall"), "an old hall") })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, path)
	if got := searchNames(t, s, access.LevelUser, "hall"); !slices.Equal(got, []string{"Hall"}) {
		t.Errorf("after reopening finds %q", got)
	}
	if faults, err := s.Verify(t.Context()); err != nil || len(faults) > 0 {
		t.Errorf("Verify: %q, %v", faults, err)
	}
}

func TestRefusesNewerStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	s := openTest(t, path)
	if err := s.write(t.Context(), func(tx *tx) error {
		_, err := tx.c.Exec(t.Context(), "PRAGMA user_version = 1000")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Path: path}); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("opening a newer store: %v", err)
	}
}

func TestWritesFailAlone(t *testing.T) {
	s := openNew(t)
	wrong := errors.New("wrong")
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			err := s.Write(t.Context(), func(tx canon.Tx) error {
				putDoc(t, tx, cardOf(i+1, fmt.Sprintf("Card %d", i), user, "some words"), "some words")
				switch i % 4 {
				case 1:
					return wrong
				case 2:
					panic("boom")
				case 3:
					if i%8 == 3 {
						runtime.Goexit()
					}
				}
				return nil
			})
			switch failed := err != nil; {
			case i%4 == 1 && !errors.Is(err, wrong):
				t.Errorf("write %d: %v", i, err)
			case failed != (i%4 == 1 || i%4 == 2):
				t.Errorf("write %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	mustRead(t, s, func(r canon.Reader) error {
		_, total, err := r.Cards(t.Context(), visibilityOf(access.LevelUser), canon.Filter{}, canon.Page{Limit: 1})
		if total.Count != 75 {
			t.Errorf("%d cards are kept, want 75", total.Count)
		}
		res, err2 := r.Search(t.Context(), visibilityOf(access.LevelUser), canon.SearchQuery{Q: "words"},
			canon.Page{Limit: 1})
		if res.Total.Count != 75 {
			t.Errorf("%d cards are found, want 75", res.Total.Count)
		}
		return errors.Join(err, err2)
	})
	if faults, err := s.Verify(t.Context()); err != nil || len(faults) > 0 {
		t.Errorf("Verify: %q, %v", faults, err)
	}
}

func TestCancelledWriteDoesNotRun(t *testing.T) {
	s := openNew(t)
	held, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- s.Write(context.Background(), func(canon.Tx) error { close(held); <-release; return nil })
	}()
	<-held
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Write(ctx, func(canon.Tx) error { t.Error("a cancelled write ran"); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled write: %v", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestClosedStoreRefuses(t *testing.T) {
	s := openNew(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), func(canon.Tx) error { return nil }); !errors.Is(err, errClosed) {
		t.Errorf("Write: %v", err)
	}
	if err := s.Read(t.Context(), func(canon.Reader) error { return nil }); !errors.Is(err, errClosed) {
		t.Errorf("Read: %v", err)
	}
}

// TestTwoStoresOneFile has two stores, like two processes, write to one file at once and see each
// other's work.
func TestTwoStoresOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	stores := []*Store{openTest(t, path), openTest(t, path)}
	woken := stores[1].Changed()
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			text := fmt.Sprintf("shared word%d", i)
			mustWrite(t, stores[i%2],
				func(tx canon.Tx) { putDoc(t, tx, cardOf(i+1, fmt.Sprintf("Card %d", i), user, text), text) })
		})
	}
	wg.Wait()
	<-woken
	for i, s := range stores {
		for _, q := range []string{"shared", "hare", "ord5", "word99"} {
			got := searchNames(t, s, access.LevelUser, q)
			if want := map[string]int{"shared": 100, "hare": 100, "ord5": 11, "word99": 1}[q]; len(got) != want {
				t.Errorf("store %d finds %d cards for %q, want %d", i, len(got), q, want)
			}
		}
	}
}

func TestChangedByAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	a, b := openTest(t, path), openTest(t, path)
	woken := a.Changed()
	select {
	case <-woken:
		t.Fatal("woken before anything changed")
	default:
	}
	mustWrite(t, b, func(tx canon.Tx) { putDoc(t, tx, cardOf(1, "Hall", user, "x"), "x") })
	waittest.Receive(t, woken, "the notice of another's write")
}

func TestBackupIsAStore(t *testing.T) {
	s := openNew(t)
	mustWrite(t, s, func(tx canon.Tx) { putDoc(t, tx, cardOf(1, "Hall", user, "an old hall"), "an old hall") })
	pem := []byte("-----BEGIN PRIVATE KEY-----" + strings.Repeat("x", 2000))
	if ok, err := s.Identity().AddSigningKey(t.Context(),
		identity.SigningKey{KID: "k", PEM: pem, Created: time.Unix(1, 0)}, "", time.Time{}); err != nil || !ok {
		t.Fatal(ok, err)
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := s.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), path); err == nil {
		t.Error("a backup went over a file that was there")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("PRIVATE KEY")) {
		t.Error("the copy holds a key that signs tokens")
	}
	if got := searchNames(t, openTest(t, path), access.LevelUser, "old"); !slices.Equal(got, []string{"Hall"}) {
		t.Errorf("the copy finds %q", got)
	}
}

// TestWorldChangedElsewhereShowsAtOnce uses a reader and a writer that have both cached a world's
// row.
func TestWorldChangedElsewhereShowsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	open := func() *Store {
		s, err := Open(t.Context(), Config{Path: path, Readers: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	ours, theirs := open(), open()
	w := canon.World{ID: access.WorldID{1}, Slug: "w"}
	for i, writer := range []*Store{ours, theirs, ours} {
		w.Title = strings.Repeat("x", i+1)
		mustWrite(t, writer, func(tx canon.Tx) { putWorld(t, tx, w) })
		mustRead(t, ours, func(r canon.Reader) error { checkTitle(t, r, w.Title); return nil })
		mustWrite(t, ours, func(tx canon.Tx) { checkTitle(t, tx, w.Title) })
	}
}

// TestCachedWorldIsDroppedOnRollback fails writes that changed a world: the first of a transaction
// and a later one.
func TestCachedWorldIsDroppedOnRollback(t *testing.T) {
	s := openNew(t)
	w := canon.World{ID: access.WorldID{1}, Slug: "w", Title: "old"}
	mustWrite(t, s, func(tx canon.Tx) { putWorld(t, tx, w) })
	other := w
	other.Title = "new"
	failed := errors.New("the test's own error")
	fail := func() {
		if err := s.Write(t.Context(), func(tx canon.Tx) error {
			checkTitle(t, tx, "old")
			putWorld(t, tx, other)
			checkTitle(t, tx, "new")
			return failed
		}); !errors.Is(err, failed) {
			t.Error(err)
		}
	}
	fail()
	mustWrite(t, s, func(tx canon.Tx) { checkTitle(t, tx, "old") })
	var behind sync.WaitGroup
	mustWrite(t, s, func(tx canon.Tx) {
		for i, write := range []func(){fail, func() { mustWrite(t, s, func(tx canon.Tx) { checkTitle(t, tx, "old") }) }} {
			behind.Go(write)
			for s.writes.Waiting() <= i {
				runtime.Gosched()
			}
		}
	})
	behind.Wait()
}

func putWorld(t *testing.T, tx canon.Tx, w canon.World) {
	t.Helper()
	if err := tx.PutWorld(t.Context(), w); err != nil {
		t.Error(err)
	}
}

func checkTitle(t *testing.T, r canon.Reader, want string) {
	t.Helper()
	got, _, err := canon.First(r.Worlds(t.Context(), canon.WorldQuery{ID: access.WorldID{1}}))
	if err != nil || got.Title != want {
		t.Errorf("the title is %q, %v, want %q", got.Title, err, want)
	}
}

// TestHiddenLeavesNoTrace compares the results that players get from two stores that differ only in
// hidden cards: in their text, their number and their former content.
func TestHiddenLeavesNoTrace(t *testing.T) {
	plainly, secretly := openNew(t), openNew(t)
	p := newProse(3, 500)
	texts := make([]string, 120)
	for i := range texts {
		texts[i] = p.text(200)
	}
	for i, text := range texts {
		c := cardOf(i+1, p.words[i]+" "+p.words[2*i], user, text)
		mustWrite(t, secretly, func(tx canon.Tx) {
			h := cardOf(1000+2*i, p.words[i]+" "+p.words[2*i], gm, text)
			putDoc(t, tx, h, strings.Repeat(p.words[i%20]+" ", 50))
			h = cardOf(1001+2*i, p.words[i]+"zz", access.NewLabel(access.LevelGM, "eve"), text)
			putDoc(t, tx, h, p.words[i%10]+"qq "+text)
		})
		for _, s := range []*Store{plainly, secretly} {
			mustWrite(t, s, func(tx canon.Tx) { putDoc(t, tx, c, text) })
		}
	}
	ask := func(s *Store) (out []string) {
		mustRead(t, s, func(r canon.Reader) error {
			for i := range raceenabled.Share(100, 5) {
				for _, mode := range []canon.MatchMode{canon.MatchSubstring, canon.MatchWord, canon.MatchPhrase} {
					q := canon.SearchQuery{Q: p.words[i], Mode: mode}
					if mode == canon.MatchSubstring {
						q.Q = q.Q[1:]
					}
					res, err := r.Search(t.Context(), visibilityOf(access.LevelUser), q, canon.Page{Limit: 10})
					if err != nil {
						return err
					}
					b, _ := json.Marshal(res)
					out = append(out, string(b))
				}
				near, err := r.NearNames(t.Context(), visibilityOf(access.LevelUser), p.words[i], 5)
				if err != nil {
					return err
				}
				complete, err := r.CompleteNames(t.Context(), visibilityOf(access.LevelUser), p.words[i][:2], 5)
				if err != nil {
					return err
				}
				out = append(out, strings.Join(near, "|"), strings.Join(complete, "|"))
			}
			return nil
		})
		return out
	}
	a, b := ask(plainly), ask(secretly)
	hits := 0
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("answer %d differs:\n%s\n%s", i, a[i], b[i])
		}
		hits += strings.Count(a[i], `"Score"`)
	}
	if hits < raceenabled.Share(300, 5) {
		t.Errorf("only %d hits: nothing was compared", hits)
	}
}

// TestScoresIgnoreRemovedText compares a store with one that once had more text: removed text must
// not influence scores.
func TestScoresIgnoreRemovedText(t *testing.T) {
	fresh, old := openNew(t), openNew(t)
	for i := range 30 {
		c := cardOf(i+1, fmt.Sprintf("Card %d", i), user, "")
		text := strings.Repeat("mist ", i%5+1) + strings.Repeat("rain ", i)
		mustWrite(t, old, func(tx canon.Tx) {
			putDoc(t, tx, c, strings.Repeat("an earlier text ", 20))
			putDoc(t, tx, cardOf(500+i, fmt.Sprintf("Gone %d", i), user, ""), "mist and more")
		})
		mustWrite(t, old, func(tx canon.Tx) {
			if err := tx.Index(t.Context(), cardOf(500+i, "", user, ""), nil); err != nil {
				t.Error(err)
			}
		})
		for _, s := range []*Store{fresh, old} {
			mustWrite(t, s, func(tx canon.Tx) { putDoc(t, tx, c, text) })
		}
	}
	score := func(s *Store) (out string) {
		mustRead(t, s, func(r canon.Reader) error {
			res, err := r.Search(t.Context(), visibilityOf(access.LevelUser), canon.SearchQuery{Q: "mist"},
				canon.Page{Limit: 50})
			for _, h := range res.Hits {
				out += fmt.Sprintf("%s %.9f\n", h.Card.Name, h.Score)
			}
			return err
		})
		return out
	}
	if a, b := score(fresh), score(old); a != b {
		t.Errorf("scores differ:\n%s\n%s", a, b)
	}
}

// TestTokensMatchFTS5 compares package words' tokeniser with that of FTS5.
func TestTokensMatchFTS5(t *testing.T) {
	s := openNew(t)
	text := "Déjà vu: Cafe\u0301 NAÏVE Straße O’Neill's 東京タワー Οδυσσεύς foo_bar x1y2 ½ ²3 ﬁn Ǆ Þórr İstanbul ŁÓDŹ Ǻ ṩ ﾊﾝｶｸ ١٢٣ हिन्दी สวัสดี 한국어 a\u0301\u0301b ẞ ǅ Ⅷ ⅷ Ⓐ"
	var want []string
	if err := s.write(t.Context(), func(tx *tx) error {
		for _, sql := range []string{"CREATE VIRTUAL TABLE texts USING fts5(body, tokenize='unicode61 remove_diacritics 2')",
			"CREATE VIRTUAL TABLE terms USING fts5vocab(texts, row)"} {
			if _, err := tx.c.Exec(t.Context(), sql); err != nil {
				return err
			}
		}
		if _, err := tx.c.Exec(t.Context(), "INSERT INTO texts (body) VALUES ($1)", text); err != nil {
			return err
		}
		return sqlstore.Each(t.Context(), tx.c, func(r sqlstore.Row) error { want = append(want, r.Text(0)); return nil },
			"SELECT term FROM terms")
	}); err != nil {
		t.Fatal(err)
	}
	got := words.List(text)
	slices.Sort(got)
	got = slices.Compact(got)
	for _, token := range got {
		if !slices.Contains(want, token) {
			t.Errorf("token %q is none of FTS5's", token)
		}
	}
	for _, token := range want {
		if !slices.Contains(got, token) {
			t.Errorf("FTS5's token %q is missing", token)
		}
	}
}

// TestHostileQueries searches for text that is not words.
func TestHostileQueries(t *testing.T) {
	s := openNew(t)
	mustWrite(t, s, func(tx canon.Tx) {
		for i, name := range []string{"A\"B", "NEAR(x)", "nul\x00name", "👍", "\ue000marked", "\x01\x02"} {
			c := cardOf(i+1, name, user, name)
			c.Key = markup.Key(fmt.Sprint("key", i))
			putDoc(t, tx, c, "text \x00 of "+name)
		}
	})
	big, long := strings.Repeat("x y", raceenabled.Share(300_000, 10)), strings.Repeat("y", raceenabled.Share(1<<20, 10))
	for _, q := range []string{"", "\"", "\x00", "*", "a*b*", "NEAR(", "name:x", "^x", "{body}:x", "x AND", "👍", "\ue000",
		"\xff\xfe", big, long} {
		for _, mode := range []canon.MatchMode{canon.MatchSubstring, canon.MatchWord, canon.MatchPhrase} {
			mustRead(t, s, func(r canon.Reader) error {
				_, err := r.Search(t.Context(), visibilityOf(access.LevelUser),
					canon.SearchQuery{Q: q, Mode: mode, Filter: canon.Filter{NameContains: q}}, canon.Page{Limit: 5})
				if err == nil {
					_, err = r.Search(t.Context(), visibilityOf(access.LevelUser), canon.SearchQuery{Q: q, Mode: mode},
						canon.Page{Limit: 5})
				}
				if err == nil {
					_, err = r.NearNames(t.Context(), visibilityOf(access.LevelUser), q, 5)
				}
				if err == nil {
					_, err = r.CompleteNames(t.Context(), visibilityOf(access.LevelUser), q, 5)
				}
				if err != nil {
					err = fmt.Errorf("%s %.20q: %w", mode, q, err)
				}
				return err
			})
		}
	}
}

// searchNames returns the names of the cards that a search finds.
func searchNames(t *testing.T, s *Store, l access.Level, q string) (names []string) {
	t.Helper()
	mustRead(t, s, func(r canon.Reader) error {
		res, err := r.Search(t.Context(), visibilityOf(l), canon.SearchQuery{Q: q}, canon.Page{Limit: 1000})
		for _, h := range res.Hits {
			names = append(names, h.Card.Name)
		}
		return err
	})
	return names
}

// TestPageCachesStayInBudget adds up the cache sizes of all connections of a store.
func TestPageCachesStayInBudget(t *testing.T) {
	s, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "canon.db"), CacheKiB: 9600, Readers: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pages := func(c *conn) int64 {
		n, err := sqlstore.QueryInt(t.Context(), c, "PRAGMA cache_size")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var all int64
	var busy func(left int)
	busy = func(left int) {
		if left == 0 {
			return
		}
		if err := s.read(t.Context(), func(c *conn) error { all += pages(c); busy(left - 1); return nil }); err != nil {
			t.Error(err)
		}
	}
	busy(s.cfg.Readers)
	if err := s.write(t.Context(), func(tx *tx) error { all += pages(tx.c); return nil }); err != nil {
		t.Error(err)
	}
	if all*pageKiB != 9600 {
		t.Errorf("all connections may hold %d pages of %d KiB, want 9600 KiB", all, pageKiB)
	}
}

// A number of a discarded world's label is not given to another label, since another process may
// have cached its meaning.
func TestDiscardKeepsNumbersOfLabels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	one, other := openTest(t, path), openTest(t, path)
	named := func(subject access.Subject) access.Label { return access.NewLabel(access.LevelGM, subject) }
	see := func(world access.WorldID, subject access.Subject) {
		t.Helper()
		err := other.Read(t.Context(), func(r canon.Reader) error {
			v := canon.Visibility{World: world, View: access.View{Level: access.LevelAdmin}}
			cards, _, err := r.Cards(t.Context(), v, canon.Filter{}, canon.Page{Limit: 2})
			if len(cards) != 1 || !slices.Equal(cards[0].Label.Subjects, []access.Subject{subject}) {
				t.Errorf("not one card of %s: %v", subject, cards)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	put := func(world access.WorldID, subject access.Subject) {
		t.Helper()
		err := one.Write(t.Context(), func(tx canon.Tx) error {
			c := storetest.Card(1, "Quay", named(subject))
			c.World = world
			return tx.PutCard(t.Context(), c)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	first, second := access.WorldID{1}, access.WorldID{2}
	put(first, "ann")
	see(first, "ann")
	for left := true; left; {
		err := one.Write(t.Context(), func(tx canon.Tx) (err error) {
			left, err = tx.Discard(t.Context(), first, 1000)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(second, "bob")
	see(second, "bob")
}
