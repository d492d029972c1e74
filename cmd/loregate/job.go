package main

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/google/uuid"

	"loregate/internal/app"
	"loregate/internal/op"
)

type jobCmd struct {
	List   jobListCmd   `cmd:"" help:"List the work in the background, newest first: imports, scans and backups."`
	Cancel jobCancelCmd `cmd:"" help:"Cancel a job that waits or runs, also one of a running server."`
}

type jobListCmd struct {
	common
	listing
	World string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: all worlds, and the instance." placeholder:"WORLD"`
	All   bool   `help:"Also list jobs that have ended."`
	Limit int    `help:"Highest number of jobs to list, 1 to 200." default:"50"`
}

// jobRow is one job of a list.
type jobRow struct {
	JobID     string    `json:"job_id"`
	Kind      string    `json:"kind"`
	Status    string    `json:"status"`
	World     string    `json:"world"`
	CreatedAt time.Time `json:"created_at"`
	StartedAt time.Time `json:"started_at"`
	Message   string    `json:"message"`
}

var jobTable = table[jobRow]{"JOB KIND STATUS WORLD CREATED STARTED MESSAGE", func(j jobRow) []string {
	return []string{j.JobID, j.Kind, j.Status, cmp.Or(j.World, "-"), formatMinute(j.CreatedAt), formatMinute(j.StartedAt),
		cellText(j.Message)}
}}

func (l jobListCmd) Run(ctx context.Context, out io.Writer) error {
	return l.withStore(ctx, func(a *app.App) error {
		var list struct {
			Jobs []jobRow `json:"jobs"`
		}
		in := map[string]any{"open": !l.All, "everywhere": l.World == "", "limit": l.Limit}
		if err := callJobs(ctx, a, l.World, "list_jobs", in, &list); err != nil {
			return err
		}
		return jobTable.print(out, l.listing, list.Jobs)
	})
}

type jobCancelCmd struct {
	common
	ID string `arg:"" help:"Job, from loregate job list."`
}

func (c jobCancelCmd) Run(ctx context.Context, out io.Writer) error {
	return c.withStore(ctx, func(a *app.App) error {
		var j jobRow
		err := callJobs(ctx, a, "", "cancel_job", map[string]any{"id": c.ID}, &j)
		return printResult(out, err, "%s is %s: %s\n", c.ID, j.Status, cellText(j.Message))
	})
}

// callJobs calls an operation on jobs as the operator. Its job may be in any world, so without a name it is called in
// one of them.
func callJobs(ctx context.Context, a *app.App, world, operation string, in map[string]any, to any) error {
	if world == "" {
		all, err := a.Canon.Worlds(ctx)
		if err != nil {
			return err
		}
		if len(all) > 0 {
			world = all[0].Slug
		}
	}
	input, err := json.Marshal(in)
	if err != nil {
		return err
	}
	answer, err := a.Ops.Invoke(ctx, app.Operator(), op.Request{Operation: operation, Input: input, World: world,
		Correlation: uuid.NewString(), Transport: "cli"})
	if err != nil {
		return err
	}
	return json.Unmarshal(answer.Output, to)
}
