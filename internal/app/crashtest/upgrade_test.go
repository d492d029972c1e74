package crashtest

import (
	"path/filepath"
	"strings"
	"testing"

	lib "modernc.org/sqlite/lib"

	"loregate/internal/app/apptest"
)

// oldStore makes a data folder of a store that an earlier commit wrote.
func oldStore(t *testing.T, dir string) {
	t.Helper()
	list, err := filepath.Glob("../upgradetest/testdata/format-6-*.db.gz")
	if err != nil || len(list) == 0 {
		t.Fatal("there is no store of format 6", err)
	}
	apptest.Unpack(t, list[0], dir)
}

// TestAnUpgradeThatIsCutOffGoesOn lets the disk fail at every few steps of an upgrade: the
// next start upgrades, with a backup, and everything is there.
func TestAnUpgradeThatIsCutOffGoesOn(t *testing.T) {
	quiet(t)
	failed := 0
	for after := 0; ; after += 5 {
		dir := t.TempDir()
		oldStore(t, dir)
		d := record(t, dir, nil)
		d.breaks(outage{after: after, times: -1, answer: lib.SQLITE_FULL})
		in, err := openInside(t.Context(), dir)
		if err == nil && d.breaks(outage{}) == 0 {
			in.close()
			break
		}
		if err == nil {
			in.close() // what failed came after the upgrade
		} else if !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("a disk that is full after %d operations: %v", after, err)
		}
		failed++
		d.breaks(outage{})
		if in, err = openInside(t.Context(), dir); err != nil {
			t.Fatalf("the start after an upgrade that was cut off after %d operations: %v", after, err)
		}
		if _, err := in.app.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		if err := identical(t.Context(), in.app); err != nil {
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
