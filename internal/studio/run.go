package studio

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"loregate/internal/access"
	"loregate/internal/blob"
	"loregate/internal/slicesx"
	"loregate/internal/telemetry"
	"loregate/internal/wait"
)

// request is one execution: one call of a tool, or the calls of a plan.
type request struct {
	tool    string
	version string
	plan    string
	undoes  string
	calls   []call
	targets []string // in addition to the targets of the calls
	hash    blob.Sum // of the input
	common
}

// call is one call of a tool, checked against its schema.
type call struct {
	tool    *Tool
	input   raw
	target  string
	confirm bool
	seed    int64
}

// errStopAsked is the cause of a cancellation that a caller asked for.
var errStopAsked = fmt.Errorf("studio: asked to stop: %w", context.Canceled)

// executor carries out one request.
type executor struct {
	*Studio
	grant     access.Grant // the caller's
	reader    access.Grant // the caller's, limited to the audience's level
	req       request
	run       *Run
	progress  func(done, total float64, message string)
	txns      map[string]Txn
	order     []string
	dir       string
	fromQueue bool // it comes from the queue; another worker may have done it already
}

// executeRequest runs a request to its end, in this process or at a worker. The returned run has
// ended, successfully or not; the error is for requests that never became a run.
func (s *Studio) executeRequest(ctx context.Context, g access.Grant, req request,
	progress func(done, total float64, message string)) (*Run, error) {
	x := s.newExecutor(g, req, progress)
	if err := x.checkRequest(); err != nil {
		return nil, err
	}
	if again, err := x.findRepeated(ctx); again != nil || err != nil {
		return again, err
	}
	x.beginRun(ctx)
	if s.handsOver() && len(x.programKinds()) > 0 {
		return x.handOver(ctx)
	}
	return x.performRun(ctx)
}

func (s *Studio) newExecutor(g access.Grant, req request,
	progress func(done, total float64, message string)) *executor {
	level, _ := access.ParseLevel(req.Audience)
	return &executor{Studio: s, grant: g, reader: g.As(level), req: req, progress: progress, txns: map[string]Txn{}}
}

// performRun carries out a run that has begun, and records it.
func (x *executor) performRun(ctx context.Context) (*Run, error) {
	ctx, stop := context.WithTimeout(ctx, time.Duration(min(max(x.req.Timeout, 1), x.policy.secondsLimit()))*time.Second)
	defer stop()
	live, ctx, leave := x.registerLive(ctx, x.run, x.grant.World())
	defer func() { leave(x.run) }()
	x.progress = x.progressTo(live)
	// The targets stay locked until the run is recorded: an unrecorded change in a target would be
	// removed by the next run.
	waiting, end := telemetry.Start(ctx, "studio.open")
	release, err := x.openTargets(waiting)
	end(err)
	defer release()
	if err == nil && x.fromQueue {
		if again, err := x.findRecorded(ctx); again != nil || err != nil {
			return again, errors.Join(err, x.rollback(ctx))
		}
	}
	if err == nil {
		err = x.carryOut(ctx)
	} else {
		err = errors.Join(err, x.rollback(ctx))
	}
	return x.run, x.endRun(ctx, err)
}

// progressTo returns a function that reports progress to the run's caller and to its followers.
func (x *executor) progressTo(live *liveRun) func(done, total float64, message string) {
	progress := x.progress
	return func(done, total float64, message string) {
		live.reportProgress(done, total, message)
		progress(done, total, message)
	}
}

// checkRequest refuses requests that are never allowed, before any card or target is read.
func (x *executor) checkRequest() error {
	if major, _, _ := strings.Cut(x.req.Protocol, "."); x.req.Protocol != "" && major != "1" {
		return Fail(Validation, "protocol_version: %s is not supported; this server has %s", x.req.Protocol, Protocol)
	}
	if len(x.req.calls) > x.policy.callLimit() {
		return Fail(OverBudget, "the plan has %d calls; at most %d are allowed", len(x.req.calls), x.policy.callLimit())
	}
	for i := range x.req.calls {
		c := &x.req.calls[i]
		_, name, err := x.resolveTarget(c.tool, c.target)
		if err != nil {
			return err
		}
		c.target = name
		if err := x.policy.checkCall(c.tool, name, x.grant.Role(), c.input, c.confirm); err != nil {
			return err
		}
	}
	return nil
}

// beginRun makes the run.
func (x *executor) beginRun(ctx context.Context) {
	x.run = newRun(x.newID(), x.req.tool, x.req.version, x.req.hash, x.req.common)
	id := x.run.ID
	x.run.Plan, x.run.Undoes, x.run.Actor, x.run.Config = x.req.plan, x.req.undoes, string(x.grant.Caller().Subject),
		x.config
	x.run.Started = x.now().UTC().Truncate(time.Millisecond)
	x.run.TraceID, x.run.SpanID = hex.EncodeToString(id[:]), hex.EncodeToString(id[8:])
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		x.run.TraceID, x.run.SpanID = span.TraceID().String(), span.SpanID().String()
	}
}

