package worldtest

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

// An imported world can be played at once: a player is created, looks around and walks, if there
// are exits.
func TestImportedWorldsCanBePlayed(t *testing.T) {
	h := open(t)
	const light = `{"nodes": {"mill_1": {"name": "Mill", "desc": "It turns.", "node_id": "mill_1", "room": true, "container_node": {"target_id": "VOID"},
		"neighbors": {"quay_2": {"target_id": "quay_2", "label": "a path to the west"}}},
		"quay_2": {"name": "Quay", "desc": "Water.", "node_id": "quay_2", "room": true, "container_node": {"target_id": "VOID"}, "neighbors": {"mill_1": {"target_id": "mill_1", "label": "a path to the east"}}}}}`
	for _, tc := range []struct {
		format, walk string
		files        map[string]string
	}{
		{"light", "go west", map[string]string{"w.json": light}},
		{"ranvier", "go west", map[string]string{"a/manifest.yml": "title: Area\n",
			"a/rooms.yml": "- id: mill\n  title: Mill\n  description: It turns.\n  exits:\n    - {roomId: 'a:quay', direction: west}\n" +
				"- id: quay\n  title: Quay\n  description: Water.\n  exits:\n    - {roomId: 'a:mill', direction: east}\n"}},
		{"markdown", "", map[string]string{"Locations/Mill.md": "It turns.", "NPCs/Oda.md": "[[Mill]]",
			"GM/Locations/Crypt.md": "[[Crypt]]"}},
	} {
		t.Run(tc.format, func(t *testing.T) {
			slug := "w-" + tc.format
			dir := t.TempDir()
			for name, text := range tc.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := h.app.CreateWorld(t.Context(), canon.NewWorld{Slug: slug}); err != nil {
				t.Fatal(err)
			}
			if _, err := h.app.Import(t.Context(), tc.format, slug, dir, app.ImportOptions{Level: access.LevelUser,
				Starter: "No Such Place"}); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "Mill") {
				t.Errorf("players would begin nowhere: %v", err)
			}
			dry, err := h.app.Import(t.Context(), tc.format, slug, dir, app.ImportOptions{Level: access.LevelUser, DryRun: true})
			if err != nil || dry.Starter != "Mill" {
				t.Errorf("a dry run has players begin at %q, %v", dry.Starter, err)
			}
			sum, err := h.app.Import(t.Context(), tc.format, slug, dir, app.ImportOptions{Level: access.LevelUser})
			if err != nil || sum.Starter != "Mill" {
				t.Fatalf("players begin at %q, %v", sum.Starter, err)
			}
			key, _, err := h.app.CreateKey(t.Context(), identity.KeySpec{Name: slug, Subject: access.Subject(slug),
				Actor: access.Person, MaxRole: access.RoleUser}, []string{slug})
			if err != nil {
				t.Fatal(err)
			}
			var ann madePlayer
			if status := h.send(http.MethodPost, "/api/players", key, `{"name": "Ann Walker"}`,
				&ann); status != http.StatusCreated {
				t.Fatalf("a player cannot be made: %d", status)
			}
			command := func(text string) string {
				var out commandResult
				if status := h.send(http.MethodPost, "/api/players/"+ann.Player.ID+"/commands", ann.Token, `{"text": "`+text+`"}`,
					&out); status != http.StatusOK {
					t.Errorf("%s: %d", text, status)
				}
				return out.Narration
			}
			if text := command("look"); !strings.Contains(text, "It turns.") {
				t.Errorf("looking around shows %q", text)
			}
			if tc.walk != "" {
				if text := command(tc.walk); !strings.Contains(text, "Quay") {
					t.Errorf("%s: %q", tc.walk, text)
				}
			}
			configure := func(name string) error {
				return h.app.ConfigureWorld(t.Context(), slug, func(_ *string, s *canon.Settings) { s.Starter = name })
			}
			for name, ok := range map[string]bool{"No Such Place": false, "Mill": true, "Oda": false, "Crypt": false, "": true} {
				if err := configure(name); (err == nil) != ok || err != nil && fault.KindOf(err) != fault.Invalid {
					t.Errorf("players shall begin at %q: %v", name, err)
				}
			}
		})
	}
}
