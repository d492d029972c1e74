// Command loregate serves and maintains one canon for a fictional world.
//
// Each subcommand is a struct that command.go turns into a command of cobra; the work is done in internal/app. Standard
// output carries results (or, with mcp, the protocol), standard error everything else. The exit
// status is 0 on success, 1 on failure, 2 for a wrong command line, and 130 if the command was
// interrupted before it was done.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"loregate"
	"loregate/internal/app"
	"loregate/internal/fault"
	"loregate/internal/telemetry"
)

type cli struct {
	Serve serveCmd `cmd:"" group:"serve" help:"Serve MCP and REST over HTTP."`
	MCP   mcpCmd   `cmd:"" group:"serve" name:"mcp" help:"Serve MCP on standard input and output, for a local client."`

	Open openCmd `cmd:"" group:"serve" help:"Print a link that signs you in on the pages of a running server."`

	World     worldCmd     `cmd:"" group:"worlds" help:"Create, list, configure and fork worlds, and manage their members."`
	Import    importCmd    `cmd:"" group:"worlds" help:"Import a world from files, such as a vault of Markdown notes."`
	Export    exportCmd    `cmd:"" group:"worlds" help:"Export a world to files."`
	Proposals proposalsCmd `cmd:"" group:"worlds" help:"List proposals, show them, and decide on them."`
	Agent     agentCmd     `cmd:"" group:"worlds" help:"Run an agent."`
	Studio    studioCmd    `cmd:"" group:"worlds" help:"Build places in authoring programs, by plans and runs."`
	Play      playCmd      `cmd:"" group:"worlds" help:"Play in a world on a terminal."`
	Game      gameCmd      `cmd:"" group:"worlds" help:"Simulate games of Alignment."`

	Key     keyCmd     `cmd:"" group:"callers" help:"Create, list and revoke API keys."`
	Signing signingCmd `cmd:"" group:"callers" help:"Manage the keys that sign tokens."`

	Ops  opsCmd  `cmd:"" group:"operations" help:"List all operations, or describe one."`
	Call callCmd `cmd:"" group:"operations" help:"Call an operation, as a client would."`

	Backup  backupCmd  `cmd:"" group:"upkeep" help:"Write a consistent copy of the store to a file."`
	Upgrade upgradeCmd `cmd:"" group:"upkeep" help:"Convert a store of an older version to the format of this version."`
	Repair  repairCmd  `cmd:"" group:"upkeep" help:"Recover a damaged store into a new one and verify it. The damaged store is kept."`
	Files   filesCmd   `cmd:"" group:"upkeep" help:"Move the files that the studio made to a bucket, or back."`
	Copy    copyCmd    `cmd:"" group:"upkeep" help:"Copy a store to a data folder or to PostgreSQL, and verify that both are equal."`
	Doctor  doctorCmd  `cmd:"" group:"upkeep" help:"Check the installation, and print the settings in use."`
	Model   modelCmd   `cmd:"" group:"upkeep" help:"Install, list and remove embedding models, by which searches find cards by their meaning."`
	Audit   auditCmd   `cmd:"" group:"upkeep" help:"Print access records, and verify the hash chains."`
	Job     jobCmd     `cmd:"" group:"upkeep" help:"List and cancel work in the background, such as imports and backups."`
	Events  eventsCmd  `cmd:"" group:"upkeep" help:"List and deliver again the events whose handlers failed too often."`
	Rebuild rebuildCmd `cmd:"" group:"upkeep" help:"Recreate every table from the streams, and compare it with the stored one."`
	Purge   purgeCmd   `cmd:"" group:"upkeep" help:"Erase the content of a version of a card. Its hash is kept."`
	Bench   benchCmd   `cmd:"" group:"upkeep" help:"Put running servers under load, and print a report."`

	Version versionCmd `cmd:"" group:"self" help:"Print the version."`
}

// common holds the flags of every command that opens the data folder.
type common struct {
	Data     string `help:"Folder of the store." placeholder:"DIR"`
	Database string `help:"PostgreSQL database to use instead of the folder." placeholder:"postgres://…"`
	Config   string `help:"Configuration file." env:"LOREGATE_CONFIG" placeholder:"FILE"`
}

