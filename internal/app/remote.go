package app

import (
	"context"
	"fmt"
	"log/slog"

	"loregate/internal/access"
	"loregate/internal/archive"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/mcpd"
	"loregate/internal/op"
	"loregate/internal/remote"
	"loregate/internal/store/memory"
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
	if o.Key == "" {
		return fault.New(fault.Invalid, "the variable %q holds no API key; name one that does with --api-key-env", o.KeyVar)
	}
	// The surface is here for what it declares: what it holds is on the server.
	wiki, err := archive.New(archive.Config{Canon: canon.New(canon.Config{Store: memory.New()})})
	if err != nil {
		return err
	}
	engine, err := remote.New(ctx, remote.Config{URL: o.URL, Key: o.Key, Role: o.Role, World: o.World, Issuer: c.Token.Issuer, Surfaces: []op.Surface{wiki}})
	if err != nil {
		return fmt.Errorf("%s: %w", o.URL, err)
	}
	offered := engine.Surfaces()
	m := mcpd.Config{Engine: engine, Version: o.Version, Website: Website, Logger: slog.Default()}
	for i := range offered {
		m.Surfaces = append(m.Surfaces, &offered[i])
	}
	server, err := mcpd.New(ctx, m)
	if err != nil {
		return err
	}
	defer server.Close()
	return server.ServeStdio(ctx, Local(o.Role), nil, s.In, s.Out)
}
