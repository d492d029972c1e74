// Package upgradetest opens the stores of earlier commits, which scripts/old-store.sh wrote,
// with the present program.
package upgradetest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// oldStores lists the stores of earlier commits.
func oldStores(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("testdata", "format-*.db.gz"))
	if err != nil || len(list) < 2 {
		t.Fatalf("there are %d stores of earlier commits, want two; %v", len(list), err)
	}
	return list
}

func open(t *testing.T, dir string) (*app.App, error) {
	t.Helper()
	c, err := app.LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = dir
	return app.Open(t.Context(), c, app.Options{Version: "test", Logger: slog.New(slog.DiscardHandler)})
}

// formatOf returns the user_version in a file's header.
func formatOf(b []byte) int {
	return int(b[60])<<24 | int(b[61])<<16 | int(b[62])<<8 | int(b[63])
}

// TestStoresOfEarlierCommitsAreUpgraded opens each store: it is backed up in its old format and
// upgraded, keeps its data, and takes writes.
func TestStoresOfEarlierCommitsAreUpgraded(t *testing.T) {
	for _, packed := range oldStores(t) {
		t.Run(filepath.Base(packed), func(t *testing.T) {
			dir := t.TempDir()
			before := apptest.Unpack(t, packed, dir)
			a, err := open(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close(context.WithoutCancel(t.Context()))
			wantIntact(t, a)
			kept, err := filepath.Glob(filepath.Join(dir, "backups", fmt.Sprintf("loregate-format-%d-*.db", formatOf(before))))
			if err != nil || len(kept) != 1 {
				t.Fatalf("backups are %v; %v", kept, err)
			}
			b, err := os.ReadFile(kept[0])
			if err != nil || formatOf(b) != formatOf(before) {
				t.Errorf("the backup has format %d, want %d; %v", formatOf(b), formatOf(before), err)
			}
			// The backup can be opened in place of the store, and upgraded again.
			again := t.TempDir()
			if err := os.WriteFile(filepath.Join(again, app.StoreFile), b, 0o600); err != nil {
				t.Fatal(err)
			}
			other, err := open(t, again)
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close(context.WithoutCancel(t.Context()))
			wantIntact(t, other)
		})
	}
}

// wantIntact checks the cards that the script has written, the chains, that the tables match
// them, and that the store takes writes.
func wantIntact(t *testing.T, a *app.App) {
	t.Helper()
	if _, err := a.Verify(t.Context(), ""); err != nil {
		t.Error(err)
	}
	rebuilt, err := a.Rebuild(t.Context(), "", canon.CompareOnly)
	if err != nil || len(rebuilt) != 1 || len(rebuilt[0].Different) > 0 {
		t.Errorf("rebuild: %+v; %v", rebuilt, err)
	}
	call := func(operation, input string) string {
		t.Helper()
		out, err := a.Ops.Invoke(t.Context(), app.Operator(),
			op.Request{Operation: operation, Input: []byte(input), Transport: "test"})
		if err != nil {
			t.Fatal(operation, err)
		}
		return string(out.Output)
	}
	if out := call("get_card", `{"name": "Old Mole"}`); !strings.Contains(out, "is 2") {
		t.Errorf("a card of the old store is %s", out)
	}
	if out := call("search_cards", `{"q": "ghost", "search_in": "both"}`); !strings.Contains(out, "Harbour 1+GM") {
		t.Errorf("a search of the old store finds %s", out)
	}
	call("create_card", `{"name": "New Pier", "content": "of [[Old Mole]]"}`)
	var report bytes.Buffer
	if err := app.Doctor(t.Context(), a.Config, "test", "", &report); err != nil &&
		!strings.Contains(report.String(), "disk of the data") {
		t.Errorf("doctor: %v\n%s", err, report.String())
	}
}

// TestFormatsOfTheTestdataDiffer checks that the stores have different formats: two of one
// format prove only one upgrade.
func TestFormatsOfTheTestdataDiffer(t *testing.T) {
	var formats []int
	for _, packed := range oldStores(t) {
		formats = append(formats, formatOf(apptest.Unpack(t, packed, t.TempDir())))
	}
	slices.Sort(formats)
	if len(slices.Compact(formats)) < 2 {
		t.Errorf("the formats are %v", formats)
	}
}
