package upgradetest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/op"
)

// TestHideMarkedInAnOldStore hides the secrets of a store that was written before marks hid, exports it, imports its
// vault again, and takes the change back.
func TestHideMarkedInAnOldStore(t *testing.T) {
	dir := t.TempDir()
	apptest.Unpack(t, filepath.Join("testdata", "marked-16-f7c95dbc.db.gz"), dir)
	a, err := open(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(context.WithoutCancel(t.Context()))
	call := func(role access.Role, operation, input string) string {
		t.Helper()
		out, err := a.Ops.Invoke(t.Context(), app.Operator().Lower(role),
			op.Request{Operation: operation, Input: []byte(input), Transport: "rest"})
		if err != nil {
			t.Fatal(operation, err)
		}
		return string(out.Output)
	}
	doctor := func() string {
		var report bytes.Buffer
		_ = app.Doctor(t.Context(), a.Config, "test", "", &report) // the disk may be full
		return report.String()
	}
	if said := doctor(); !strings.Contains(said, "BAD  marks in main") {
		t.Errorf("doctor does not tell of the marks: %s", said)
	}
	secrets := []string{"vampire", "tunnel", "spies", "smugglers", "baron", "Rotten", "miller", "trapped"}
	wantHidden := func(when string) {
		t.Helper()
		for _, card := range []string{"Harbour", "Keep", "Market", "Mill", "Ford"} {
			input := `{"name": "` + card + `", "format": "markdown"}`
			seen, whole := call(access.RoleUser, "get_card", input), call(access.RoleGM, "get_card", input)
			for _, secret := range secrets {
				if strings.Contains(seen, secret) {
					t.Errorf("%s players read of %q in %s", when, secret, card)
				}
			}
			if !strings.Contains(whole, `"hidden"`) {
				t.Errorf("%s game masters read %s without its hidden parts: %s", when, card, whole)
			}
		}
	}
	var done struct {
		Count, Placed int
		Plain         []any
		Changes       []string `json:"change_ids"`
	}
	versions := call(access.RoleUser, "get_card_history", `{"name": "Harbour"}`)
	if err := json.Unmarshal([]byte(call(access.RoleAdmin, "hide_marked", `{}`)), &done); err != nil {
		t.Fatal(err)
	}
	if done.Count != 2 || done.Placed != 3 || len(done.Plain) != 1 || len(done.Changes) != 2 {
		t.Errorf("it answers %+v", done)
	}
	const notes = `{"name": "Keep+GM", "format": "markdown"}`
	placed := call(access.RoleGM, "get_card", notes)
	call(access.RoleAdmin, "undo_change", `{"id": "`+done.Changes[0]+`"}`)
	if out := call(access.RoleGM, "get_card", `{"name": "Keep"}`); strings.Contains(out, `"hidden"`) {
		t.Errorf("after the undo Keep has hidden parts: %s", out)
	}
	if out := call(access.RoleGM, "get_card", notes); !strings.Contains(out, "The baron is dead.") {
		t.Errorf("after the undo the secrets are gone: %s, before %s", out, placed)
	}
	if out := call(access.RoleAdmin, "hide_marked", `{}`); !strings.Contains(out, `"placed":3`) {
		t.Errorf("called again it answers %s", out)
	}
	wantHidden("after hide_marked")
	if now := call(access.RoleUser, "get_card_history", `{"name": "Harbour"}`); now != versions {
		t.Errorf("players are shown another history of Harbour: %s, before %s", now, versions)
	}
	if said := doctor(); strings.Contains(said, "BAD  marks") {
		t.Errorf("doctor still tells of marks: %s", said)
	}
	out := filepath.Join(t.TempDir(), "out")
	if _, err := a.Export(t.Context(), "markdown", "", out, access.RoleGM, nil); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"Market.md", "Town/Keep.md"} {
		want, err := os.ReadFile(filepath.Join("testdata", "marked-vault", file))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(out, file)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is exported as\n%s\nand was\n%s; %v", file, got, want, err)
		}
	}
	edited := "The quay is very busy today.\n\n%%The mayor is a vampire.%%\nFish is sold here, and %%the fishwife spies%% bread.\n"
	if got, err := os.ReadFile(filepath.Join(out, "Town", "Harbour.md")); err != nil || !strings.Contains(string(got), edited) ||
		!strings.Contains(string(got), "gm_notes: the mayor pays the smugglers\nfounded: 1204\n---\n") {
		t.Errorf("Harbour is exported as\n%s; %v", got, err)
	}
	vault := filepath.Join("testdata", "marked-vault")
	if _, err := a.Import(t.Context(), "markdown", "", vault, app.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	wantHidden("after another import")
}
