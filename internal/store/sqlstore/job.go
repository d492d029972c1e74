package sqlstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	jobs "loregate/internal/job"
)

var _ jobs.Store = (*Service)(nil)

// PutJob writes a job's row.
func (s *Service) PutJob(ctx context.Context, j jobs.Job) error {
	return s.db.Change(ctx, func(c Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO jobs (id, world, kind, subject, level, owner, state, result, problem, created, changed)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
			ON CONFLICT (id) DO UPDATE SET state = $7, result = $8, problem = $9, changed = $11 WHERE jobs.state IN ('queued', 'running')`,
			j.ID[:], j.World[:], j.Kind, string(j.By), int64(j.Level), j.Owner, string(j.State), []byte(j.Result), j.Problem,
			Millis(j.Created), Millis(j.Changed))
		return err
	})
}

// Job reads a job.
func (s *Service) Job(ctx context.Context, id uuid.UUID) (jobs.Job, bool, error) {
	return findOne(ctx, s.db, func(r Row) (jobs.Job, error) {
		j := jobs.Job{ID: id, World: access.WorldID(r.Bytes(0)), Kind: r.Text(1), By: access.Subject(r.Text(2)),
			Level: access.Level(r.Int(3)),
			Owner: r.Text(4), State: jobs.State(r.Text(5)), Problem: r.Text(7), Created: Time(r.Int(8)), Changed: Time(r.Int(9))}
		if b := r.Bytes(6); len(b) > 0 {
			j.Result = json.RawMessage(b)
		}
		return j, nil
	}, `SELECT world, kind, subject, level, owner, state, result, problem, created, changed FROM jobs WHERE id = $1`, id[:])
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
			WHERE state IN ('queued', 'running') AND owner NOT IN (SELECT owner FROM job_owners)`,
			string(jobs.Failed), jobs.Interrupted, Millis(now))
		return err
	})
}
