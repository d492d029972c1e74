package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/identity"
	"loregate/internal/remote"
)

// A local client speaks over pipes; the bridge sends its messages to the server that the key belongs to.
func Example() {
	ctx := context.Background()
	data, err := os.MkdirTemp("", "loregate")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(data)
	url, key, stop, err := serve(ctx, data)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	b, err := remote.New(ctx, remote.Config{URL: url + "/api/mcp", Key: key, Role: access.RoleUser,
		World: app.FirstWorld})
	if err != nil {
		fmt.Println(err)
		return
	}
	in, out := strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "ping"}`+"\n"), &bytes.Buffer{}
	if err := b.Serve(ctx, in, out); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out)
	// Output: {"jsonrpc":"2.0","id":1,"result":{}}
}

// serve serves the product, with a key of a user.
func serve(ctx context.Context, data string) (url, key string, stop func(), err error) {
	config, err := app.LoadConfig("", []string{"LOREGATE_DATA=" + data})
	if err != nil {
		return "", "", nil, err
	}
	a, err := app.Open(ctx, config, app.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return "", "", nil, err
	}
	if err := a.EnsureWorld(ctx); err != nil {
		return "", "", nil, err
	}
	key, _, err = a.CreateKey(ctx, identity.KeySpec{Name: "laptop", Subject: "ada", Actor: access.Person,
		MaxRole: access.RoleUser}, []string{app.FirstWorld})
	if err != nil {
		return "", "", nil, err
	}
	h, end, err := a.Handler(ctx)
	if err != nil {
		return "", "", nil, err
	}
	server := httptest.NewServer(h)
	return server.URL, key, func() { server.Close(); end(); a.Close(ctx) }, nil
}
