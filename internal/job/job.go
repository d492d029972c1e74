// Package job runs work that outlives a call: it keeps what state the work is in where a
// restart finds it, and bounds how much runs at once.
//
// Its invariant: a job is in one state at a time, and a job that nobody runs any more is
// never shown as running. A job works with the grant of the call that started it, so it
// sees and does no more than its caller; grants do not outlive the process, so a job that
// a stop interrupted is failed, says so, and can be started again. What the work is, its
// surface knows.
package job

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// State is where a job stands.
type State string

// The states. Queued and Running end in Completed or Failed.
const (
	Queued    State = "queued"
	Running   State = "running"
	Completed State = "completed"
	Failed    State = "failed"
)

// Job is one piece of work.
type Job struct {
	ID      uuid.UUID
	World   access.WorldID
	Kind    string
	By      access.Subject
	Level   access.Level // level of the caller that started it; lower views do not see it
	Owner   string       // process that runs it
	State   State
	Result  json.RawMessage // of a completed job
	Problem string          // of a failed job, for its caller
	Created time.Time
	Changed time.Time
}

// Done reports whether the job has ended.
func (j Job) Done() bool { return j.State == Completed || j.State == Failed }

// Store keeps jobs.
type Store interface {
	// PutJob keeps a job. One that has ended stays as it ended: what a process writes that
	// was taken for gone comes too late.
	PutJob(ctx context.Context, j Job) error
	Job(ctx context.Context, id uuid.UUID) (Job, bool, error)
	// Touch says that a process is alive, and fails every unfinished job whose owner
	// has not been touched since before.
	Touch(ctx context.Context, owner string, now, before time.Time) error
}

// Config is what a Runner is made of. Workers defaults to 2; Now and NewID to the clock
// and UUIDv7.
type Config struct {
	Store   Store
	Workers int
	Now     func() time.Time
	NewID   func() uuid.UUID
	Inline  bool // a job ends before Start returns, whatever the patience
}

// Runner runs jobs. Close it to stop them.
type Runner struct {
	store Store
	now   func() time.Time
	newID func() uuid.UUID
	alone bool // Config.Inline
	owner string
	slots chan struct{}
	ctx   context.Context
	stop  context.CancelFunc
	wait  sync.WaitGroup
	queue atomic.Int64 // jobs that wait for a slot

	mu   sync.Mutex
	lost context.CancelFunc // ends what runs on the present lease. Guarded by mu
	hold context.Context    //nolint:containedctx // what runs on the present lease ends with it. Guarded by mu
}

// pulse is how often a process says that it lives; three missed pulses and its jobs are
// taken for interrupted.
const pulse = 10 * time.Second

// New makes a Runner and fails the jobs that a stop interrupted.
func New(ctx context.Context, c Config) (*Runner, error) {
	if c.Workers == 0 {
		c.Workers = 2
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &Runner{store: c.Store, now: c.Now, newID: c.NewID, alone: c.Inline, owner: c.NewID().String(),
		slots: make(chan struct{}, c.Workers), ctx: run, stop: stop}
	r.renew()
	r.wait.Go(r.beat)
	return r, nil
}

// renew begins a lease. What ran on the one before ends.
func (r *Runner) renew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost != nil {
		r.lost()
	}
	r.hold, r.lost = context.WithCancel(r.ctx)
}

// lease is the present one.
func (r *Runner) lease() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hold
}

// beat says that the process lives. Where it could not for so long that it was taken for
// gone, such as one that was paused, its jobs are failed by now and their work ends.
func (r *Runner) beat() {
	tick := time.NewTicker(pulse)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-tick.C:
			if time.Since(last) > 3*pulse {
				r.renew()
			}
			now := r.now()
			err := r.store.Touch(r.ctx, r.owner, now, now.Add(-3*pulse))
			if err == nil {
				last = time.Now()
			} else if r.ctx.Err() == nil {
				slog.Warn("cannot keep the job lease", "error", err)
			}
		}
	}
}

// Work is what a job does. Its result is encoded as JSON.
type Work func(ctx context.Context) (any, error)

// Start begins work in the name of a grant and waits for it up to patience. The Job it
// returns is completed or failed when the work ended in that time, else queued or running.
func (r *Runner) Start(ctx context.Context, g access.Grant, kind string, patience time.Duration, work Work) (Job, error) {
	now := r.now().UTC()
	j := Job{ID: r.newID(), World: g.World(), Kind: kind, By: g.Caller().Subject, Level: g.View().Level,
		Owner: r.owner, State: Queued, Created: now, Changed: now}
	if err := r.store.Touch(ctx, r.owner, now, now.Add(-3*pulse)); err != nil {
		return Job{}, err
	}
	if err := r.store.PutJob(ctx, j); err != nil {
		return Job{}, err
	}
	if r.alone {
		return r.run(j, work), nil
	}
	done := make(chan Job, 1)
	r.wait.Go(func() { done <- r.run(j, work) })
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case j = <-done:
		return j, nil
	case <-timer.C:
	case <-ctx.Done():
	}
	return j, nil
}

// Waiting is how many jobs wait here for others to end.
func (r *Runner) Waiting() int { return int(r.queue.Load()) }

func (r *Runner) run(j Job, work Work) Job {
	r.queue.Add(1)
	select {
	case r.slots <- struct{}{}:
		r.queue.Add(-1)
		defer func() { <-r.slots }()
	case <-r.ctx.Done():
		r.queue.Add(-1)
		return r.end(j, nil, errInterrupted)
	}
	j.State, j.Changed = Running, r.now().UTC()
	if err := r.store.PutJob(r.ctx, j); err != nil {
		return r.end(j, nil, err)
	}
	result, err := guarded(r.lease(), work)
	return r.end(j, result, err)
}

// guarded runs work and makes an error of a panic.
func guarded(ctx context.Context, work Work) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Panicked("a job", p)
		}
	}()
	return work(ctx)
}

// Interrupted is the problem of a job whose process stopped.
const Interrupted = "the server stopped before the job was done; start it again"

var errInterrupted = fault.New(fault.Unavailable, Interrupted)

func (r *Runner) end(j Job, result any, err error) Job {
	if err == nil {
		j.Result, err = json.Marshal(result)
	}
	j.State, j.Changed = Completed, r.now().UTC()
	if err != nil {
		if errors.Is(err, context.Canceled) {
			err = errInterrupted
		}
		j.State, j.Result, j.Problem = Failed, nil, fault.Show(err, j.ID.String()).Error.Message
		slog.Warn("job failed", "kind", j.Kind, "job", j.ID, "error", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), 5*time.Second)
	defer cancel()
	if err := r.store.PutJob(ctx, j); err != nil {
		slog.Error("cannot keep the end of a job", "job", j.ID, "error", err)
	}
	return j
}

// Find gives a job of the grant's world to its starter, or to a view at least as high.
func (r *Runner) Find(ctx context.Context, g access.Grant, id string) (Job, error) {
	absent := fault.New(fault.NotFound, "there is no such job; start it again")
	u, err := uuid.Parse(id)
	if err != nil {
		return Job{}, absent
	}
	j, ok, err := r.store.Job(ctx, u)
	if err != nil {
		return Job{}, err
	}
	if !ok || j.World != g.World() || (j.By != g.Caller().Subject && g.Role() < access.RoleAdmin) || g.View().Level < j.Level {
		return Job{}, absent
	}
	return j, nil
}

// Close stops all work and waits for it.
func (r *Runner) Close() {
	r.stop()
	r.wait.Wait()
}
