package access_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"loregate/internal/access"
	"loregate/internal/access/accesstest"
	"loregate/internal/fault"
)

// library is a world whose readers have a guard, with an index of the cards that they were shown.
type library struct {
	t     *testing.T
	store *accesstest.Segments
	log   *access.Log
	guard *access.Guard
	later atomic.Int64 // how much the log's clock is ahead
}

var libraryWorld = access.WorldID{7}

func newLibrary(t *testing.T, store *accesstest.Segments, process string) *library {
	t.Helper()
	l, quiet := &library{t: t, store: store}, slog.New(slog.DiscardHandler)
	now := func() time.Time { return time.Now().Add(time.Duration(l.later.Load())) }
	var err error
	if l.log, err = access.NewLog(access.LogConfig{Store: store, Seen: store, Process: process, Now: now,
		Logger: quiet}); err != nil {
		t.Fatal(err)
	}
	l.guard = access.NewGuard(access.Config{Recorder: l.log, Logger: quiet})
	return l
}

func (l *library) close() {
	l.t.Helper()
	if err := l.log.Close(context.Background()); err != nil {
		l.t.Error(err)
	}
}

func bookID(n int) (id [16]byte) {
	binary.BigEndian.PutUint32(id[:], uint32(n))
	id[6], id[8] = 0x70, 0x80
	return id
}

func (l *library) admit(who access.Subject, operation string) *access.Admission {
	l.t.Helper()
	a, err := l.guard.Admit(l.t.Context(), access.Caller{Subject: who, EveryRole: access.RoleUser},
		access.Request{Operation: operation, World: libraryWorld, MinRole: access.RoleUser})
	if err != nil {
		l.t.Fatal(err)
	}
	return a
}

// read makes a call that shows books, and ends with err.
func (l *library) read(who access.Subject, err error, books ...int) {
	l.t.Helper()
	a := l.admit(who, "read")
	for _, n := range books {
		a.Grant.NoteShown(bookID(n))
	}
	a.Done(l.t.Context(), 0, err)
}

func (l *library) want(book int, want string) {
	l.t.Helper()
	list, err := l.log.SeenBy(l.t.Context(), libraryWorld, [][16]byte{bookID(book)}, time.Time{})
	if err != nil {
		l.t.Fatal(err)
	}
	slices.SortFunc(list, func(a, b access.Seen) int { return strings.Compare(string(a.Subject), string(b.Subject)) })
	got := ""
	for _, s := range list {
		got += fmt.Sprintf("%s %s %d", s.Subject, s.Role, s.Times)
		if s.Whole > 0 {
			got += fmt.Sprintf(" whole %d", s.Whole)
		}
		got += "\n"
	}
	if got != want {
		l.t.Errorf("book %d was seen by\n%swant\n%s", book, got, want)
	}
}

func TestSeenByNamesThoseWhoWereShownACard(t *testing.T) {
	l := newLibrary(t, &accesstest.Segments{}, "p")
	defer l.close()
	l.want(1, "")
	l.read("ada", nil, 1, 2, 1)
	l.read("ada", nil, 1)
	l.read("ben", errors.New("it failed"), 1)
	l.read("cleo", fault.New(fault.NotFound, "there is no such book; near it are 1"), 1)
	l.want(1, "ada user 2\ncleo user 1\n")
	l.want(2, "ada user 1\n")
	l.want(3, "")
}

// TestAnswersBeyondTheBoundMayHoldAnyCard shows as many cards as a record names, and one more.
func TestAnswersBeyondTheBoundMayHoldAnyCard(t *testing.T) {
	l := newLibrary(t, &accesstest.Segments{}, "p")
	defer l.close()
	many := make([]int, 3000)
	for i := range many {
		many[i] = 100 + i%512
	}
	l.read("ada", nil, many...)
	l.want(100, "ada user 1\n")
	l.want(1, "")
	many[2999] = 99
	l.read("ben", nil, many...)
	l.want(1, "ben user 1 whole 1\n")
	a := l.admit("cleo", "export")
	a.Grant.NoteWorldShown()
	a.Done(t.Context(), 0, nil)
	l.want(1, "ben user 1 whole 1\ncleo user 1 whole 1\n")
}

// TestPartsOfACallCountOnce makes a call of two parts, which is repeated from a cache.
func TestPartsOfACallCountOnce(t *testing.T) {
	l := newLibrary(t, &accesstest.Segments{}, "p")
	defer l.close()
	whole := l.admit("ada", "browse")
	for range 2 {
		part := l.admit("ada", "read")
		part.Grant.NoteShown(bookID(1))
		part.PassShown(whole.Grant)
		part.Done(t.Context(), 0, nil)
	}
	shown := whole.Grant.AllShown()
	whole.Done(t.Context(), 0, nil)
	l.want(1, "ada user 1\n")
	again := l.admit("ada", "browse")
	again.Grant.NoteShownList(shown)
	again.Done(t.Context(), 0, nil)
	l.want(1, "ada user 2\n")
}

