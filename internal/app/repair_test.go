package app

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/fault"
	"loregate/internal/raceenabled"
)

// damagedFolder returns the configuration of a store with one world, of which one page is zeroed,
// in the index of cards.
func damagedFolder(t *testing.T) Config {
	t.Helper()
	c, err := LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = t.TempDir()
	a, err := Open(t.Context(), c, Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.Close(t.Context())
	path := filepath.Join(c.Data, StoreFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(b[4*4096 : 5*4096])
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestARepairThatIsCutOffGoesOn interrupts a repair before it has proved the new store, and after
// each file that it moves. Until the next repair no command can open the folder; that repair
// succeeds.
func TestARepairThatIsCutOffGoesOn(t *testing.T) {
	const moves = 3 // the cut in the middle of the work, the folder to keep files in, and the marker
	step := 1
	if raceenabled.Detected {
		step = 5
	}
	for cut := 0; cut < 2*len(storeFiles)+moves; cut += step {
		c := damagedFolder(t)
		if _, err := openStore(t.Context(), c, Options{}); err == nil {
			t.Fatal("the damage does not show at the start")
		}
		var out bytes.Buffer
		r := repairRun{ctx: t.Context(), config: c, work: filepath.Join(c.Data, repairFolder), out: &out}
		if cut == 0 { // in the middle of the work
			if err := os.MkdirAll(filepath.Join(r.work, "new"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(r.work, "new", StoreFile), []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
		} else {
			cutRepair(t, &r, cut-1)
			if _, err := openStore(t.Context(), c, Options{}); !errors.Is(err, fault.Unavailable) ||
				!strings.Contains(err.Error(), "loregate repair") {
				t.Errorf("cut %d: the folder opens: %v", cut, err)
			}
		}
		if err := Repair(t.Context(), c, nil, false, &out); err != nil {
			t.Fatalf("cut %d: %v\n%s", cut, err, out.String())
		}
		if err := Doctor(t.Context(), c, "test", "", &out); err != nil {
			t.Errorf("cut %d: %v\n%s", cut, err, out.String())
		}
		kept, err := filepath.Glob(filepath.Join(c.Data, "damaged-*", StoreFile))
		if err != nil || len(kept) != 1 || fileExists(r.work) {
			t.Errorf("cut %d: kept are %v; %v", cut, kept, err)
		}
	}
}

// cutRepair runs a repair and stops it after a number of file moves.
func cutRepair(t *testing.T, r *repairRun, moves int) {
	t.Helper()
	held, err := r.lockStoreFiles()
	if err != nil {
		t.Fatal(err)
	}
	err = r.buildNewStore(held, false)
	for _, f := range held {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(r.work, repairReady))
	if err != nil {
		t.Fatal(err)
	}
	keep := filepath.Join(r.config.Data, string(b))
	steps := []func() error{func() error { return os.Mkdir(keep, 0o700) }}
	move := func(from, to string) {
		for _, name := range storeFiles {
			steps = append(steps, func() error {
				if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); !errors.Is(err, os.ErrNotExist) {
					return err
				}
				return nil
			})
		}
	}
	move(r.config.Data, keep)
	steps = append(steps, func() error { return r.writeMarker(repairMoved, "") })
	move(filepath.Join(r.work, "new"), r.config.Data)
	for _, step := range steps[:min(moves, len(steps))] {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}
