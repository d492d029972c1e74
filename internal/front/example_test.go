package front_test

import (
	"context"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/front"
	"loregate/internal/op"
)

// A tool of the set calls declared operations with the rights of its own caller.
func Example() {
	tide := op.Define(op.Spec{Name: "get_tide", Title: "Tide", Doc: "Read the height of the water.",
		Surfaces: []string{"harbour"}, Effect: access.Read, NoWorld: true},
		func(context.Context, *op.Call, struct{}) (struct {
			Metres float64 `json:"metres"`
		}, error) {
			return struct {
				Metres float64 `json:"metres"`
			}{2.5}, nil
		})
	f := front.New(front.Config{Random: func(b []byte) { clear(b) }})
	ops, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Worlds: noWorlds{},
		Surfaces: []op.Surface{{Name: "harbour", Operations: []*op.Operation{tide}}, f.Surface()}})
	if err != nil {
		fmt.Println(err)
		return
	}
	f.Connect(ops)
	for _, call := range [][2]string{
		{"find_operation", `{"words": "how high is the water"}`},
		{"roll", `{"dice": "2d6+3"}`},
	} {
		a, err := ops.Invoke(context.Background(), access.Caller{Subject: "ann"},
			op.Request{Operation: call[0], Input: []byte(call[1])})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(string(a.Output))
	}
	// Output:
	// {"operations":[{"operation":"get_tide","does":"Read the height of the water.","call_by":"call_operation"}]}
	// {"total":8,"dice":"2d6+3","rolls":["2d6: 2 3","3"]}
}

// noWorlds is a server without worlds.
type noWorlds struct{}

func (noWorlds) Resolve(context.Context, access.Caller, string) (w access.WorldID, err error) {
	return w, nil
}
func (noWorlds) Names(context.Context, access.Caller) ([]string, error) { return nil, nil }
