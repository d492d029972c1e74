package studio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/blob"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/slicesx"
)

// Verdict is the result of repeating a run.
type Verdict struct {
	Run         string       `json:"run_id"`
	Same        bool         `json:"same"`
	Compared    int          `json:"compared" jsonschema:"Results, artifacts and digests that were compared."`
	Differences []Difference `json:"differences"`
}

// Difference is one value that differs in the repetition.
type Difference struct {
	What string `json:"what"`
	Was  string `json:"was"`
	Is   string `json:"is"`
}

func (s *Studio) verifyRun(ctx context.Context, c *op.Call, in runIn) (v Verdict, err error) {
	if s.handsOver() {
		v, err = s.verifyElsewhere(ctx, c, in.Run)
	} else {
		v, err = s.verifyByID(ctx, c.Grant, in.Run, c.Progress)
	}
	if err != nil {
		return v, failureOf(err).toFault(nil)
	}
	return v, nil
}

// verifyElsewhere leaves a verification to a worker.
func (s *Studio) verifyElsewhere(ctx context.Context, c *op.Call, id string) (Verdict, error) {
	run, err := s.loadRun(ctx, c.Grant, id)
	if err != nil {
		return Verdict{}, err
	}
	kinds := targetKinds(slicesx.Map(run.Steps, func(st Step) string { return st.Target.Name }))
	if len(kinds) == 0 {
		return s.verifyByID(ctx, c.Grant, id, c.Progress)
	}
	how := common{Audience: run.Audience, Timeout: s.policy.secondsLimit()}
	t := s.newTicket(c.Grant, actVerify, newRun(s.newID(), "verify_run", "1.0.0", run.InputHash, how),
		order{Tool: "verify_run", How: how}, kinds)
	t.Run = id
	if err := s.submitTicket(ctx, c.Grant, t); err != nil {
		return Verdict{}, err
	}
	a, err := s.awaitTicket(ctx, c.Grant, t, c.Progress)
	switch {
	case err != nil:
		return Verdict{}, err
	case a.Error != nil:
		return Verdict{}, a.Error
	}
	return *a.Verdict, nil
}

// verifyByID repeats and compares the run with this id.
func (s *Studio) verifyByID(ctx context.Context, g access.Grant, id string,
	progress func(done, total float64, message string)) (Verdict, error) {
	run, err := s.loadRun(ctx, g, id)
	if err != nil {
		return Verdict{}, err
	}
	return s.rerunAndCompare(ctx, g, run, progress)
}

// rerunAndCompare repeats a run on copies of its targets in their state from before the run, and
// compares the results. It records nothing.
func (s *Studio) rerunAndCompare(ctx context.Context, g access.Grant, run Run,
	progress func(done, total float64, message string)) (v Verdict, err error) {
	if run.Status != "ok" || run.Undoes != "" {
		return v, Fail(Validation, "run %s is %s; only a successful run with results can be repeated", run.ID,
			run.Status)
	}
	x, release, err := s.newRerun(ctx, g, run, progress)
	defer release()
	if err != nil {
		return v, err
	}
	for i, st := range run.Steps {
		if err := x.repeatStep(ctx, i, st); err != nil {
			return v, err
		}
	}
	return compareRuns(run, *x.run), x.rollback(ctx)
}

// newRerun makes an executor on copies of the targets of a run.
func (s *Studio) newRerun(ctx context.Context, g access.Grant, run Run,
	progress func(done, total float64, message string)) (x *executor, release func(), err error) {
	var undo []func()
	release = func() {
		for _, f := range slices.Backward(undo) {
			f()
		}
	}
	x = s.newExecutor(g, request{common: common{Audience: run.Audience}}, progress)
	x.run = &Run{ID: s.newID(), Seed: run.Seed, Audience: run.Audience, Config: s.config, Artifacts: []Artifact{},
		Warnings: []string{}, Sources: []Source{}}
	x.dir = filepath.Join(s.dir, "scratch", x.run.ID.String())
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return x, release, Fail(IOFailed, "the folder for exchanging files cannot be created").Because(err)
	}
	undo = append(undo, func() { _ = os.RemoveAll(x.dir) }) // if this fails, a later start removes the folder
	before, err := s.runsBefore(ctx, g, run.ID)
	if err != nil {
		return x, release, err
	}
	for _, st := range run.Steps {
		name := st.Target.Name
		x.req.calls = append(x.req.calls, call{tool: toolOrEmpty(st.Tool), target: name})
		if x.txns[name] != nil {
			continue
		}
		fork, err := s.forkTarget(ctx, g, name, x.dir, before)
		if err != nil {
			return x, release, err
		}
		undo = append(undo, fork.Close)
		if x.txns[name], err = fork.Begin(ctx, func(string) bool { return true }); err != nil {
			delete(x.txns, name)
			return x, release, err
		}
		x.order = append(x.order, name)
	}
	return x, release, nil
}

