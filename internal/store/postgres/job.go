package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	jobs "loregate/internal/job"
)

// PutJob writes a job's row.
func (s *Store) PutJob(ctx context.Context, j jobs.Job) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.c.exec(ctx, `INSERT INTO jobs (id, world, kind, subject, level, owner, state, result, problem, created, changed)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
			ON CONFLICT (id) DO UPDATE SET state = $7, result = $8, problem = $9, changed = $11`,
			uuidOf(j.ID), uuidOf(j.World), j.Kind, string(j.By), int64(j.Level), j.Owner, string(j.State), []byte(j.Result), j.Problem,
			clock(j.Created), clock(j.Changed))
		return err
	})
}

// Job reads a job.
func (s *Store) Job(ctx context.Context, id uuid.UUID) (j jobs.Job, found bool, err error) {
	err = s.read(ctx, func(c *conn) error {
		found, err = c.one(ctx, func(r row) error {
			j = jobs.Job{ID: id, World: readID[access.WorldID](r[0]), Kind: r.text(1), By: access.Subject(r.text(2)), Level: access.Level(r.int(3)),
				Owner: r.text(4), State: jobs.State(r.text(5)), Problem: r.text(7), Created: unclock(r.int(8)), Changed: unclock(r.int(9))}
			if b := r.bytes(6); len(b) > 0 {
				j.Result = json.RawMessage(b)
			}
			return nil
		}, `SELECT world, kind, subject, level, owner, state, result, problem, created, changed FROM jobs WHERE id = $1`, uuidOf(id))
		return err
	})
	return j, found, err
}

// Touch says that a process lives, and fails the unfinished jobs of those that do not.
func (s *Store) Touch(ctx context.Context, owner string, now, before time.Time) error {
	return s.write(ctx, func(t *tx) error {
		if _, err := t.c.exec(ctx, `INSERT INTO job_owners (owner, seen) VALUES ($1, $2) ON CONFLICT (owner) DO UPDATE SET seen = $2`,
			owner, clock(now)); err != nil {
			return err
		}
		if _, err := t.c.exec(ctx, `DELETE FROM job_owners WHERE seen < $1`, clock(before)); err != nil {
			return err
		}
		_, err := t.c.exec(ctx, `UPDATE jobs SET state = $1, problem = $2, changed = $3
			WHERE state IN ('queued', 'running') AND owner NOT IN (SELECT owner FROM job_owners)`,
			string(jobs.Failed), jobs.Interrupted, clock(now))
		return err
	})
}