// TestAStreamNamesACardOnceAnHour shows the same card again and again.
func TestAStreamNamesACardOnceAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary(t, &accesstest.Segments{}, "p")
		defer l.close()
		a := l.admit("ada", "follow")
		for range 30 {
			a.Grant.NoteShown(bookID(1))
			a.RecordShown(10)
			time.Sleep(time.Minute)
		}
		l.want(1, "ada user 1\n")
		time.Sleep(time.Hour)
		a.Grant.NoteShown(bookID(2))
		a.RecordShown(20)
		a.Grant.NoteShown(bookID(1))
		a.RecordShown(30)
		l.want(1, "ada user 2\n")
		l.want(2, "ada user 1\n")
		a.Grant.NoteShown(bookID(1))
		a.Grant.NoteShown(bookID(3))
		a.Done(t.Context(), 30, errors.New("the reader went away"))
		l.want(1, "ada user 2\n")
		l.want(3, "ada user 1\n")
	})
}

// TestTheIndexFollowsOtherProcesses has a process that is stopped, one that is killed, and one that goes on.
func TestTheIndexFollowsOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &accesstest.Segments{}
		stopped, killed, other := newLibrary(t, store, "stopped"), newLibrary(t, store, "killed"), newLibrary(t, store, "other")
		stopped.read("ada", nil, 1)
		stopped.close()
		killed.read("ben", nil, 1)
		if err := killed.log.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer killed.close() // its goroutines must end; it has nothing to add
		other.read("cleo", nil, 1)
		all := "ada user 1\nben user 1\ncleo user 1\n"
		other.want(1, all)
		last := newLibrary(t, store, "last")
		defer last.close()
		last.want(1, all)
		for range 3 { // the steps of other and of last meet in the same segments
			other.read("cleo", nil, 1)
			if err := other.log.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			last.want(2, "")
			other.read("cleo", nil, 1)
			other.want(2, "")
		}
		all = strings.Replace(all, "cleo user 1", "cleo user 7", 1)
		last.want(1, all)
		other.close()
		last.want(1, all)
	})
}

// TestTheIndexIsKeptUpToDate leaves a store alone: without questions, the records reach the index within a few
// minutes, processes that have ended are not asked for ever, and counts are forgotten.
func TestTheIndexIsKeptUpToDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &accesstest.Segments{}
		gone, l := newLibrary(t, store, "gone"), newLibrary(t, store, "here")
		defer gone.close()
		defer l.close()
		gone.read("ada", nil, 1)
		gone.log.StopSeen()
		l.read("ben", nil, 1)
		time.Sleep(4 * time.Minute)
		wantProgress(t, store, "map[gone:{1 false} here:{1 false}]")
		l.later.Store(int64(8 * 24 * time.Hour))
		time.Sleep(4 * time.Minute)
		wantProgress(t, store, "map[gone:{1 true} here:{1 false}]")
		l.want(1, "ada user 1\nben user 1\n")
		l.later.Store(int64(3 * 365 * 24 * time.Hour))
		time.Sleep(time.Hour)
		l.want(1, "")
		l.close()
		wantProgress(t, store, "map[gone:{1 true} here:{1 true}]")
	})
}

func wantProgress(t *testing.T, s *accesstest.Segments, want string) {
	t.Helper()
	at, err := s.SeenProgress(t.Context())
	if got := fmt.Sprint(at); err != nil || got != want {
		t.Errorf("progress %s, %v, want %s", got, err, want)
	}
}

// TestTheIndexOutlivesAFailingStore reads while the store fails.
func TestTheIndexOutlivesAFailingStore(t *testing.T) {
	store := &accesstest.Segments{}
	l := newLibrary(t, store, "p")
	defer l.close()
	store.Fail(errors.New("the disk is full"))
	l.read("ada", nil, 1)
	if _, err := l.log.SeenBy(t.Context(), libraryWorld, [][16]byte{bookID(1)}, time.Time{}); err == nil {
		t.Error("a question was answered although records are not durable")
	}
	store.Fail(nil)
	l.want(1, "ada user 1\n")
}

// TestSinceLeavesOutEarlierAnswers asks about one of two days.
func TestSinceLeavesOutEarlierAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary(t, &accesstest.Segments{}, "p")
		defer l.close()
		l.read("ada", nil, 1)
		time.Sleep(24 * time.Hour)
		since := time.Now().Add(-time.Minute)
		l.read("ben", nil, 1)
		list, err := l.log.SeenBy(t.Context(), libraryWorld, [][16]byte{bookID(1)}, since)
		if err != nil || len(list) != 1 || list[0].Subject != "ben" || list[0].First.Before(since) {
			t.Errorf("%+v, %v", list, err)
		}
	})
}
