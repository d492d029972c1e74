package sandbox_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"loregate/internal/sandbox"
)

// files lays out a folder beside a secret of the server.
func files(t *testing.T) (f *sandbox.Folder, outside string) {
	t.Helper()
	dir := t.TempDir()
	outside = filepath.Join(dir, "outside")
	f, err := sandbox.OpenFolder(filepath.Join(dir, "job"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := errors.Join(os.Mkdir(outside, 0o700),
		os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return f, outside
}

// A link that a program made leads to no file outside of the folder.
func TestLinksLeadNowhere(t *testing.T) {
	f, outside := files(t)
	secret := filepath.Join(outside, "secret")
	for name, target := range map[string]string{"file": secret, "up": "../outside/secret", "folder": outside} {
		if err := os.Symlink(target, f.Path(name)); err != nil {
			t.Skip("this system makes no links: ", err)
		}
		if got, err := f.Read(name, 100); err == nil {
			t.Errorf("%s is read: %s", name, got)
		}
		if f.Has(name) {
			t.Errorf("%s counts as a file of the folder", name)
		}
		to := filepath.Join(t.TempDir(), "copy")
		if err := f.CopyOut(name, to); err == nil {
			t.Errorf("%s is copied out", name)
		}
		if got, err := os.ReadFile(to); len(got) > 0 {
			t.Errorf("%s is copied out: %s, %v", name, got, err)
		}
	}
	if err := f.CopyOut(".", filepath.Join(t.TempDir(), "all")); err == nil {
		t.Error("a folder with links is copied out")
	}
	if got, err := f.Read("folder/secret", 100); err == nil {
		t.Errorf("a file below a link is read: %s", got)
	}
	if err := f.Write("folder/new", []byte("x")); err == nil {
		t.Error("a file is written below a link")
	}
	if list, err := f.List("folder"); err == nil {
		t.Errorf("a folder outside is listed: %v", list)
	}
	if err := errors.Join(f.Write("file", []byte("mine")), f.Make("folder")); err != nil {
		t.Error(err)
	}
	if got, err := f.Read("file", 4); string(got) != "mine" || err != nil {
		t.Errorf("the link was not replaced: %s, %v", got, err)
	}
	if got, err := os.ReadFile(secret); string(got) != "secret" || err != nil {
		t.Errorf("the secret is now %q, %v", got, err)
	}
}

func TestFolder(t *testing.T) {
	f, outside := files(t)
	if err := errors.Join(f.Write("a/b/one", []byte("1")),
		f.CopyIn("a/two", filepath.Join(outside, "secret"))); err != nil {
		t.Fatal(err)
	}
	if list, err := f.List("a"); err != nil || !slices.Equal(list, []string{"b", "two"}) {
		t.Errorf("%v, %v", list, err)
	}
	if list, err := f.List("none"); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := f.Read("a/two", 5); err == nil {
		t.Error("six bytes are read as at most five")
	}
	if _, err := f.Read("a", 5); !errors.Is(err, sandbox.ErrNotPlain) {
		t.Errorf("a folder is read: %v", err)
	}
	if _, err := f.Read("none", 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	to := filepath.Join(t.TempDir(), "taken")
	if err := errors.Join(f.CopyOut("a", to), f.CopyOut("a/two", to+"2"), f.Remove("a"), f.Remove("a")); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{to + "/b/one": "1", to + "/two": "secret", to + "2": "secret"} {
		if got, err := os.ReadFile(file); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
	if f.Has("a/two") {
		t.Error("a removed file is there")
	}
}
