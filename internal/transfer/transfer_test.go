package transfer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loregate/internal/access"
	"loregate/internal/body"
	"loregate/internal/fault"
	"loregate/internal/job"
	"loregate/internal/job/jobtest"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/transfer"
)

// stage has the operations on a world of notes.
type stage struct {
	t      *testing.T
	world  *notes
	ops    *op.Local
	folder string
	now    time.Time
}

func newStage(t *testing.T) *stage {
	t.Helper()
	return newStageOf(t, job.Config{Store: &jobtest.Memory{}, Inline: true})
}

func newStageOf(t *testing.T, c job.Config) *stage {
	t.Helper()
	s := &stage{t: t, world: &notes{}, folder: t.TempDir(), now: time.Now()}
	jobs, err := job.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(jobs.Close)
	s.ops, err = op.NewLocal(
		op.Config{Guard: access.NewGuard(access.Config{}), Worlds: optest.SoleWorld(access.WorldID{1}),
			Surfaces: []op.Surface{transfer.New(transfer.Config{World: s.world, Jobs: jobs, Folder: s.folder,
				Exports: map[string]string{"table": ".csv"}, Now: func() time.Time { return s.now }})}},
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// waits makes each import wait for the closing of the channel that it returns.
func (n *notes) waits() (free chan struct{}) {
	free = make(chan struct{})
	n.work = func(ctx context.Context) error {
		select {
		case <-free:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return free
}

func gm(name string) access.Caller {
	return access.Caller{Subject: access.Subject(name), Actor: access.Person, EveryRole: access.RoleGM}
}

// call makes a call and returns the id of the job.
func (s *stage) call(by access.Caller, operation string, input map[string]any, file []byte) (id string, err error) {
	s.t.Helper()
	in, err := json.Marshal(input)
	if err != nil {
		s.t.Fatal(err)
	}
	r := op.Request{Operation: operation, Input: in, World: "main", Transport: "rest"}
	if file != nil {
		r.Upload = body.Bytes(file)
	}
	a, err := s.ops.Invoke(s.t.Context(), by, r)
	if err != nil {
		return "", err
	}
	var out struct{ ID, Status, Message string }
	if err := json.Unmarshal(a.Output, &out); err != nil {
		s.t.Fatal(err)
	}
	if out.Status == "failed" {
		return out.ID, errors.New(out.Message)
	}
	return out.ID, nil
}

func TestNothingIsCarriedOutThatWasNotShown(t *testing.T) {
	s := newStage(t)
	if _, err := s.call(gm("ada"), "check_import", map[string]any{}, nil); !errors.Is(err, fault.NotFound) {
		t.Errorf("a check without a file: %v", err)
	}
	id, err := s.call(gm("ada"), "check_import", map[string]any{"filename": "inns.csv"}, []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.call(gm("bob"), "carry_out_import", map[string]any{"id": id}, nil); !errors.Is(err, fault.NotFound) {
		t.Errorf("another person carries it out: %v", err)
	}
	second, err := s.call(gm("ada"), "check_import", map[string]any{"filename": "inns.csv"}, []byte("two"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.call(gm("ada"), "carry_out_import", map[string]any{"id": id}, nil); err == nil ||
		!strings.Contains(err.Error(), "have changed since the check") || s.world.cards != 0 {
		t.Errorf("the check of another file is carried out: %v, %d cards", err, s.world.cards)
	}
	done, err := s.call(gm("ada"), "carry_out_import", map[string]any{"id": second}, nil)
	if err != nil || s.world.cards != 1 {
		t.Fatalf("%v, %d cards", err, s.world.cards)
	}
	if _, err := s.call(gm("ada"), "carry_out_import", map[string]any{"id": done}, nil); !errors.Is(err, fault.Rule) {
		t.Errorf("an import is carried out again: %v", err)
	}
	if list, err := os.ReadDir(s.folder); err != nil || len(list) != 0 {
		t.Errorf("the files stay: %v %v", list, err)
	}
}

// A check or import that fails keeps its choices, and the report of the check before it.
func TestAFailureKeepsTheChoices(t *testing.T) {
	s := newStage(t)
	kept := func(id, problem string) {
		t.Helper()
		a, err := s.ops.Invoke(t.Context(), gm("ada"), op.Request{Operation: "get_import", World: "main", Transport: "rest",
			Input: json.RawMessage(`{"id": "` + id + `"}`)})
		if err != nil {
			t.Fatal(err)
		}
		if out := string(a.Output); !strings.Contains(out, `"status":"failed"`) || !strings.Contains(out, problem) ||
			!strings.Contains(out, `"file":"inns.csv"`) || !strings.Contains(out, "folder: Secret") ||
			!strings.Contains(out, `"said":["one"]`) {
			t.Errorf("%s", out)
		}
	}
	choices := map[string]any{"open": []string{"folder: Secret"}}
	if _, err := s.call(gm("ada"), "check_import", map[string]any{"filename": "inns.csv"}, []byte("one")); err != nil {
		t.Fatal(err)
	}
	s.world.work = func(context.Context) error { return fault.New(fault.Invalid, "no such suspicion") }
	for range 2 {
		id, _ := s.call(gm("ada"), "check_import", choices, nil)
		kept(id, "no such suspicion")
	}
	s.world.work = nil
	id, err := s.call(gm("ada"), "check_import", choices, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.world.work = func(context.Context) error { return fault.New(fault.Conflict, "changed") }
	id, _ = s.call(gm("ada"), "carry_out_import", map[string]any{"id": id}, nil)
	kept(id, "changed")
}

// A check of the same files with the same choices is not made again while its answer stands.
func TestACheckIsNotRepeated(t *testing.T) {
	s := newStage(t)
	check := func(in map[string]any, file []byte) string {
		t.Helper()
		id, err := s.call(gm("ada"), "check_import", in, file)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := check(map[string]any{"filename": "inns.csv", "level": "gm"}, []byte("one"))
	for range 3 {
		for _, nothing := range [][]byte{nil, {}} {
			if id := check(map[string]any{"level": "gm", "open": []string{}}, nothing); id != first {
				t.Errorf("%s answers, want %s", id, first)
			}
		}
	}
	if s.world.checks != 1 {
		t.Errorf("%d checks, want 1", s.world.checks)
	}
	second := check(map[string]any{}, nil)
	third := check(map[string]any{"filename": "inns.csv"}, []byte("one"))
	if second == first || third == second || s.world.checks != 3 {
		t.Errorf("other choices and other files are not checked: %d checks", s.world.checks)
	}
	s.world.work = func(context.Context) error { return fault.New(fault.TooLarge, "too slow") }
	if _, err := s.call(gm("ada"), "carry_out_import", map[string]any{"id": third}, nil); err == nil ||
		!strings.Contains(err.Error(), "too slow") {
		t.Errorf("a slow import: %v", err)
	}
	if _, err := s.call(gm("ada"), "check_import", map[string]any{}, nil); !errors.Is(err, fault.NotFound) ||
		s.world.checks != 4 {
		t.Errorf("files that were too slow are checked again without being sent: %v, %d checks", err, s.world.checks)
	}
}

// One job at a time works on the files of a person in a world.
func TestWorkOnFilesIsNotQueuedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStageOf(t, job.Config{Store: &jobtest.Memory{}})
		free := s.world.waits()
		first, err := s.call(gm("ada"), "check_import", map[string]any{"filename": "inns.csv"}, []byte("one"))
		if err != nil {
			t.Fatal(err)
		}
		for name, file := range map[string][]byte{"without files": nil, "with files": []byte("two")} {
			_, err := s.call(gm("ada"), "check_import", map[string]any{"filename": "inns.csv"}, file)
			if !errors.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "cancel_job") {
				t.Errorf("a second check %s: %v", name, err)
			}
		}
		close(free)
		synctest.Wait()
		if _, err := s.call(gm("ada"), "carry_out_import", map[string]any{"id": first}, nil); err != nil {
			t.Errorf("the first check cannot be carried out: %v", err)
		}
	})
}

// Calls at the same time are not all let in before the first of them has a job.
func TestCallsAtOnceStartOneJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStageOf(t, job.Config{Store: &jobtest.Memory{}})
		defer close(s.world.waits())
		errs := make(chan error)
		for range 8 {
			go func() {
				_, err := s.call(gm("ada"), "check_import", map[string]any{"filename": "inns.csv"}, []byte("one"))
				errs <- err
			}()
		}
		started := 0
		for range 8 {
			if err := <-errs; err == nil {
				started++
			} else if !errors.Is(err, fault.Conflict) {
				t.Error(err)
			}
		}
		synctest.Wait()
		if started != 1 || s.world.checks != 1 {
			t.Errorf("%d calls were let in, %d checks made; want one", started, s.world.checks)
		}
	})
}

func TestSourcesAreBounded(t *testing.T) {
	s := newStage(t)
	check := func(who, file string, data []byte) error {
		_, err := s.call(gm(who), "check_import", map[string]any{"filename": file}, data)
		return err
	}
	if err := check("ada", "big.csv", bytes.Repeat([]byte("x"), 64<<20+1)); !errors.Is(err, fault.TooLarge) {
		t.Errorf("a source of more than 64 MiB: %v", err)
	}
	for _, name := range []string{"", "..", "a\x00b", "/"} {
		if err := check("ada", name, []byte("x")); !errors.Is(err, fault.Invalid) {
			t.Errorf("a file named %q: %v", name, err)
		}
	}
	if err := check("ada", "../../../etc/passwd", []byte("x")); err != nil {
		t.Error(err)
	}
	if found, _ := filepath.Glob(filepath.Join(s.folder, "*", "upload", "passwd")); len(found) != 1 {
		t.Errorf("the file is not in the person's folder: %v", found)
	}
	for i := range 31 {
		if err := check("visitor "+string(rune('A'+i)), "a.csv", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := check("late", "a.csv", []byte("x")); !errors.Is(err, fault.Unavailable) {
		t.Errorf("a source too many: %v", err)
	}
	if err := check("ada", "a.csv", []byte("again")); err != nil {
		t.Errorf("a person cannot replace the own source: %v", err)
	}
	s.now = s.now.Add(25 * time.Hour)
	if err := check("late", "a.csv", []byte("x")); err != nil {
		t.Errorf("old sources take places: %v", err)
	}
}

// A second export of a world is refused while the first one runs, so that places are left for other worlds.
func TestAWorldDoesNotHoldAllExports(t *testing.T) {
	s := newStage(t)
	export := func() error {
		_, err := s.ops.Invoke(t.Context(), gm("ada"), op.Request{Operation: "export_world", World: "main", Transport: "rest",
			Input: []byte(`{"format": "table"}`)})
		return err
	}
	var second error
	s.world.work = func(context.Context) error {
		s.world.work = nil
		second = export()
		return nil
	}
	if err := export(); err != nil || !errors.Is(second, fault.RateLimited) {
		t.Errorf("the first export: %v, the second: %v", err, second)
	}
	if err := export(); err != nil {
		t.Errorf("a later export: %v", err)
	}
}

func TestAnExportIsAFile(t *testing.T) {
	s := newStage(t)
	a, err := s.ops.Invoke(t.Context(), gm("ada"), op.Request{Operation: "export_world", World: "main", Transport: "rest",
		Input: []byte(`{"format": "table"}`)})
	if err != nil || a.Reply.File == nil || a.Reply.File.Name != "world-user.csv" {
		t.Fatalf("%+v, %v", a, err)
	}
	if text, err := io.ReadAll(a.Reply.File.Open()); err != nil || string(text) != "name\n" {
		t.Errorf("%q, %v", text, err)
	}
	for _, in := range []string{`{"format": "lore"}`, `{"format": "table", "role": "admin"}`} {
		if _, err := s.ops.Invoke(t.Context(), gm("ada"), op.Request{Operation: "export_world", World: "main",
			Input: []byte(in)}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", in, err)
		}
	}
}