// runsBefore returns a predicate for the runs that were recorded before the given run.
func (s *Studio) runsBefore(ctx context.Context, g access.Grant, id uuid.UUID) (func(string) bool, error) {
	b, err := s.lockBook(ctx, g)
	if err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	earlier := map[string]bool{}
	for _, other := range b.order {
		if other == id {
			break
		}
		earlier[other.String()] = true
	}
	return func(run string) bool { return earlier[run] }, nil
}

func (s *Studio) forkTarget(ctx context.Context, g access.Grant, name, dir string,
	keep func(string) bool) (Target, error) {
	a, err := s.adapterOf(name)
	if err != nil {
		return nil, err
	}
	sl, err := s.openSlot(g.World(), a, name)
	if err != nil {
		return nil, err
	}
	release, err := sl.acquire(ctx, func(int) {})
	if err != nil {
		return nil, err
	}
	defer release()
	own := filepath.Join(dir, "fork-"+strings.ReplaceAll(name, ":", "_"))
	if err := os.MkdirAll(own, 0o700); err != nil {
		return nil, Fail(IOFailed, "the folder for a copy cannot be created").Because(err)
	}
	return sl.target.Fork(ctx, Place{World: g.World(), Name: name, Dir: own, Files: s.newKeeper(nil)}, keep)
}

// repeatStep repeats a recorded step.
func (x *executor) repeatStep(ctx context.Context, i int, was Step) error {
	txn := x.txns[was.Target.Name]
	before, err := txn.Digest(ctx)
	if err != nil {
		return err
	}
	if before != was.Before {
		return Fail(TargetGone, "the state of %s before step %d cannot be restored: its program is %s, it was %s",
			was.Target.Name, i+1, txn.Info().Version, was.Target.Version)
	}
	x.run.Steps = append(x.run.Steps, Step{Tool: was.Tool, Version: toolOrEmpty(was.Tool).Version, Target: txn.Info(),
		Input: withoutPath(was.Input), Before: before,
		From: len(x.run.Artifacts), Made: []string{}})
	st := &x.run.Steps[i]
	common, err := readRaw[common](was.Input)
	if err != nil {
		return err
	}
	if err := x.doCall(ctx, i, call{tool: toolOrEmpty(was.Tool), target: was.Target.Name, seed: common.Seed}, st,
		txn); err != nil {
		if stale, ok := errors.AsType[*fault.Error](err); ok && stale.Kind == fault.NotFound {
			return Fail(Validation, "step %d depends on something that no longer exists: %s", i+1, stale.Message)
		}
		return err
	}
	st.After, err = txn.Digest(ctx)
	return err
}

// withoutPath removes path and overwrite from an input, so that a repetition writes no file outside
// the studio.
func withoutPath(input raw) raw {
	var fields map[string]any
	if err := decodeKeepingNumbers(input, &fields); err != nil || fields["path"] == nil {
		return input
	}
	delete(fields, "path")
	delete(fields, "overwrite")
	return encodeFields(fields)
}

func compareRuns(was, is Run) Verdict {
	v := Verdict{Run: was.ID.String(), Differences: []Difference{}}
	check := func(what, a, b string) {
		v.Compared++
		if a != b {
			v.Differences = append(v.Differences, Difference{what, a, b})
		}
	}
	for i := range was.Steps {
		a, b := was.Steps[i], is.Steps[i]
		at := fmt.Sprintf("step %d, %s: ", i+1, a.Tool)
		if measuringTools[a.Tool] {
			continue
		}
		check(at+"result", normalizeResult(a.Result, was.ID), normalizeResult(b.Result, is.ID))
		check(at+"digest", a.After, b.After)
	}
	check("number of artifacts", fmt.Sprint(len(was.Artifacts)), fmt.Sprint(len(is.Artifacts)))
	for i := range min(len(was.Artifacts), len(is.Artifacts)) {
		a, b := was.Artifacts[i], is.Artifacts[i]
		if a.Kind == "report" {
			continue // a measurement
		}
		check("artifact "+a.Name, sumToCompare(a).String(), sumToCompare(b).String())
	}
	v.Same = len(v.Differences) == 0
	return v
}

// measuringTools are the tools whose results are measurements.
var measuringTools = map[string]bool{"profile_performance": true}

func sumToCompare(a Artifact) blob.Sum {
	if a.Content != nil {
		return *a.Content
	}
	return a.SHA256
}

// normalizeResult returns a result without the parts that depend on the id of its run.
func normalizeResult(result raw, id uuid.UUID) string {
	var fields map[string]any
	if decodeKeepingNumbers(result, &fields) == nil {
		delete(fields, "written")
		result = encodeFields(fields)
	}
	return string(bytes.ReplaceAll(result, []byte(id.String()), []byte("RUN")))
}

// sweepAge is the age at which temporary folders of a stopped process are removed.
const sweepAge = 24 * time.Hour

// sweepScratch removes folders for temporary files that no run uses any more.
func (s *Studio) sweepScratch() {
	root := filepath.Join(s.dir, "scratch")
	list, err := os.ReadDir(root)
	if err != nil {
		return // the folder does not exist yet
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil && s.now().Sub(info.ModTime()) > sweepAge {
			_ = os.RemoveAll(filepath.Join(root, e.Name())) // the next start tries again
		}
	}
}
