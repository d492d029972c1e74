package prooftest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/op"
)

// TestRenamesAndUndosShowNothing moves cards away from hidden ones and takes hiding back, by the operations that people
// call: players read nothing of that which was written while it was hidden.
func TestRenamesAndUndosShowNothing(t *testing.T) {
	onEachStore(t, func(t *testing.T, on string) {
		s := newStage(t, on)
		as := func(role access.Role, operation string, in map[string]any) (string, error) {
			t.Helper()
			body, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := s.app.Ops.Invoke(t.Context(), access.Caller{Subject: "p-" + access.Subject(role.String()),
				EveryRole: role, Actor: access.Person}, op.Request{Operation: operation, World: s.world.String(), Input: body,
				Transport: "rest", IdempotencyKey: uuid.NewString()})
			if err != nil {
				return "", err
			}
			return string(answer.Output), nil
		}
		must := func(operation string, in map[string]any) string {
			t.Helper()
			out, err := as(access.RoleAdmin, operation, in)
			if err != nil {
				t.Fatalf("%s %v: %v", operation, in, err)
			}
			return out
		}
		must("create_card", map[string]any{"name": "Dark Plot", "content": "SECRET", "level": "gm"})
		must("create_card", map[string]any{"name": "Dark Plot+Spy", "content": "SECRET"})
		must("rename_card", map[string]any{"name": "Dark Plot+Spy", "new_name": "Plain Miller"})
		must("create_card", map[string]any{"name": "Shut Inn", "content": "beer"})
		must("create_card", map[string]any{"name": "Shut Inn+Cellar", "content": "barrels"})
		var hidden struct {
			Change string `json:"change_id"`
		}
		if err := json.Unmarshal([]byte(must("set_card_level", map[string]any{"name": "Shut Inn", "level": "gm"})),
			&hidden); err != nil || hidden.Change == "" {
			t.Fatalf("no change: %v", err)
		}
		must("update_card", map[string]any{"name": "Shut Inn+Cellar", "content": "SECRET"})
		must("create_card", map[string]any{"name": "Shut Inn+Cellar+Trapdoor", "content": "SECRET"})
		must("undo_change", map[string]any{"id": hidden.Change})
		for name, seen := range map[string]bool{"Shut Inn": true, "Plain Miller": false, "Shut Inn+Cellar": false,
			"Shut Inn+Cellar+Trapdoor": false} {
			out, err := as(access.RoleUser, "get_card", map[string]any{"name": name})
			if (err == nil) != seen || strings.Contains(out, "SECRET") {
				t.Errorf("a player reads %s: %q, %v", name, out, err)
			}
		}
	})
}
