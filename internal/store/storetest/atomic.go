package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/waittest"
)

var errTest = errors.New("the test's own error")

// allWrites returns one call of each write method of a Tx. In this order they succeed on the world
// that testAtomic starts with.
func allWrites(ctx context.Context, tx canon.Tx) []func() error {
	w, c := WorldID(1), Card(50, "New", Open)
	l := canon.Link{World: w, ID: LinkID(50), Kind: "k", From: CardID(1), To: CardID(1), Label: Open, Since: 50}
	y := canon.Layer{World: w, ID: LayerID(50), Card: CardID(1), Kind: "base", Label: Open, Since: 50}
	second := World(5)
	return []func() error{
		func() error { return tx.Append(ctx, Commit("s", canon.Head{})) },
		func() error { return tx.PutRepeat(ctx, canon.Repeat{Account: "k", Key: "a", Stream: "s", Seq: 1}) },
		func() error { return tx.PutBody(ctx, w, HashOf("new"), []byte("new")) },
		func() error { return tx.EraseBody(ctx, w, HashOf("old")) },
		func() error { return tx.PutWorld(ctx, second) },
		func() error { return tx.PutMember(ctx, canon.Member{World: w, Subject: "zoe", Role: access.RoleGM}) },
		func() error { return tx.PutCard(ctx, c) },
		func() error { return tx.PutVersion(ctx, Version(c)) },
		func() error { return tx.EndVersion(ctx, w, CardID(1), 50) },
		func() error {
			return tx.PutRefs(ctx, w, CardID(1), []canon.Ref{{From: CardID(1), Kind: link, Target: "x", Name: "x"}})
		},
		func() error { return tx.Index(ctx, c, &canon.SearchDoc{Name: "New", Text: "brandnew"}) },
		func() error { return tx.Index(ctx, Card(10, "", Open), nil) },
		func() error { return tx.PutLink(ctx, l) },
		func() error { return tx.EndLink(ctx, w, LinkID(10), 50) },
		func() error { return tx.PutLayer(ctx, y) },
		func() error { return tx.EndLayer(ctx, w, LayerID(10), 50) },
		func() error { return tx.PutEvent(ctx, Event(50, "new", "", Open)) },
		func() error { return tx.Clear(ctx, WorldID(1)) },
		func() error { _, err := tx.Discard(ctx, WorldID(2), 9); return err },
	}
}

// dumpStore returns everything that a store returns to readers, as one text.
func dumpStore(t testing.TB, s canon.Store) string {
	t.Helper()
	text := dumpTables(t, s, WorldID(1)) + dumpTables(t, s, WorldID(2)) + dumpTables(t, s, WorldID(5))
	readAs(t, s, AsAll, func(e viewReader) {
		streams, err := e.r.Streams(e.ctx(), "")
		e.ok("Streams", err)
		for _, id := range streams {
			for c, err := range e.r.Commits(e.ctx(), id.Stream, 0) {
				e.ok("Commits", err)
				text += fmt.Sprintf("%+v\n", c)
			}
		}
		for _, body := range []string{"old", "new"} {
			b, ok, err := e.r.Body(e.ctx(), WorldID(1), HashOf(body))
			e.ok("Body", err)
			text += fmt.Sprintf("%s %v\n", b, ok)
		}
		r, ok, err := e.r.Repeat(e.ctx(), "k", "a")
		e.ok("Repeat", err)
		text += fmt.Sprintf("%+v %v\n", r, ok)
		for _, q := range []string{"lantern", "brandnew"} {
			res := e.searchAll(canon.SearchQuery{Q: q, InContent: true, Mode: word, Filter: canon.Filter{Sort: canon.SortName}})
			text += fmt.Sprintf("%s %q\n", q, hitNames(res))
		}
	})
	return text
}

func testAtomic(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	fillAllLabels(t, s)
	write(t, s, func(tx Writer) {
		tx.ok("PutBody", tx.Tx.PutBody(t.Context(), WorldID(1), HashOf("old"), []byte("old")))
		tx.Append("t") // a failing write must not change this stream
	})
	before := dumpStore(t, s)
	for name, fail := range map[string]func() error{
		"error": func() error { return errTest },
		"panic": func() error { panic(errTest) },
	} {
		t.Run("a write that ends in "+name+" after any number of steps leaves nothing", func(t *testing.T) {
			for n := range len(allWrites(t.Context(), nil)) + 1 {
				err := writeAndFail(t, s, n, fail)
				if err == nil || name == "error" && !errors.Is(err, errTest) {
					t.Errorf("after %d steps: Write answers %v", n, err)
				}
				if after := dumpStore(t, s); after != before {
					t.Fatalf("after %d steps the store holds\n%s\nand held\n%s", n, after, before)
				}
			}
		})
	}
	t.Run("a write sees its own writes, and others do not until it is done", func(t *testing.T) { testOwnWrites(t, s) })
	t.Run("and then it is kept", func(t *testing.T) {
		if after := dumpStore(t, s); after == before {
			t.Error("nothing is kept")
		}
	})
	t.Run("a context that has ended", func(t *testing.T) { testEndedContext(t, open(t)) })
}

