package job_test

import (
	"context"
	"fmt"
	"time"

	"loregate/internal/access"
	"loregate/internal/job"
	"loregate/internal/job/jobtest"
)

// A job that ends within the caller's patience is returned with its result. Each job is found later by
// its id.
func ExampleRunner() {
	ctx := context.Background()
	runner, err := job.New(ctx, job.Config{Store: &jobtest.Memory{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer runner.Close()
	call, err := access.NewGuard(access.Config{}).Admit(ctx, access.Caller{Subject: "ada", EveryRole: access.RoleUser},
		access.Request{World: access.WorldID{1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	j, err := runner.Start(ctx, call.Grant, "count", time.Minute, func(context.Context) (any, error) { return 42, nil })
	fmt.Println(j.State, string(j.Result), err)
	found, err := runner.Find(ctx, call.Grant, j.ID.String())
	fmt.Println(found.Kind, found.State, err)
	// Output:
	// completed 42 <nil>
	// count completed <nil>
}
