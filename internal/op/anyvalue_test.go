package op_test

import (
	"context"
	"encoding/json"
	"testing"

	"loregate/internal/access"
	"loregate/internal/op"
)

type anyValues struct {
	Raw    json.RawMessage `json:"raw" jsonschema:"Raw."`
	Values []any           `json:"values" jsonschema:"Values."`
	Inner  struct {
		Any any             `json:"any"`
		Raw json.RawMessage `json:"raw"`
	} `json:"inner" jsonschema:"More."`
	Map map[string]any `json:"map" jsonschema:"By name."`
}

// TestEverySchemaIsAnObject checks the schemas shown to clients, because some clients take a schema
// only as an object with a description, and not as true.
func TestEverySchemaIsAnObject(t *testing.T) {
	o := op.Define(spec("anything", access.Read, access.RoleUser),
		func(_ context.Context, _ *op.Call, in anyValues) (anyValues, error) { return in, nil })
	for _, s := range []any{o.InputSchema(), o.OutputSchema()} {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		wantObjects(t, "", v)
	}
}

func wantObjects(t *testing.T, at string, schema any) {
	s, ok := schema.(map[string]any)
	if !ok {
		t.Errorf("%s is %v, not an object", at, schema)
		return
	}
	if p, ok := s["properties"].(map[string]any); ok {
		for name, of := range p {
			wantObjects(t, at+"/"+name, of)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if of, ok := s[key]; ok && of != false {
			wantObjects(t, at+"/"+key, of)
		}
	}
}
