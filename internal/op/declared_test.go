package op_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/op"
	"loregate/internal/op/optest"
)

type undocumented struct {
	Name string `json:"name"`
}

type base struct {
	A int `json:"n"`
}

type twice struct {
	base
	B int `json:"n"`
}

func nop[T any](_ context.Context, _ *op.Call, _ T) (echoOut, error) { return echoOut{}, nil }

// declare offers surfaces, and returns the mistakes in their declarations.
func declare(surfaces ...op.Surface) error {
	l, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Worlds: &twoWorlds{}, Surfaces: surfaces})
	if err != nil {
		return err
	}
	return l.Check()
}

// NewLocal and Check name every mistake in a declaration.
func TestWrongDeclarations(t *testing.T) {
	one := func(change func(*op.Spec)) []op.Surface {
		s := spec("get_card", access.Read, access.RoleUser)
		change(&s)
		return []op.Surface{{Name: "archive", Operations: []*op.Operation{op.Define(s, echo)}}}
	}
	for _, tc := range []struct {
		name     string
		surfaces []op.Surface
		want     string
	}{
		{"nothing is wrong", one(func(*op.Spec) {}), ""},
		{"name", one(func(s *op.Spec) { s.Name = "GetCard" }), "words of lower-case letters"},
		{"no text", one(func(s *op.Spec) { s.Doc = "" }), "Title and Doc must be set"},
		{"no effect", one(func(s *op.Spec) { s.Effect = "" }), "Effect is needed"},
		{"other surface", one(func(s *op.Spec) { s.Surfaces = []string{"world"} }), "must contain archive"},
		{"player", one(func(s *op.Spec) { s.Player = "card" }), "Player card is not an input field"},
		{"target", one(func(s *op.Spec) { s.Target = "card" }), "Target card is not an input field"},
		{"route", one(func(s *op.Spec) { s.Route = "FETCH /x" }), "must have the form METHOD /api/"},
		{"variable", one(func(s *op.Spec) { s.Route = "GET /api/{card}" }), "{card} is not an input field"},
		{"GET that writes", one(func(s *op.Spec) { s.Route, s.Effect = "GET /api/{name}", access.Write }), "GET is only for reads"},
		{"body of no file", one(func(s *op.Spec) { s.BodyLimit = 1 }), "BodyLimit needs"},
		{"example", one(func(s *op.Spec) { s.Examples = []op.Example{{Title: "Bad", Input: `{"limit":0}`}} }),
			"limit: must be at least 1; name: is required"},
		{"undocumented field", []op.Surface{{Name: "archive",
			Operations: []*op.Operation{op.Define(spec("get_card", access.Read, access.RoleUser), nop[undocumented])}}},
			"input field name needs a description"},
		{"twice", []op.Surface{{Name: "archive", Operations: []*op.Operation{
			op.Define(spec("get_card", access.Read, access.RoleUser), echo),
			op.Define(spec("get_card", access.Read, access.RoleUser), echo)}}}, "declared twice"},
		{"resource", []op.Surface{{Name: "archive", Resources: []*op.Resource{{Template: "a://{x}{y}", Name: "r"}}}},
			"variables x and y need text between them"},
		{"prompt", []op.Surface{{Name: "archive", Prompts: []*op.Prompt{{Name: "p"}}}}, "Render must be set"},
	} {
		err := declare(tc.surfaces...)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
	a, b := spec("one", access.Read, access.RoleUser), spec("two", access.Read, access.RoleUser)
	a.Route, b.Route = "GET /api/x/{name}", "GET /api/x/{sort}"
	err := declare(op.Surface{Name: "archive", Operations: []*op.Operation{op.Define(a, echo), op.Define(b, echo)}})
	if err == nil || !strings.Contains(err.Error(), "is already the route of one") {
		t.Errorf("two routes that match the same: %v", err)
	}
}

func TestDefineRefusesTypes(t *testing.T) {
	refused := func(name string, o *op.Operation) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s was taken", name)
			}
		}()
		o.In()
	}
	s := spec("x", access.Read, access.RoleUser)
	refused("a duration", op.Define(s, nop[struct{ D time.Duration }]))
	refused("a channel", op.Define(s, nop[struct{ C chan int }]))
	refused("no struct", op.Define(s, nop[[]string]))
	refused("a default that is required", op.Define(s, nop[struct {
		N int `json:"n" default:"1"`
	}]))
	refused("two fields of a name, one of them embedded", op.Define(s, nop[twice]))
	refused("a broken pattern", op.Define(s, nop[struct {
		A string `json:"a" pattern:"("`
	}]))
}

