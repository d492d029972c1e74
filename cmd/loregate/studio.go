package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/app"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/slicesx"
	"loregate/internal/studio"
)

type studioCmd struct {
	Plan   studioPlanCmd   `cmd:"" help:"Make a plan from a sentence, and print it as a plan file. The plan is not run."`
	Run    studioRunCmd    `cmd:"" help:"Run a plan file."`
	Check  studioCheckCmd  `cmd:"" help:"Check plan files: schemas, policy and, if the authoring program is installed, golden digests."`
	Verify studioVerifyCmd `cmd:"" help:"Repeat a run on a copy, and compare the results."`
	Stale  studioStaleCmd  `cmd:"" help:"List artifacts that were built from cards that have changed since."`
	Undo   studioUndoCmd   `cmd:"" help:"Undo a run."`
	Runs   studioRunsCmd   `cmd:"" help:"List runs."`
	Worker studioWorkerCmd `cmd:"" help:"Take runs from the queue and execute them. Needed if studio.workers leaves the runs to workers."`
	Attach studioAttachCmd `cmd:"" help:"Write an add-on for an open Blender, which listens on this machine with a secret that works once."`
	Live   studioLiveCmd   `cmd:"" help:"Build scenes into the open Blender of an add-on, and print its selection."`
	Sweep  studioSweepCmd  `cmd:"" help:"Find stored files that no run and no target uses any more, and delete them."`
}

// studioCommon holds the flags of the studio commands that work in a world.
type studioCommon struct {
	common
	World string `help:"World by slug or UUID. Default: the world of the plan, then LOREGATE_WORLD, then the only world." placeholder:"WORLD"`
}

