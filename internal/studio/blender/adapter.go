package blender

import (
	"cmp"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"loregate/internal/sandbox"
	"loregate/internal/studio"
	"loregate/internal/studio/build"
	"loregate/internal/studio/builder"
)

// Config locates Blender. The zero Config looks for blender on the PATH.
type Config struct {
	Binary  string
	Threads int              // threads of a render; 0 means two
	Sandbox *sandbox.Sandbox // starts the program; nil for one with the default limits
}

// Adapter carries out tools in Blender.
type Adapter struct {
	config  Config
	probed  studio.Probed
	paints  *build.Paints
	meshes  *build.Cache
	mu      sync.Mutex                // guards the fields below
	painted map[string]builder.Stored // by kind of surface
}

// New makes the adapter. It starts no program.
func New(c Config) *Adapter {
	c.Binary = cmp.Or(c.Binary, "blender")
	c.Threads = cmp.Or(c.Threads, 2)
	if c.Sandbox == nil {
		c.Sandbox = sandbox.New(sandbox.Config{})
	}
	return &Adapter{config: c, paints: build.NewPaints(), meshes: build.NewCache(), painted: map[string]builder.Stored{}}
}

// Kind returns "blender".
func (a *Adapter) Kind() string { return "blender" }

// Tools returns the tools that Blender supports, and the reasons for the others.
func (a *Adapter) Tools() map[string]studio.Support {
	does := func(note string) studio.Support { return studio.Support{Does: true, Note: note} }
	not := func(note string) studio.Support { return studio.Support{Note: "NOT_SUPPORTED: " + note} }
	return studio.WithNativeTools(map[string]studio.Support{
		"generate_scene": does("built in Go, placed in Blender"), "add_object": does("meshes are made in Go"),
		"generate_terrain": does("heights are made in Go"),
		"generate_texture": does("painted in Go, put on in Blender"),
		"populate_level":   does("placed in Go, over a terrain of the scene"),
		"export_asset":     does("read back after it is written"),
		"render_preview":   does("Cycles on the processor, in a process of its own"),
		"list_objects":     does("from the scene itself"),
		"import_asset": {
			Does:  true,
			Named: true,
			Note:  "GLB files, as a part with a name, if the call names the target",
		},
		"generate_blueprint":  not("behaviour needs an engine"),
		"profile_performance": not("levels are measured in an engine"),
	})
}

// install is the advice in the error when Blender is missing.
const install = "Blender is not installed; on Debian: apt-get install -y --no-install-recommends blender python3-numpy libegl1 libgl1-mesa-dri; or set studio.blender to its path"

// findBinary finds the program.
func (a *Adapter) findBinary() (string, error) { return studio.Program(a.config.Binary, install) }

// Probe asks the program for its version.
func (a *Adapter) Probe(ctx context.Context) (studio.TargetInfo, error) {
	path, err := a.findBinary()
	if err != nil {
		return studio.TargetInfo{}, err
	}
	return a.probed.Info(path, func() (studio.TargetInfo, error) {
		cmd := exec.CommandContext(ctx, path, "--background", "--version")
		cmd.Env = sandbox.Environment("/nonexistent")
		out, err := cmd.Output()
		if err != nil {
			return studio.TargetInfo{}, studio.Fail(studio.TargetGone,
				"Blender does not run; try the command %s --background --version", path).Because(err)
		}
		first, _, _ := strings.Cut(string(out), "\n")
		return studio.TargetInfo{Kind: a.Kind(), Name: a.Kind(),
			Version: strings.TrimPrefix(strings.TrimSpace(first), "Blender ")}, nil
	})
}

// Open returns a scene as a target. It starts no program.
func (a *Adapter) Open(at studio.Place) (studio.Target, error) { return a.newTarget(at), nil }

func (a *Adapter) newTarget(at studio.Place) *target {
	return &target{adapter: a, at: at, journal: &journal{studio.Journal[entry]{File: filepath.Join(at.Dir,
		"journal.ndjson")}}}
}
