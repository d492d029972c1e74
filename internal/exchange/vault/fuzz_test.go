package vault

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
)

// FuzzImport checks that no notes cause a panic, or cards that players see against the level.
func FuzzImport(f *testing.F) {
	f.Add("---\ntags: [npc, gm/x]\naliases: A\n---\n[[b|c]] %%d%%\n> [!secret] e\n", "![[a.png]] #x ^y")
	f.Add("---\nloregate: 1\nname: A+B\nparent: A\n---\n", "---\ntype: !!binary x\nparent: [[[a]]]\n---\n# GM notes\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		read := func(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
			o exchange.Options) (exchange.Summary, error) {
			return Import(ctx, c, g, files, Options{Options: o})
		}
		exchangetest.CheckHostile(t, memory.New(), fstest.MapFS{"a.md": {Data: []byte(a)}, "gm/b.md": {Data: []byte(b)},
			"a.png": {Data: []byte("x")}}, read)
	})
}
