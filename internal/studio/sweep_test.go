package studio_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/blob"
	"loregate/internal/studio"
)

// Content that a record or a target refers to stays. Other content is removed once it is old
// enough, except in a dry sweep.
func TestSweep(t *testing.T) {
	d := newDesk(t)
	d.openWith(d.queue(false, &sync.Map{}))
	d.do(access.RoleGM, "add_object", cube)
	kept := d.do(access.RoleGM, "export_asset",
		`{"format": "glb"}`)["artifacts"].([]any)[0].(map[string]any)["id"].(string)
	d.paper.fail = studio.Fail(studio.ExecFailed, "no")
	if _, err := d.try(access.RoleGM, "export_asset", `{"format": "obj", "seed": 9}`); err == nil {
		t.Fatal("it did not fail")
	}
	blobs, err := blob.Open(filepath.Join(d.data, "studio", "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	young, err := blobs.Put(t.Context(), strings.NewReader("somebody is about to name this"), 0)
	if err != nil {
		t.Fatal(err)
	}
	inTarget, err := blobs.Put(t.Context(), strings.NewReader("a scene is made of this"), 0)
	if err != nil {
		t.Fatal(err)
	}
	journals, err := filepath.Glob(filepath.Join(d.data, "studio", "targets", "*", "blender", "*.ndjson"))
	if err != nil || len(journals) != 1 {
		t.Fatal(journals, err)
	}
	f, err := os.OpenFile(journals[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"run":"x","blob":"` + inTarget.Sum.String() + `"}` + "\n"); err != nil ||
		f.Close() != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-48 * time.Hour)
	for ref, err := range blobs.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if ref.Sum != young.Sum {
			if err := os.Chtimes(filepath.Join(d.data, "studio", "blobs", ref.Sum.String()[:2], ref.Sum.String()[2:]), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, dry := range []bool{true, true, false, false} {
		swept, err := d.studio.Sweep(t.Context(), 24*time.Hour, dry)
		if want := []int{1, 1, 1, 0}[i]; err != nil || len(swept.Files) != want {
			t.Errorf("dry %v: %v, %v", dry, swept, err)
		}
	}
	left := 0
	for range blobs.All(t.Context()) {
		left++
	}
	d.do(access.RoleGM, "get_artifact", `{"artifact_id": "`+kept+`"}`)
	if _, err := blobs.Stat(t.Context(), inTarget.Sum); err != nil || left != 3 {
		t.Errorf("%d files are left, that of the target: %v", left, err)
	}
}

// A sweep waits for runs that are under way.
func TestSweepWaitsForRuns(t *testing.T) {
	d := newDesk(t)
	d.openWith(d.queue(false, &sync.Map{}))
	d.paper.hold, d.paper.entered, d.paper.late = make(chan struct{}), make(chan struct{}), true
	var wait sync.WaitGroup
	wait.Go(func() { d.do(access.RoleGM, "export_asset", `{"format": "glb"}`) })
	<-d.paper.entered
	swept := make(chan int, 1)
	wait.Go(func() {
		out, err := d.studio.Sweep(t.Context(), -time.Hour, false)
		if err != nil {
			t.Error(err)
		}
		swept <- len(out.Files)
	})
	close(d.paper.hold)
	if n := <-swept; n != 0 {
		t.Errorf("%d files of a run were taken away", n)
	}
	wait.Wait()
}
