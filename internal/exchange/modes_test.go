package exchange_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"loregate/internal/access"
	"loregate/internal/exchange"
)

func TestExportsOfSecretsAreTheOwners(t *testing.T) {
	for level, want := range map[access.Level]exchange.Modes{
		access.LevelUser: {Dir: 0o755, File: 0o644}, access.LevelGM: {Dir: 0o700, File: 0o600},
		access.LevelAdmin: {Dir: 0o700, File: 0o600},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		err := exchange.WriteNewFolder(dir, exchange.ModesFor(level), map[string][]byte{"a/b/c.txt": []byte("x")})
		if err != nil {
			t.Fatal(err)
		}
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			info, statErr := os.Stat(path)
			if err != nil || statErr != nil {
				t.Fatal(err, statErr)
			}
			expected := want.File
			if e.IsDir() {
				expected = want.Dir
			}
			if got := info.Mode().Perm(); got&^expected != 0 {
				t.Errorf("%s: %s has the permissions %o, want at most %o", level, e.Name(), got, expected)
			}
			return nil
		})
	}
}
