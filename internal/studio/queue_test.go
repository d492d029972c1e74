package studio_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/blob"
	"loregate/internal/fault"
	"loregate/internal/job"
	"loregate/internal/studio"
	"loregate/internal/studio/native"
)

// queue makes a queue to workers for the callers of a desk. gone has the subjects whose rights were
// revoked.
func (d *desk) queue(handOver bool, gone *sync.Map) *studio.Queue {
	return &studio.Queue{Deliveries: d.store, HandOver: handOver,
		Act: func(ctx context.Context, who studio.Asker, w access.WorldID, operation string, f func(access.Grant) error) error {
			caller, effect := access.Caller{Subject: "system", EveryRole: access.RoleAdmin}, access.Write
			if operation == studio.ReadQueue {
				effect = access.Read
			}
			if who != (studio.Asker{}) {
				if _, ok := gone.Load(who.Subject); ok {
					return fault.New(fault.Denied, "the key is revoked")
				}
				caller = d.caller(who.Role)
			}
			a, err := d.guard.Admit(ctx, caller, access.Request{Operation: operation, Surface: studio.Surface, Effect: effect,
				MinRole: access.RoleGM, World: w})
			if err != nil {
				return err
			}
			return f(a.Grant)
		}}
}

// team is a desk that leaves its runs to workers.
type team struct {
	*desk
	gone  sync.Map
	lease time.Duration // of its workers
}

func newTeam(t *testing.T) *team {
	tm := &team{desk: newDesk(t), lease: 2 * time.Second}
	tm.openWith(tm.queue(true, &tm.gone))
	return tm
}

// worker starts a worker with a program of its own; stop ends it as the end of its process would.
func (tm *team) worker(kinds ...string) (p *paper, stop func()) {
	tm.t.Helper()
	p = &paper{kind: "blender", version: "1"}
	dir := filepath.Join(tm.data, "studio")
	blobs, err := blob.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		tm.t.Fatal(err)
	}
	s, err := studio.Open(studio.Config{Canon: tm.canon, Blobs: blobs, Dir: dir,
		Adapters: []studio.Adapter{p, &paper{kind: "godot"}, native.New()}, Queue: tm.queue(false, &tm.gone),
		Policy: studio.Policy{Roots: tm.roots}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tm.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Work(ctx, studio.Worker{Kinds: kinds, Lease: tm.lease})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
		s.Close()
		_ = blobs.Close()
	})
	tm.t.Cleanup(stop)
	return p, stop
}

// queued waits until a run is in the queue and returns its id.
func (tm *team) queued() string {
	tm.t.Helper()
	for {
		changed := tm.canon.Changed()
		list := tm.do(access.RoleGM, "list_runs", `{"tool": "add_object"}`)["runs"].([]any)
		for _, r := range list {
			if row := r.(map[string]any); row["status"] == "queued" || row["status"] == "running" {
				return row["run_id"].(string)
			}
		}
		<-changed
	}
}

func TestWorkerDoesRunsOfAnotherProcess(t *testing.T) {
	tm := newTeam(t)
	tm.worker()
	e := tm.do(access.RoleGM, "add_object", cube)
	id := e["run_id"].(string)
	if run := tm.do(access.RoleGM, "get_run", `{"run_id": "`+id+`"}`)["run"].(map[string]any); run["actor"] != "gm" ||
		run["status"] != "ok" || run["trace_id"] != e["trace_id"] {
		t.Errorf("recorded: %v", run)
	}
	dry := tm.do(access.RoleGM, "add_object", strings.Replace(strings.Replace(cube, `"A"`, `"B"`, 1), `{`,
		`{"dry_run": true, `, 1))
	if diff := dry["diff"].(map[string]any); fmt.Sprint(diff["added"]) != "[B]" ||
		diff["digest_before"] != diff["digest_after"] {
		t.Errorf("rehearsed: %v", dry)
	}
	export := tm.do(access.RoleGM, "export_asset", `{"format": "glb"}`)
	if v := tm.do(access.RoleGM, "verify_run", `{"run_id": "`+export["run_id"].(string)+`"}`); v["same"] != true {
		t.Errorf("verified: %v", v)
	}
	if tm.names() != "1" {
		t.Errorf("%s objects", tm.names())
	}
	tm.do(access.RoleGM, "undo_run", `{"run_id": "`+id+`"}`)
	if tm.names() != "0" {
		t.Errorf("%s objects after the undo", tm.names())
	}
	if known := tm.wantCode(studio.Validation, access.RoleGM, "export_asset",
		`{"format": "glb", "path": "out/../x"}`); known == nil {
		t.Error("a worker's failure came back otherwise")
	}
	runs := tm.do(access.RoleGM, "list_runs", `{"status": "ok"}`)["total"]
	if list := tm.do(access.RoleGM, "list_runs", `{"tool": "add_object"}`); list["total"] != 1.0 || runs == 0.0 {
		t.Errorf("%v runs of add_object are recorded", list["total"])
	}
}

