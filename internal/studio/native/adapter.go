package native

import (
	"context"

	"loregate/internal/studio"
	"loregate/internal/studio/build"
)

// Adapter carries out the tools for scenes.
type Adapter struct {
	meshes *build.Cache
	paints *build.Paints
}

// New makes the adapter.
func New() *Adapter { return &Adapter{build.NewCache(), build.NewPaints()} }

// Kind returns the kind of the adapter.
func (a *Adapter) Kind() string { return studio.NativeKind }

// Tools returns the tools for scenes, and where the others are done.
func (a *Adapter) Tools() map[string]studio.Support {
	all := map[string]studio.Support{}
	for _, name := range []string{"generate_scene", "add_object", "generate_terrain", "generate_texture",
		"populate_level",
		"export_asset", "import_asset", "generate_blueprint", "profile_performance", "render_preview",
		"list_objects"} {
		all[name] = studio.Support{Note: "NOT_SUPPORTED: it needs a program; use the target blender or an engine"}
	}
	for name := range toolMethods {
		all[name] = studio.Support{Does: true, Note: "in the process itself"}
	}
	return all
}

// version is the version of the language and of its builder.
const version = "1"

// Probe returns the version.
func (a *Adapter) Probe(context.Context) (studio.TargetInfo, error) {
	return studio.TargetInfo{Kind: a.Kind(), Name: a.Kind(), Version: version}, nil
}

// Open returns a target without state.
func (a *Adapter) Open(at studio.Place) (studio.Target, error) { return &target{a, at.Name}, nil }

// target is a target without state, and its own transaction.
type target struct {
	*Adapter
	name string
}

func (t *target) Begin(context.Context, func(string) bool) (studio.Txn, error) { return t, nil }

func (t *target) Fork(_ context.Context, at studio.Place, _ func(string) bool) (studio.Target, error) {
	return &target{t.Adapter, at.Name}, nil
}

func (t *target) Close() {}

func (t *target) Info() studio.TargetInfo {
	return studio.TargetInfo{Kind: t.Kind(), Name: t.name, Version: version}
}

func (t *target) Digest(context.Context) (string, error)  { return "stateless", nil }
func (t *target) Names(context.Context) ([]string, error) { return []string{}, nil }
func (t *target) Undo(context.Context, string) error      { return nil }
func (t *target) Commit(context.Context, string) error    { return nil }
func (t *target) Rollback(context.Context) error          { return nil }
