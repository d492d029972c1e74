package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/sandbox"
	"loregate/internal/studio"
	"loregate/internal/studio/blender"
	"loregate/internal/studio/godot"
	"loregate/internal/studio/native"
	"loregate/internal/studio/unreal"
)

// Studio holds the permissions of the studio and the location of its programs.
type Studio struct {
	Blender          string   `yaml:"blender" default:"blender" doc:"Program of Blender: a name on the PATH, or a file."`
	Godot            string   `yaml:"godot" default:"godot3-server" doc:"Headless program of Godot: a name on the PATH, or a file."`
	ProgramMemory    int      `yaml:"program_memory" default:"4096" doc:"Address space of each Blender and Godot, in MB: at least 1024. They run in a sandbox; loregate doctor prints its protection on this system."`
	Unreal           string   `yaml:"unreal" doc:"Address of the Remote Control of an Unreal editor, such as http://127.0.0.1:30010, or of the MCP server that Epic ships in it, such as http://127.0.0.1:8000/mcp. The value double replays a recorded protocol, for tests. Empty: none."`
	UnrealProject    string   `yaml:"unreal_project" doc:"Folder of the Unreal project, in which exports are passed on."`
	UnrealRecord     string   `yaml:"unreal_record" doc:"File to record all messages to and from the Unreal editor, to report the editor's answers."`
	AllowDestructive bool     `yaml:"allow_destructive" doc:"Allow admins to overwrite files and assets, if the call has confirm."`
	Tools            []string `yaml:"tools" doc:"Tools that may be called. Empty: all."`
	Targets          []string `yaml:"targets" doc:"Targets that may be used, by kind or name. Empty: all."`
	Workers          bool     `yaml:"workers" doc:"Leave runs to worker processes (loregate studio worker) on the same store and data folder, instead of starting programs from this process."`
	Roots            []string `yaml:"roots" doc:"Folders for exports, as name=folder. The path of an export begins with the name."`
}

// Check returns an error for settings with invalid values.
func (c Studio) Check() error {
	if c.ProgramMemory != 0 && c.ProgramMemory < 1024 {
		return errors.New("studio.program_memory: set at least 1024; Blender does not start with less")
	}
	for _, r := range c.Roots {
		if name, dir, ok := strings.Cut(r, "="); !ok || name == "" || strings.ContainsAny(name, "/\\.") ||
			!filepath.IsAbs(dir) {
			return fmt.Errorf("studio.roots: %q does not have the form name=/absolute/folder; write it so", r)
		}
	}
	return nil
}

func (c Studio) toPolicy() studio.Policy {
	p := studio.Policy{AllowDestructive: c.AllowDestructive, Tools: c.Tools, Targets: c.Targets,
		Roots: map[string]string{}}
	for _, r := range c.Roots {
		name, dir, _ := strings.Cut(r, "=")
		p.Roots[name] = dir
	}
	return p
}

// openStudio creates the studio. It starts no program, and none need be installed.
func (a *App) openStudio(ctx context.Context, o Options) (err error) {
	if err := a.Config.Studio.Check(); err != nil {
		return err
	}
	dir := filepath.Join(a.Config.Data, "studio")
	var reached error
	if a.blobs, reached, err = openFiles(ctx, a.Config.Data, a.Config.Files); err != nil {
		return err
	}
	if reached != nil {
		a.logger.Error("the bucket of files.url does not answer; calls that need its files are refused until it does",
			"error", reached)
	}
	adapters, err := a.newAdapters()
	if err != nil {
		return err
	}
	a.Studio, err = studio.Open(studio.Config{Canon: a.Canon, Blobs: a.blobs, Dir: dir,
		Policy:   a.Config.Studio.toPolicy(),
		Adapters: adapters, Model: a.studioModel(), Queue: a.studioQueue(),
		Ended: a.metrics.Run, Now: a.now, NewID: o.idGenerator("studio"), Logger: a.logger})
	if err == nil {
		a.Surfaces = append(a.Surfaces, a.Studio.Surface())
	}
	return err
}

// studioQueue returns the queue through which runs reach workers.
func (a *App) studioQueue() *studio.Queue {
	// Reading the queue many times a minute is not recorded.
	quiet := access.NewGuard(access.Config{Now: a.now, Logger: a.logger})
	return &studio.Queue{Deliveries: a.store, HandOver: a.Config.Studio.Workers,
		Act: func(ctx context.Context, who studio.Asker, w access.WorldID, operation string,
			f func(access.Grant) error) error {
			guard, effect, caller := a.Guard, access.Write, systemCaller()
			if operation == studio.ReadQueue {
				guard, effect = quiet, access.Read
			}
			if who != (studio.Asker{}) {
				var err error
				if caller, err = a.callerOfAsker(ctx, who, w); err != nil {
					return err
				}
			}
			return runAdmitted(ctx, guard, caller, access.Request{Operation: operation, Surface: studio.Surface,
				Effect:  effect,
				MinRole: access.RoleGM, World: w,
				Correlation: uuid.Must(uuid.NewV7()).String()}, f)
		}}
}

// callerOfAsker returns the caller who asked for a run, with the rights that they have now. A
// subject with a token of another issuer has the role that they had when they asked, limited by the
// role of their membership if they have one.
func (a *App) callerOfAsker(ctx context.Context, who studio.Asker, w access.WorldID) (access.Caller, error) {
	c, err := authors{a}.Author(ctx, who.Subject, who.Key)
	if err == nil || who.Key != "" {
		return c, err
	}
	members, err := a.Canon.Memberships(ctx, who.Subject)
	if err != nil {
		return c, err
	}
	role := who.Role
	for _, m := range members {
		if m.World == w {
			role = min(role, m.Role)
		}
	}
	return access.Caller{Subject: who.Subject, Actor: access.AI, Roles: map[access.WorldID]access.Role{w: role}}, nil
}

// Work runs queued studio runs until ctx ends.
func (a *App) Work(ctx context.Context, w studio.Worker) error { return a.Studio.Work(ctx, w) }

// newAdapters returns the adapters of the usable programs. Unreal is included only if it is
// configured: with one engine, callers need not name a target.
func (a *App) newAdapters() ([]studio.Adapter, error) {
	c := a.Config.Studio
	confined := sandbox.New(sandbox.Config{Memory: uint64(c.ProgramMemory) << 20, Logger: a.logger})
	list := []studio.Adapter{blender.New(blender.Config{Binary: c.Blender, Sandbox: confined}),
		godot.New(godot.Config{Binary: c.Godot, Sandbox: confined}), native.New()}
	u := unreal.Config{Address: c.Unreal, Project: c.UnrealProject}
	switch c.Unreal {
	case "":
		return list, nil
	case "double":
		double, err := unreal.NewDouble()
		if err != nil {
			return nil, err
		}
		u = unreal.Config{Double: double}
	default:
		if c.UnrealRecord != "" {
			f, err := os.OpenFile(c.UnrealRecord, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err != nil {
				return nil, fmt.Errorf("studio.unreal_record: %w", err)
			}
			a.record = f
			u.Record = f
		}
	}
	engine, err := unreal.New(u)
	return append(list, engine), err
}

// closeStudio stops the studio's runs and programs.
func (a *App) closeStudio() error {
	if a.Studio != nil {
		a.Studio.Close()
	}
	var errs []error
	if a.blobs != nil {
		errs = append(errs, a.blobs.Close())
	}
	if a.record != nil {
		errs = append(errs, a.record.Close())
	}
	return errors.Join(errs...)
}