// The schemas shown to callers allow null only where it is accepted, and contain the engine's own
// fields.
func TestShownSchemas(t *testing.T) {
	b := newBench(t, nil)
	shown := func(name string) (in, out string) {
		o, _ := b.Find(name)
		i, _ := json.Marshal(o.InputSchema())
		u, _ := json.Marshal(o.OutputSchema())
		return string(i), string(u)
	}
	in, out := shown("create_card")
	for _, want := range []string{`"idempotency_key":{"type":"string"`, `"world":{"type":"string"`, `"required":["name"]`,
		`"additionalProperties":false`,
		`"limit":{"type":"integer","description":"Most results.","default":50,"minimum":1,"maximum":100}`,
		`"enum":["name","updated"]`,
		`"depth":{"type":["integer","string"]`, `"$ref":"#/$defs/echoOp"`} {
		if !strings.Contains(in, want) {
			t.Errorf("input lacks %s: %s", want, in)
		}
	}
	if strings.Contains(in, `"null"`) || !strings.Contains(out, `"next_offset":{"type":["integer","null"]}`) ||
		!strings.Contains(out, `"lines":{"type":"array"`) {
		t.Errorf("null in the wrong place:\n%s\n%s", in, out)
	}
	if in, _ := shown("get_card"); strings.Contains(in, "idempotency_key") {
		t.Errorf("a read takes an idempotency key: %s", in)
	}
	if in, _ := shown("create_backup"); strings.Contains(in, `"world"`) {
		t.Errorf("the instance's operation takes a world: %s", in)
	}
	if _, out := shown("read_long"); !strings.Contains(out, `"truncated"`) || !strings.Contains(out, `"next"`) {
		t.Errorf("a cuttable output does not say so: %s", out)
	}
}

// Answers validate against the shown schema, using a validator like those of clients.
func TestOutputsHoldToTheirSchema(t *testing.T) {
	b := newBench(t, nil)
	for _, in := range []string{`{"name":"A"}`,
		`{"name":"A","fields":{"x":[1,null]},"ops":[{"name":"a","count":0,"children":[{"name":"b"}]}]}`} {
		a, err := b.call(as(access.RoleUser), "get_card", in)
		if err != nil {
			t.Fatal(err)
		}
		o, _ := b.Find("get_card")
		if err := optest.CheckOutput(o, a.Output); err != nil {
			t.Errorf("%s: %v", a.Output, err)
		}
	}
}

func TestDocumentsAreDeterministic(t *testing.T) {
	doc := func() []byte {
		return op.OpenAPI(op.APIInfo{Title: "T", Version: "1", Operations: newBench(t, nil).All()})
	}
	first := doc()
	for range 5 {
		if !bytes.Equal(first, doc()) {
			t.Fatal("OpenAPI differs from run to run")
		}
	}
	var v struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Parameters  []struct{ In, Name string }
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(first, &v); err != nil || v.OpenAPI != "3.1.0" {
		t.Fatal(err, v.OpenAPI)
	}
	if v.Paths["/api/mcp/cards/{name}"]["get"].OperationID != "get_card" ||
		v.Components.Schemas["get_card_in_echoOp"] == nil {
		t.Errorf("%s", first)
	}
	if bytes.Contains(first, []byte("#/$defs/")) {
		t.Error("a reference leads out of the document")
	}
}