// loadConfig reads the configuration and sets up logging. Flags override the environment, which
// overrides the file, which overrides the defaults.
func (c common) loadConfig(defaults ...app.Default) (app.Config, error) {
	cfg, err := app.LoadConfig(c.Config, os.Environ(), defaults...)
	if err != nil {
		return cfg, err
	}
	cfg.Data = cmp.Or(c.Data, cfg.Data)
	if c.Database != "" {
		cfg.Database = c.Database
		if err := cfg.Check(); err != nil {
			return cfg, err
		}
	}
	logger, err := telemetry.NewLogger(telemetry.LogConfig{Level: cfg.Log.Level, Format: cfg.Log.Format,
		Content: cfg.Audit.DebugContent})
	if err != nil {
		return cfg, err
	}
	slog.SetDefault(logger)
	boundHeap(cfg)
	return cfg, nil
}

// withApp opens the store, which it makes if there is none, runs f, and closes it.
func (c common) withApp(ctx context.Context, f func(*app.App) error, defaults ...app.Default) error {
	return c.run(ctx, app.Options{}, f, defaults...)
}

// withStore is withApp for a command that is of no use on a new store: it refuses a place where there is none.
func (c common) withStore(ctx context.Context, f func(*app.App) error) error {
	return c.run(ctx, app.Options{Existing: true}, f)
}

func (c common) run(ctx context.Context, o app.Options, f func(*app.App) error, defaults ...app.Default) error {
	cfg, err := c.loadConfig(defaults...)
	if err != nil {
		return err
	}
	o.Version, o.Command = loregate.Version(), true
	a, err := app.Open(ctx, cfg, o)
	if err != nil {
		return err
	}
	defer a.Close(context.WithoutCancel(ctx))
	return f(a)
}

func main() {
	tuneCollector()
	os.Exit(run(os.Args[1:], forTerminal(os.Stdout), forTerminal(os.Stderr)))
}

func run(args []string, out, errOut io.Writer) int {
	command, path, err := newCommandLine(out, errOut).parse(args)
	if err != nil {
		fmt.Fprintln(errOut, "loregate:", err)
		fmt.Fprintf(errOut, "Run %s --help.\n", path)
		return 2
	}
	if command == nil {
		return 0
	}
	if slices.ContainsFunc(args, app.HoldsPassword) {
		fmt.Fprintln(errOut, "loregate: every user of this machine can read the password on the command line; put it into "+
			"LOREGATE_DATABASE, PGPASSWORD or the file that PGPASSFILE names")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if !hasHeapLimit() {
		go adjustHeapBound(ctx)
	}
	if err := bringRoots(); err != nil {
		slog.Warn("the built-in root certificates cannot be read; connections by TLS will fail", "error", err)
	}
	switch err := command.Run(ctx, out); {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(errOut, "loregate: interrupted")
		return 130
	default:
		printError(errOut, err)
		return 1
	}
}

// printError prints an error for a person: the problem and its remedy, without the context that
// only a log needs. The person who runs the command owns the store, so it also prints the cause if
// a part is unavailable.
func printError(w io.Writer, err error) {
	if remedy := app.Remedy(err); remedy != "" {
		defer fmt.Fprintln(w, "  remedy:", remedy)
	}
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
	for _, k := range slices.Sorted(maps.Keys(f.Details)) {
		fmt.Fprintf(w, "  %s: %v\n", k, f.Details[k])
	}
	if f.Kind == fault.Unavailable && f.Cause != nil {
		fmt.Fprintf(w, "  because: %v\n", f.Cause)
	}
}

// buildText returns the commit that the program was built from, if that is known.
func buildText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	text := set["vcs.revision"]
	text = text[:min(len(text), 12)]
	if text != "" && set["vcs.modified"] == "true" {
		text += ", changed"
	}
	return text
}

type versionCmd struct{}

func (versionCmd) Run(_ context.Context, out io.Writer) error {
	said := "loregate " + loregate.Version()
	if build := buildText(); build != "" {
		said += " (" + build + ")"
	}
	_, err := fmt.Fprintln(out, said)
	return err
}