// invoke calls an operation of the studio as the operator, and decodes its output.
func (w studioCommon) invoke(ctx context.Context, a *app.App, operation string, input, output any) error {
	b, err := json.Marshal(input)
	if err != nil {
		return err
	}
	world := cmp.Or(w.World, os.Getenv("LOREGATE_WORLD")) // not by a tag, because the plan's world overrides it
	answer, err := a.Ops.Invoke(ctx, app.Operator(), op.Request{Operation: operation, Surface: studio.Surface, Input: b,
		World:       world,
		Correlation: uuid.NewString(), Transport: "cli", Progress: stepProgress()})
	if known, ok := errors.AsType[*fault.Error](err); ok {
		delete(known.Details, "envelope") // the envelope is for programs
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(answer.Output, output)
}

// stepProgress shows the progress of a run on a terminal, and nothing in a pipe.
func stepProgress() func(done, total float64, message string) {
	if !isTerminal(os.Stderr) {
		return func(float64, float64, string) {}
	}
	return func(done, total float64, message string) {
		fmt.Fprintf(os.Stderr, "\r\033[K%3.0f%% %s", 100*done/max(total, 1), message)
	}
}

type studioPlanCmd struct {
	studioCommon
	listing
	Intent string `arg:"" help:"The sentence, such as \"build The Dry Anchor at dusk with ten barrels and export it to glb\"."`
	Card   string `help:"The place to build, if the sentence does not name it." placeholder:"CARD"`
	Seed   int64  `help:"Seed of the random numbers."`
}

// planAnswer is the part of plan_create's answer that the command prints.
type planAnswer struct {
	Plan      studio.Plan `json:"plan"`
	Source    string      `json:"source"`
	Assumed   []string    `json:"assumptions"`
	Questions []string    `json:"questions"`
	Problems  []string    `json:"problems"`
	Valid     bool        `json:"valid"`
	Skipped   string      `json:"model_skipped"`
	Fault     string      `json:"model_fault"`
}

func (p studioPlanCmd) Run(ctx context.Context, out io.Writer) error {
	return p.withApp(ctx, func(a *app.App) error {
		var made json.RawMessage
		if err := ensureWorld(ctx, a, p.World); err != nil {
			return err
		}
		if err := p.invoke(ctx, a, "plan_create", withGiven(map[string]any{"intent": p.Intent, "seed": p.Seed},
			map[string]string{"card": p.Card}), &made); err != nil {
			return err
		}
		if p.JSON {
			return printJSON(out, made)
		}
		var v planAnswer
		if err := json.Unmarshal(made, &v); err != nil {
			return err
		}
		return v.print(out, p.World)
	})
}

// print prints a plan file, with notes for the reader as comments.
func (v planAnswer) print(out io.Writer, world string) error {
	v.Plan.World = world
	file, err := studio.FormatPlan(v.Plan)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "# Proposed by", v.Source+". Nothing was built yet.")
	if v.Skipped != "" {
		fmt.Fprintln(out, "# The model gave no plan:", strings.TrimSuffix(v.Skipped+": "+oneLine(v.Fault), ": "))
	}
	for _, list := range []struct {
		what  string
		texts []string
	}{{"assumed", v.Assumed}, {"question", v.Questions}, {"problem", v.Problems}} {
		for _, text := range list.texts {
			fmt.Fprintf(out, "# %s: %s\n", list.what, oneLine(text))
		}
	}
	if v.Valid {
		fmt.Fprintf(out, "# Run it with: loregate studio run %s%s\n", v.Plan.ID, worldFlag(world))
	}
	_, err = out.Write(file)
	return err
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func worldFlag(world string) string {
	if world == "" {
		return ""
	}
	return " --world " + world
}

type studioRunCmd struct {
	studioCommon
	File   string `arg:"" help:"Plan file, or the id of a stored plan." placeholder:"FILE"`
	DryRun bool   `help:"Try the plan without changing anything."`
	Yes    bool   `help:"Confirm that the plan may replace scenes and overwrite files."`
	JSON   bool   `help:"Print the envelope as JSON."`
}

// executedPlan is the part of an envelope that the command prints.
type executedPlan struct {
	studio.Head
	Result struct {
		Steps []struct {
			Tool   string            `json:"tool_name"`
			Target studio.TargetInfo `json:"target"`
			Result json.RawMessage   `json:"result"`
		} `json:"steps"`
	} `json:"result"`
}

func (r studioRunCmd) Run(ctx context.Context, out io.Writer) error {
	input := map[string]any{"dry_run": r.DryRun, "confirm": r.Yes}
	if _, err := uuid.Parse(r.File); err == nil {
		input["plan_id"] = r.File
	} else {
		plan, err := readPlan(r.File)
		if err != nil {
			return err
		}
		input["plan"] = plan
		r.World = cmp.Or(r.World, plan.World)
	}
	return r.withApp(ctx, func(a *app.App) error {
		var e json.RawMessage
		if err := ensureWorld(ctx, a, r.World); err != nil {
			return err
		}
		if err := r.invoke(ctx, a, "plan_execute", input, &e); err != nil {
			return err
		}
		if r.JSON {
			return printJSON(out, e)
		}
		return r.print(out, a.Config.Data, e)
	})
}

// ensureWorld makes sure that there is a world to work in. If world names the sample world,
// which the examples use, it loads that into an empty data folder.
func ensureWorld(ctx context.Context, a *app.App, world string) error {
	if world != app.SampleWorld {
		return a.EnsureWorld(ctx)
	}
	made, err := a.LoadSample(ctx, progress("loading the sample world"))
	if made != nil {
		fmt.Fprintln(os.Stderr, "The data folder was empty. The sample world was loaded into it.")
	}
	return err
}

func (r studioRunCmd) print(out io.Writer, data string, e json.RawMessage) error {
	var v executedPlan
	if err := json.Unmarshal(e, &v); err != nil {
		return err
	}
	for i, s := range v.Result.Steps {
		fmt.Fprintf(out, "%d. %s on %s %s\n   %s\n", i+1, s.Tool, s.Target.Name, s.Target.Version, s.Result)
	}
	for _, w := range v.Warnings {
		fmt.Fprintln(out, "warning:", w)
	}
	if v.DryRun {
		fmt.Fprintf(out, "Dry run: %d names would be added, %d removed; the target was not changed (%s).\n",
			len(v.Diff.Added),
			len(v.Diff.Removed), clipHash(v.Diff.After))
		for _, c := range v.Diff.Parts {
			fmt.Fprintf(out, "  %-8s %s\n", c.Did, cmp.Or(c.Path, "the scene itself"))
		}
		return nil
	}
	fmt.Fprintln(out, "run", v.RunID)
	for _, a := range v.Artifacts {
		fmt.Fprintf(out, "  %-10s %9d bytes  %s\n", a.Kind, a.Bytes, filepath.Join(data, filepath.FromSlash(a.Path)))
	}
	return nil
}

func clipHash(h string) string { return h[:min(len(h), 12)] }

func readPlan(file string) (studio.Plan, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return studio.Plan{}, fmt.Errorf("plan: %w", err)
	}
	p, err := studio.ParsePlan(b)
	if err != nil {
		return p, fmt.Errorf("%s: %s", file, messageOf(err))
	}
	return p, nil
}

