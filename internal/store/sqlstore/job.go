package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	jobs "loregate/internal/job"
)

var _ jobs.Store = (*Service)(nil)

const selectJobs = `SELECT id, world, kind, subject, level, owner, state, stop, result, problem, created, started,
	changed FROM jobs j `

func readJob(r Row) (jobs.Job, error) {
	j := jobs.Job{ID: uuid.UUID(r.Bytes(0)), World: access.WorldID(r.Bytes(1)), Kind: r.Text(2),
		By: access.Subject(r.Text(3)), Level: access.Level(r.Int(4)), Owner: r.Text(5), State: jobs.State(r.Text(6)),
		Stop: r.Int(7) != 0, Problem: r.Text(9), Created: Time(r.Int(10)), Started: Time(r.Int(11)), Changed: Time(r.Int(12))}
	if b := r.Bytes(8); len(b) > 0 {
		j.Result = json.RawMessage(b)
	}
	return j, nil
}

// Conditions of jobs. The first part of isQueued and isRunning is that of the index jobs_open.
const (
	isOpen    = "state IN ('queued', 'running')"
	isQueued  = isOpen + " AND state = 'queued'"
	isRunning = isOpen + " AND state = 'running'"
	otherRuns = "r.state IN ('queued', 'running') AND r.state = 'running'"
)

// AddJob stores a queued job, unless too many wait, and forgets ended jobs of its world beyond the newest.
func (s *Service) AddJob(ctx context.Context, j jobs.Job, b jobs.Bounds) error {
	return s.db.Change(ctx, func(c Conn) error {
		if err := checkBounds(ctx, c, j, b); err != nil {
			return err
		}
		_, err := c.Exec(ctx, `INSERT INTO jobs (id, world, kind, subject, level, owner, state, result, problem, created,
			changed) VALUES ($1, $2, $3, $4, $5, $6, $7, NULL, '', $8, $9)`, j.ID[:], j.World[:], j.Kind, string(j.By), int64(j.Level),
			j.Owner, string(jobs.Queued), Millis(j.Created), Millis(j.Changed))
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, `DELETE FROM jobs WHERE world = $1 AND NOT (`+isOpen+`) AND created < (SELECT min(created)
			FROM (SELECT created FROM jobs WHERE world = $1 ORDER BY created DESC LIMIT $2) AS newest)`, j.World[:], b.Kept)
		return err
	})
}

// checkBounds returns the error of a job for which too many jobs wait.
func checkBounds(ctx context.Context, c Conn, j jobs.Job, b jobs.Bounds) error {
	var kinds []string
	own := 0
	err := Each(ctx, c, func(r Row) error {
		own += int(r.Int(1))
		kinds = append(kinds, fmt.Sprintf("%d %s", r.Int(1), r.Text(0)))
		return nil
	}, "SELECT kind, count(*) FROM jobs WHERE "+isQueued+" AND subject = $1 GROUP BY kind ORDER BY kind", string(j.By))
	if err != nil {
		return err
	}
	if own >= b.Caller {
		return jobs.TooManyOf(own, strings.Join(kinds, ", "))
	}
	n, err := QueryInt(ctx, c, "SELECT count(*) FROM jobs WHERE "+isQueued+" AND world = $1", j.World[:])
	if err == nil && int(n) >= b.World {
		err = jobs.TooManyIn(int(n))
	}
	return err
}

// nextJob selects the queued job of owner $1 that runs next. $2 is the world of the jobs of the instance; $3, $4 and $5
// are the slots of all worlds, of one world, and of the instance.
const nextJob = selectJobs + `WHERE owner = $1 AND ` + isQueued + ` AND (
		world = $2 AND (SELECT count(*) FROM jobs r WHERE r.owner = $1 AND r.world = $2 AND ` + otherRuns + `) < $5
		OR world <> $2 AND (SELECT count(*) FROM jobs r WHERE r.owner = $1 AND r.world <> $2 AND ` + otherRuns + `) < $3
			AND (SELECT count(*) FROM jobs r WHERE r.owner = $1 AND r.world = j.world AND ` + otherRuns + `) < $4)
	ORDER BY (SELECT count(*) FROM jobs r WHERE r.world = j.world AND ` + otherRuns + `),
		(SELECT max(r.started) FROM jobs r WHERE r.world = j.world), created, id LIMIT 1`

