package app

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// witnessed is a store with a world, open for commits.
type witnessed struct {
	*App
	t *testing.T
}

func openWitnessed(t *testing.T, data, statements string) witnessed {
	t.Helper()
	c, err := LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data, c.Witness.Folder = data, statements
	a, err := Open(t.Context(), c, Options{Version: "test", Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(context.WithoutCancel(t.Context())) })
	if err := a.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	return witnessed{a, t}
}

func (s witnessed) retitle(title string) {
	s.t.Helper()
	err := s.updateWorld(s.t.Context(), "", "configure", access.Write, func(p *canon.Plan) error {
		return p.Configure(title, p.World().Settings)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// restored returns a store from a backup file.
func (s witnessed) restored(backup, statements string) witnessed {
	s.t.Helper()
	data := s.t.TempDir()
	b, err := os.ReadFile(backup)
	if err == nil {
		err = os.WriteFile(filepath.Join(data, StoreFile), b, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return openWitnessed(s.t, data, statements)
}

// state writes a statement as serve does.
func (s witnessed) state() {
	s.t.Helper()
	if err := s.log.Flush(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	stop, err := s.stateHeads(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	stop()
}

func TestStatementsTellAStoreThatWasCutBackForkedOrExchanged(t *testing.T) {
	statements := filepath.Join(t.TempDir(), "statements")
	s := openWitnessed(t, t.TempDir(), statements)
	s.retitle("First")
	backup := filepath.Join(t.TempDir(), "early.db")
	if _, err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	s.retitle("Second")
	s.retitle("Third")
	s.state()
	report, err := s.Verify(t.Context(), statements)
	if err != nil || !strings.Contains(report, "of this store\n") || !strings.Contains(report, "statements until") {
		t.Fatalf("the store itself: %v\n%s", err, report)
	}
	s.retitle("Fourth")
	if report, err := s.Verify(t.Context(), statements); err != nil {
		t.Errorf("the store, gone on: %v\n%s", err, report)
	}
	cut := s.restored(backup, "")
	forked := s.restored(backup, "")
	for _, title := range []string{"Another", "Yet another", "One more"} {
		forked.retitle(title)
	}
	other := openWitnessed(t, t.TempDir(), "")
	for name, c := range map[string]struct {
		store witnessed
		want  string
	}{
		"cut back":  {cut, "was stated outside the store, but the last commit has the number"},
		"forked":    {forked, "is not the commit that was stated outside the store"},
		"exchanged": {other, "but the stream does not exist"},
	} {
		if report, err := c.store.Verify(t.Context(), ""); err != nil {
			t.Errorf("%s: its own chains are broken: %v\n%s", name, err, report)
		}
		report, err := c.store.Verify(t.Context(), statements)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if !strings.Contains(report, "that this store does not have") {
			t.Errorf("%s: the signing key of another store is not told apart:\n%s", name, report)
		}
	}
}

// A cut log of access records is found too.
func TestStatementsTellThatAccessRecordsAreMissing(t *testing.T) {
	statements := filepath.Join(t.TempDir(), "statements")
	data := t.TempDir()
	s := openWitnessed(t, data, statements)
	s.retitle("First")
	s.state()
	s.Close(t.Context())
	if err := os.Remove(filepath.Join(data, StoreFile+"-access")); err != nil {
		t.Fatal(err)
	}
	again := openWitnessed(t, data, "")
	if _, err := again.Verify(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Verify(t.Context(), statements); err == nil || !strings.Contains(err.Error(), "has no segments") {
		t.Errorf("without its access records: %v", err)
	}
}
