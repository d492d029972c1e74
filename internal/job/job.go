package job

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// State is the state of a job.
type State string

// The states of a job. Queued and Running end in one of the others.
const (
	Queued    State = "queued"
	Running   State = "running"
	Completed State = "completed"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Job is one piece of work.
type Job struct {
	ID      uuid.UUID
	World   access.WorldID // zero for a job of the instance, which only its operator starts
	Kind    string
	By      access.Subject
	Level   access.Level // level of the caller that started it; hidden from lower views
	Owner   string       // the process that runs it
	State   State
	Stop    bool            // its process is asked to stop it
	Result  json.RawMessage // result of a completed job, or of a failed one that kept it
	Problem string          // problem of a failed or cancelled job, shown to its caller
	Created time.Time
	Started time.Time // zero while it waits
	Changed time.Time
}

// Done reports whether the job has ended.
func (j Job) Done() bool { return j.State != Queued && j.State != Running }

// Slots are the numbers of jobs that a process runs at once.
type Slots struct {
	Worlds   int // jobs of all worlds
	World    int // jobs of one world
	Instance int // jobs of the instance
}

// Bounds are the greatest numbers of jobs that may wait at once, and of those that are kept.
type Bounds struct {
	Caller int // jobs of one caller
	World  int // jobs of one world, or of the instance
	Kept   int // the newest jobs of one world, or of the instance, which are kept when they have ended; 0 keeps all
}

// Query selects jobs, newest first. Zero fields select all.
type Query struct {
	World *access.WorldID
	By    access.Subject
	Level access.Level // the highest level of the jobs
	Owner string
	Kinds []string
	Open  bool // only jobs that have not ended
	Limit int
}

// Store stores jobs. Any number of processes may use it at once.
type Store interface {
	// AddJob stores a queued job. If as many jobs wait as the bounds allow, it stores nothing and returns the error of
	// TooManyOf or TooManyIn. Jobs of its world that have ended and are not among the newest are removed.
	AddJob(ctx context.Context, j Job, b Bounds) error
	// ClaimJob makes one of an owner's queued jobs a running one, if the owner has a free slot for it, and returns it.
	// Worlds take turns: the world comes first that runs fewest jobs in all processes, of these the one whose last job
	// began first, and in a world the oldest job.
	ClaimJob(ctx context.Context, owner string, s Slots, now time.Time) (Job, bool, error)
	// EndJob stores State, Result, Problem and Changed of a job that ends. It leaves a job that has ended unchanged: a
	// process whose lease ran out may still write, but too late.
	EndJob(ctx context.Context, j Job) error
	// CancelJob ends a queued job, with the problem CancelledText, and sets Stop of a running one. It returns the job as
	// it is then.
	CancelJob(ctx context.Context, id uuid.UUID, now time.Time) (Job, bool, error)
	Job(ctx context.Context, id uuid.UUID) (Job, bool, error)
	Jobs(ctx context.Context, q Query) ([]Job, error)
	// Touch records that a process is alive at now, and fails every unfinished job whose owner's
	// last touch is older than before.
	Touch(ctx context.Context, owner string, now, before time.Time) error
}

// retryFull is the time after which a caller may ask whether fewer jobs wait.
const retryFull = 10 * time.Second

// TooManyOf is the error for a job of a caller who has as many waiting as allowed. waiting names them.
func TooManyOf(n int, waiting string) error {
	e := fault.New(fault.RateLimited, "%d of your jobs wait already (%s): wait until one of them runs, or cancel "+
		"one with cancel_job; list_jobs lists them", n, waiting)
	e.RetryAfter = retryFull
	return e
}

// TooManyIn is the error for a job in a world that has as many waiting as allowed.
func TooManyIn(n int) error {
	e := fault.New(fault.RateLimited, "%d jobs of this world wait already: wait until one of them runs, or cancel "+
		"one with cancel_job; list_jobs lists those that you may cancel", n)
	e.RetryAfter = retryFull
	return e
}
