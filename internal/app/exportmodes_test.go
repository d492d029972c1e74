package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"loregate/internal/access"
)

// TestExportsWithSecretsAreTheirOwners exports the sample world as a GM in every format: nobody but the owner may
// read the files.
func TestExportsWithSecretsAreTheirOwners(t *testing.T) {
	c, err := LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = t.TempDir()
	a := openWith(t, c)
	if _, err := a.LoadSample(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, format := range ExportNames() {
		path := filepath.Join(t.TempDir(), "out")
		if _, err := a.Export(t.Context(), format, SampleWorld, path, access.RoleGM, nil); err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		err := filepath.WalkDir(path, func(name string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := os.Stat(name)
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %s has the permissions %o", format, filepath.Base(name), info.Mode().Perm())
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
}