// newRun makes a run that has done nothing yet.
func newRun(id uuid.UUID, tool, version string, hash blob.Sum, how common) *Run {
	return &Run{ID: id, Protocol: Protocol, Tool: tool, Version: version, RequestID: cmp.Or(how.RequestID, id.String()),
		InputHash: hash, Audience: how.Audience,
		Status: "running", Seed: how.Seed, dry: how.DryRun, Steps: []Step{}, Artifacts: []Artifact{}, Warnings: []string{},
		Sources: []Source{}}
}

// carryOut does all calls, with one transaction per target, and commits the transactions.
func (x *executor) carryOut(ctx context.Context) (err error) {
	x.dir = filepath.Join(x.Studio.dir, "scratch", x.run.ID.String())
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return Fail(IOFailed, "the folder for exchanging files cannot be created").Because(err)
	}
	defer os.RemoveAll(x.dir)
	if x.run.Undoes != "" {
		err = x.undoOnTargets(ctx)
	} else {
		err = x.runSteps(ctx)
	}
	if err != nil || x.run.dry {
		return errors.Join(err, x.rollback(ctx))
	}
	return x.commit(ctx)
}

// openTargets takes the targets' locks, always in the same order, and begins their transactions.
func (x *executor) openTargets(ctx context.Context) (release func(), err error) {
	var held []func()
	release = func() {
		for _, f := range slices.Backward(held) {
			f()
		}
	}
	x.order = slices.Clone(x.req.targets)
	for _, c := range x.req.calls {
		x.order = append(x.order, c.target)
	}
	slices.Sort(x.order)
	x.order = slices.Compact(x.order)
	for _, name := range x.order {
		unlock, err := x.beginTarget(ctx, name)
		if err != nil {
			return release, err
		}
		held = append(held, unlock)
	}
	return release, nil
}

