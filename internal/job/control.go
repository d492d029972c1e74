package job

import (
	"context"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/wait"
)

var errAbsent = fault.New(fault.NotFound, "there is no such job; start it again")

// read returns the job with an id as text.
func (r *Runner) read(ctx context.Context, id string) (Job, error) {
	u, err := uuid.Parse(id)
	if err != nil {
		return Job{}, errAbsent
	}
	j, ok, err := r.store.Job(ctx, u)
	if err == nil && !ok {
		err = errAbsent
	}
	return j, err
}

// Find returns a job of the grant's world to its starter, or to an admin, if the view's level is at
// least the job's.
func (r *Runner) Find(ctx context.Context, g access.Grant, id string) (Job, error) {
	j, err := r.read(ctx, id)
	if err == nil && !maySee(g, j, access.RoleAdmin) {
		return Job{}, errAbsent
	}
	return j, err
}

// maySee reports whether a job is one of the grant's world that the caller started, or whose world the caller has the
// role in, at a level that the view sees.
func maySee(g access.Grant, j Job, others access.Role) bool {
	return j.World == g.World() && (j.By == g.Caller().Subject || g.Role() >= others) && g.View().Level >= j.Level
}

// List selects the jobs of List.
type List struct {
	Mine       bool // only those that the caller started
	Open       bool // only those that have not ended
	Everywhere bool // those of all worlds and of the instance; only for the operator
	Kinds      []string
	Limit      int
}

// List returns the jobs of the grant's world that the caller may cancel, those that have ended included, newest first:
// the caller's own, and all others for a game master or an admin, up to the level of the view.
func (r *Runner) List(ctx context.Context, g access.Grant, l List) ([]Job, error) {
	q := Query{Level: g.View().Level, Open: l.Open, Kinds: l.Kinds, Limit: l.Limit}
	if l.Mine || g.Role() < access.RoleGM {
		q.By = g.Caller().Subject
	}
	switch world := g.World(); {
	case l.Everywhere && !g.Caller().Operator:
		return nil, fault.New(fault.Denied, "only the operator lists the jobs of all worlds; leave everywhere out")
	case g.View().Level == access.LevelNone:
		return nil, nil
	case !l.Everywhere:
		q.World = &world
	}
	return r.store.Jobs(ctx, q)
}

// cancelPatience is the time for which Cancel waits for a running job to end: long enough for another process to see
// that it is asked to stop. cancelPoll is the time between two looks at the job.
const (
	cancelPatience = 5 * time.Second
	cancelPoll     = 50 * time.Millisecond
)

// Cancel cancels a job: for its starter, a game master or an admin of its world who sees its level, and the operator.
// For others there is no such job. It returns the job as it is then. A job in the state Cancelled changes nothing any
// more. One that had ended before, or ended in the meantime, is returned as it ended. One that is still running was
// asked to stop, and has not done so yet.
func (r *Runner) Cancel(ctx context.Context, g access.Grant, id string) (Job, error) {
	j, err := r.read(ctx, id)
	if err != nil || !maySee(g, j, access.RoleGM) && !g.Caller().Operator {
		return Job{}, cancelFault(err)
	}
	if j.Done() || g.Request().DryRun {
		return j, nil
	}
	if j, _, err = r.store.CancelJob(ctx, j.ID, r.now().UTC()); err != nil {
		return Job{}, err
	}
	r.stopTask(j.ID)
	within, cancel := context.WithTimeout(ctx, cancelPatience)
	defer cancel()
	for !j.Done() && wait.For(within, cancelPoll) {
		if j, _, err = r.store.Job(ctx, j.ID); err != nil {
			return Job{}, err
		}
	}
	if j.Done() {
		r.endTask(j)
	}
	return j, nil
}

func cancelFault(err error) error {
	if err == nil || fault.KindOf(err) == fault.NotFound {
		return fault.New(fault.NotFound, "there is no such job; list_jobs lists those that you may cancel")
	}
	return err
}