// writeAndFail does n writes and then fails. It returns a panic as an error, since a store may
// recover panics itself.
func writeAndFail(t *testing.T, s canon.Store, n int, fail func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a panic: %v", p)
		}
	}()
	return s.Write(t.Context(), func(tx canon.Tx) error {
		for i, step := range allWrites(t.Context(), tx)[:n] {
			if err := step(); err != nil {
				t.Errorf("step %d: %v", i, err)
			}
		}
		return fail()
	})
}

func testOwnWrites(t *testing.T, s canon.Store) {
	new := Card(60, "Fresh", Open)
	write(t, s, func(tx Writer) {
		tx.Card(new, "fresh text")
		tx.Append("own")
		tx.ok("PutBody", tx.Tx.PutBody(t.Context(), WorldID(1), HashOf("fresh"), []byte("fresh")))
		inside := viewReader{t, tx.Tx, visibleTo(AsUser)}
		if _, ok := inside.findCard(60); !ok {
			t.Error("the write does not see its card")
		}
		if got := hitNames(inside.searchAll(canon.SearchQuery{Q: "fresh", InContent: true, Mode: word})); !slices.Equal(got,
			[]string{"Fresh"}) {
			t.Errorf("the write finds %q", got)
		}
		if head, err := tx.Tx.Head(t.Context(), "own"); err != nil || head.Seq != 1 {
			t.Errorf("the write sees the head %+v, %v", head, err)
		}
		if b, ok, err := tx.Tx.Body(t.Context(), WorldID(1), HashOf("fresh")); err != nil || !ok || string(b) != "fresh" {
			t.Errorf("the write sees the body %q, %v, %v", b, ok, err)
		}
		readAs(t, s, AsAll, func(e viewReader) {
			if _, ok := e.findCard(60); ok {
				t.Error("others see the card before the write is done")
			}
		})
	})
	readAs(t, s, AsUser, func(e viewReader) {
		if _, ok := e.findCard(60); !ok {
			t.Error("the card is not kept")
		}
	})
}

func testEndedContext(t *testing.T, s canon.Store) {
	Put(t, s, Card(1, "A", Open))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Read(ended, func(canon.Reader) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("Read: %v, want context.Canceled", err)
	}
	err := s.Write(ended, func(canon.Tx) error {
		t.Error("f is run though the context has ended")
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Write: %v, want context.Canceled", err)
	}
	t.Run("while waiting for another write", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan error, 1)
		write(t, s, func(Writer) {
			go func() {
				answer <- s.Write(ctx, func(canon.Tx) error {
					t.Error("f is run though the context has ended")
					return nil
				})
			}()
			cancel()
			select {
			case err := <-answer:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("Write: %v, want context.Canceled", err)
				}
			case <-waittest.Context(t).Done():
				t.Error("Write goes on waiting though its context has ended")
			}
		})
	})
	t.Run("in the middle of a write", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := s.Write(ctx, func(tx canon.Tx) error {
			err := tx.PutCard(ctx, Card(2, "B", Open))
			cancel()
			return err
		})
		readAs(t, s, AsUser, func(e viewReader) {
			if _, kept := e.findCard(2); kept != (err == nil) {
				t.Errorf("Write answers %v, and the card is kept: %v", err, kept)
			}
		})
	})
	Put(t, s, Card(3, "C", Open))
}

func testConcurrent(t *testing.T, open func(*testing.T) canon.Store) {
	t.Run("writes come one after the other", func(t *testing.T) { testIncrements(t, open(t)) })
	t.Run("a snapshot stays as it is", func(t *testing.T) { testSnapshot(t, open(t)) })
	t.Run("readers see whole writes", func(t *testing.T) { testWholeWrites(t, open(t)) })
	t.Run("a write wakes those who wait", func(t *testing.T) { testChanged(t, open(t)) })
}

// testIncrements lets many goroutines increment the revision of one card and append to one stream.
func testIncrements(t *testing.T, s canon.Store) {
	const goroutines, each = 32, 8
	Put(t, s, Card(1, "Counter", Open))
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				if err := s.Write(t.Context(), incrementCard(t.Context())); err != nil {
					t.Errorf("Write: %v", err)
				}
			}
		})
	}
	all.Wait()
	readAs(t, s, AsAll, func(e viewReader) {
		if c, _ := e.findCard(1); c.Rev != 1+goroutines*each {
			t.Errorf("the card is counted up to %d, want %d", c.Rev, 1+goroutines*each)
		}
		prev := canon.Head{}
		for c, err := range e.r.Commits(e.ctx(), "count", 1) {
			e.ok("Commits", err)
			if c.Seq != prev.Seq+1 || c.Prev != prev.Hash {
				t.Fatalf("commit %d follows %d", c.Seq, prev.Seq)
			}
			prev = canon.Head{Seq: c.Seq, Hash: c.Hash}
		}
		if prev.Seq != goroutines*each {
			t.Errorf("the stream has %d commits, want %d", prev.Seq, goroutines*each)
		}
	})
}

