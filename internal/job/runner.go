package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/wait"
)

// Config configures a Runner. Workers, the number of worlds' jobs that run at once, defaults to 2; Now and
// NewID to the clock and UUIDv7; Logger to slog.Default.
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
	slots Slots
	ctx   context.Context
	stop  context.CancelFunc
	wait  sync.WaitGroup

	mu    sync.Mutex
	lost  context.CancelFunc  // cancels hold. Guarded by mu
	hold  context.Context     //nolint:containedctx // context of all work under the current lease. Guarded by mu
	tasks map[uuid.UUID]*task // the jobs of this process that have not ended. Guarded by mu
}

// task is a job of this process.
type task struct {
	work   Work
	grant  access.Grant
	stored bool                    // AddJob has returned. Guarded by Runner.mu
	cancel context.CancelCauseFunc // nil until the job runs. Guarded by Runner.mu
	ended  chan struct{}           // closed when the job has ended
	job    Job                     // as it was started; as it ended, once ended is closed
}

// pulse is the interval at which a process renews its lease; after three missed pulses its jobs
// count as interrupted. look is the interval at which a process with jobs reads what others did with them.
const (
	pulse = 10 * time.Second
	look  = time.Second
)

// bounds limit the jobs that wait and those that are kept with their results. A person waits for one import or scan at a
// time; the rest is for programs.
var bounds = Bounds{Caller: 8, World: 32, Kept: 200}

// maxRun bounds a job of a world, so that no world keeps a slot for longer. Jobs of the instance take the time that
// its store needs.
const maxRun = time.Hour

var errTooLong = fault.New(fault.TooLarge, "the job ran for an hour, which is the most that a job of a world may "+
	"take; do it in parts")

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
	// One world never has all slots, so that the job of another one always finds one soon.
	slots := Slots{Worlds: c.Workers, World: max(c.Workers-1, 1), Instance: 1}
	r := &Runner{store: c.Store, now: c.Now, newID: c.NewID, log: c.Logger, alone: c.Inline,
		owner: c.NewID().String(), slots: slots, ctx: run, stop: stop, tasks: map[uuid.UUID]*task{}}
	r.renewLease()
	r.wait.Go(r.keepLease)
	r.wait.Go(func() {
		for wait.For(r.ctx, look) {
			r.followStore()
		}
	})
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

