package studio

import (
	"context"
	"encoding/json"
	"iter"
	"math"
	"strconv"
	"sync"

	"loregate/internal/access"
	"loregate/internal/op"
)

// liveRun is a run under way in this process.
type liveRun struct {
	run    *Run // only fields set by beginRun are read
	world  access.WorldID
	cancel context.CancelCauseFunc
	done   chan struct{}
	end    *Run // the ended run; read only after done is closed

	mu      sync.Mutex // guards the fields below
	step    int        // number of the last progress report
	last    progress
	changed chan struct{}
}

func newLiveRun(run *Run, w access.WorldID, cancel context.CancelCauseFunc) *liveRun {
	return &liveRun{run: run, world: w, cancel: cancel, done: make(chan struct{}), changed: make(chan struct{})}
}

// registerLive makes a run visible, followable and cancellable while it is under way. leave ends
// that, given the ended run.
func (s *Studio) registerLive(ctx context.Context, run *Run,
	w access.WorldID) (live *liveRun, with context.Context, leave func(*Run)) {
	with, cancel := context.WithCancelCause(ctx)
	live = newLiveRun(run, w, cancel)
	s.mu.Lock()
	s.live[run.ID] = live
	s.signalLive()
	s.mu.Unlock()
	return live, with, func(end *Run) {
		live.end = end
		s.mu.Lock()
		delete(s.live, run.ID)
		s.signalLive()
		s.mu.Unlock()
		close(live.done)
		cancel(nil)
	}
}

// signalLive tells the followers of all runs that one has begun or ended here. The caller holds s.mu.
func (s *Studio) signalLive() {
	close(s.liveChanged)
	s.liveChanged = make(chan struct{})
}

// progress is a report of how far a run is.
type progress struct {
	Done    float64 `json:"done"`
	Total   float64 `json:"total"`
	Message string  `json:"message"`
}

// progress returns the last report; nil before the first one.
func (l *liveRun) progress() *progress {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.step == 0 {
		return nil
	}
	p := l.last
	return &p
}

// wait waits until the run ends.
func (l *liveRun) wait(ctx context.Context) error {
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reportProgress stores the latest progress for followers; slow followers miss older reports.
func (l *liveRun) reportProgress(done, total float64, message string) {
	if p := done + total; math.IsNaN(p) || math.IsInf(p, 0) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.step++
	l.last = progress{done, total, message}
	close(l.changed)
	l.changed = make(chan struct{})
}

// followAfter yields progress reports with a number above after, and then the end.
func (l *liveRun) followAfter(ctx context.Context, after int) iter.Seq2[op.Message, error] {
	return func(yield func(op.Message, error) bool) {
		for {
			l.mu.Lock()
			step, last, changed := l.step, l.last, l.changed
			l.mu.Unlock()
			if step > after {
				after = step
				b, err := json.Marshal(last)
				if !yield(op.Message{ID: strconv.Itoa(step), Event: "progress", Data: b}, err) {
					return
				}
			}
			select {
			case <-changed:
			case <-l.done:
				yield(endMessage(l.end), nil)
				return
			case <-ctx.Done():
				return
			}
		}
	}
}
