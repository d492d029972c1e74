package studio

import (
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"sync"

	"loregate/internal/access"
	"loregate/internal/op"
)

// liveRun is a run that is under way in this process.
type liveRun struct {
	run    *Run // only what begin set is read
	world  access.WorldID
	cancel context.CancelCauseFunc
	done   chan struct{}
	end    *Run // as it ended; read after done

	mu      sync.Mutex // guards what follows
	step    int        // number of the last progress
	last    json.RawMessage
	changed chan struct{}
}

func newLiveRun(run *Run, w access.WorldID, cancel context.CancelCauseFunc) *liveRun {
	return &liveRun{run: run, world: w, cancel: cancel, done: make(chan struct{}), changed: make(chan struct{})}
}

// registerLive lets a run be seen, followed and cancelled while it goes on; leave ends that, with
// the run as it ended.
func (s *Studio) registerLive(ctx context.Context, run *Run, w access.WorldID) (live *liveRun, with context.Context, leave func(*Run)) {
	with, cancel := context.WithCancelCause(ctx)
	live = newLiveRun(run, w, cancel)
	s.mu.Lock()
	s.live[run.ID] = live
	s.mu.Unlock()
	return live, with, func(end *Run) {
		live.end = end
		s.mu.Lock()
		delete(s.live, run.ID)
		s.mu.Unlock()
		close(live.done)
		cancel(nil)
	}
}

// wait waits for the run's end.
func (l *liveRun) wait(ctx context.Context) error {
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reportProgress keeps the latest progress for followers; those that are slow miss what is older.
func (l *liveRun) reportProgress(done, total float64, message string) {
	b, err := json.Marshal(map[string]any{"done": done, "total": total, "message": message})
	if err != nil {
		return // not a number
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.step++
	l.last = b
	close(l.changed)
	l.changed = make(chan struct{})
}

// followAfter yields progress after a number, and the end.
func (l *liveRun) followAfter(ctx context.Context, after int) iter.Seq2[op.Message, error] {
	return func(yield func(op.Message, error) bool) {
		for {
			l.mu.Lock()
			step, last, changed := l.step, l.last, l.changed
			l.mu.Unlock()
			if step > after {
				after = step
				if !yield(op.Message{ID: strconv.Itoa(step), Event: "progress", Data: last}, nil) {
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
