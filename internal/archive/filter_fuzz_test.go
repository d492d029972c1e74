package archive

import (
	"encoding/json"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/store/sqlite/sqlitetest"
)

// FuzzFilters runs arbitrary filters. Both stores must give the same answers and refusals, never an
// internal error, and a user must never get a hidden card.
func FuzzFilters(f *testing.F) {
	f.Add("lamp", "Games+Coast", "*+Ferry*", "Location", "light", "", uint8(0))
	f.Add("", "", "*GM*", "", "", "2026-01-01", uint8(3))
	f.Add("%_\\", "'--", "[*?", "\x00", "\"", "1", uint8(1))
	model, disk := aCoast(newScene(f)), aCoast(newSceneOn(f, sqlitetest.Open(f)))
	for _, s := range []*scene{model, disk} {
		s.wrote("Games+Coast+Lamp+tags", "[[Light]]")
		s.hid(access.LevelGM, "Games+Coast+Wreck+tags", "[[Light]]")
	}
	f.Fuzz(func(t *testing.T, name, prefix, notName, typ, tag, since string, order uint8) {
		in := map[string]any{"sort": []string{"name", "updated_at", "created_at"}[order%3]}
		for field, value := range map[string]string{"name": name, "prefix": prefix, "not_name": notName, "type": typ,
			"tag": tag, "updated_since": since} {
			if value != "" {
				in[field] = value
			}
		}
		input, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		want, wantErr := model.ask(t, access.RoleUser, input)
		got, gotErr := disk.ask(t, access.RoleUser, input)
		if got != want || fault.KindOf(gotErr) != fault.KindOf(wantErr) {
			t.Errorf("%s: memory answers\n%s %v\nand sqlite\n%s %v", input, want, wantErr, got, gotErr)
		}
		if gotErr != nil && fault.KindOf(gotErr) == fault.Internal {
			t.Errorf("%s: %v", input, gotErr)
		}
		if strings.Contains(got, "Wreck") || strings.Contains(got, "+GM") {
			t.Errorf("%s shows a user %s", input, got)
		}
	})
}

// ask runs a query with filters in a role.
func (s *scene) ask(t *testing.T, role access.Role, input []byte) (string, error) {
	a, err := s.ops.Invoke(t.Context(), access.Caller{Subject: "asker", EveryRole: role},
		op.Request{Operation: "run_query", Input: input, World: "main"})
	if err != nil {
		return "", err
	}
	return string(a.Output), nil
}
