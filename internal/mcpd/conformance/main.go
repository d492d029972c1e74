// Command conformance serves what the official conformance suite of the Model Context
// Protocol asks of a server, on a loopback address: tools, resources and prompts that only
// show that the protocol is spoken, through the router and middleware of the product. It
// is for tests only, and lets everybody in. docs/conformance.md says what comes of it.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"loregate/internal/access"
	"loregate/internal/mcpd"
	"loregate/internal/op"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "loopback address to listen on")
	flag.Parse()
	if err := run(*addr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(addr string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	engine, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{})})
	if err != nil {
		return err
	}
	s, err := mcpd.New(ctx, mcpd.Config{Engine: engine, Auth: everybody{}, Fixtures: fixtures()})
	if err != nil {
		return err
	}
	defer s.Close()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", ln.Addr())
	srv := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.Serve(ln); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// everybody is the same user: the suite sends no credentials.
type everybody struct{}

func (everybody) Authenticate(context.Context, *http.Request) (access.Caller, error) {
	return access.Caller{Subject: "conformance", EveryRole: access.RoleUser, Unlimited: true}, nil
}

func (everybody) Challenge(*http.Request, error) string { return "" }

func (everybody) Watch(context.Context, string) (<-chan struct{}, func()) { return nil, func() {} }
