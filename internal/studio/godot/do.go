package godot

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/slicesx"
	"loregate/internal/studio"
)

// toolMethods maps the tools to their methods.
var toolMethods = map[string]func(t *txn, ctx context.Context, w *studio.Work) (any, error){
	"import_asset":        studio.With((*txn).importAsset),
	"populate_level":      studio.With((*txn).populateLevel),
	"generate_blueprint":  studio.With((*txn).writeBlueprint),
	"profile_performance": studio.With((*txn).profileLevel),
	"list_objects":        studio.With((*txn).listFiles),
}

// Do carries out a call.
func (t *txn) Do(ctx context.Context, w *studio.Work) (any, error) {
	m, ok := toolMethods[w.Tool]
	if !ok {
		return nil, studio.Fail(studio.NotSupported, "godot does not support %s: %s", w.Tool,
			t.adapter.Tools()[w.Tool].Note)
	}
	return m(t, ctx, w)
}

// assetFile returns the path of an asset: it has its own folder, into which the engine writes the
// materials that it extracts.
func assetFile(name string) string { return "assets/" + name + "/" + name + ".glb" }

// importAsset imports an export and has the engine count its content.
func (t *txn) importAsset(ctx context.Context, w *studio.Work, in studio.ImportIn) (any, error) {
	m, data, err := w.Exported(ctx, in.Manifest)
	if err != nil {
		return nil, err
	}
	if m.Format != "glb" {
		return nil, studio.Fail(studio.NotSupported, "godot imports only glb here; the manifest is of a %s, so export it as glb",
			m.Format)
	}
	name := cmp.Or(in.Name, m.AssetName())
	file := assetFile(name)
	if t.files[file] != "" && t.files[file] != m.SHA256.String() && !in.Overwrite {
		return nil, studio.Fail(studio.Validation,
			"name: there is already another asset %q; choose another name, or set overwrite", name)
	}
	if err := t.putFile(ctx, file, data); err != nil {
		return nil, err
	}
	w.Progress(0, 2, "importing "+name)
	got, err := t.importFile(ctx, file)
	if err != nil {
		return nil, err
	}
	sum := studio.ImportSummary{Nodes: got.Nodes - 1, Triangles: got.Triangles, Materials: got.Materials}
	sum.Matches = sum.Nodes == m.Nodes && sum.Triangles == m.Triangles && sum.Materials == len(m.Materials)
	if !sum.Matches {
		w.Warn(fmt.Sprintf("Godot counts %d nodes, %d triangles and %d materials; the manifest says %d, %d and %d", sum.Nodes,
			sum.Triangles, sum.Materials, m.Nodes, m.Triangles, len(m.Materials)))
	}
	l, err := t.loadLevel(in.Level)
	if err != nil {
		return nil, err
	}
	l.removeAsset(name)
	l.Groups = append(l.Groups, group{Asset: name, Placements: []studio.Placement{{Scale: 1}}})
	return studio.ImportOut{Assets: []string{name}, Summary: sum}, t.putLevel(ctx, in.Level, l)
}

var scnForm = lazyregexp.New(`(?m)^path="res://([^"]+\.scn)"`)

// importFile has the engine import the project's new files. The engine always exits with status 0,
// so importFile checks that the expected file exists.
func (t *txn) importFile(ctx context.Context, file string) (sceneInfo, error) {
	const pack = homeDir + "/pack.zip"
	said, _, err := t.adapter.runEngine(ctx, t.folder, "--export-pack", "pack", t.folder.Path(pack))
	_ = t.folder.Remove(pack) // the next run removes its folder
	if err != nil {
		return sceneInfo{}, err
	}
	refused := studio.Fail(studio.ExecFailed, "Godot cannot import %s",
		filepath.Base(file)).Because(fmt.Errorf("godot: it said: %s", clipTail(said)))
	about, err := t.folder.Read(file+".import", maxRead)
	if err != nil {
		return sceneInfo{}, refused
	}
	made := scnForm.FindSubmatch(about)
	if made == nil || !t.folder.Has(string(made[1])) {
		return sceneInfo{}, refused
	}
	return t.adapter.inspectScene(ctx, t.folder, "res://"+file, 0)
}

// level is the content of a level; its .tscn is generated from it.
type level struct {
	Groups []group `json:"groups"`
}

// group is a set of instances of one asset.
type group struct {
	Asset      string             `json:"asset"`
	Placements []studio.Placement `json:"placements"`
}

func (l *level) removeAsset(asset string) {
	l.Groups = slices.DeleteFunc(l.Groups, func(g group) bool { return g.Asset == asset })
}

func (l *level) countInstances() int {
	n := 0
	for _, g := range l.Groups {
		n += len(g.Placements)
	}
	return n
}

func (t *txn) loadLevel(name string) (l level, err error) {
	b, err := t.getFile("levels/" + name + ".json")
	if err == nil && b != nil {
		err = json.Unmarshal(b, &l)
	}
	return l, err
}

func (t *txn) putLevel(ctx context.Context, name string, l level) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if err := t.putFile(ctx, "levels/"+name+".json", b); err != nil {
		return err
	}
	return t.putFile(ctx, "levels/"+name+".tscn", l.encodeTSCN(name))
}

