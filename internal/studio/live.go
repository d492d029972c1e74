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
	run    *Run // only what begin set is read while the run goes on; all of it after done
	world  access.WorldID
	cancel context.CancelCauseFunc
	done   chan struct{}

	mu      sync.Mutex // guards what follows
	step    int        // number of the last progress
	last    json.RawMessage
	changed chan struct{}
}

func newLive(run *Run, w access.WorldID, cancel context.CancelCauseFunc) *liveRun {
	return &liveRun{run: run, world: w, cancel: cancel, done: make(chan struct{}), changed: make(chan struct{})}
}

// report keeps the latest progress for followers; those that are slow miss what is older.
func (l *liveRun) report(done, total float64, message string) {
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

// follow yields progress after a number, and the end.
func (l *liveRun) follow(ctx context.Context, after int) iter.Seq2[op.Message, error] {
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
				yield(endMessage(l.run), nil)
				return
			case <-ctx.Done():
				return
			}
		}
	}
}
