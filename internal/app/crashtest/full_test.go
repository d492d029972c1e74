package crashtest

import (
	"strings"
	"testing"
	"time"

	lib "modernc.org/sqlite/lib"
)

// TestAFullDiskShowsAndPasses fills the disk while a program runs. The program is not ready and
// says why, and reads still work; it is ready again when there is room.
func TestAFullDiskShowsAndPasses(t *testing.T) {
	dir := t.TempDir()
	d := recordDisk(t, dir, nil)
	silenceLog(t)
	in, err := openApp(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	create := map[string]any{"name": "Well", "content": "deep"}
	d.setOutage(outage{times: -1, answer: lib.SQLITE_FULL})
	if a, err := in.call(t.Context(), "create_card", "full", create); err != nil || a.status != 503 ||
		!strings.Contains(a.body, "the disk is full") {
		t.Errorf("a write on a full disk: %d %s; %v", a.status, a.body, err)
	}
	if err := in.app.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("the program is ready on a full disk: %v", err)
	}
	if a, err := in.call(t.Context(), "search_cards", "", map[string]any{"q": "well"}); err != nil || a.status != 200 {
		t.Errorf("a read on a full disk: %d %s; %v", a.status, a.body, err)
	}
	d.setOutage(outage{})
	if err := in.app.Ready(t.Context()); err != nil {
		t.Errorf("the program is not ready when there is room again: %v", err)
	}
	if a, err := in.call(t.Context(), "create_card", "full", create); err != nil || a.status != 200 {
		t.Errorf("the write again when there is room: %d %s; %v", a.status, a.body, err)
	}
	d.setOutage(outage{times: -1, answer: lib.SQLITE_FULL})
	if a, err := in.call(t.Context(), "create_card", "", map[string]any{"name": "Pond"}); err != nil || a.status != 503 {
		t.Errorf("a write on a full disk: %d %s; %v", a.status, a.body, err)
	}
	started := time.Now()
	in.close()
	t.Logf("closing on a full disk took %v", time.Since(started))
}
