package app

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// RemoteOptions say which server's archive to serve locally, and as whom.
type RemoteOptions struct {
	URL     string // of the server's /api/mcp
	Key     string
	KeyVar  string // where Key came from, for messages
	Role    access.Role
	World   string
	Version string
}

// ServeRemote serves another server's archive on standard input and output.
func ServeRemote(ctx context.Context, c Config, o RemoteOptions, s Streams) error {
	return fault.New(fault.Unavailable, "the remote mode is not built in")
}
