package job

import (
	"cmp"
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

// State is the state of a job.
type State string

// The states of a job. Queued and Running end in Completed or Failed.
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
	Level   access.Level // level of the caller that started it; hidden from lower views
	Owner   string       // the process that runs it
	State   State
	Result  json.RawMessage // result of a completed job
	Problem string          // problem of a failed job, shown to its caller
	Created time.Time
	Changed time.Time
}

// Done reports whether the job has ended.
func (j Job) Done() bool { return j.State == Completed || j.State == Failed }

// Store stores jobs.
type Store interface {
	// PutJob stores a job. It leaves a job that has ended unchanged: a process whose lease ran out
	// may still write, but too late.
	PutJob(ctx context.Context, j Job) error
	Job(ctx context.Context, id uuid.UUID) (Job, bool, error)
	// Touch records that a process is alive at now, and fails every unfinished job whose owner's
	// last touch is older than before.
	Touch(ctx context.Context, owner string, now, before time.Time) error
}

// Config configures a Runner. Workers defaults to 2; Now and NewID to the clock and UUIDv7; Logger to
// slog.Default.
type Config struct {
	Store   Store
	Workers int
	Now     func() time.Time
	NewID   func() uuid.UUID
	Logger  *slog.Logger
	Inline  bool // Start waits for the end of the job and ignores patience
}

// Runner runs jobs. Close it to stop them.
type Runner struct {
	store Store
	now   func() time.Time
	newID func() uuid.UUID
	log   *slog.Logger
	alone bool // Config.Inline
	owner string
	slots chan struct{}
	ctx   context.Context
	stop  context.CancelFunc
	wait  sync.WaitGroup
	queue atomic.Int64 // number of jobs that wait for a slot

	mu   sync.Mutex
	lost context.CancelFunc // cancels hold. Guarded by mu
	hold context.Context    //nolint:containedctx // context of all work under the current lease. Guarded by mu
}

// pulse is the interval at which a process renews its lease; after three missed pulses its jobs
// count as interrupted.
const pulse = 10 * time.Second

// New returns a Runner and fails the jobs that a stop interrupted.
func New(ctx context.Context, c Config) (*Runner, error) {
	c.Workers = cmp.Or(c.Workers, 2)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &Runner{store: c.Store, now: c.Now, newID: c.NewID, log: c.Logger, alone: c.Inline,
		owner: c.NewID().String(), slots: make(chan struct{}, c.Workers), ctx: run, stop: stop}
	r.renewLease()
	r.wait.Go(r.keepLease)
	return r, nil
}

// renewLease begins a new lease and cancels all work under the previous one.
func (r *Runner) renewLease() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost != nil {
		r.lost()
	}
	r.hold, r.lost = context.WithCancel(r.ctx)
}

// leaseContext returns the context of the current lease.
func (r *Runner) leaseContext() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hold
}

// keepLease touches the store until the Runner is closed. If it could not do so for so long that
// other processes failed its jobs, for example because the process was paused, it cancels their
// work.
func (r *Runner) keepLease() {
	tick := time.NewTicker(pulse)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-tick.C:
			if time.Since(last) > 3*pulse {
				r.renewLease()
			}
			now := r.now()
			err := r.store.Touch(r.ctx, r.owner, now, now.Add(-3*pulse))
			if err == nil {
				last = time.Now()
			} else if r.ctx.Err() == nil {
				r.log.Warn("the lease of a job cannot be renewed", "error", err)
			}
		}
	}
}

// Work is the function of a job. Its result is encoded as JSON.
type Work func(ctx context.Context) (any, error)

// Start starts work with a grant and waits for it up to patience. The Job it returns is completed
// or failed if the work ended in that time, else queued or running.
func (r *Runner) Start(ctx context.Context, g access.Grant, kind string, patience time.Duration,
	work Work) (Job, error) {
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

// Waiting returns the number of this process's jobs that wait for a slot.
func (r *Runner) Waiting() int { return int(r.queue.Load()) }

func (r *Runner) run(j Job, work Work) Job {
	r.queue.Add(1)
	select {
	case r.slots <- struct{}{}:
		r.queue.Add(-1)
		defer func() { <-r.slots }()
	case <-r.ctx.Done():
		r.queue.Add(-1)
		return r.endJob(j, nil, errInterrupted)
	}
	j.State, j.Changed = Running, r.now().UTC()
	if err := r.store.PutJob(r.ctx, j); err != nil {
		return r.endJob(j, nil, err)
	}
	result, err := runGuarded(r.leaseContext(), work)
	return r.endJob(j, result, err)
}

// runGuarded runs work and turns a panic into an error.
func runGuarded(ctx context.Context, work Work) (result any, err error) {
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

func (r *Runner) endJob(j Job, result any, err error) Job {
	if err == nil {
		j.Result, err = json.Marshal(result)
	}
	j.State, j.Changed = Completed, r.now().UTC()
	if err != nil {
		if errors.Is(err, context.Canceled) {
			err = errInterrupted
		}
		j.State, j.Result, j.Problem = Failed, nil, fault.Show(err, j.ID.String()).Error.Message
		r.log.Warn("job failed", "kind", j.Kind, "job", j.ID, "error", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), 5*time.Second)
	defer cancel()
	if err := r.store.PutJob(ctx, j); err != nil {
		r.log.Error("the result of a job cannot be stored", "job", j.ID, "error", err)
	}
	return j
}

// Find returns a job of the grant's world to its starter, or to an admin, if the view's level is at
// least the job's.
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
	if !ok || j.World != g.World() || (j.By != g.Caller().Subject && g.Role() < access.RoleAdmin) ||
		g.View().Level < j.Level {
		return Job{}, absent
	}
	return j, nil
}

// Close cancels all work and waits for it.
func (r *Runner) Close() {
	r.stop()
	r.wait.Wait()
}
