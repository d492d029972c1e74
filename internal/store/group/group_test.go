package group

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// ledger is a Conn that records its calls and the committed entries. It is also the T that writes
// append entries to.
type ledger struct {
	asked     []string
	open      []string
	saved     int
	committed []string
	fails     map[string]error
}

func (l *ledger) note(what string) error {
	l.asked = append(l.asked, what)
	return l.fails[what]
}

func (l *ledger) Begin() error        { return l.note("begin") }
func (l *ledger) StartWrite() *ledger { return l }
func (l *ledger) Close()              { _ = l.note("close") }

func (l *ledger) Save() error {
	l.saved = len(l.open)
	return l.note("save")
}

func (l *ledger) EndWrite(_ *ledger, err error, first, alone bool) error {
	return errors.Join(err, l.fails["settle"])
}

func (l *ledger) UndoWrite() error {
	l.open = l.open[:l.saved]
	return l.note("undo")
}

func (l *ledger) Commit() error {
	if err := l.note("commit"); err != nil {
		return err
	}
	l.committed, l.open = append(l.committed, l.open...), nil
	return nil
}

func (l *ledger) Rollback() error {
	l.open = nil
	return l.note("rollback")
}

var (
	errNo   = errors.New("no")
	errGone = errors.New("gone")
)

func addEntry(what string) func(*ledger) error {
	return func(l *ledger) error {
		l.open = append(l.open, what)
		if strings.HasPrefix(what, "bad") {
			return errNo
		}
		return nil
	}
}

// runTogether runs writes in one transaction and returns their errors.
func runTogether(l *ledger, writes ...func(*ledger) error) []error {
	t := transaction[*ledger]{c: l, queue: make(chan *waiter[*ledger], len(writes))}
	answers := make([]error, len(writes)) // errGone if a write's goroutine ends without a result
	for i := range answers {
		answers[i] = errGone
	}
	var all sync.WaitGroup
	waiters := make([]*waiter[*ledger], len(writes))
	for i, f := range writes {
		waiters[i] = newWaiter[*ledger]()
		all.Go(func() {
			select {
			case given := <-waiters[i].turn:
				answers[i] = waiters[i].runWrite(context.Background(), given, f)
			case answers[i] = <-waiters[i].done:
			}
		})
	}
	for _, w := range waiters[1:] {
		t.queue <- w
	}
	t.runBatch(waiters[0])
	all.Wait()
	return answers
}

func TestWritesShareATransaction(t *testing.T) {
	for _, tc := range []struct {
		name   string
		fails  string
		writes []func(*ledger) error
		want   string
		holds  string
		asked  string
	}{
		{"all succeed", "", []func(*ledger) error{addEntry("a"), addEntry("b")}, "ok ok", "a b", "begin save commit"},
		{"the second fails", "", []func(*ledger) error{addEntry("a"), addEntry("bad"), addEntry("c")}, "ok no ok", "a c",
			"begin save undo save commit"},
		{"the first fails", "", []func(*ledger) error{addEntry("bad"), addEntry("b")}, "no ok", "b",
			"begin rollback begin commit"},
		{"none is kept", "", []func(*ledger) error{addEntry("bad")}, "no", "", "begin rollback"},
		{"no transaction begins", "begin", []func(*ledger) error{addEntry("a"), addEntry("b")}, "no no", "", "begin begin"},
		{"no place to come back to", "save", []func(*ledger) error{addEntry("a"), addEntry("b")}, "no no", "",
			"begin save rollback"},
		{"undoing fails", "undo", []func(*ledger) error{addEntry("a"), addEntry("bad"), addEntry("c")}, "no no ok", "c",
			"begin save undo rollback begin commit"},
		{"settling fails", "settle", []func(*ledger) error{addEntry("a")}, "no", "", "begin rollback"},
		{"committing fails", "commit", []func(*ledger) error{addEntry("a"), addEntry("b")}, "no no", "",
			"begin save commit rollback"},
		{"a panic", "", []func(*ledger) error{addEntry("a"), func(*ledger) error { panic("no") }}, "ok no", "a",
			"begin save undo commit"},
		{"an end of the goroutine", "",
			[]func(*ledger) error{addEntry("a"), func(*ledger) error { runtime.Goexit(); return nil }}, "ok no", "a",
			"begin save undo commit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := &ledger{fails: map[string]error{tc.fails: errNo}}
			got := runTogether(l, tc.writes...)
			var answers []string
			for _, err := range got {
				if answers = append(answers, "ok"); err != nil {
					answers[len(answers)-1] = "no"
				}
			}
			if strings.Join(answers, " ") != tc.want {
				t.Errorf("answers %q, want %s", got, tc.want)
			}
			if strings.Join(l.committed, " ") != tc.holds || strings.Join(l.asked, " ") != tc.asked {
				t.Errorf("holds %q after %q, want %q after %q", l.committed, l.asked, tc.holds, tc.asked)
			}
		})
	}
}

// TestCancelledWaitingWriteIsSkipped cancels a write that waits for its turn.
func TestCancelledWaitingWriteIsSkipped(t *testing.T) {
	l := &ledger{}
	g := New[*ledger](l)
	ctx, cancel := context.WithCancel(t.Context())
	first, began := make(chan struct{}), make(chan struct{})
	answered := make(chan error, 1)
	go func() {
		answered <- g.Do(t.Context(), func(l *ledger) error {
			close(began)
			<-first
			return addEntry("a")(l)
		})
	}()
	<-began
	waits := make(chan error, 1)
	go func() { waits <- g.Do(ctx, addEntry("b")) }()
	for g.Waiting() == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("the one that waited: %v", err)
	}
	close(first)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if err := g.Do(ctx, addEntry("c")); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that ended before: %v", err)
	}
	g.Close()
	if !slices.Equal(l.committed, []string{"a"}) || l.asked[len(l.asked)-1] != "close" {
		t.Errorf("holds %q after %q", l.committed, l.asked)
	}
}
