package archive

import (
	"errors"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// TestGameMastersManage lists the operations that manage cards, and who may call them on which cards where game masters
// manage. Each row is over REST and over MCP.
func TestGameMastersManage(t *testing.T) {
	for name, row := range map[string]struct{ call, input, who, refused string }{
		"rename":                   {"rename_card", `{"name": "Well", "new_name": "Spring"}`, "gm", ""},
		"rename a type":            {"rename_card", `{"name": "Ship", "new_name": "Boat"}`, "gm", "admin"},
		"rename as a player":       {"rename_card", `{"name": "Well", "new_name": "Spring"}`, "user", "gm"},
		"delete":                   {"delete_card", `{"name": "Well", "force": true}`, "gm", ""},
		"delete a type":            {"delete_card", `{"name": "Ship"}`, "gm", "admin"},
		"delete a card above one":  {"delete_card", `{"name": "Shelf", "force": true}`, "gm", "admin"},
		"only ask what would go":   {"delete_card", `{"name": "Ship", "dry_run": true}`, "gm", "admin"},
		"delete as a player":       {"delete_card", `{"name": "Well"}`, "user", "gm"},
		"restore":                  {"restore_card", `{"name": "Old Mill"}`, "gm", ""},
		"restore a setting":        {"restore_card", `{"name": "Old Rule"}`, "gm", "admin"},
		"go back to a version":     {"restore_card", `{"name": "Well", "to_version": 1}`, "gm", ""},
		"the same of a type":       {"restore_card", `{"name": "Ship", "to_version": 1}`, "gm", "admin"},
		"set a level":              {"set_card_level", `{"name": "Well", "level": "gm"}`, "gm", ""},
		"the same in a batch":      {"batch_cards", inBatch("Well"), "gm", ""},
		"set the level of a type":  {"set_card_level", `{"name": "Ship", "level": "gm"}`, "gm", "admin"},
		"remove a child":           {"update_card", `{"name": "Well", "fields": {"+rope": null}}`, "gm", ""},
		"list the trash":           {"list_trash", `{}`, "gm", ""},
		"list it as a player":      {"list_trash", `{}`, "user", "gm"},
		"a type, as an admin":      {"rename_card", `{"name": "Ship", "new_name": "Boat"}`, "admin", ""},
		"the trash, as an admin":   {"list_trash", `{}`, "admin", ""},
		"a batch that sets levels": {"batch_cards", inBatch("Ship"), "gm", "admin"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, transport := range []string{"rest", "mcp"} {
				s := newDesk(t)
				s.furnish(canon.GMRightsAll)
				got, err := s.As(row.who).invoke(row.call, row.input, func(r *op.Request) { r.Transport = transport })
				f, _ := asFault(err)
				switch {
				case row.call == "batch_cards":
					if err != nil || (got.Reply.Status >= 400) != (row.refused != "") {
						t.Errorf("over %s: %v, %+v", transport, err, got)
					}
				case row.refused == "" && err != nil:
					t.Errorf("over %s: %v", transport, err)
				case row.refused != "" && transport == "mcp" && row.who == "user":
					if fault.KindOf(err) != fault.NotFound {
						t.Errorf("over MCP it exists: %v", err)
					}
				case row.refused != "" && (f == nil || f.Kind != fault.Denied || f.Details["required_role"] != row.refused):
					t.Errorf("over %s: %v, want the role %s", transport, err, row.refused)
				}
			}
		})
	}
}

// inBatch returns the input of a batch that sets the level of a card.
func inBatch(name string) string {
	return `{"mode": "transactional", "ops": [{"name": "` + name + `", "level": "gm"}]}`
}

// furnish writes the cards of the tests, as the world's admin.
func (d *desk) furnish(rights string) {
	d.t.Helper()
	d.change(func(p *canon.Plan) error { return p.Configure("Main", canon.Settings{GMRights: rights}) })
	d.wrote("Well", "deep")
	d.wrote("Well+rope", "wet")
	d.wrote("Old Mill", "still")
	d.typed(canon.TypeCardtype, "Ship", "")
	d.typed(canon.TypeSetting, "Old Rule", "x")
	d.wrote("Shelf", "")
	d.typed(canon.TypeCardtype, "Shelf+kind", "")
	for _, name := range []string{"Old Mill", "Old Rule"} {
		d.change(func(p *canon.Plan) error {
			c, err := p.Card(name)
			if err == nil {
				err = p.Trash(c)
			}
			return err
		})
	}
}

// TestGameMastersUndo undoes changes as a game master, by the rights of the world.
func TestGameMastersUndo(t *testing.T) {
	for _, row := range []struct {
		rights, call, input string
		want                error
	}{
		{canon.GMRightsAll, "delete_card", `{"name": "Well", "force": true}`, nil},
		{canon.GMRightsAll, "rename_card", `{"name": "Well", "new_name": "Spring"}`, nil},
		{canon.GMRightsAll, "set_card_level", `{"name": "Well", "level": "gm"}`, nil},
		{canon.GMRightsAll, "rename_card", `{"name": "Ship", "new_name": "Boat"}`, fault.Denied},
		{canon.GMRightsAll, "delete_card", `{"name": "Ship"}`, fault.Denied},
		{canon.GMRightsCampaign, "rename_card", `{"name": "Well", "new_name": "Spring"}`, fault.Denied},
		{canon.GMRightsCampaign, "delete_card", `{"name": "Well", "force": true}`, fault.NotFound},
	} {
		s := newDesk(t)
		s.furnish(row.rights)
		id := s.As("admin").Call(row.call, row.input).Text("change_id")
		_, err := s.As("gm").invoke("undo_change", `{"id": "`+id+`"}`, overREST)
		if !errors.Is(err, row.want) {
			t.Errorf("%s %s, %s: %v, want %v", row.rights, row.call, row.input, err, row.want)
		}
	}
}

// TestUndoOfAnUndo undoes the undo of a game master as a player.
func TestUndoOfAnUndo(t *testing.T) {
	s := newDesk(t)
	s.As("user").Call("create_card", `{"name": "Bell", "content": "rings"}`)
	s.As("user").Call("update_card", `{"name": "Bell", "content": "is cracked"}`)
	undone := s.As("gm").Call("undo_change", `{"name": "Bell"}`).Text("change_id")
	for _, input := range []string{`{"name": "Bell"}`, `{"id": "` + undone + `"}`} {
		if f := s.As("user").asked("undo_change", input); f.Kind != fault.Denied || f.Details["required_role"] != "gm" {
			t.Errorf("%s: %v", input, f)
		}
	}
	s.As("user").reads("Bell", "rings")
	s.As("admin").Call("undo_change", `{"name": "Bell"}`)
	s.As("user").reads("Bell", "is cracked")
}

// TestSettingsAreTheAdmins tries to widen the rights of game masters as one of them.
func TestSettingsAreTheAdmins(t *testing.T) {
	s := newDesk(t)
	for role, want := range map[access.Role]error{access.RoleGM: fault.Denied, access.RoleAdmin: nil} {
		a, err := access.NewGuard(access.Config{}).Admit(t.Context(), access.Caller{Subject: "x", EveryRole: role},
			access.Request{Operation: "configure", Effect: access.Write, World: s.world})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.canon.Update(t.Context(), a.Grant, func(p *canon.Plan) error {
			return p.Configure("Main", canon.Settings{GMRights: canon.GMRightsAll})
		})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", role, err)
		}
	}
}
