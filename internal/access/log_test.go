package access_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loregate/internal/access"
	"loregate/internal/access/accesstest"
)

func newLog(t testing.TB, s access.SegmentStore, capacity int) *access.Log {
	t.Helper()
	l, err := access.NewLog(access.LogConfig{Store: s, Process: "p", Capacity: capacity,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func record(l *access.Log, operations ...string) error {
	for _, o := range operations {
		if err := l.Reserve(); err != nil {
			return err
		}
		l.Record(access.Record{At: time.Now(), Operation: o, Outcome: "ok", Role: access.RoleGM, Correlation: o})
	}
	return nil
}

// kept returns the operations of all stored records, in order, with a space between segments.
func kept(t *testing.T, s access.SegmentStore) string {
	t.Helper()
	var b strings.Builder
	for one, err := range s.Segments(context.Background(), "p", 0) {
		if err != nil {
			t.Fatal(err)
		}
		records, err := one.Records()
		if err != nil {
			t.Fatal(err)
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		for _, r := range records {
			b.WriteString(r.Operation)
		}
	}
	return b.String()
}

func TestRecordsAreDurableWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s accesstest.Segments
		l := newLog(t, &s, 0)
		defer l.Close(context.Background())
		time.Sleep(123 * time.Millisecond)
		if err := record(l, "a", "b"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := kept(t, &s); got != "ab" {
			t.Errorf("after a second the store has %q, want ab", got)
		}
		time.Sleep(time.Minute)
		if got := kept(t, &s); got != "ab" {
			t.Errorf("an idle log wrote %q", got)
		}
	})
}

func TestAFullLogRefusesCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s accesstest.Segments
		s.Fail(errors.New("disk full"))
		l := newLog(t, &s, 3)
		if err := record(l, "a", "b"); err != nil {
			t.Fatal(err)
		}
		if err := l.Reserve(); err != nil { // an open call
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if err := l.Reserve(); !errors.Is(err, access.ErrLogFull) {
			t.Fatalf("a full log answers %v, want ErrLogFull", err)
		}
		l.Record(access.Record{Operation: "c", At: time.Now()}) // the room of the open call is reserved
		s.Fail(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if got := strings.ReplaceAll(kept(t, &s), " ", ""); got != "abc" {
			t.Errorf("the store has %q, want abc: none dropped, in order", got)
		}
		if err := record(l, "d"); err != nil {
			t.Errorf("after the store came back: %v", err)
		}
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestHungStoreRefusesCallsAndCloseReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog(t, hung{}, 2)
		if err := record(l, "a", "b"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if err := l.Reserve(); !errors.Is(err, access.ErrLogFull) {
			t.Errorf("got %v, want ErrLogFull", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		if err := l.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "2 records") {
			t.Errorf("Close: %v; want the deadline and how many records are lost", err)
		}
	})
}

func TestCloseGivesUpAStoreThatGoesOnFailing(t *testing.T) {
	for name, store := range map[string]access.SegmentStore{"fails": failing{}, "hangs": hung{}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLog(t, store, 0)
				if err := record(l, "a", "b"); err != nil {
					t.Fatal(err)
				}
				started := time.Now()
				if err := l.Close(context.Background()); err == nil ||
					!strings.Contains(err.Error(), "2 records could not be stored and are lost") {
					t.Errorf("Close: %v; want how many records are lost", err)
				}
				if took := time.Since(started); took > 8*time.Second {
					t.Errorf("Close took %v", took)
				}
			})
		})
	}
}

type failing struct{ access.SegmentStore }

func (failing) AppendSegment(context.Context, access.Segment) error { return errors.New("disk full") }

type hung struct{ access.SegmentStore }

func (hung) AppendSegment(ctx context.Context, _ access.Segment) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestSegmentIsAppendedOnceAfterALostAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s accesstest.Segments
		l := newLog(t, &s, 0)
		s.LoseAnswer()
		if err := record(l, "a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(600 * time.Millisecond)
		if err := record(l, "b"); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := kept(t, &s); got != "a b" {
			t.Errorf("the store has %q, want a b", got)
		}
		if l.Depth() != 0 {
			t.Errorf("depth %d after Close", l.Depth())
		}
	})
}

func TestCloseWaitsForOpenCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s accesstest.Segments
		l := newLog(t, &s, 0)
		if err := l.Reserve(); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(2 * time.Second)
			l.Record(access.Record{Operation: "late", At: time.Now()})
		}()
		if err := l.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := kept(t, &s); got != "late" {
			t.Errorf("the store has %q", got)
		}
		if err := l.Reserve(); !errors.Is(err, access.ErrLogClosed) {
			t.Errorf("a closed log answers %v", err)
		}
		if err := l.Close(context.Background()); err != nil {
			t.Errorf("closing again: %v", err)
		}
	})
}

func TestManyRecordsFlushBeforeTheTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s accesstest.Segments
		l := newLog(t, &s, 100)
		defer l.Close(context.Background())
		for range 1000 {
			if err := record(l, "x"); err != nil {
				t.Fatalf("with a store that is well: %v", err)
			}
			synctest.Wait()
		}
	})
}

func TestNoRecordIsLostUnderRace(t *testing.T) {
	var s accesstest.Segments
	l := newLog(t, &s, 64)
	var wg sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for range 8 {
		wg.Go(func() {
			for range 2000 {
				if record(l, "x") == nil {
					mu.Lock()
					admitted++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if err := l.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	v, err := access.VerifySegments(context.Background(), &s, nil)
	if err != nil || v.Records != admitted || admitted == 0 {
		t.Errorf("%d admitted, %+v stored, %v", admitted, v, err)
	}
}

func TestGuardRefusesCallsThatCannotBeRecorded(t *testing.T) {
	var s accesstest.Segments
	s.Fail(errors.New("gone"))
	l := newLog(t, &s, 1)
	g := access.NewGuard(access.Config{Recorder: l})
	a, err := g.Admit(context.Background(), access.Caller{Subject: "x"}, access.Request{Operation: "o"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Admit(context.Background(), access.Caller{Subject: "x"}, access.Request{Operation: "o"}); err == nil {
		t.Error("a call went on without room for its record")
	}
	a.Done(context.Background(), 0, nil)
	s.Fail(nil)
	if err := l.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestLogWantsStoreAndProcess(t *testing.T) {
	for _, c := range []access.LogConfig{{Process: "p"}, {Store: hung{}}} {
		if _, err := access.NewLog(c); err == nil {
			t.Errorf("NewLog(%+v) went on", c)
		}
	}
}

// BenchmarkLog does not time the flusher's work; BenchmarkFlush does.
func BenchmarkLog(b *testing.B) {
	const capacity = 1 << 14
	l, err := access.NewLog(access.LogConfig{Store: nowhere{}, Process: "p", Capacity: 4 * capacity, Every: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close(context.Background())
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if err := l.Reserve(); err != nil {
			b.Fatal(err)
		}
		l.Record(sampleRecord)
		if n++; n%capacity == 0 {
			b.StopTimer()
			if err := l.Flush(context.Background()); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	}
}

var sampleRecord = access.Record{At: time.Unix(1, 0), Operation: "get_card", Subject: "anna", Correlation: "0197",
	Target: "A+B", Outcome: "ok"}

func BenchmarkFlush(b *testing.B) {
	l, err := access.NewLog(access.LogConfig{Store: nowhere{}, Process: "p", Every: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close(context.Background())
	for b.Loop() {
		for range 1000 {
			if err := l.Reserve(); err != nil {
				b.Fatal(err)
			}
			l.Record(sampleRecord)
		}
		if err := l.Flush(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
}

type nowhere struct{ access.SegmentStore }

func (nowhere) AppendSegment(context.Context, access.Segment) error { return nil }

func ExampleLog() {
	var store accesstest.Segments
	l, err := access.NewLog(access.LogConfig{Store: &store, Process: "host-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	guard := access.NewGuard(access.Config{Recorder: l})
	a, err := guard.Admit(context.Background(), access.Caller{Subject: "anna"}, access.Request{Operation: "list_types"})
	if err != nil {
		fmt.Println(err)
		return
	}
	a.Done(context.Background(), 120, nil)
	if err := l.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	v, err := access.VerifySegments(context.Background(), &store, nil)
	fmt.Println(v.Records, err)
	// Output: 1 <nil>
}
