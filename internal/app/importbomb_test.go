package app

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/transfer"
)

// 466 bytes that become 600 MB cost little, by the command and as a file that a person sends.
func TestBombsAreRefused(t *testing.T) {
	a := declared(t)
	if err := a.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	world, err := a.resolveWorld(t.Context(), FirstWorld)
	if err != nil {
		t.Fatal(err)
	}
	bomb := filepath.Join("..", "exchange", "unpack", "testdata", "bomb.bz2")
	for name, try := range map[string]func() error{
		"command": func() error {
			_, err := a.Import(t.Context(), "", "", bomb, ImportOptions{})
			return err
		},
		"sent": func() error {
			r := access.Request{Operation: "check_import", Effect: access.Write, Operator: true, World: world}
			return a.WithGrant(t.Context(), Operator(), r, func(g access.Grant) error {
				_, err := a.ImportFile(t.Context(), g.DryRun(), bomb, transfer.Choices{}, nil)
				return err
			})
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := try()
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
			t.Errorf("%s: %d bytes of the heap were allocated", name, n)
		}
		if fault.KindOf(err) != fault.TooLarge || !strings.Contains(err.Error(), "bomb.bz2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(a.Config.Data, "unpacked")); len(left) > 0 {
		t.Errorf("unpacked files are left: %v", left)
	}
}
