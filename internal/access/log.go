package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// LogConfig configures a Log. Store and Process must be set.
type LogConfig struct {
	Store   SegmentStore
	Process string // id of this process; never used by another process or an earlier one
	// Capacity bounds the records that are not durable yet; 0 means 16,384, about 5 MiB.
	Capacity int
	// Every is the interval of flushes; 0 means 500 ms, which leaves half of the promised second to
	// the store.
	Every time.Duration
	// Patience is the time for which Close retries a failing store; 0 means 2 s. A store that does
	// not answer at all gets four times that.
	Patience time.Duration
	// Seen stores the index of the records by card; nil: there is none.
	Seen   SeenStore
	Now    func() time.Time // time.Now when nil
	Logger *slog.Logger     // logs when the store begins to fail and when it works again; slog.Default when nil
}

// Reasons for which a Log refuses a call.
var (
	ErrLogFull   = errors.New("access: the log is full, and the store does not take its records")
	ErrLogClosed = errors.New("access: the log is closed")
)

// Log is a Recorder that stores records in a SegmentStore. Records wait in a bounded buffer, and a
// flusher makes them durable, in order, at least once a second. No record is dropped: if the store
// fails or hangs, the buffer fills and Reserve refuses.
type Log struct {
	cfg  LogConfig
	wake chan struct{} // requests a flush now
	quit chan struct{}
	done chan struct{}
	stop context.CancelFunc // cancels the flusher's calls of the store

	mu       sync.Mutex
	reserved int      // guarded by mu: places reserved in the buffer, and not yet used
	queue    []Record // guarded by mu: recorded, and not yet taken by the flusher
	taken    int      // guarded by mu: taken by the flusher, and not yet durable
	closed   bool     // guarded by mu
	durable  LogHead  // guarded by mu: the last segment in the store

	flushing chan struct{} // holds one token; its holder may use spare, unsaved, seq and prev
	spare    []Record
	unsaved  []Segment
	seq      uint64
	prev     [32]byte
	failing  bool // used only by the flusher

	seen     *seenIndex    // nil without one
	full     chan struct{} // asks for a step of the index now
	followed chan struct{} // closed when the index is not followed any more
}

// NewLog returns a Log and starts its flusher. The caller must Close it.
func NewLog(c LogConfig) (*Log, error) {
	if c.Store == nil || c.Process == "" {
		return nil, errors.New("access: a log needs a store and the name of its process")
	}
	if c.Capacity <= 0 {
		c.Capacity = 1 << 14
	}
	if c.Every <= 0 {
		c.Every = 500 * time.Millisecond
	}
	if c.Patience <= 0 {
		c.Patience = 2 * time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	ctx, stop := context.WithCancel(context.Background())
	l := &Log{cfg: c, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
		stop: stop, flushing: make(chan struct{}, 1), full: make(chan struct{}, 1), followed: make(chan struct{})}
	l.flushing <- struct{}{}
	go l.run(ctx)
	if c.Seen == nil {
		close(l.followed)
		return l, nil
	}
	l.seen = &seenIndex{store: c.Seen, segments: c.Store, process: c.Process}
	go l.followSeen(ctx)
	return l, nil
}

// Reserve reserves room for one record. Its errors are ErrLogFull and ErrLogClosed.
func (l *Log) Reserve() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrLogClosed
	}
	if l.reserved+len(l.queue)+l.taken >= l.cfg.Capacity {
		return ErrLogFull
	}
	l.reserved++
	return nil
}

// maxTarget is the greatest length of a card name, in bytes of UTF-8.
const maxTarget = 4 * 255

// Record stores a record in the room that Reserve reserved. It does not wait for the store.
func (l *Log) Record(r Record) {
	if len(r.Target) > maxTarget {
		r.Target = strings.ToValidUTF8(r.Target[:maxTarget], "")
	}
	l.mu.Lock()
	l.reserved = max(0, l.reserved-1)
	l.queue = append(l.queue, r)
	half := len(l.queue) == l.cfg.Capacity/2
	l.mu.Unlock()
	if half {
		l.wakeFlusher()
	}
}

// wakeFlusher requests a flush and does not wait for it.
func (l *Log) wakeFlusher() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Depth returns the number of records that are not durable yet, including those of open calls.
func (l *Log) Depth() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reserved + len(l.queue) + l.taken
}

