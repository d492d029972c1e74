package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"loregate"
	"loregate/internal/access"
	"loregate/internal/app"
)

type serveCmd struct {
	common
	Addr   string `help:"Address to listen on (default 127.0.0.1:8420)." placeholder:"HOST:PORT"`
	Sample bool   `help:"If the data folder is empty, load the sample world and create a user key, a gm key and an admin key."`
}

func (s serveCmd) Run(ctx context.Context, out io.Writer) error {
	var defaults []app.Default
	if s.Sample {
		defaults = app.SampleDefaults()
	}
	cfg, err := s.loadConfig(defaults...)
	if err != nil {
		return err
	}
	cfg.Addr = cmp.Or(s.Addr, cfg.Addr)
	if err := cfg.Check(); err != nil {
		return err
	}
	o := app.Options{Version: loregate.Version()}
	if s.Sample {
		o.Profile = access.ProfileSample
	}
	a, err := app.Open(ctx, cfg, o)
	if err != nil {
		return err
	}
	defer a.Close(context.WithoutCancel(ctx))
	listener, err := a.Listen()
	if err != nil {
		return err
	}
	defer listener.Close() // Serve closes it too, if it is reached
	var made *app.Sample
	if s.Sample {
		if made, err = a.LoadSample(ctx, progress("loading the sample world")); err != nil {
			return err
		}
	}
	if err := a.EnsureWorld(ctx); err != nil {
		return err
	}
	if cfg.Audit.DebugContent {
		slog.Warn("audit.debug_content is on: logs may contain content")
	}
	return a.Serve(ctx, listener, func(addr string) {
		url := cfg.URL(addr)
		if made != nil {
			made.Print(out, url)
			printSignIn(ctx, out, a, url)
		} else if s.Sample {
			fmt.Fprintln(os.Stderr,
				"The data folder already contains a world. Its keys were shown when they were created; create new ones with: "+
					"loregate key create")
		}
		fmt.Fprintf(os.Stderr, "Loregate serves %s (MCP at %s/mcp, REST at %s/api/mcp). Stop it with Ctrl-C.\n", url,
			url, url)
	})
}

type mcpCmd struct {
	common
	Tools     []string `help:"Tools to list: default, all, or those of surfaces such as archive,world." default:"default" aliases:"surface" placeholder:"SET,…"`
	ReadOnly  bool     `help:"List nothing that writes, and refuse it."`
	Role      string   `help:"Highest role of the client: user, gm or admin. The client is not authenticated." enum:"user,gm,admin" default:"user"`
	World     string   `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
	Seat      string   `help:"Seat in a game of Alignment, such as g-…/p3. The client can read this seat and nothing else." placeholder:"GAME/PLAYER"`
	Remote    string   `help:"Connect the client to another server, by the URL of its /api/mcp." placeholder:"URL"`
	APIKeyEnv string   `help:"Environment variable that contains the API key for --remote." placeholder:"VAR" name:"api-key-env"`
}

func (m mcpCmd) Run(ctx context.Context, out io.Writer) error {
	role, _ := access.ParseRole(m.Role) // the tag enum allows only roles
	streams := app.Streams{In: os.Stdin, Out: out}
	if m.Remote != "" {
		cfg, err := m.loadConfig()
		if err != nil {
			return err
		}
		return app.ServeRemote(ctx, cfg, app.RemoteOptions{URL: m.Remote, Key: os.Getenv(m.APIKeyEnv), KeyVar: m.APIKeyEnv,
			Role: role, World: m.World, Tools: m.Tools, ReadOnly: m.ReadOnly}, streams)
	}
	return m.withApp(ctx, func(a *app.App) error {
		if err := a.EnsureWorld(ctx); err != nil {
			return err
		}
		caller, tools := app.Local(role), m.Tools
		if m.Seat != "" {
			caller, tools = app.AtSeat(m.Seat)
			m.World = "" // a game belongs to no world, so LOREGATE_WORLD is ignored
		}
		caller.ReadOnly = m.ReadOnly
		return a.ServeStdio(ctx, caller, m.World, tools, streams)
	})
}

// progress shows the steps of long work on a terminal, and nothing in a pipe.
func progress(what string) func(done, total int) {
	if !isTerminal(os.Stderr) {
		return func(int, int) {}
	}
	return func(done, total int) {
		fmt.Fprintf(os.Stderr, "\r%s: %d of %d", what, done, total)
		if done >= total {
			fmt.Fprintln(os.Stderr)
		}
	}
}
