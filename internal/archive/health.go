package archive

import (
	"context"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// Instance is the server with its store. Its findings and settings are for the operator only.
type Instance interface {
	// Health returns the checks that take no longer than a read.
	Health(ctx context.Context) (Health, error)
	// CheckStore reads the whole store with its chains and returns the first fault; "" for none. The error is
	// Conflict while another check runs.
	CheckStore(ctx context.Context) (found string, err error)
}

// Health is the state of an instance.
type Health struct {
	Store    string    `json:"store" enum:"not checked yet,being checked,sound,damaged" jsonschema:"Result of this process's last check of the whole store."`
	Findings []Finding `json:"findings"`
	Limits   []Limit   `json:"limits"`
}

// Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`
	Good  bool   `json:"good"`
	Text  string `json:"text"`
}

// Limit is a limit in force, as the configuration names it.
type Limit struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func healthWork(d *deps) []*op.Operation {
	return []*op.Operation{
		defineWrite(d, op.Spec{
			Name:  "get_health",
			Title: "Health of the instance",
			Doc: "Get the version, the state of the store, the free space of the disks and the limits in force. " +
				"verify_store reads the whole store.",
			Effect: access.Read, Route: "GET /api/mcp/admin/health", Operator: true, NoWorld: true, NoTool: true,
			Examples: []op.Example{{Title: "All", Input: `{}`}},
		}, getHealth),
		defineWrite(d, op.Spec{
			Name:  "verify_store",
			Title: "Verify the store and its chains",
			Doc: "Read the whole store, its chains and its access records in the background, for at most an hour. " +
				"get_health returns the result. A damaged store takes no more writes.",
			Route: "POST /api/mcp/admin/verify", Status: 202, Operator: true, NoWorld: true, NoTool: true, Idempotent: true,
			Examples: []op.Example{{Title: "Verify", Input: `{}`}},
		}, verifyStore),
	}
}

const (
	verifyKind     = "verify_store"
	verifyPatience = 2 * time.Second // small stores are read by then
	maxVerifyTime  = time.Hour       // then the check ends without a result
)

var errNoInstance = fault.New(fault.Unavailable, "this server has no store of its own to check; run loregate doctor")

func getHealth(ctx context.Context, d *deps, _ *op.Call, _ struct{}) (Health, error) {
	if d.instance == nil {
		return Health{}, errNoInstance
	}
	return d.instance.Health(ctx)
}

type verifyOut struct {
	Status  string `json:"status" enum:"queued,running,completed,failed"`
	Message string `json:"message,omitzero" jsonschema:"Why it failed."`
}

func verifyStore(ctx context.Context, d *deps, c *op.Call, _ struct{}) (verifyOut, error) {
	if d.instance == nil || d.jobs == nil {
		return verifyOut{}, errNoInstance
	}
	j, err := d.jobs.Start(ctx, c.Grant, verifyKind, verifyPatience, func(ctx context.Context) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, maxVerifyTime)
		defer cancel()
		return d.instance.CheckStore(ctx)
	})
	return verifyOut{Status: string(j.State), Message: j.Problem}, err
}