// keepLease touches the store until the Runner is closed. If it could not do so for so long that
// other processes failed its jobs, for example because the process was paused, it cancels their
// work.
func (r *Runner) keepLease() {
	last := time.Now()
	for wait.For(r.ctx, pulse) {
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

// Work is the function of a job. Its result is encoded as JSON.
type Work func(ctx context.Context) (any, error)

// Kept is returned by work that fails, for a result that is shown with its problem.
type Kept struct{ Result any }

// Start starts work with a grant and waits for it up to patience. The Job it returns has ended if the work ended in
// that time; else it is queued or running. Start refuses the job if too many wait.
func (r *Runner) Start(ctx context.Context, g access.Grant, kind string, patience time.Duration,
	work Work) (Job, error) {
	now := r.now().UTC()
	j := Job{ID: r.newID(), World: g.World(), Kind: kind, By: g.Caller().Subject, Level: g.View().Level,
		Owner: r.owner, State: Queued, Created: now, Changed: now}
	if err := r.store.Touch(ctx, r.owner, now, now.Add(-3*pulse)); err != nil {
		return Job{}, err
	}
	t := &task{work: work, grant: g, job: j, ended: make(chan struct{})}
	r.mu.Lock()
	r.tasks[j.ID] = t
	r.mu.Unlock()
	if err := r.store.AddJob(ctx, j, bounds); err != nil {
		r.endTask(j)
		return Job{}, err
	}
	r.mu.Lock()
	t.stored = true
	r.mu.Unlock()
	if r.startNext(); r.ctx.Err() != nil {
		r.storeEnd(endOf(j, g, nil, errInterrupted), errInterrupted)
	}
	if r.alone {
		patience = maxRun
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	wait.Or(within, patience, t.ended)
	select {
	case <-t.ended:
		return t.job, nil
	default:
		return j, nil
	}
}

// Waiting returns the number of this process's jobs that wait for a slot.
func (r *Runner) Waiting() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.tasks {
		if t.cancel == nil {
			n++
		}
	}
	return n
}

// startNext starts the jobs for which slots are free.
func (r *Runner) startNext() {
	for r.ctx.Err() == nil && r.Waiting() > 0 {
		j, ok, err := r.store.ClaimJob(r.ctx, r.owner, r.slots, r.now().UTC())
		if err != nil && r.ctx.Err() == nil {
			r.log.Warn("jobs that wait cannot be started; trying again", "error", err)
		}
		if err != nil || !ok {
			return
		}
		r.startClaimed(j)
	}
}

// startClaimed starts a job that this process has claimed, unless it runs already.
func (r *Runner) startClaimed(j Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tasks[j.ID]
	if t == nil || t.cancel != nil || r.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancelCause(r.hold)
	t.cancel = cancel
	r.wait.Go(func() {
		defer cancel(nil)
		r.run(ctx, t, j)
	})
}

// stopTask stops a job that this process runs.
func (r *Runner) stopTask(id uuid.UUID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.tasks[id]; t != nil && t.cancel != nil {
		t.cancel(errCancelled)
	}
}

// endTask forgets a job that has ended, and wakes those who wait for it.
func (r *Runner) endTask(j Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.tasks[j.ID]; t != nil {
		delete(r.tasks, j.ID)
		t.job = j
		close(t.ended)
	}
}

// followStore carries out the decisions of other processes about the jobs of this one, and repeats steps whose answer was lost.
func (r *Runner) followStore() {
	missing := map[uuid.UUID]bool{}
	r.mu.Lock()
	busy := len(r.tasks) > 0
	for id, t := range r.tasks {
		if t.stored && t.cancel == nil {
			missing[id] = true
		}
	}
	r.mu.Unlock()
	if !busy {
		return
	}
	open, err := r.store.Jobs(r.ctx, Query{Owner: r.owner, Open: true})
	if err != nil {
		return // the next look may succeed
	}
	for _, j := range open {
		delete(missing, j.ID)
		if j.State == Running {
			r.startClaimed(j)
		}
		if j.Stop {
			r.stopTask(j.ID)
		}
	}
	for id := range missing {
		j, ok, err := r.store.Job(r.ctx, id)
		if err == nil && ok && j.Done() {
			r.endTask(j)
		}
	}
	r.startNext()
}

func (r *Runner) run(ctx context.Context, t *task, j Job) {
	if !j.World.IsZero() {
		within, cancel := context.WithTimeoutCause(ctx, maxRun, errTooLong)
		defer cancel()
		ctx = within
	}
	result, err := runGuarded(ctx, t.work)
	if cause := context.Cause(ctx); err != nil && (cause == errCancelled || cause == errTooLong) {
		err = cause
	}
	r.storeEnd(endOf(j, t.grant, result, err), err)
	r.startNext()
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

// Interrupted is the problem of a job whose process stopped. CancelledText is the problem of a job that was cancelled.
const (
	Interrupted   = "the server stopped before the job was done; start it again"
	CancelledText = "it was cancelled"
)

var (
	errInterrupted = fault.New(fault.Unavailable, Interrupted)
	errCancelled   = fault.New(fault.Unavailable, CancelledText)
)

// endOf returns a job as it ends with a result or an error.
func endOf(j Job, g access.Grant, result any, err error) Job {
	if err == nil {
		j.Result, err = json.Marshal(result)
	}
	j.State = Completed
	if err == nil {
		return j
	}
	j.State, j.Result = Failed, nil
	if kept, ok := result.(Kept); ok {
		j.Result, _ = json.Marshal(kept.Result)
	}
	if err == errCancelled {
		j.State = Cancelled
	} else if errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	j.Problem = fault.Show(err, j.ID.String()).Error.Message
	if g.HasCommitted() {
		j.Problem += "; what it had written before is kept"
	}
	return j
}

// storeEnd stores the end of a job, because of an error if it failed. Until that succeeds the job keeps its slot.
func (r *Runner) storeEnd(j Job, because error) {
	j.Changed = r.now().UTC()
	if j.State == Failed {
		r.log.Warn("job failed", "kind", j.Kind, "job", j.ID, "error", because)
	}
	for {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), 5*time.Second)
		err := r.store.EndJob(ctx, j)
		cancel()
		r.endTask(j)
		if err == nil {
			return
		}
		r.log.Error("the result of a job cannot be stored; trying again", "job", j.ID, "error", err)
		if !wait.For(r.ctx, pulse) {
			return
		}
	}
}

// Close cancels all work and waits for it.
func (r *Runner) Close() {
	r.mu.Lock()
	r.stop() // no work is started any more
	r.mu.Unlock()
	r.wait.Wait()
	r.mu.Lock()
	waiting := slices.Collect(maps.Values(r.tasks))
	r.mu.Unlock()
	for _, t := range waiting {
		r.storeEnd(endOf(t.job, t.grant, nil, errInterrupted), errInterrupted)
	}
}
