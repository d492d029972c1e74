package mcpd_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"loregate/internal/access"
	"loregate/internal/mcpd"
	"loregate/internal/op"
)

func Example() {
	type greetIn struct {
		Name string `json:"name" jsonschema:"Who is greeted"`
	}
	type greetOut struct {
		Greeting string `json:"greeting"`
	}
	greet := op.Define(op.Spec{Name: "greet", Title: "Greet", Doc: "Use it to greet somebody.", Surfaces: []string{"hall"},
		Effect: access.Read, NoWorld: true},
		func(_ context.Context, _ *op.Call, in greetIn) (greetOut, error) {
			return greetOut{"Well met, " + in.Name}, nil
		})
	hall := op.Surface{Name: "hall", Title: "Hall", Doc: "greetings", Operations: []*op.Operation{greet}}
	engine, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Surfaces: []op.Surface{hall}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	server, err := mcpd.New(ctx, mcpd.Config{Engine: engine, Surfaces: []*op.Surface{&hall}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	in := strings.NewReader(initialize + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}` + "\n")
	out := &second{}
	if err := server.ServeStdio(ctx, access.Caller{Subject: "me", EveryRole: access.RoleUser, Unlimited: true}, nil, in,
		out); err != nil {
		fmt.Println(err)
	}
	// Output: {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"greeting\":\"Well met, Ada\"}"}],"structuredContent":{"greeting":"Well met, Ada"}}}
}

// second prints the second line only: the first is the handshake.
type second struct{ n int }

func (s *second) Write(p []byte) (int, error) {
	if s.n++; s.n == 2 {
		_, _ = os.Stdout.Write(p)
	}
	return len(p), nil
}
