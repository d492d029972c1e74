package proposaltest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// TestDoctorShowsTheRulesForAgents checks that doctor shows the rules for agents of each world, and
// that the setting of earlier versions is refused with the name of its replacement.
func TestDoctorShowsTheRulesForAgents(t *testing.T) {
	c, err := app.LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = t.TempDir()
	apptest.Sample(t, c.Data)
	tells := func(lines ...string) {
		t.Helper()
		var out strings.Builder
		if err := app.Doctor(t.Context(), c, "1.0.0", "", &out); err != nil {
			t.Fatal(err, out.String())
		}
		for _, line := range lines {
			if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), line) {
				t.Errorf("it does not tell %q:\n%s", line, out.String())
			}
		}
	}
	tells("ok agents in lendwater a proposal that cites a context is judged by the gates; one that cites none waits for a person ok")
	a, err := app.Open(t.Context(), c, app.Options{Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.ConfigureWorld(t.Context(), app.SampleWorld,
		func(_ *string, s *canon.Settings) { app.SetUnproven(s, []string{"ambience"}) }); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Ops.Invoke(t.Context(), app.Operator(),
		op.Request{Operation: "give-standing-approval", World: app.SampleWorld, Transport: "cli",
			Input: json.RawMessage(`{"kind": "canon_change", "operation": "update_card", "under": "Rent Quay", "perHour": 10}`)}); err != nil {
		t.Fatal(err)
	}
	a.Close(t.Context())
	tells("one that cites none waits for a person, but for ambience",
		"standing approval: canon_change update_card of Rent Quay and below, 10 an hour, by local")

	old := filepath.Join(t.TempDir(), "loregate.yaml")
	if err := os.WriteFile(old, []byte("proposals:\n  unproven: [ambience]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := app.LoadConfig(old, nil); err == nil ||
		!strings.Contains(err.Error(), "loregate world configure WORLD --unproven KIND") {
		t.Errorf("%v", err)
	}
}
