package unreal

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"loregate/internal/studio"
)

// toolMethods maps the tools to their methods.
var toolMethods = map[string]func(x *txn, ctx context.Context, w *studio.Work) (any, error){
	"populate_level":      studio.With((*txn).populateLevel),
	"import_asset":        studio.With((*txn).importAsset),
	"profile_performance": studio.With((*txn).profileLevel),
	"list_objects":        studio.With((*txn).listAssets),
}

// Do carries out a call.
func (x *txn) Do(ctx context.Context, w *studio.Work) (any, error) {
	m, ok := toolMethods[w.Tool]
	if !ok {
		return nil, studio.Fail(studio.NotSupported, "unreal does not support %s: %s", w.Tool, x.Tools()[w.Tool].Note)
	}
	if x.info.Kind == DoubleKind {
		w.Warn("this is the protocol double: no Unreal editor was used")
	}
	return m(x, ctx, w)
}

// populateLevel spawns actors with one documented call each.
func (x *txn) populateLevel(ctx context.Context, w *studio.Work, in studio.PopulateIn) (any, error) {
	f, err := x.editor.searchAssets(ctx)
	if err != nil {
		return nil, err
	}
	asset := ""
	for _, a := range f.Assets {
		if a.Name == in.Asset || a.Path == in.Asset {
			asset = a.Path
		}
	}
	if asset == "" {
		return nil, studio.Fail(studio.Validation,
			"asset: there is no asset %q below /Game/Loregate; list_objects lists the assets", in.Asset)
	}
	list, cut := studio.Strew(in, w.Seed, func(float64, float64) float64 { return 0 })
	if cut > 0 {
		w.Warn(fmt.Sprintf("%d more instances fit the density; budget_max_instances leaves them out", cut))
	}
	if w.Dry {
		return studio.PopulateOut{Created: len(list)}, nil
	}
	for i, p := range list {
		if err := x.spawnActor(ctx, asset, p); err != nil {
			return nil, err
		}
		w.Progress(float64(i+1), float64(len(list)), "spawning")
	}
	id, err := w.Keep(ctx, studio.OutputFile{Kind: "placements", Name: in.Asset + "-placements.json",
		Media: "application/json"}, studio.PlacementsJSON(in, list))
	return studio.PopulateOut{Created: len(x.placed.Actors), Placements: id}, err
}

// spawnActor places one actor.
func (x *txn) spawnActor(ctx context.Context, asset string, p studio.Placement) error {
	actor, err := x.editor.spawn(ctx, asset, p)
	if err != nil {
		return err
	}
	if actor == "" {
		return studio.Fail(studio.ExecFailed, "the Unreal editor spawned nothing of %s", asset)
	}
	x.placed.Actors = append(x.placed.Actors, actor)
	return nil
}

// importAsset writes an export to the project's folder and has the bridge import it.
func (x *txn) importAsset(ctx context.Context, w *studio.Work, in studio.ImportIn) (any, error) {
	m, data, err := w.Exported(ctx, in.Manifest)
	if err != nil {
		return nil, err
	}
	if m.Format != "glb" && m.Format != "fbx" {
		return nil, studio.Fail(
			studio.NotSupported,
			"unreal imports only glb and fbx here; the manifest is of a %s",
			m.Format,
		)
	}
	name := cmp.Or(in.Name, m.AssetName())
	if w.Dry {
		return studio.ImportOut{Assets: []string{}}, nil
	}
	if err := x.writeExport(name+"."+m.Format, data); err != nil {
		return nil, err
	}
	var said struct {
		Paths []string `json:"imported_object_paths"`
	}
	err = x.callBridge(ctx, "import_asset", map[string]any{"file": name + "." + m.Format, "name": name,
		"replace": in.Overwrite}, &said)
	if err != nil {
		return nil, err
	}
	if len(said.Paths) == 0 {
		return nil, studio.Fail(studio.ExecFailed, "the Unreal editor imported nothing of %s", m.Name)
	}
	x.placed.Assets = append(x.placed.Assets, said.Paths...)
	w.Warn("nodes and triangles were not counted: Remote Control does not return them")
	return studio.ImportOut{Assets: said.Paths}, nil
}

// writeExport writes an export to the folder that the bridge reads.
func (x *txn) writeExport(name string, data []byte) error {
	if x.config.Double != nil {
		return nil // a double has no project
	}
	if x.config.Project == "" {
		return studio.Fail(studio.Missing,
			"set studio.unreal_project to the project's folder, into which exports are written")
	}
	root, err := os.OpenRoot(x.config.Project)
	if err != nil {
		return studio.Fail(studio.IOFailed, "the Unreal project's folder cannot be opened").Because(err)
	}
	defer root.Close()
	if err = root.MkdirAll("Loregate", 0o755); err == nil {
		err = root.WriteFile(filepath.Join("Loregate", name), data, 0o644)
	}
	if err != nil {
		return studio.Fail(studio.IOFailed, "the export cannot be written to the Unreal project").Because(err)
	}
	return nil
}

// profileLevel has the bridge load and measure a level.
func (x *txn) profileLevel(ctx context.Context, w *studio.Work, in studio.ProfileIn) (any, error) {
	out := studio.ProfileOut{Measured: map[string]float64{}, On: x.info.Kind + " " + x.info.Version}
	if err := x.callBridge(ctx, "profile", map[string]any{"level": in.Level, "frames": in.Frames},
		&out.Measured); err != nil {
		return nil, err
	}
	return w.Report(ctx, in.Level, out)
}

// listAssets lists the assets below /Game/Loregate.
func (x *txn) listAssets(ctx context.Context, w *studio.Work, in studio.ListIn) (any, error) {
	f, err := x.editor.searchAssets(ctx)
	if err != nil {
		return nil, err
	}
	out := studio.ListOut{Objects: []studio.Object{}}
	for _, a := range f.Assets {
		if !strings.HasPrefix(a.Name, in.Prefix) {
			continue
		}
		out.Total++
		if out.Total > in.Offset && len(out.Objects) < in.Limit {
			out.Objects = append(out.Objects, studio.Object{Name: a.Name, Type: a.Class})
		}
	}
	out.Digest, err = x.Digest(ctx)
	return out, err
}
