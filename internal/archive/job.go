package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/job"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func jobWork(d *deps) []*op.Operation {
	return []*op.Operation{
		defineWrite(d, op.Spec{
			Name: "get_job",
			Asked: []string{
				"is the long work finished", "progress of a scan", "result of work in the background",
				"is it done yet", "how far is the check that I started", "has the scan ended",
				"state of a long task", "how is my order going",
			},
			Title:  "Get a job",
			Doc:    "Get the state and result of work that you started, such as a spoiler scan.",
			Effect: access.Read, Route: "GET /api/mcp/jobs/{id}",
			Examples: []op.Example{{Title: "Is it done?", Input: `{"id": "01900000-0000-7000-8000-000000000000"}`}},
		}, getJob),
		defineWrite(d, op.Spec{
			Name: "list_jobs",
			Asked: []string{
				"show the work under way on the server", "which imports are under way", "what runs in the background",
				"work that waits in the queue", "why does my import not start",
			},
			Title: "List jobs",
			Doc: "List the work in the background that you may cancel, such as imports and scans, newest first: your own in " +
				"this world and, for game masters and admins, everybody's. The operator can list the jobs of all worlds.",
			Effect: access.Read, Route: "GET /api/mcp/jobs",
			Examples: []op.Example{{Title: "All open jobs", Input: `{"open": true}`}},
		}, listJobs),
		defineWrite(d, op.Spec{
			Name: "cancel_job",
			Asked: []string{
				"stop an import", "abort the scan", "halt work in the background", "take a job out of the queue",
				"it takes too long, end it",
			},
			Title: "Cancel a job",
			Doc: "Cancel work in the background that waits or runs. With the status cancelled it changes nothing any more; " +
				"a job that ended before is shown as it ended. The cards that a running import had written by then are kept.",
			Route: "POST /api/mcp/jobs/{id}/cancel", Idempotent: true,
			Examples: []op.Example{{Title: "Stop it", Input: `{"id": "01900000-0000-7000-8000-000000000000"}`}},
		}, cancelJob),
	}
}

type getJobIn struct {
	ID string `json:"id" minlen:"1" maxlen:"64" jsonschema:"The job, as the operation that started it answered."`
}

type jobOut struct {
	JobID       string        `json:"job_id"`
	Kind        string        `json:"kind"`
	Status      string        `json:"status" enum:"queued,running,completed,failed,cancelled"`
	Matches     int           `json:"matches,omitzero" jsonschema:"Of a spoiler scan: number of places with a term."`
	Unclear     int           `json:"unclear,omitzero" jsonschema:"Of a spoiler scan: lines that may not have been read as the terms that they were meant to be."`
	ResultsCard string        `json:"results_card,omitzero" jsonschema:"Of a spoiler scan: the card with the results."`
	Message     string        `json:"message,omitzero" jsonschema:"Why it failed or was cancelled."`
	CreatedAt   surface.Stamp `json:"created_at"`
	UpdatedAt   surface.Stamp `json:"updated_at"`
}

func getJob(ctx context.Context, d *deps, c *op.Call, in getJobIn) (jobOut, error) {
	if d.jobs == nil {
		return jobOut{}, fault.New(fault.NotFound, "there is no such job; start it again")
	}
	j, err := d.jobs.Find(ctx, c.Grant, in.ID)
	if err != nil {
		return jobOut{}, err
	}
	out := jobOut{JobID: j.ID.String(), Kind: j.Kind, Status: string(j.State), Message: j.Problem,
		CreatedAt: surface.Stamp(j.Created), UpdatedAt: surface.Stamp(j.Changed)}
	if j.Kind != spoilerKind || j.State != job.Completed {
		return out, nil
	}
	var done spoilerDone
	if err := json.Unmarshal(j.Result, &done); err != nil {
		return out, fmt.Errorf("archive: result of job %s: %w", j.ID, err)
	}
	out.Matches, out.Unclear, out.ResultsCard = done.Matches, done.Unclear, done.ResultsCard
	return out, nil
}

type listJobsIn struct {
	Open       bool `json:"open,omitzero" jsonschema:"Only jobs that wait or run."`
	Everywhere bool `json:"everywhere,omitzero" jsonschema:"Jobs of all worlds and of the instance; for the operator only."`
	Limit      int  `json:"limit,omitzero" default:"50" min:"1" max:"200" jsonschema:"Maximum number of jobs."`
}

type listedJob struct {
	JobID     string        `json:"job_id"`
	Kind      string        `json:"kind"`
	Status    string        `json:"status" enum:"queued,running,completed,failed,cancelled"`
	Mine      bool          `json:"mine" jsonschema:"Whether you started it."`
	World     string        `json:"world,omitzero" jsonschema:"Slug of its world; absent for a job of the instance."`
	Message   string        `json:"message,omitzero" jsonschema:"Why it failed or was cancelled."`
	CreatedAt surface.Stamp `json:"created_at"`
	StartedAt surface.Stamp `json:"started_at,omitzero"`
	UpdatedAt surface.Stamp `json:"updated_at"`
}

type listJobsOut struct {
	Jobs []listedJob `json:"jobs"`
}

func listJobs(ctx context.Context, d *deps, c *op.Call, in listJobsIn) (listJobsOut, error) {
	if d.jobs == nil {
		return listJobsOut{}, nil
	}
	list, err := d.jobs.List(ctx, c.Grant, job.List{Open: in.Open, Everywhere: in.Everywhere, Limit: in.Limit})
	if err != nil {
		return listJobsOut{}, err
	}
	out := listJobsOut{Jobs: make([]listedJob, len(list))}
	slugs := map[access.WorldID]string{{}: ""}
	for i, j := range list {
		if _, ok := slugs[j.World]; !ok {
			w, err := d.Canon.World(ctx, j.World)
			if err != nil && fault.KindOf(err) != fault.NotFound { // a world may be gone
				return out, err
			}
			slugs[j.World] = w.Slug
		}
		out.Jobs[i] = showListed(c, j)
		out.Jobs[i].World = slugs[j.World]
	}
	return out, nil
}

func showListed(c *op.Call, j job.Job) listedJob {
	return listedJob{JobID: j.ID.String(), Kind: j.Kind, Status: string(j.State), Mine: j.By == c.Grant.Caller().Subject,
		Message: j.Problem, CreatedAt: surface.Stamp(j.Created), StartedAt: surface.Stamp(j.Started),
		UpdatedAt: surface.Stamp(j.Changed)}
}

func cancelJob(ctx context.Context, d *deps, c *op.Call, in getJobIn) (listedJob, error) {
	if d.jobs == nil {
		return listedJob{}, fault.New(fault.NotFound, "there is no such job")
	}
	j, err := d.jobs.Cancel(ctx, c.Grant, in.ID)
	if err != nil {
		return listedJob{}, err
	}
	out := showListed(c, j)
	switch {
	case !j.Done():
		out.Message = "it was asked to stop, and has not stopped yet; look again with list_jobs"
	case j.State != job.Cancelled:
		out.Message = cmp.Or(out.Message, "it had ended already")
	}
	return out, nil
}
