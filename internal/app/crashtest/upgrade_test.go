package crashtest

import (
	"path/filepath"
	"strings"
	"testing"

	lib "modernc.org/sqlite/lib"

	"loregate/internal/app/apptest"
)

// oldStore fills a data folder with a store of format 6.
func oldStore(t *testing.T, dir string) {
	t.Helper()
	list, err := filepath.Glob("../upgradetest/testdata/format-6-*.db.gz")
	if err != nil || len(list) == 0 {
		t.Fatal("there is no store of format 6", err)
	}
	apptest.Unpack(t, list[0], dir)
}

// TestAnUpgradeThatIsCutOffGoesOn makes the disk fail after every fifth operation of an
// upgrade: the next start upgrades, with a backup, and no data is lost.
func TestAnUpgradeThatIsCutOffGoesOn(t *testing.T) {
	silenceLog(t)
	failed := 0
	for after := 0; ; after += 5 {
		dir := t.TempDir()
		oldStore(t, dir)
		d := recordDisk(t, dir, nil)
		d.setOutage(outage{after: after, times: -1, answer: lib.SQLITE_FULL})
		in, err := openApp(t.Context(), dir)
		if err == nil && d.setOutage(outage{}) == 0 {
			in.close()
			break
		}
		if err == nil {
			in.close() // the disk failed after the upgrade
		} else if !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("a disk that is full after %d operations: %v", after, err)
		}
		failed++
		d.setOutage(outage{})
		if in, err = openApp(t.Context(), dir); err != nil {
			t.Fatalf("the start after an upgrade that was cut off after %d operations: %v", after, err)
		}
		if _, err := in.app.Verify(t.Context(), ""); err != nil {
			t.Error(err)
		}
		if err := checkRebuild(t.Context(), in.app); err != nil {
			t.Error(err)
		}
		in.close()
		if kept, err := filepath.Glob(filepath.Join(dir, "backups", "loregate-format-*.db")); err != nil || len(kept) == 0 {
			t.Errorf("an upgrade that was cut off after %d operations keeps no backup; %v", after, err)
		}
	}
	if failed == 0 {
		t.Error("the disk never failed")
	}
	t.Logf("the upgrade was cut off at %d places", failed)
}
