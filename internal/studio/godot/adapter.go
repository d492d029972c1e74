package godot

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"loregate/internal/sandbox"
	"loregate/internal/studio"
)

//go:embed look.gd
var inspectScript []byte

// Config locates Godot. The zero Config looks for godot3-server on the PATH.
type Config struct {
	Binary  string
	Sandbox *sandbox.Sandbox // starts the program; nil for one with the default limits
}

// Adapter carries out tools in Godot.
type Adapter struct {
	config Config
	probed studio.Probed
}

// New makes the adapter. It starts no program.
func New(c Config) *Adapter {
	c.Binary = cmp.Or(c.Binary, "godot3-server")
	if c.Sandbox == nil {
		c.Sandbox = sandbox.New(sandbox.Config{})
	}
	return &Adapter{config: c}
}

// Kind returns "godot".
func (a *Adapter) Kind() string { return "godot" }

// Tools returns the tools that Godot supports, and the reasons for the others.
func (a *Adapter) Tools() map[string]studio.Support {
	does := func(note string) studio.Support { return studio.Support{Does: true, Note: note} }
	not := func(note string) studio.Support { return studio.Support{Note: "NOT_SUPPORTED: " + note} }
	blender := not("scenes are made in Blender, and imported")
	return studio.WithNativeTools(map[string]studio.Support{
		"import_asset":        does("GLB; nodes, triangles and materials are counted in the engine"),
		"populate_level":      does("instances in a .tscn, counted in the engine"),
		"generate_blueprint":  does("by another name: a GDScript, checked by the engine"),
		"profile_performance": does("headless: no draw calls and no frame rate of a screen"),
		"list_objects":        does("the project's files"),
		"generate_scene":      blender, "add_object": blender, "generate_terrain": blender,
		"generate_texture": blender,
		"export_asset":     blender, "render_preview": not("the headless engine draws nothing; render in Blender"),
	})
}

const install = "Godot 3 is not installed; on Debian: apt-get install -y --no-install-recommends godot3-server; or set studio.godot to its path"

// findBinary finds the program.
func (a *Adapter) findBinary() (string, error) { return studio.Program(a.config.Binary, install) }

// Probe asks the program for its version.
func (a *Adapter) Probe(ctx context.Context) (studio.TargetInfo, error) {
	path, err := a.findBinary()
	if err != nil {
		return studio.TargetInfo{}, err
	}
	return a.probed.Info(path, func() (studio.TargetInfo, error) {
		cmd := exec.CommandContext(ctx, path, "--version")
		cmd.Env = sandbox.Environment(os.TempDir())
		out, err := cmd.Output() // the exit status is ignored: only the text matters
		version := strings.TrimSpace(string(out))
		if version == "" {
			return studio.TargetInfo{}, studio.Fail(studio.TargetGone,
				"Godot does not run; try the command %s --version",
				path).Because(err)
		}
		return studio.TargetInfo{Kind: a.Kind(), Name: a.Kind(), Version: version}, nil
	})
}

// homeDir is the part of a project's folder that is the engine's home.
const homeDir = ".home"

// runEngine runs the engine on a project, which is all that it sees, and returns its output. The exit status is
// unreliable: it is 0 after many errors.
func (a *Adapter) runEngine(ctx context.Context, project *sandbox.Folder,
	args ...string) (said []byte, failed error, err error) {
	path, err := a.findBinary()
	if err != nil {
		return nil, nil, err
	}
	dir, home := project.Path("."), project.Path(homeDir)
	if err := project.Make(homeDir); err != nil {
		return nil, nil, studio.Fail(studio.IOFailed, "the project's folder cannot be written").Because(err)
	}
	cmd := exec.CommandContext(ctx, path, append([]string{"--path", dir}, args...)...)
	cmd.WaitDelay = time.Second
	cmd.Env = []string{"LANG=en_US.UTF-8", "HOME=" + home, "TMPDIR=" + home, "XDG_DATA_HOME=" + home,
		"XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + home}
	if err := a.config.Sandbox.Confine(cmd, dir); err != nil {
		return nil, nil, studio.Fail(studio.TargetGone, "Godot does not run").Because(err)
	}
	var out bytes.Buffer
	both := &limited{&out} // the same writer for both, so that only one goroutine writes
	cmd.Stdout, cmd.Stderr = both, both
	failed = cmd.Run()
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return out.Bytes(), failed, nil
}

// limited keeps the first megabyte of a program's output.
type limited struct{ b *bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := 1<<20 - l.b.Len(); room > 0 {
		l.b.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// sceneInfo has the engine's counts and measurements of a scene.
type sceneInfo struct {
	Error     string  `json:"error"`
	Nodes     int     `json:"nodes"`
	Meshes    int     `json:"meshes"`
	Triangles int     `json:"triangles"`
	Materials int     `json:"materials"`
	Children  int     `json:"children"`
	LoadMS    float64 `json:"load_ms"`
	Frames    int     `json:"frames"`
	MeanMS    float64 `json:"frame_ms_mean"`
	LongestMS float64 `json:"frame_ms_longest"`
	MemoryMB  float64 `json:"memory_mb"`
	Objects   float64 `json:"objects"`
	Resources float64 `json:"resources"`
}

// inspectScene has the engine load a scene of a project and measure it.
func (a *Adapter) inspectScene(ctx context.Context, project *sandbox.Folder, scene string,
	frames int) (s sceneInfo, err error) {
	job, err := json.Marshal(map[string]any{"scene": scene, "frames": frames})
	if err == nil {
		err = errors.Join(project.Write("loregate/look.gd", inspectScript), project.Write("loregate/job.json", job))
	}
	if err != nil {
		return s, studio.Fail(studio.IOFailed, "the project's folder cannot be written").Because(err)
	}
	said, failed, err := a.runEngine(ctx, project, "-s", "loregate/look.gd")
	if err != nil {
		return s, err
	}
	for line := range bytes.Lines(said) {
		if rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("LOREGATE ")); ok {
			if err := json.Unmarshal(rest, &s); err == nil && s.Error == "" {
				return s, nil
			}
		}
	}
	return s, studio.Fail(studio.ExecFailed, "Godot cannot load %s",
		scene).Because(fmt.Errorf("godot: %s %v; it said: %s", s.Error, failed, clipTail(said)))
}

func clipTail(b []byte) string { return string(bytes.ToValidUTF8(b[max(0, len(b)-2000):], nil)) }

// Open returns a project as a target. It starts no program.
func (a *Adapter) Open(at studio.Place) (studio.Target, error) { return a.newProject(at), nil }

func (a *Adapter) newProject(at studio.Place) *project {
	return &project{adapter: a, at: at, dir: filepath.Join(at.Dir, "project"),
		history: studio.Journal[historyEntry]{File: filepath.Join(at.Dir, "history.ndjson")}}
}
