package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/search"
	"loregate/internal/store/sqlstore"
)

// killedStore is the environment variable with the store path of a process that is killed while it
// writes an index.
const killedStore = "LOREGATE_TEST_INDEXED"

// TestMain becomes the writing process if the environment variable is set.
func TestMain(m *testing.M) {
	if path := os.Getenv(killedStore); path != "" {
		if err := writeWithoutEnd(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// writeWithoutEnd changes cards, searches, and writes the index files, as fast as it can.
func writeWithoutEnd(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, Config{Path: path})
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	go func() {
		for {
			if err := s.finder.Library.Flush(ctx, search.ID(testWorld)); err != nil {
				failed <- err
			}
		}
	}()
	go func() {
		for n := 0; ; n++ {
			if err := s.Write(ctx, func(tx canon.Tx) error { return changeSome(ctx, tx, n) }); err != nil {
				failed <- err
			}
			if _, err := countCommon(ctx, s); err != nil {
				failed <- err
			}
		}
	}()
	fmt.Println("begun")
	return <-failed
}

// changeSome writes or trashes some of a few hundred cards.
func changeSome(ctx context.Context, tx canon.Tx, n int) error {
	if n == 0 {
		if err := tx.PutWorld(ctx, canon.World{ID: testWorld, Slug: "w", Title: "W", CreatedAt: testTime}); err != nil {
			return err
		}
	}
	for range 1 + rand.IntN(60) {
		i := 1 + rand.IntN(400)
		c := cardOf(i, fmt.Sprintf("Card %d", i), access.NewLabel(access.Level(1+i%3)), "")
		doc := &canon.SearchDoc{Name: c.Name, Text: fmt.Sprintf("common %d %d", rand.IntN(50), rand.IntN(5000))}
		if rand.IntN(5) == 0 {
			c.TrashedAt, c.TrashRoot, doc = testTime, c.ID, nil
		}
		if err := tx.PutCard(ctx, c); err != nil {
			return err
		}
		if err := tx.Index(ctx, c, doc); err != nil {
			return err
		}
	}
	return nil
}

// countCommon returns how many cards a search finds for a word that all living cards contain.
func countCommon(ctx context.Context, s *Store) (n int, err error) {
	err = s.Read(ctx, func(r canon.Reader) error {
		res, err := r.Search(ctx, visibilityOf(access.LevelAdmin), canon.SearchQuery{Q: "common", Mode: canon.MatchWord},
			canon.Page{Limit: 5})
		n = res.Total.Count
		return err
	})
	return n, err
}

// TestAKilledIndexIsNeverStale kills a process while it writes and merges an index, INDEX_KILLS
// times: each time the next process must find exactly the cards that the store has.
func TestAKilledIndexIsNeverStale(t *testing.T) {
	kills := 4
	if n, err := strconv.Atoi(os.Getenv("INDEX_KILLS")); err == nil {
		kills = n
	}
	path := filepath.Join(t.TempDir(), "canon.db")
	writeEmpty(t, path)
	loaded, living := 0, 0
	for n := range kills {
		killWriter(t, path, time.Duration(rand.IntN(600))*time.Millisecond)
		s, err := Open(t.Context(), Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if x, at, err := search.Load(filepath.Join(path+"-search", fmt.Sprintf("%x", testWorld[:]))); err == nil &&
			x.Clear() == nil && at.Gen > 0 {
			loaded++
		}
		var want int64
		if err := s.read(t.Context(), func(c *conn) (err error) {
			want, err = sqlstore.QueryInt(t.Context(), c,
				"SELECT count(*) FROM docs d JOIN cards c ON c.w = d.w AND c.id = d.card WHERE d.sum IS NOT NULL AND c.trashed = 0")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		got, err := countCommon(t.Context(), s)
		if err != nil || int64(got) != want {
			t.Errorf("after kill %d a search finds %d of %d cards; %v", n+1, got, want, err)
		}
		faults, err := s.finder.Verify(t.Context())
		if err != nil || len(faults) > 0 {
			t.Errorf("after kill %d: %v, %v", n+1, faults, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		living = got
	}
	if loaded < kills/2 {
		t.Errorf("only %d of %d times there were files to be read", loaded, kills)
	}
	t.Logf("%d kills, after %d of which the index was read from its files; %d cards are found", kills, loaded, living)
}

// killWriter runs a writing process for a while and kills it.
func killWriter(t *testing.T, path string, after time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), killedStore+"="+path), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Errorf("it has not begun: %v", err)
	}
	kill := time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // fails if it has ended, which is reported below
	_ = cmd.Wait()                                                   // the error is that it was killed
	if kill.Stop() {
		t.Error("it ended by itself")
	}
}
