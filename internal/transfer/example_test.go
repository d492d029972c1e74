package transfer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"loregate/internal/access"
	"loregate/internal/body"
	"loregate/internal/exchange"
	"loregate/internal/job"
	"loregate/internal/job/jobtest"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/transfer"
)

// notes is a world in which every file becomes one card.
type notes struct {
	cards  int
	checks int                         // dry runs
	work   func(context.Context) error // if set, called by each import and export
}

func (n *notes) ImportFile(ctx context.Context, g access.Grant, path string, _ transfer.Choices,
	_ func(done, total int)) (exchange.Summary, error) {
	if g.Request().DryRun {
		n.checks++
	}
	if n.work != nil {
		if err := n.work(ctx); err != nil {
			return exchange.Summary{}, err
		}
	}
	text, err := os.ReadFile(path)
	if g.Request().DryRun || err != nil {
		return exchange.Summary{Files: 1, Created: 1, Said: []string{string(text)}}, err
	}
	n.cards++
	return exchange.Summary{Files: 1, Created: 1}, nil
}

func (n *notes) ExportFiles(ctx context.Context, _ access.Grant, _ string, _ access.Role, path string) error {
	if n.work != nil {
		if err := n.work(ctx); err != nil {
			return err
		}
	}
	return os.WriteFile(path, []byte("name\n"), 0o600)
}

// A game master checks a file and carries out what was shown.
func Example() {
	ctx, gm := context.Background(), access.Caller{Subject: "gm", Actor: access.Person, EveryRole: access.RoleGM}
	folder, err := os.MkdirTemp("", "imports")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	jobs, err := job.New(ctx, job.Config{Store: &jobtest.Memory{}, Inline: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer jobs.Close()
	world := &notes{}
	ops, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Worlds: optest.SoleWorld(access.WorldID{1}),
		Surfaces: []op.Surface{transfer.New(transfer.Config{World: world, Jobs: jobs, Folder: folder, Now: time.Now})}})
	if err != nil {
		fmt.Println(err)
		return
	}
	id := ""
	for _, r := range []op.Request{
		{Operation: "check_import", Input: []byte(`{"filename": "inns.csv"}`), Upload: body.Bytes([]byte("The Float"))},
		{Operation: "carry_out_import"},
	} {
		if id != "" {
			r.Input = []byte(`{"id": "` + id + `"}`)
		}
		r.World = "main"
		answer, err := ops.Invoke(ctx, gm, r)
		if err != nil {
			fmt.Println(err)
			return
		}
		var out struct{ ID, Status string }
		if err := json.Unmarshal(answer.Output, &out); err != nil {
			fmt.Println(err)
		}
		id = out.ID
		fmt.Println(out.Status, world.cards)
	}
	// Output:
	// completed 0
	// completed 1
}