func incrementCard(ctx context.Context) func(canon.Tx) error {
	return func(tx canon.Tx) error {
		c, _, err := canon.First(tx.FindCards(ctx, visibleTo(AsAll), canon.CardQuery{ID: CardID(1)}))
		if err != nil {
			return err
		}
		c.Rev++
		if err := tx.PutCard(ctx, c); err != nil {
			return err
		}
		head, err := tx.Head(ctx, "count")
		if err != nil {
			return err
		}
		return tx.Append(ctx, Commit("count", head))
	}
}

// testSnapshot writes while a reader holds a snapshot.
func testSnapshot(t *testing.T, s canon.Store) {
	fillAllLabels(t, s)
	ask := func(e viewReader) string {
		text := ""
		for _, q := range slices.Concat(cardQuestions, rowQuestions) {
			got, total := q.ask(e)
			text += fmt.Sprintln(q.name, labelsText(got), total)
		}
		head, err := e.r.Head(e.ctx(), "s")
		e.ok("Head", err)
		return text + fmt.Sprint(head.Seq)
	}
	readAs(t, s, AsAdmin, func(e viewReader) {
		before := ask(e)
		done := make(chan struct{})
		go func() {
			defer close(done)
			err := s.Write(t.Context(), func(tx canon.Tx) error {
				if err := tx.Append(t.Context(), Commit("s", canon.Head{})); err != nil {
					return err
				}
				return tx.Clear(t.Context(), WorldID(1))
			})
			if err != nil {
				t.Errorf("Write: %v", err)
			}
		}()
		waittest.Receive(t, done, "a write while somebody reads")
		if after := ask(e); after != before {
			t.Errorf("the snapshot was\n%s\nand is\n%s", before, after)
		}
	})
	readAs(t, s, AsAdmin, func(e viewReader) {
		if cards := e.listCards(canon.Filter{}); len(cards) > 0 {
			t.Errorf("after the write a new reader sees %q", cardNames(cards))
		}
	})
}

// testWholeWrites keeps the revisions of two cards equal in each write, and reads them
// concurrently.
func testWholeWrites(t *testing.T, s canon.Store) {
	Put(t, s, Card(1, "A", Open), Card(2, "B", Open))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for rev := range uint32(100) {
			err := s.Write(t.Context(), func(tx canon.Tx) error {
				for n, name := range []string{"A", "B"} {
					c := Card(n+1, name, Open)
					c.Rev = rev
					if err := tx.PutCard(t.Context(), c); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Errorf("Write: %v", err)
			}
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		readAs(t, s, AsUser, func(e viewReader) {
			a, _ := e.findCard(1)
			b, _ := e.findCard(2)
			if a.Rev != b.Rev {
				t.Errorf("a reader sees half a write: %d and %d", a.Rev, b.Rev)
			}
		})
	}
}

// TestLooksWakeNobody reads inside a write transaction of a durable store, as a worker does that
// waits for work. A transaction that only reads must not signal a change, or the worker would wake
// itself.
func TestLooksWakeNobody(t *testing.T, s canon.Store) {
	t.Helper()
	look := func() {
		write(t, s, func(tx Writer) {
			_, err := tx.Tx.Head(t.Context(), "count")
			tx.ok("Head", err)
		})
	}
	write(t, s, func(tx Writer) { tx.PutWorld(World(1)) })
	look() // Write may return before it signals the change, but the next write begins after the signal
	changed := s.Changed()
	look()
	select {
	case <-changed:
		t.Error("a look wakes")
	default:
	}
	write(t, s, func(tx Writer) { tx.Append("count") })
	<-changed
}

// testChanged increments a card ten times, each time after all waiters have reported the current
// revision. Waiters call Changed before they read.
func testChanged(t *testing.T, s canon.Store) {
	Put(t, s, Card(1, "Counter", Open))
	const last, waiters = 10, 4
	seen := make([]chan uint32, waiters)
	for i := range seen {
		seen[i] = make(chan uint32, last)
		go func() {
			defer close(seen[i])
			if err := reportRevisions(t.Context(), s, last, seen[i]); err != nil {
				t.Errorf("a waiter: %v", err)
			}
		}()
	}
	for rev := uint32(1); ; rev++ {
		for _, waiter := range seen {
			for got := range waiter {
				if got == rev {
					break
				}
			}
		}
		if rev == last {
			break
		}
		if err := s.Write(t.Context(), incrementCard(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	for _, waiter := range seen {
		for range waiter { // drain until the waiter has ended
		}
	}
}

// reportRevisions sends each revision of the first card that it reads, until the last.
func reportRevisions(ctx context.Context, s canon.Store, last uint32, seen chan<- uint32) error {
	ctx, cancel := context.WithTimeout(ctx, waittest.Patience)
	defer cancel()
	var said uint32
	for {
		changed := s.Changed()
		var c canon.Card
		err := s.Read(ctx, func(r canon.Reader) (err error) {
			c, _, err = canon.First(r.FindCards(ctx, visibleTo(AsAll), canon.CardQuery{ID: CardID(1)}))
			return err
		})
		if err != nil {
			return err
		}
		if c.Rev != said {
			seen <- c.Rev
			said = c.Rev
		}
		if said >= last {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("no change came after revision %d", said)
		}
	}
}