// encodeTSCN encodes the level as a text scene, format 2. Godot's up axis is Y: east stays X, north
// becomes -Z.
func (l *level) encodeTSCN(name string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "[gd_scene load_steps=%d format=2]\n\n", len(l.Groups)+1)
	for i, g := range l.Groups {
		fmt.Fprintf(&b, "[ext_resource path=\"res://%s\" type=\"PackedScene\" id=%d]\n", assetFile(g.Asset), i+1)
	}
	fmt.Fprintf(&b, "\n[node name=\"%s\" type=\"Spatial\"]\n", name)
	for i, g := range l.Groups {
		for k, p := range g.Placements {
			fmt.Fprintf(&b, "\n[node name=\"%s_%d_%05d\" parent=\".\" instance=ExtResource( %d )]\n", g.Asset, i+1, k+1, i+1)
			s, c := math.Sincos(p.Turn)
			s, c = s*p.Scale, c*p.Scale
			fmt.Fprintf(&b, "transform = Transform( %s )\n",
				formatNumbers(c, 0, s, 0, p.Scale, 0, -s, 0, c, p.Location[0], p.Location[2], -p.Location[1]))
		}
	}
	return b.Bytes()
}

func formatNumbers(list ...float64) string {
	text := slicesx.Map(list, func(x float64) string { return fmt.Sprint(math.Round(x*1e4)/1e4 + 0) })
	return strings.Join(text, ", ")
}

// populateLevel places instances of an imported asset in a level.
func (t *txn) populateLevel(ctx context.Context, w *studio.Work, in studio.PopulateIn) (any, error) {
	if t.files[assetFile(in.Asset)] == "" {
		return nil, studio.Fail(studio.Validation, "asset: there is no asset %q in the project; its assets are %s", in.Asset,
			t.listAssets())
	}
	if in.Ground != "" {
		return nil, studio.Fail(studio.NotSupported,
			"ground: Godot levels are populated on the plane at height 0; omit this field")
	}
	l, err := t.loadLevel(in.Level)
	if err != nil {
		return nil, err
	}
	list, cut := studio.Strew(in, w.Seed, func(float64, float64) float64 { return 0 })
	if cut > 0 {
		w.Warn(fmt.Sprintf("%d more instances fit the density; budget_max_instances leaves them out", cut))
	}
	l.Groups = append(l.Groups, group{Asset: in.Asset, Placements: list})
	if err := t.putLevel(ctx, in.Level, l); err != nil {
		return nil, err
	}
	w.Progress(1, 2, fmt.Sprintf("counting %d", len(list)))
	got, err := t.inspectLevel(ctx, in.Level, 0)
	if err != nil {
		return nil, err
	}
	if got.Children != l.countInstances() {
		return nil, studio.Fail(studio.ExecFailed, "Godot finds %d instances in the level, not %d", got.Children,
			l.countInstances())
	}
	id, err := w.Keep(ctx, studio.OutputFile{Kind: "placements", Name: in.Asset + "-placements.json",
		Media: "application/json"}, studio.PlacementsJSON(in, list))
	if err != nil {
		return nil, err
	}
	_, err = w.Keep(ctx, studio.OutputFile{Kind: "level", Name: in.Level + ".tscn", Media: "text/plain"},
		l.encodeTSCN(in.Level))
	return studio.PopulateOut{Created: len(list), Placements: id}, err
}

// inspectLevel inspects a level; in a fresh folder it imports the level's assets first.
func (t *txn) inspectLevel(ctx context.Context, name string, frames int) (sceneInfo, error) {
	for _, file := range slices.Sorted(maps.Keys(t.files)) {
		if !strings.HasSuffix(file, ".glb") {
			continue
		}
		if t.folder.Has(file + ".import") {
			continue
		}
		if _, err := t.importFile(ctx, file); err != nil {
			return sceneInfo{}, err
		}
	}
	return t.adapter.inspectScene(ctx, t.folder, "res://levels/"+name+".tscn", frames)
}

func (t *txn) listAssets() string {
	var names []string
	for file := range t.files {
		if name, ok := strings.CutPrefix(file, "assets/"); ok {
			name, _, _ = strings.Cut(name, "/")
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "none yet: import one"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// profileLevel measures a level.
func (t *txn) profileLevel(ctx context.Context, w *studio.Work, in studio.ProfileIn) (any, error) {
	if t.files["levels/"+in.Level+".tscn"] == "" {
		return nil, studio.Fail(studio.Validation,
			"level_name: there is no level %q in the project; import an asset into it first", in.Level)
	}
	w.Progress(0, 1, "measuring "+in.Level)
	got, err := t.inspectLevel(ctx, in.Level, in.Frames)
	if err != nil {
		return nil, err
	}
	out := studio.ProfileOut{On: "Godot " + t.info.Version + ", headless: without drawing", Measured: map[string]float64{
		"load_ms": got.LoadMS, "frames": float64(got.Frames), "frame_ms_mean": got.MeanMS, "frame_ms_longest": got.LongestMS,
		"nodes":          float64(got.Nodes),
		"mesh_instances": float64(got.Meshes), "triangles": float64(got.Triangles), "materials": float64(got.Materials),
		"memory_mb": got.MemoryMB,
		"objects":   got.Objects, "resources": got.Resources}}
	return w.Report(ctx, in.Level, out, "draw calls", "time on a graphics card")
}

// listFiles lists the project's files.
func (t *txn) listFiles(ctx context.Context, w *studio.Work, in studio.ListIn) (any, error) {
	out := studio.ListOut{Objects: []studio.Object{}}
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		if !strings.HasPrefix(name, in.Prefix) {
			continue
		}
		out.Total++
		if out.Total > in.Offset && len(out.Objects) < in.Limit {
			kind, _, _ := strings.Cut(name, "/")
			out.Objects = append(out.Objects, studio.Object{Name: name, Type: strings.TrimSuffix(kind, "s")})
		}
	}
	digest, err := t.Digest(ctx)
	out.Digest = digest
	return out, err
}