func TestWorkerTakesOnlyItsTargetKinds(t *testing.T) {
	tm := newTeam(t)
	tm.paper.version = "" // a process that only queues runs needs no program
	if out := fmt.Sprint(tm.do(access.RoleUser, "list_targets", `{}`)); !strings.Contains(out, "workers execute its runs") ||
		strings.Contains(out, "buy some") {
		t.Errorf("targets: %s", out)
	}
	tm.worker("godot")
	tm.wantCode(studio.TimedOut, access.RoleGM, "add_object", strings.Replace(cube, `{`, `{"timeout_s": 1, `, 1))
	list := tm.do(access.RoleGM, "list_runs", `{"tool": "add_object"}`)
	if row := list["runs"].([]any)[0].(map[string]any); list["total"] != 1.0 || row["status"] != "error" ||
		row["error"] != "TIMEOUT" {
		t.Errorf("recorded: %v", list)
	}
	tm.worker("blender")
	tm.do(access.RoleGM, "add_object", cube)
	if tm.names() != "1" {
		t.Errorf("%s objects: what was given up was done", tm.names())
	}
}

// Runs that need no program wait for no worker, and a worker for one program does plans that also use
// the native target.
func TestNativeRunsNeedNoWorker(t *testing.T) {
	tm := newTeam(t)
	made := tm.do(access.RoleGM, "scene_spec", `{"action": "build", "text": `+quote(keepYAML)+`}`)
	if v := tm.do(access.RoleGM, "verify_run", `{"run_id": "`+made["run_id"].(string)+`"}`); v["same"] != true {
		t.Errorf("verified: %v", v)
	}
	tm.worker("blender")
	plan := `{"name": "a keep", "seed": 1, "calls": [{"tool": "scene_spec", "with": {"text": ` + quote(keepYAML) +
		`}}, {"tool": "add_object", "with": {"object_type": "cube", "name": "A", "location": [0, 0, 1]}}]}`
	if out := tm.do(access.RoleGM, "plan_execute", `{"plan": `+plan+`}`); out["status"] != "ok" || tm.names() != "1" {
		t.Errorf("%v", out)
	}
}

func TestQueuedAndRunningRunsAreCancelled(t *testing.T) {
	for _, where := range []string{"in the queue", "at a worker", "asked for by another process"} {
		t.Run(where, func(t *testing.T) {
			tm := newTeam(t)
			hold, entered := make(chan struct{}), make(chan struct{}, 1)
			if where != "in the queue" {
				p, _ := tm.worker()
				p.hold, p.entered = hold, entered
			}
			var err error
			var wait sync.WaitGroup
			wait.Go(func() { _, err = tm.try(access.RoleGM, "add_object", cube) })
			id := tm.queued()
			if where != "in the queue" {
				<-entered
			}
			asking := tm.desk
			if where == "asked for by another process" {
				other := *tm.desk
				other.openWith(tm.queue(true, &tm.gone))
				defer other.studio.Close()
				asking = &other
			}
			if out := asking.do(access.RoleGM, "cancel_run", `{"run_id": "`+id+`"}`); out["cancelled"] != true {
				t.Errorf("cancel: %v", out)
			}
			wait.Wait()
			var known *fault.Error
			if !errors.As(err, &known) || known.Code != string(studio.Cancelled) {
				t.Errorf("the call ended with %v", err)
			}
			list := tm.do(access.RoleGM, "list_runs", `{}`)
			if row := list["runs"].([]any)[0].(map[string]any); list["total"] != 1.0 || row["error"] != "CANCELLED" {
				t.Errorf("recorded: %v", list)
			}
		})
	}
}

