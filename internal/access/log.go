package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// LogConfig is what a Log is made of. Store and Process must be set.
type LogConfig struct {
	Store   SegmentStore
	Process string // this process; never used by another or by an earlier one
	// Capacity is how many records may wait to become durable; 0 is 16,384, about 5 MiB.
	Capacity int
	// Every is how often records are made durable; 0 is 500 ms, which leaves half of the
	// promised second to the store.
	Every time.Duration
	// Patience is how long Close goes on trying a store that fails; 0 is 2 s. One that does
	// not answer at all has four times that.
	Patience time.Duration
	Now      func() time.Time // time.Now when nil
	Logger   *slog.Logger     // told once when the store begins to fail and when it is well again; slog.Default when nil
}

// Why a Log refuses a call.
var (
	ErrLogFull   = errors.New("access: the log holds as many records as it may, and the store has not taken them")
	ErrLogClosed = errors.New("access: the log is closed")
)

// Log is the Recorder that keeps records in a SegmentStore. Records wait in a bounded
// buffer; a flusher makes them durable, in order, at least once a second. No record is
// dropped: a store that fails or hangs fills the buffer, and then Reserve refuses.
type Log struct {
	cfg  LogConfig
	wake chan struct{} // asks for a flush now
	quit chan struct{}
	done chan struct{}
	stop context.CancelFunc // ends what the flusher waits for

	mu       sync.Mutex
	reserved int      // guarded by mu: rooms kept by Reserve, not yet used
	queue    []Record // guarded by mu: recorded, not yet taken by the flusher
	taken    int      // guarded by mu: taken by the flusher, not yet durable
	closed   bool     // guarded by mu

	flushing chan struct{} // holds one token; whoever has it may use the rest
	spare    []Record
	unsaved  []Segment
	seq      uint64
	prev     [32]byte
	failing  bool
}

// NewLog makes a Log and starts its flusher. Close it.
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
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	ctx, stop := context.WithCancel(context.Background())
	l := &Log{cfg: c, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
		stop: stop, flushing: make(chan struct{}, 1)}
	l.flushing <- struct{}{}
	go l.run(ctx)
	return l, nil
}

// Reserve keeps room for one record. Its errors are ErrLogFull and ErrLogClosed.
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

// maxTarget is the longest name a card may have, in bytes of UTF-8.
const maxTarget = 4 * 255

// Record uses a room that Reserve kept. It does not wait for the store.
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

func (l *Log) wakeFlusher() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Depth is how many records are not durable yet, counting the calls that are open.
func (l *Log) Depth() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reserved + len(l.queue) + l.taken
}

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

// reportFlush says once that the store fails, and once that it is well again.
func (l *Log) reportFlush(err error) {
	switch {
	case err != nil && !l.failing:
		l.cfg.Logger.Error("access records cannot be stored; calls are refused once the buffer is full", "error", err, "waiting", l.Depth())
	case err == nil && l.failing:
		l.cfg.Logger.Info("access records are stored again")
	}
	l.failing = err != nil
}

// Flush makes durable what was recorded before it was called. What the store does not
// take is kept for the next time, unchanged.
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

// takeQueue empties the queue into the flusher's hands. The caller holds the flushing token.
func (l *Log) takeQueue() []Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch := l.queue
	l.queue, l.spare = l.spare[:0], nil
	l.taken += len(batch)
	return batch
}

// cutSegments makes segments of a batch. The caller holds the flushing token.
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
	}
	return nil
}

// saveSegments gives the store what it has not taken yet. The caller holds the flushing token.
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
		l.mu.Unlock()
	}
	return nil
}

// Close refuses new calls, waits for the open ones to be recorded, makes all records
// durable and stops the flusher. It gives up a store that goes on failing for Patience: a
// program must end on a full disk too. Its error then says how many records are lost.
// Closing twice does no harm.
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
	l.stop()
	<-l.done
	if n := l.Depth(); n > 0 {
		return fmt.Errorf("access: %d records could not be stored and are lost: %w", n, err)
	}
	return nil
}

// drain flushes until nothing waits, the store has failed for Patience, or ctx ends.
func (l *Log) drain(ctx context.Context) error {
	retry := time.NewTicker(10 * time.Millisecond)
	defer retry.Stop()
	var failing <-chan time.Time // fires Patience after the first of the failures in a row
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
