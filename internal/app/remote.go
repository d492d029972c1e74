package app

import (
	"context"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/front"
	"loregate/internal/remote"
)

// RemoteOptions name the remote server, the key and the role for ServeRemote.
type RemoteOptions struct {
	URL      string // address of the server's /api/mcp
	Key      string
	KeyVar   string // environment variable that Key came from, for messages
	Role     access.Role
	World    string
	Tools    []string // default, all, or surfaces; none is the default
	ReadOnly bool
}

// ServeRemote serves the tools, prompts and resources of another server on standard input and
// output.
func ServeRemote(ctx context.Context, c Config, o RemoteOptions, s Streams) error {
	if o.Key == "" {
		return errNoRemoteKey(o.KeyVar)
	}
	r := remote.Config{URL: o.URL, Key: o.Key, Role: o.Role, World: o.World, Issuer: c.Token.Issuer,
		Tools: o.Tools, ReadOnly: o.ReadOnly}
	if slices.Equal(r.Tools, []string{front.Surface}) {
		r.Tools = nil // servers of earlier versions know only the address without a set
	}
	bridge, err := remote.New(ctx, r)
	if err != nil {
		return fmt.Errorf("%s: %w", o.URL, err)
	}
	return bridge.Serve(ctx, s.In, s.Out)
}

func errNoRemoteKey(variable string) error {
	return fault.New(fault.Invalid,
		"the variable %q contains no API key; name the variable that contains it with --api-key-env", variable)
}