// ClaimJob makes the next queued job of an owner a running one. It first looks without waiting for the writer lock,
// since usually no slot is free or no job waits.
func (s *Service) ClaimJob(ctx context.Context, owner string, slots jobs.Slots, now time.Time) (j jobs.Job, found bool,
	err error) {
	instance := access.WorldID{}
	args := []any{owner, instance[:], slots.Worlds, slots.World, slots.Instance}
	if j, found, err = findOne(ctx, s.db, readJob, nextJob, args...); err != nil || !found {
		return j, false, err
	}
	err = s.db.Change(ctx, func(c Conn) (err error) {
		found, err = One(ctx, c, func(r Row) (err error) { j, err = readJob(r); return err }, nextJob, args...)
		if err != nil || !found {
			return err
		}
		j.State, j.Started, j.Changed = jobs.Running, now, now
		_, err = c.Exec(ctx, "UPDATE jobs SET state = $2, started = $3, changed = $3 WHERE id = $1", j.ID[:],
			string(j.State), Millis(now))
		return err
	})
	return j, found && err == nil, err
}

// EndJob stores the end of a job that has not ended.
func (s *Service) EndJob(ctx context.Context, j jobs.Job) error {
	return s.db.Change(ctx, func(c Conn) error {
		_, err := c.Exec(ctx, "UPDATE jobs SET state = $2, result = $3, problem = $4, changed = $5 WHERE id = $1 AND "+isOpen,
			j.ID[:], string(j.State), []byte(j.Result), j.Problem, Millis(j.Changed))
		return err
	})
}

// CancelJob ends a queued job, and asks the process of a running one to stop it.
func (s *Service) CancelJob(ctx context.Context, id uuid.UUID, now time.Time) (j jobs.Job, found bool, err error) {
	err = s.db.Change(ctx, func(c Conn) error {
		if _, err := c.Exec(ctx, "UPDATE jobs SET stop = true WHERE id = $1 AND "+isRunning, id[:]); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, "UPDATE jobs SET state = $2, problem = $3, changed = $4 WHERE id = $1 AND "+isQueued, id[:],
			string(jobs.Cancelled), jobs.CancelledText, Millis(now)); err != nil {
			return err
		}
		found, err = One(ctx, c, func(r Row) (err error) { j, err = readJob(r); return err }, selectJobs+"WHERE id = $1",
			id[:])
		return err
	})
	return j, found, err
}

// Job reads a job.
func (s *Service) Job(ctx context.Context, id uuid.UUID) (jobs.Job, bool, error) {
	return findOne(ctx, s.db, readJob, selectJobs+"WHERE id = $1", id[:])
}

// Jobs lists jobs, newest first.
func (s *Service) Jobs(ctx context.Context, q jobs.Query) (list []jobs.Job, err error) {
	var args []any
	var where []string
	mark := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	if q.World != nil {
		where = append(where, "world = "+mark(q.World[:]))
	}
	if q.By != "" {
		where = append(where, "subject = "+mark(string(q.By)))
	}
	if q.Level != access.LevelNone {
		where = append(where, "level <= "+mark(int64(q.Level)))
	}
	if q.Owner != "" {
		where = append(where, "owner = "+mark(q.Owner))
	}
	if q.Open {
		where = append(where, isOpen)
	}
	if len(q.Kinds) > 0 {
		marks := make([]string, len(q.Kinds))
		for i, k := range q.Kinds {
			marks[i] = mark(k)
		}
		where = append(where, "kind IN ("+strings.Join(marks, ", ")+")")
	}
	sql := selectJobs
	if len(where) > 0 {
		sql += "WHERE " + strings.Join(where, " AND ")
	}
	sql += " ORDER BY created DESC, id DESC"
	if q.Limit > 0 {
		sql += " LIMIT " + mark(q.Limit)
	}
	err = s.db.Snapshot(ctx, func(c Conn) (err error) {
		list, err = queryAll(ctx, c, readJob, sql, args...)
		return err
	})
	return list, err
}

// Touch records that a process is alive, and fails the unfinished jobs of processes that are not.
func (s *Service) Touch(ctx context.Context, owner string, now, before time.Time) error {
	return s.db.Change(ctx, func(c Conn) error {
		if _, err := c.Exec(ctx,
			`INSERT INTO job_owners (owner, seen) VALUES ($1, $2) ON CONFLICT (owner) DO UPDATE SET seen = $2`,
			owner, Millis(now)); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, `DELETE FROM job_owners WHERE seen < $1`, Millis(before)); err != nil {
			return err
		}
		_, err := c.Exec(ctx, `UPDATE jobs SET state = $1, problem = $2, changed = $3
			WHERE `+isOpen+` AND owner NOT IN (SELECT owner FROM job_owners)`,
			string(jobs.Failed), jobs.Interrupted, Millis(now))
		return err
	})
}
