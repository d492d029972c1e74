package transfer_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/job"
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
	s := &stage{t: t, world: &notes{}, folder: t.TempDir(), now: time.Now()}
	jobs, err := job.New(t.Context(), job.Config{Store: &jobTable{}, Inline: true})
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
	a, err := s.ops.Invoke(s.t.Context(), by, op.Request{Operation: operation, Input: in, Upload: file, World: "main",
		Transport: "rest"})
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

func TestAnExportIsAFile(t *testing.T) {
	s := newStage(t)
	a, err := s.ops.Invoke(t.Context(), gm("ada"), op.Request{Operation: "export_world", World: "main", Transport: "rest",
		Input: []byte(`{"format": "table"}`)})
	if err != nil || a.Reply.File == nil || a.Reply.File.Name != "world-user.csv" ||
		string(a.Reply.File.Data) != "name\n" {
		t.Errorf("%+v, %v", a, err)
	}
	for _, in := range []string{`{"format": "lore"}`, `{"format": "table", "role": "admin"}`} {
		if _, err := s.ops.Invoke(t.Context(), gm("ada"), op.Request{Operation: "export_world", World: "main",
			Input: []byte(in)}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", in, err)
		}
	}
}