// messageOf returns the message of an error for people.
func messageOf(err error) string {
	var failed *studio.Failure
	var known *fault.Error
	switch {
	case errors.As(err, &failed):
		return failed.Message
	case errors.As(err, &known):
		return known.Message
	}
	return err.Error()
}

type studioCheckCmd struct {
	studioCommon
	Files  []string `arg:"" help:"Plan files."`
	Update bool     `help:"Write the golden digests to the files."`
}

func (c studioCheckCmd) Run(ctx context.Context, out io.Writer) error {
	return c.withApp(ctx, func(a *app.App) error {
		bad := 0
		for _, file := range c.Files {
			said, err := c.checkFile(ctx, a, file)
			if err != nil {
				bad++
				said = "BAD " + messageOf(err)
			}
			fmt.Fprintf(out, "%s: %s\n", file, said)
		}
		if bad > 0 {
			return fmt.Errorf("%d of %d plans have errors; correct them and check again", bad, len(c.Files))
		}
		return nil
	})
}

// checkFile checks one plan. If the plan has golden digests, or with --update, it then calls
// compareGolden.
func (c studioCheckCmd) checkFile(ctx context.Context, a *app.App, file string) (string, error) {
	p, err := readPlan(file)
	if err != nil {
		return "", err
	}
	c.World = cmp.Or(c.World, p.World)
	if err := ensureWorld(ctx, a, c.World); err != nil {
		return "", err
	}
	var judged struct {
		Valid    bool     `json:"valid"`
		Problems []string `json:"problems"`
	}
	if err := c.invoke(ctx, a, "plan_validate", map[string]any{"plan": p}, &judged); err != nil {
		return "", err
	}
	if !judged.Valid {
		return "", errors.New(strings.Join(judged.Problems, "; "))
	}
	if len(p.Golden) == 0 && !c.Update {
		return "ok", nil
	}
	return c.compareGolden(ctx, a, file, p)
}

// compareGolden does a dry run of a plan and compares its digest with the golden one, or writes it
// with --update.
func (c studioCheckCmd) compareGolden(ctx context.Context, a *app.App, file string, p studio.Plan) (string, error) {
	var v executedPlan
	err := c.invoke(ctx, a, "plan_execute", map[string]any{"plan": p, "dry_run": true}, &v)
	var known *fault.Error
	if errors.As(err, &known) && known.Code == string(studio.Missing) && os.Getenv("REQUIRE_ENGINES") != "1" {
		return "ok; the golden digest was not compared: " + known.Message, nil
	}
	if err != nil {
		return "", err
	}
	program := v.Target.Kind + " " + v.Target.Version
	want, ok := p.Golden[program]
	switch {
	case c.Update:
		return "ok, golden for " + program, writeGolden(file, program, v.Diff.Would)
	case !ok:
		return "ok; there is no golden digest for " + program, nil
	case want != v.Diff.Would:
		return "", fmt.Errorf("the digest for %s is %s, but the plan has %s; if the change is intended, run check --update",
			program, v.Diff.Would, want)
	}
	return "ok; the digest is the golden one for " + program, nil
}

// writeGolden replaces the golden digests of a plan file, which are its last part.
func writeGolden(file, program, digest string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, _, _ := strings.Cut(string(b), "\ngolden:")
	text = strings.TrimRight(text, "\n") + fmt.Sprintf("\ngolden:\n  %s: %s\n", program, digest)
	return os.WriteFile(file, []byte(text), 0o644)
}

