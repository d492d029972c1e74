package campaign

import (
	"context"
	"embed"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// systems holds the JSON Schema of each game system's character sheet: the names of its parts and
// their bounds, none of its rules.
//
//go:embed systems
var systems embed.FS

// systemCodes are the codes of all systems.
var systemCodes = []string{"coc-7e", "dnd-5e-2024", "fitd", "gurps-4e"}

// systemSchema returns a system's schema.
func systemSchema(code string) (json.RawMessage, error) {
	if !slices.Contains(systemCodes, code) {
		return nil, fault.New(fault.NotFound, "there is no game system with this code; the codes are %s",
			strings.Join(systemCodes, ", ")).
			With("systems", systemCodes)
	}
	return systems.ReadFile(path.Join("systems", code+".json"))
}

func systemOps(*deps) []*op.Operation {
	return []*op.Operation{op.Define(op.Spec{
		Name: "system_get",
		Asked: []string{
			"goes on a character sheet", "form for an investigator", "stats of the rules",
			"fields of a hero in this rule book", "which attributes does an investigator have",
			"on the sheet of a hero", "character sheet of a rule book", "fields of an investigator",
			"attributes by game system", "which blanks has the sheet",
		},
		Title:    "Read a game system",
		Doc:      "Get the JSON Schema of a game system's character sheet, before you fill in the attributes of a person.",
		Surfaces: []string{Surface}, Effect: access.Read, NoWorld: true,
		Route:    "GET /api/systems/{system_code}",
		Examples: []op.Example{{Title: "Call of Cthulhu", Input: `{"system_code": "coc-7e"}`}},
	}, systemGet)}
}

type systemIn struct {
	SystemCode string `json:"system_code" maxlen:"50" jsonschema:"coc-7e, gurps-4e, fitd or dnd-5e-2024."`
}

type systemOut struct {
	Code   string          `json:"code"`
	Schema json.RawMessage `json:"schema" jsonschema:"JSON Schema of a character sheet."`
}

func systemGet(_ context.Context, _ *op.Call, in systemIn) (systemOut, error) {
	schema, err := systemSchema(in.SystemCode)
	return systemOut{in.SystemCode, schema}, err
}
