package op_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

type looseIn struct {
	Text string `json:"text" jsonschema:"A text." maxlen:"3"`
}

type looseOut struct {
	Got string `json:"got"`
}

// The handler judges the faults of a loose operation's input; broken JSON never reaches it.
func TestLooseInputReachesItsHandler(t *testing.T) {
	o := op.DefineLoose(spec("judge", access.Propose, access.RoleUser), op.InputOf[looseIn],
		func(_ context.Context, _ *op.Call, input json.RawMessage) (looseOut, error) {
			return looseOut{string(input)}, nil
		})
	local, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Worlds: &twoWorlds{},
		Surfaces: []op.Surface{{Name: "archive", Title: "A", Doc: "A.", Operations: []*op.Operation{o}}}})
	if err != nil {
		t.Fatal(err)
	}
	call := func(input string) (string, error) {
		a, err := local.Invoke(t.Context(), as(access.RoleUser),
			op.Request{Operation: "judge", World: "a", Input: []byte(input)})
		if err != nil {
			return "", err
		}
		return string(a.Output), nil
	}
	if got, err := call(`{"text": "too long", "odd": [1], "idempotency_key": "k"}`); err != nil ||
		got != `{"got":"{\"odd\":[1],\"text\":\"too long\"}"}` {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := call(`{"text":"a","text":"b"}`); !errors.Is(err, fault.Invalid) {
		t.Errorf("a name given twice: %v", err)
	}
}

// Run carries out a call later: it needs a grant that a Guard has admitted, and input from Check.
func TestRunNeedsGrant(t *testing.T) {
	o := op.Define(spec("create_card", access.Write, access.RoleUser), echo)
	input, err := o.Check([]byte(`{"name":"A","idempotency_key":"k"}`))
	if err != nil || strings.Contains(string(input), "idempotency") || !strings.Contains(string(input), `"limit":50`) {
		t.Fatalf("checked: %s, %v", input, err)
	}
	if _, err := o.Check([]byte(`{"nam":"A"}`)); !errors.Is(err, fault.Invalid) {
		t.Errorf("a field that is not known: %v", err)
	}
	if _, err := o.Run(t.Context(), &op.Call{}, input); !errors.Is(err, fault.Internal) {
		t.Errorf("without a grant: %v", err)
	}
	a, err := access.NewGuard(access.Config{}).Admit(t.Context(), as(access.RoleGM),
		access.Request{Operation: "create_card", Effect: access.Write, World: worldA})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := o.Run(t.Context(), &op.Call{Grant: a.Grant}, input); err != nil ||
		!strings.Contains(string(out), `"role":"gm"`) {
		t.Errorf("got %s, %v", out, err)
	}
}