type studioVerifyCmd struct {
	studioCommon
	RunID string `arg:"" name:"run" help:"Id of the run to repeat."`
}

func (v studioVerifyCmd) Run(ctx context.Context, out io.Writer) error {
	return v.withApp(ctx, func(a *app.App) error {
		var verdict studio.Verdict
		if err := v.invoke(ctx, a, "verify_run", map[string]any{"run_id": v.RunID}, &verdict); err != nil {
			return err
		}
		for _, d := range verdict.Differences {
			fmt.Fprintf(out, "%s\n  was %s\n  is  %s\n", d.What, d.Was, d.Is)
		}
		if !verdict.Same {
			return fmt.Errorf("%d of %d results differ", len(verdict.Differences), verdict.Compared)
		}
		_, err := fmt.Fprintf(out, "Identical: %d results, digests and artifacts are equal.\n", verdict.Compared)
		return err
	})
}

type studioStaleCmd struct{ studioCommon }

func (s studioStaleCmd) Run(ctx context.Context, out io.Writer) error {
	return s.withApp(ctx, func(a *app.App) error {
		var list struct {
			Stale []studio.Stale `json:"stale"`
		}
		if err := s.invoke(ctx, a, "list_stale", struct{}{}, &list); err != nil {
			return err
		}
		for _, x := range list.Stale {
			now := fmt.Sprintf("is at version %d", x.Is)
			if x.Is == 0 {
				now = "is deleted or hidden"
			}
			fmt.Fprintf(out, "%s: built from version %d of %q, which %s\n", x.Run, x.Was, x.Card, now)
			for _, name := range x.Artifacts {
				fmt.Fprintln(out, "  ", name)
			}
		}
		if len(list.Stale) == 0 {
			fmt.Fprintln(out, "Nothing is stale.")
		}
		return nil
	})
}

type studioUndoCmd struct {
	studioCommon
	RunID string `arg:"" name:"run" help:"Id of the run to undo."`
}

func (u studioUndoCmd) Run(ctx context.Context, out io.Writer) error {
	return u.withApp(ctx, func(a *app.App) error {
		var e studio.Envelope[json.RawMessage]
		if err := u.invoke(ctx, a, "undo_run", map[string]any{"run_id": u.RunID}, &e); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "Undone by run %s.\n", e.RunID)
		return err
	})
}

type studioRunsCmd struct {
	studioCommon
	listing
	Limit int `help:"Highest number of runs." default:"20"`
}

func (r studioRunsCmd) Run(ctx context.Context, out io.Writer) error {
	return r.withApp(ctx, func(a *app.App) error {
		var list json.RawMessage
		if err := r.invoke(ctx, a, "list_runs", map[string]any{"limit": r.Limit}, &list); err != nil {
			return err
		}
		if r.JSON {
			return printJSON(out, list)
		}
		return printRuns(out, list)
	})
}

// printRuns prints a line for each run: its time, id, tool, state and source cards.
func printRuns(out io.Writer, list json.RawMessage) error {
	var v struct {
		Total int `json:"total"`
		Runs  []struct {
			ID      string          `json:"run_id"`
			Tool    string          `json:"tool_name"`
			Status  string          `json:"status"`
			Error   string          `json:"error"`
			Undone  string          `json:"undone_by"`
			Started time.Time       `json:"started_at"`
			Sources []studio.Source `json:"sources"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(list, &v); err != nil {
		return err
	}
	for _, r := range v.Runs {
		state := r.Status
		if r.Error != "" {
			state += " " + r.Error
		}
		if r.Undone != "" {
			state += ", taken back"
		}
		cards := slicesx.Map(r.Sources, func(s studio.Source) string { return s.Name })
		fmt.Fprintf(out, "%s  %s  %-19s %-8s %s\n", formatMinute(r.Started), r.ID, r.Tool, state, strings.Join(cards, ", "))
	}
	if len(v.Runs) < v.Total {
		fmt.Fprintf(out, "%d of %d runs; --limit shows more.\n", len(v.Runs), v.Total)
	}
	if v.Total == 0 {
		fmt.Fprintln(out, "There are no runs.")
	}
	return nil
}