// beginTarget takes one target's lock and begins its transaction.
func (x *executor) beginTarget(ctx context.Context, name string) (unlock func(), err error) {
	a, err := x.adapterOf(name)
	if err != nil {
		return nil, err
	}
	sl, err := x.openSlot(x.grant.World(), a, name)
	if err != nil {
		return nil, err
	}
	unlock, err = sl.acquire(ctx, func(n int) { x.progress(0, 0, fmt.Sprintf("waiting for %s: %d before", name, n)) })
	if err != nil {
		return nil, err
	}
	known, err := x.completedRuns(ctx)
	if err == nil {
		err = retryTransient(ctx, func() error {
			t, err := sl.target.Begin(ctx, known)
			if err == nil {
				x.txns[name] = t
			}
			return err
		})
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// adapterOf finds the adapter of a target by the target's name.
func (s *Studio) adapterOf(target string) (Adapter, error) {
	kind, _, _ := strings.Cut(target, ":")
	i := slices.IndexFunc(s.adapters, func(a Adapter) bool { return a.Kind() == kind })
	if i < 0 {
		return nil, Fail(TargetGone, "%s no longer exists here", kind)
	}
	return s.adapters[i], nil
}

// completedRuns returns a predicate for runs that are recorded as completed; a target removes the
// changes of all other runs. The caller holds the target's lock, so that no run is in progress
// there.
func (x *executor) completedRuns(ctx context.Context) (func(run string) bool, error) {
	b, err := x.lockBook(ctx, x.grant)
	if err != nil {
		return nil, err
	}
	b.mu.Unlock()
	return func(run string) bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		id, err := uuid.Parse(run)
		e, ok := b.runs[id]
		return err == nil && ok && e.run.Status == "ok"
	}, nil
}

// retries is the number of attempts at an operation that failed transiently; retryWait is the first
// pause.
const (
	retries   = 3
	retryWait = 50 * time.Millisecond
)

// retryTransient calls f again if it failed with TargetGone or IOFailed, up to retries times in
// all.
func retryTransient(ctx context.Context, f func() error) error {
	pause := retryWait
	for try := 1; ; try++ {
		err := f()
		var failed *Failure
		if err == nil || try == retries || !errors.As(err, &failed) || failed.Code != TargetGone && failed.Code != IOFailed {
			return err
		}
		if !wait.For(ctx, pause) {
			return err
		}
		pause *= 4
	}
}

func (x *executor) runSteps(ctx context.Context) error {
	for i := range x.req.calls {
		if err := x.runStep(ctx, i); err != nil {
			if len(x.req.calls) > 1 {
				f := failureOf(err)
				return f.With("step", i+1).With("tool", x.req.calls[i].tool.Name)
			}
			return err
		}
	}
	return nil
}

// runStep does one call: it resolves references, reuses earlier artifacts if possible, has the
// adapter carry the call out, and checks the result.
func (x *executor) runStep(ctx context.Context, i int) (err error) {
	ctx, end := telemetry.Start(ctx, "studio.step "+x.req.calls[i].tool.Name)
	defer func() { end(err) }()
	c, txn := x.req.calls[i], x.txns[x.req.calls[i].target]
	input, err := x.resolveRefs(c.input)
	if err != nil {
		return err
	}
	before, err := txn.Digest(ctx)
	if err != nil {
		return err
	}
	was, err := x.checkReplaced(ctx, c, txn)
	if err != nil {
		return err
	}
	x.run.Steps = append(x.run.Steps, Step{Tool: c.tool.Name, Version: c.tool.Version, Target: txn.Info(), Input: input,
		Before: before, From: len(x.run.Artifacts), Made: []string{}})
	st := &x.run.Steps[len(x.run.Steps)-1]
	if done, err := x.reuseCached(ctx, st); done || err != nil {
		return err
	}
	if err := x.doCall(ctx, i, c, st, txn); err != nil {
		return err
	}
	if st.After, err = txn.Digest(ctx); err != nil {
		return err
	}
	if !c.tool.Mutates && st.After != before {
		return Fail(ExecFailed, "%s changed its target, although it only reads; its result was discarded", c.tool.Name)
	}
	if x.run.dry {
		return x.fillDiff(ctx, txn, st, was)
	}
	return x.checkArtifacts(ctx, st)
}

// doCall loads the call's card and has the adapter carry the call out.
func (x *executor) doCall(ctx context.Context, i int, c call, st *Step, txn Txn) error {
	w := &Work{Tool: c.tool.Name, Input: st.Input, Seed: uint64(c.seed), Dry: x.run.dry,
		Dir: filepath.Join(x.dir, fmt.Sprint(i)), run: x.run,
		files: x.newKeeper(
			func(ctx context.Context, id string) (Artifact, error) { return x.findArtifact(ctx, x.reader, id) },
		)}
	for _, a := range x.adapters {
		if b, ok := a.(BlendReader); ok {
			w.blend = b
		}
	}
	total := float64(len(x.req.calls))
	w.Progress = func(done, of float64, message string) {
		part := 0.0
		if of > 0 {
			part = min(done/of, 1)
		}
		x.progress(float64(i)+part, total, c.tool.Name+": "+message)
	}
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		return Fail(IOFailed, "the folder for exchanging files cannot be created").Because(err)
	}
	if err := x.loadCard(ctx, w); err != nil {
		return err
	}
	x.progress(float64(i), total, c.tool.Name)
	doing, end := telemetry.Start(ctx, "studio.adapter "+txn.Info().Kind)
	result, err := txn.Do(doing, w)
	end(err)
	if err != nil {
		return joinCause(ctx, err)
	}
	if st.Result, err = json.Marshal(result); err != nil {
		return fmt.Errorf("studio: result of %s: %w", c.tool.Name, err)
	}
	for _, a := range x.run.Artifacts[st.From:] {
		st.Made = append(st.Made, a.ID)
	}
	return x.checkAudience(ctx, txn, c.target)
}

// joinCause adds the cause of the context's end, if it ended, to the error that resulted.
func joinCause(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return errors.Join(context.Cause(ctx), err)
}

// checkAudience refuses the call if the target holds changes of a run for a higher audience than
// this one.
func (x *executor) checkAudience(ctx context.Context, txn Txn, target string) error {
	holder, ok := txn.(interface{ Runs() []string })
	if !ok {
		return nil
	}
	b, err := x.lockBook(ctx, x.grant)
	if err != nil {
		return err
	}
	defer b.mu.Unlock()
	level, _ := access.ParseLevel(x.req.Audience)
	for _, run := range holder.Runs() {
		if id, err := uuid.Parse(run); err == nil && b.runs[id].audience > level {
			return Fail(
				PolicyDenied,
				"the target %s contains the result of a run for %s, which a run for %s must not use; use another target, such as %s:NAME, or set replace: true",
				target,
				b.runs[id].audience,
				x.req.Audience,
				strings.SplitN(target, ":", 2)[0],
			)
		}
	}
	return nil
}

// checkArtifacts checks that each artifact of the step is stored with its full size.
func (x *executor) checkArtifacts(ctx context.Context, st *Step) error {
	for _, a := range x.run.Artifacts[st.From:] {
		ref, err := x.blobs.Stat(ctx, a.SHA256)
		if err != nil || ref.Size != a.Bytes {
			return Fail(IOFailed, "artifact %s was made and is missing", a.Name).Because(err)
		}
	}
	return nil
}

