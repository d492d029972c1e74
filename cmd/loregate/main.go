// Command loregate is one canon for a fictional world, and one gate to it.
//
// Each subcommand is a struct that kong fills and runs; the work is done in internal/app.
// Standard output carries results (or, with mcp, the protocol), standard error everything
// else. The exit status is 0 on success, 1 on failure, 2 for a wrong command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"loregate/internal/app"
	"loregate/internal/fault"
	"loregate/internal/telemetry"
)

// version is set by the release build; otherwise it is the module's.
var version = ""

type cli struct {
	Serve     serveCmd     `cmd:"" help:"Serve MCP and REST over HTTP."`
	MCP       mcpCmd       `cmd:"" name:"mcp" help:"Serve MCP on standard input and output, for a local client."`
	Import    importCmd    `cmd:"" help:"Bring in what a world is kept in today."`
	Export    exportCmd    `cmd:"" help:"Write a world out."`
	World     worldCmd     `cmd:"" help:"Make, list, configure and fork worlds, and manage their members."`
	Key       keyCmd       `cmd:"" help:"Make, list and revoke API keys."`
	Signing   signingCmd   `cmd:"" help:"Manage the keys that sign tokens."`
	Proposals proposalsCmd `cmd:"" help:"Look at what is proposed, and decide."`
	Agent     agentCmd     `cmd:"" help:"Have an agent do its work."`
	Ops       opsCmd       `cmd:"" help:"List the operations there are."`
	Call      callCmd      `cmd:"" help:"Call an operation."`
	Game      gameCmd      `cmd:"" help:"Games of Alignment."`
	Audit     auditCmd     `cmd:"" help:"Show and verify what was recorded."`
	Events    eventsCmd    `cmd:"" help:"List and replay the events that their handlers gave up."`
	Rebuild   rebuildCmd   `cmd:"" help:"Recreate every table from the streams, and say whether it is identical."`
	Purge     purgeCmd     `cmd:"" help:"Erase the body of a version of a card, keeping its hash."`
	Backup    backupCmd    `cmd:"" help:"Write a consistent copy of the store."`
	Copy      copyCmd      `cmd:"" help:"Copy a store to another, between data folders and PostgreSQL, and prove both equal."`
	Bench     benchCmd     `cmd:"" help:"Put running servers under load, and say how they do."`
	Doctor    doctorCmd    `cmd:"" help:"Check that everything is in order, and print what is in force."`
	Studio    studioCmd    `cmd:"" help:"Build places in authoring programs: plans, runs, artifacts."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
}

// common is what every command that opens the data folder takes.
type common struct {
	Data     string `help:"Folder of the store." placeholder:"DIR"`
	Database string `help:"PostgreSQL database in its place." placeholder:"postgres://…"`
	Config   string `help:"Configuration file." env:"LOREGATE_CONFIG" placeholder:"FILE" type:"existingfile"`
}

// load reads the configuration, flags over environment over file, and sets up logging.
func (c common) load() (app.Config, error) {
	cfg, err := app.LoadConfig(c.Config, os.Environ())
	if err != nil {
		return cfg, err
	}
	if c.Data != "" {
		cfg.Data = c.Data
	}
	if c.Database != "" {
		cfg.Database = c.Database
		if err := cfg.Check(); err != nil {
			return cfg, err
		}
	}
	logger, err := telemetry.NewLogger(telemetry.LogConfig{Level: cfg.Log.Level, Format: cfg.Log.Format, Content: cfg.Audit.DebugContent})
	if err != nil {
		return cfg, err
	}
	slog.SetDefault(logger)
	return cfg, nil
}

// open opens the data folder for a command.
func (c common) open(ctx context.Context) (*app.App, error) {
	cfg, err := c.load()
	if err != nil {
		return nil, err
	}
	return app.Open(ctx, cfg, app.Options{Version: versionText()})
}

// with opens the data folder, runs f, and closes it.
func (c common) with(ctx context.Context, f func(*app.App) error) error {
	a, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer a.Close(context.WithoutCancel(ctx))
	return f(a)
}

func main() {
	tuneCollector()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, out, errOut io.Writer) int {
	var c cli
	parser, err := kong.New(&c, kong.Name("loregate"),
		kong.Description("One canon for a fictional world, and one gate to it."),
		kong.UsageOnError(), kong.Writers(out, errOut), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		fmt.Fprintln(errOut, "loregate:", err)
		return 2
	}
	command, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintln(errOut, "loregate:", err)
		fmt.Fprintln(errOut, "Run loregate --help, or loregate COMMAND --help.")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // whoever asks a second time does not want to wait
	command.BindTo(ctx, (*context.Context)(nil))
	command.BindTo(out, (*io.Writer)(nil))
	if err := command.Run(); err != nil {
		explain(errOut, err)
		return 1
	}
	return 0
}

// explain prints an error for a person: what happened and what to do, without the trail
// that only a log wants.
func explain(w io.Writer, err error) {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind == fault.Internal {
		fmt.Fprintln(w, "loregate:", err)
		return
	}
	fmt.Fprintln(w, "loregate:", f.Message)
	for _, field := range f.Fields {
		if !strings.Contains(f.Message, field.Error) {
			fmt.Fprintf(w, "  %s: %s\n", field.Field, field.Error)
		}
	}
	for k, v := range f.Details {
		fmt.Fprintf(w, "  %s: %v\n", k, v)
	}
}

// versionText is the release's version, else what the build says of itself.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "0.1.0-dev"
}

type versionCmd struct{}

func (versionCmd) Run(out io.Writer) error {
	_, err := fmt.Fprintln(out, "loregate", versionText())
	return err
}
