package apptest

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
)

// sampleFolder is a data folder with the sample worlds, as file contents by name, and the keys to
// them.
type sampleFolder struct {
	files map[string][]byte
	made  *app.Sample
}

// Sample writes the sample worlds into an empty data folder and returns the keys to them. A test
// binary loads them only once, because loading takes longer than most tests.
func Sample(t testing.TB, data string) *app.Sample {
	t.Helper()
	s, err := loadSample()
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range s.files {
		path := filepath.Join(data, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s.made
}

var loadSample = sync.OnceValues(func() (*sampleFolder, error) {
	dir, err := os.MkdirTemp("", "loregate-sample")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	c, err := app.LoadConfig("", nil)
	if err != nil {
		return nil, err
	}
	c.Data = dir
	ctx := context.Background()
	a, err := app.Open(ctx, c, app.Options{Version: "1.0.0", Profile: access.ProfileNone,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	made, err := a.LoadSample(ctx, nil)
	a.Close(ctx)
	if err != nil {
		return nil, err
	}
	s := &sampleFolder{files: map[string][]byte{}, made: made}
	return s, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		s.files[name], err = os.ReadFile(filepath.Join(dir, name))
		return err
	})
})