// A stopping worker returns its run to the queue, and the next worker does it exactly once.
func TestStoppingWorkerReturnsItsRun(t *testing.T) {
	tm := newTeam(t)
	tm.lease = time.Hour
	p, stop := tm.worker()
	p.hold, p.entered = make(chan struct{}), make(chan struct{}, 1)
	var e map[string]any
	var wait sync.WaitGroup
	wait.Go(func() { e = tm.do(access.RoleGM, "add_object", cube) })
	<-p.entered
	stop()
	tm.worker()
	wait.Wait()
	if e["status"] != "ok" || tm.names() != "1" {
		t.Errorf("%s objects: %v", tm.names(), e)
	}
}

// A delivery that is not settled goes to another worker when its lease ends. After maxAttempts
// workers the run fails.
func TestRunThatKillsWorkersFails(t *testing.T) {
	tm := newTeam(t)
	var err error
	var wait sync.WaitGroup
	wait.Go(func() { _, err = tm.try(access.RoleGM, "add_object", cube) })
	id := uuid.MustParse(tm.queued())
	for range 3 {
		var list []job.Delivery
		for len(list) == 0 {
			var bad error
			if list, bad = tm.store.Claim(t.Context(), []string{"studio:blender"}, access.WorldID{},
				time.Now().Add(time.Hour), time.Now(), 1); bad != nil || len(list) > 0 && list[0].Event != id {
				t.Fatal(list, bad)
			}
		}
	}
	tm.worker()
	wait.Wait()
	var known *fault.Error
	if !errors.As(err, &known) || known.Code != string(studio.TargetGone) {
		t.Errorf("the call ended with %v", err)
	}
}

// A run is done with the rights that its caller has at the time of execution.
func TestWorkerChecksTheAskersRights(t *testing.T) {
	tm := newTeam(t)
	var err error
	var wait sync.WaitGroup
	wait.Go(func() { _, err = tm.try(access.RoleGM, "add_object", cube) })
	tm.queued()
	tm.gone.Store(access.Subject("gm"), true)
	tm.worker()
	wait.Wait()
	var known *fault.Error
	if !errors.As(err, &known) || known.Code != string(studio.PolicyDenied) {
		t.Errorf("the call ended with %v", err)
	}
}

// Two calls with one request id are one run, also while it is under way.
func TestConcurrentRequestIDIsOneRun(t *testing.T) {
	tm := newTeam(t)
	other := *tm.desk
	other.openWith(tm.queue(true, &tm.gone))
	defer other.studio.Close()
	ids := make([]string, 3)
	var wait sync.WaitGroup
	for i, asking := range []*desk{tm.desk, tm.desk, &other} {
		wait.Go(func() {
			ids[i] = asking.do(access.RoleGM, "add_object",
				strings.Replace(cube, `{`, `{"request_id": "r", `, 1))["run_id"].(string)
		})
		tm.queued()
	}
	tm.worker()
	wait.Wait()
	if len(slices.Compact(ids)) != 1 || tm.names() != "1" {
		t.Errorf("runs %v, %s objects", ids, tm.names())
	}
}

// A run has one record, even if several processes try to record it.
func TestRunIsRecordedOnce(t *testing.T) {
	d := newDesk(t)
	other := *d
	other.open()
	defer other.studio.Close()
	id := uuid.Must(uuid.NewV7())
	if err := d.studio.Record(t.Context(), d.grant(access.RoleGM), id); err != nil {
		t.Fatal(err)
	}
	if err := other.studio.Record(t.Context(), d.grant(access.RoleAdmin), id); !errors.Is(err, studio.ErrEnded) {
		t.Errorf("a second record: %v", err)
	}
}

// A worker whose lease went to another worker drops its run and does not record it.
func TestWorkerThatLostItsLeaseRecordsNothing(t *testing.T) {
	tm := newTeam(t)
	p, stop := tm.worker()
	p.hold, p.entered = make(chan struct{}), make(chan struct{}, 1)
	var e map[string]any
	var wait sync.WaitGroup
	wait.Go(func() { e = tm.do(access.RoleGM, "add_object", cube) })
	<-p.entered
	now := time.Now()
	if list, err := tm.store.Claim(t.Context(), []string{"studio:blender"}, access.WorldID{}, now.Add(time.Hour), now,
		1); err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	p.mu.Lock()
	p.hold, p.entered = nil, nil // it completes the run when it takes it the second time
	p.mu.Unlock()
	wait.Wait()
	stop()
	if list := tm.do(access.RoleGM, "list_runs", `{"tool": "add_object"}`); list["total"] != 1.0 || e["status"] != "ok" {
		t.Errorf("recorded: %v", list)
	}
}