// run flushes at every tick and on request, until Close.
func (l *Log) run(ctx context.Context) {
	defer close(l.done)
	tick := time.NewTicker(l.cfg.Every)
	defer tick.Stop()
	for {
		select {
		case <-l.quit:
			return
		case <-tick.C:
		case <-l.wake:
		}
		l.reportFlush(l.Flush(ctx))
	}
}

// reportFlush logs once when the store begins to fail, and once when it works again.
func (l *Log) reportFlush(err error) {
	switch {
	case err != nil && !l.failing:
		l.cfg.Logger.Error("access records cannot be stored; calls are refused once the buffer is full", "error", err,
			"waiting", l.Depth())
	case err == nil && l.failing:
		l.cfg.Logger.Info("access records can be stored again")
	}
	l.failing = err != nil
}

// Process returns the id of this process.
func (l *Log) Process() string { return l.cfg.Process }

// Head returns the last durable segment of this process, or the zero LogHead.
func (l *Log) Head() LogHead {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.durable
}

// Flush makes the records durable that were recorded before it was called. Segments that the store
// does not accept are kept unchanged for the next flush.
func (l *Log) Flush(ctx context.Context) error {
	select {
	case <-l.flushing:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { l.flushing <- struct{}{} }()
	if err := l.saveSegments(ctx); err != nil {
		return err
	}
	batch := l.takeQueue()
	err := l.cutSegments(batch)
	clear(batch)
	l.spare = batch[:0]
	if err != nil {
		return err
	}
	return l.saveSegments(ctx)
}

// takeQueue takes all records out of the queue. The caller holds the flushing token.
func (l *Log) takeQueue() []Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch := l.queue
	l.queue, l.spare = l.spare[:0], nil
	l.taken += len(batch)
	return batch
}

// cutSegments splits a batch into segments. The caller holds the flushing token.
func (l *Log) cutSegments(batch []Record) error {
	for len(batch) > 0 {
		part := batch[:min(len(batch), maxSegmentRecords)]
		batch = batch[len(part):]
		s, err := newSegment(l.cfg.Process, l.seq+1, l.prev, part)
		if err != nil {
			return err
		}
		s.At = l.cfg.Now().UTC()
		l.seq, l.prev = s.Seq, s.Hash
		l.unsaved = append(l.unsaved, s)
		l.seen.countRecords(part)
	}
	if l.seen.isFull() {
		select {
		case l.full <- struct{}{}:
		default:
		}
	}
	return nil
}

// saveSegments appends the unsaved segments to the store. The caller holds the flushing token.
func (l *Log) saveSegments(ctx context.Context) error {
	for len(l.unsaved) > 0 {
		s := l.unsaved[0]
		if err := l.cfg.Store.AppendSegment(ctx, s); err != nil {
			return fmt.Errorf("access: segment %d of %s: %w", s.Seq, s.Process, err)
		}
		l.unsaved[0] = Segment{}
		l.unsaved = l.unsaved[1:]
		l.mu.Lock()
		l.taken -= s.Count
		l.durable = s.head()
		l.mu.Unlock()
	}
	return nil
}

// Close refuses new calls, waits until the open ones are recorded, makes all records durable and
// stops the flusher. If the store keeps failing for Patience, Close stops trying, so that a program
// can end even on a full disk. Its error then gives the number of lost records. Closing twice is
// harmless.
func (l *Log) Close(ctx context.Context) error {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	l.mu.Unlock()
	if first {
		close(l.quit)
	}
	ctx, cancel := context.WithTimeout(ctx, 4*l.cfg.Patience)
	defer cancel()
	err := l.drain(ctx)
	if err == nil {
		if err := l.stepSeen(ctx, true); err != nil { // another process will count the records
			l.cfg.Logger.Warn("the index of the access records by card is behind", "error", err)
		}
	}
	l.stop()
	<-l.done
	<-l.followed
	if n := l.Depth(); n > 0 {
		return fmt.Errorf("access: %d records could not be stored and are lost: %w", n, err)
	}
	return nil
}

// drain flushes until no record waits, the store has failed for Patience, or ctx ends.
func (l *Log) drain(ctx context.Context) error {
	retry := time.NewTicker(10 * time.Millisecond)
	defer retry.Stop()
	var failing <-chan time.Time // fires Patience after the first of consecutive failures
	for {
		err := l.Flush(ctx)
		switch {
		case err == nil && l.Depth() == 0:
			return nil
		case err == nil:
			failing = nil
		case failing == nil:
			failing = time.After(l.cfg.Patience)
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-failing:
			return err
		case <-retry.C:
		}
	}
}
