package studio

import (
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"loregate/internal/access"
	"loregate/internal/studio/spec"
)

type raw = json.RawMessage

// Adapter is one kind of authoring program.
type Adapter interface {
	// Kind is "blender", "godot" or "unreal".
	Kind() string
	// Tools returns the support for each tool; for a tool that it does not carry out, the note
	// gives the reason.
	Tools() map[string]Support
	// Probe returns the installed version. Its error is a *Failure: Missing with the command that
	// installs the program, or TargetGone. It is quick and leaves no process running.
	Probe(ctx context.Context) (TargetInfo, error)
	// Open opens a target: a session, a project. No program is started before the target is used.
	Open(at Place) (Target, error)
}

// Support describes how well an adapter carries a tool out.
type Support struct {
	Does  bool
	Note  string // how the tool is carried out, or why it is not
	Named bool   // only for calls that name the target
}

// NativeKind is the kind of the adapter that needs no program. Every process has it, so that its runs
// need no worker.
const NativeKind = "native"

// WithNativeTools adds the notes of the tools that need no program to those of a program's adapter.
func WithNativeTools(tools map[string]Support) map[string]Support {
	for _, t := range sceneTools {
		tools[t.Name] = Support{Note: "NOT_SUPPORTED: it needs no program; use the target native"}
	}
	return tools
}

// Place is the location where a target stores its state.
type Place struct {
	World access.WorldID
	Name  string
	Dir   string // the target's own folder
	Files Files
}

// Files stores the files that runs make, addressed by hash.
type Files interface {
	// Put stores bytes and returns their hash.
	Put(ctx context.Context, r io.Reader) (sum string, size int64, err error)
	// Path returns the path of stored bytes, for programs that read files.
	Path(sum string) (string, error)
}

// Target is one session or project. The studio calls it from one goroutine at a time,
// between Begin and the end of the transaction.
type Target interface {
	// Begin starts a transaction on the recorded state: entries of runs for which known returns
	// false were never recorded, and Begin removes them.
	Begin(ctx context.Context, known func(run string) bool) (Txn, error)
	// Fork makes an independent copy of the target at another place, in the state after the leading
	// runs for which keep returns true.
	Fork(ctx context.Context, at Place, keep func(run string) bool) (Target, error)
	// Close stops the target's program. The target may be used again.
	Close()
}

// Txn is a transaction on a target. It ends with Commit or Rollback.
type Txn interface {
	Info() TargetInfo
	// Digest returns a hash of everything in the target: equal for equal states, in every process.
	Digest(ctx context.Context) (string, error)
	// Names lists the names of everything in the target, for diffs.
	Names(ctx context.Context) ([]string, error)
	// Do carries out one call. After an error the transaction can only be rolled back.
	Do(ctx context.Context, w *Work) (result any, err error)
	// Undo reverts the latest run; the transaction then holds the state before it.
	Undo(ctx context.Context, run string) error
	// Commit stores the state as the result of run. Other processes keep it once the run is
	// recorded.
	Commit(ctx context.Context, run string) error
	// Rollback restores the state from before the transaction.
	Rollback(ctx context.Context) error
}

// SceneHolder is a Txn whose target records the scenes that were built in it.
type SceneHolder interface {
	// Scenes returns the scenes that the target holds, oldest first.
	Scenes(ctx context.Context) ([]*spec.Scene, error)
}

// BlendReader is an adapter that can read .blend files.
type BlendReader interface {
	// ReadBlend returns the GLB form of a .blend file, using a folder for temporary files.
	ReadBlend(ctx context.Context, dir string, data []byte) (glb []byte, err error)
}

// Work is one call of a tool as passed to an adapter.
type Work struct {
	Tool  string
	Input raw // complete with defaults, checked against the tool's schema
	Seed  uint64
	Dry   bool   // a dry run: artifacts are not stored and need not be made
	Dir   string // folder for temporary files; removed after the run
	Card  *Card  // the card named in the input; nil if none is
	run   *Run
	files *fileKeeper
	blend BlendReader // nil if no program reads .blend files
	// Progress reports how far the call is. Never nil.
	Progress func(done, total float64, message string)
}

// Card is a card of the canon as the run's audience reads it.
type Card struct {
	ID      string
	Name    string
	Type    string
	Text    string // plain
	Terrain string
	Tags    []string
	Version uint32
}

// Warn adds a warning to the run.
func (w *Work) Warn(text string) { w.run.Warnings = append(w.run.Warnings, text) }

// Read decodes the call's input.
func Read[T any](w *Work) (v T, err error) {
	if err = json.Unmarshal(w.Input, &v); err != nil {
		err = Fail(Validation, "%s: the input does not fit: %v", w.Tool, err)
	}
	return v, err
}

// With returns a method of a transaction, a T, that decodes its call's input before it does the work.
func With[T, In any](
	do func(t T, ctx context.Context, w *Work, in In) (any, error)) func(T, context.Context, *Work) (any, error) {
	return func(t T, ctx context.Context, w *Work) (any, error) {
		in, err := Read[In](w)
		if err != nil {
			return nil, err
		}
		return do(t, ctx, w, in)
	}
}

// Program finds a target's program by name or path and returns its absolute path. If it is not
// installed, the error is a Failure with code Missing and the text install.
func Program(name, install string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", Fail(Missing, "%s", install).Because(err)
	}
	return path, nil
}

// probeLife is the time for which a program's reported version is cached.
const probeLife = 10 * time.Minute

// Probed caches a program's answer to a probe. The zero Probed is empty.
type Probed struct {
	mu   sync.Mutex // guards the fields below
	path string     // the program that info belongs to
	info TargetInfo
	when time.Time
}

// Info returns the cached info of a program, or calls ask.
func (p *Probed) Info(path string, ask func() (TargetInfo, error)) (TargetInfo, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.path == path && time.Since(p.when) < probeLife {
		return p.info, nil
	}
	info, err := ask()
	if err == nil {
		p.path, p.info, p.when = path, info, time.Now()
	}
	return info, err
}