// fillDiff fills in a dry run's diff.
func (x *executor) fillDiff(ctx context.Context, txn Txn, st *Step, was content) error {
	after, err := txn.Names(ctx)
	if err != nil {
		return err
	}
	before := was.names
	if x.run.diff == nil {
		x.run.diff = &Diff{Before: st.Before, Added: []string{}, Removed: []string{}}
	}
	d := x.run.diff
	d.Would = st.After
	d.Added = append(d.Added, subtractNames(after, before)...)
	d.Removed = append(d.Removed, subtractNames(before, after)...)
	d.Added, d.Removed = d.Added[:min(len(d.Added), 100)], d.Removed[:min(len(d.Removed), 100)]
	if len(was.scenes) == 0 {
		return nil
	}
	parts, err := diffReplaced(ctx, txn, was.scenes)
	d.Parts = append(d.Parts, parts...)
	d.Parts = d.Parts[:min(len(d.Parts), 100)]
	return err
}

// subtractNames returns the names in a that are not in b.
func subtractNames(a, b []string) []string {
	have := make(map[string]bool, len(b))
	for _, n := range b {
		have[n] = true
	}
	return slicesx.Filter(a, func(n string) bool { return !have[n] })
}

// undoWait bounds the time that rollback takes after a call was stopped.
const undoWait = time.Minute

// rollback restores every target. After a dry run it also checks that the digest is that from
// before.
func (x *executor) rollback(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWait)
	defer cancel()
	var errs []error
	for _, name := range x.order {
		txn := x.txns[name]
		if txn == nil {
			continue
		}
		if err := txn.Rollback(ctx); err != nil {
			errs = append(errs, fmt.Errorf("studio: rollback of %s: %w", name, err))
			continue
		}
		if x.run.dry && x.run.diff != nil {
			i := slices.IndexFunc(x.run.Steps, func(s Step) bool { return s.Target == txn.Info() })
			after, err := txn.Digest(ctx)
			if err == nil && i >= 0 && after != x.run.Steps[i].Before {
				err = Fail(ExecFailed, "the dry run changed %s", name)
			}
			errs = append(errs, err)
			x.run.diff.After = after
		}
	}
	return errors.Join(errs...)
}

// commit commits the transactions of all targets. The run counts only once endRun has recorded it.
func (x *executor) commit(ctx context.Context) (err error) {
	ctx, end := telemetry.Start(context.WithoutCancel(ctx), "studio.commit")
	defer func() { end(err) }()
	for _, name := range x.order {
		if err := x.txns[name].Commit(ctx, x.run.ID.String()); err != nil {
			return errors.Join(err, x.rollback(ctx))
		}
	}
	return nil
}

// endRun records the run's end and writes its folder. A run whose lease was lost, or whose worker
// stops, is not recorded.
func (x *executor) endRun(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && (errors.Is(cause, errLeaseLost) || errors.Is(cause, errWorkerStops)) {
		return cause // another worker repeats the run from the beginning
	}
	ctx = context.WithoutCancel(ctx)
	x.run.Ended, x.run.Status = x.now().UTC().Truncate(time.Millisecond), "ok"
	if err != nil {
		x.run.Error, x.run.Status = failureOf(err), "error"
		x.run.Artifacts = []Artifact{} // artifacts of a failed run are discarded
		if x.run.Error.Code == InternalError || x.run.Error.cause != nil {
			x.logger.WarnContext(ctx, "a run failed", "run", x.run.ID, "failure", x.run.Error.Code, "cause", x.run.Error.cause)
		}
	}
	x.ended(x.run.Status)
	if x.run.dry {
		return nil
	}
	level, _ := access.ParseLevel(x.req.Audience)
	if x.run.Error != nil {
		level = max(level, access.LevelGM) // the error may reveal facts that the audience must not know
	}
	err = x.recordEvent(ctx, x.grant, x.run.ID.String(), eventRun, level, x.run)
	if errors.Is(err, errEnded) {
		return Fail(Cancelled, "the run was ended by another process; nothing of this attempt was kept")
	}
	if err != nil {
		return Fail(IOFailed, "the run could not be recorded, so it has no effect").Because(err)
	}
	if err := x.writeManifest(ctx); err != nil {
		x.logger.WarnContext(
			ctx,
			"a run's folder is incomplete; its record and its files are complete",
			"run",
			x.run.ID,
			"error",
			err,
		)
	}
	return nil
}

// writeManifest writes run.json and links the artifacts into the run's folder.
func (x *executor) writeManifest(ctx context.Context) error {
	b, err := json.MarshalIndent(x.run, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Join(x.Studio.dir, "runs", x.run.ID.String())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "run.json"), append(b, '\n'), 0o600); err != nil {
		return err
	}
	return x.linkArtifacts(ctx, x.run)
}

// readRaw decodes inputs that are not part of a Work; see Read.
func readRaw[T any](input raw) (v T, err error) {
	err = json.Unmarshal(input, &v)
	return v, err
}
