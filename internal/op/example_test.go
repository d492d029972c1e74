package op_test

import (
	"context"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/op"
)

type rollIn struct {
	Sides int `json:"sides,omitzero" jsonschema:"Sides of the die." default:"6" min:"2" max:"100"`
}

type rollOut struct {
	Most int `json:"most"`
}

// An operation is declared once; inputs are checked and completed before the handler gets them.
func Example() {
	roll := op.Define(op.Spec{
		Name: "most_of_die", Title: "Most of a die", Doc: "Tells the most that a die can show.",
		Surfaces: []string{"table"}, Effect: access.Read, NoWorld: true,
	}, func(_ context.Context, _ *op.Call, in rollIn) (rollOut, error) {
		return rollOut{in.Sides}, nil
	})
	l, err := op.NewLocal(op.Config{
		Guard:    access.NewGuard(access.Config{}),
		Surfaces: []op.Surface{{Name: "table", Operations: []*op.Operation{roll}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, input := range []string{`{}`, `{"sides":20}`, `{"sides":1,"side":3}`} {
		a, err := l.Invoke(context.Background(), access.Caller{Subject: "ann"},
			op.Request{Operation: "most_of_die", Input: []byte(input)})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(string(a.Output))
	}
	// Output:
	// {"most":6}
	// {"most":20}
	// validation_error: sides: must be at least 2; side: is not known; did you mean "sides"?
}
