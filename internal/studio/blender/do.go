package blender

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	_ "image/png" // renders are read back
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loregate/internal/sandbox"
	"loregate/internal/studio"
	"loregate/internal/studio/build"
	"loregate/internal/studio/builder"
	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
	"loregate/internal/studio/terrain"
	"loregate/internal/studio/texture"
)

// toolMethods maps the tools to their methods.
var toolMethods = map[string]func(x *txn, ctx context.Context, w *studio.Work) (any, error){
	"generate_scene":   studio.With((*txn).buildScene),
	"add_object":       studio.With((*txn).addObject),
	"generate_terrain": studio.With((*txn).makeTerrain),
	"generate_texture": studio.With((*txn).paintTexture),
	"populate_level":   studio.With((*txn).populateScene),
	"export_asset":     studio.With((*txn).exportAsset),
	"import_asset":     studio.With((*txn).importAsset),
	"render_preview":   studio.With((*txn).renderPreview),
	"list_objects":     studio.With((*txn).listObjects),
}

// Do carries out a call.
func (x *txn) Do(ctx context.Context, w *studio.Work) (any, error) {
	m, ok := toolMethods[w.Tool]
	if !ok {
		return nil, studio.Fail(studio.NotSupported, "blender does not support %s: %s", w.Tool,
			x.adapter.Tools()[w.Tool].Note)
	}
	return m(x, ctx, w)
}

// counts has the driver's counts of a scene.
type counts struct {
	Objects     int `json:"objects"`
	Collections int `json:"collections"`
	Meshes      int `json:"meshes"`
	Triangles   int `json:"triangles"`
	Materials   int `json:"materials"`
}

func (x *txn) countScene(ctx context.Context) (counts, error) {
	return queryScene[counts](ctx, x.target, map[string]string{"op": "counts"})
}

// buildScene builds a place. The counts in its result come from Blender.
func (x *txn) buildScene(ctx context.Context, w *studio.Work, in studio.SceneIn) (any, error) {
	built, err := x.planScene(ctx, w, in)
	if err != nil {
		return nil, err
	}
	if in.Replace {
		if err := x.clearScene(ctx); err != nil {
			return nil, err
		}
	}
	before, err := x.countScene(ctx)
	if err != nil {
		return nil, err
	}
	total := float64(len(built.list))
	err = x.applyOps(ctx, built.list, func(done int) { w.Progress(float64(done), total, "building "+built.out.SceneID) })
	if err != nil {
		return nil, err
	}
	sum, _, err := x.at.Files.Put(ctx, bytes.NewReader(built.source))
	if err != nil {
		return nil, studio.Fail(studio.IOFailed, "the scene cannot be stored").Because(err)
	}
	x.built = append(x.built, sum)
	after, err := x.countScene(ctx)
	if err != nil {
		return nil, err
	}
	for _, text := range built.warnings {
		w.Warn(text)
	}
	out := built.out
	out.Objects, out.Collections = after.Objects-before.Objects, after.Collections-before.Collections
	out.Triangles = after.Triangles - before.Triangles
	return out, nil
}

// operations are those that build a scene, with what is known of it before it is built.
type operations struct {
	list     []raw
	source   []byte // the scene itself
	out      studio.SceneOut
	warnings []string
}

// planScene returns the operations of a scene: those of a stored scene, or of a place that words
// describe.
func (x *txn) planScene(ctx context.Context, w *studio.Work, in studio.SceneIn) (*operations, error) {
	built := &operations{out: studio.SceneOut{Kind: "spec"}}
	var s *spec.Scene
	var err error
	if in.Spec != "" {
		s, err = w.Scene(ctx, in.Spec)
	} else {
		s, built.out.WordsOut, err = w.SceneFromWords("description", in.Description, in.Style)
		built.out.Kind = built.out.Place
	}
	if err != nil {
		return nil, err
	}
	m, err := build.Build(s, x.adapter.meshes)
	if err != nil {
		return nil, err
	}
	built.out.SceneID, built.out.Features, built.warnings = m.Name, m.Features(), m.Warnings
	if built.source, err = s.Encode(); err != nil {
		return nil, err
	}
	built.list, err = m.Script(&painter{ctx, x.at.Files, x.adapter})
	return built, err
}

// addObject adds one object.
func (x *txn) addObject(ctx context.Context, w *studio.Work, in studio.ObjectIn) (any, error) {
	name := in.Name
	if name == "" {
		names, err := x.Names(ctx)
		if err != nil {
			return nil, err
		}
		name = fmt.Sprintf("%s %d", in.Type, len(names)+1)
	}
	t := scene.Transform{Location: in.Location, Scale: in.Scale}
	for i, degrees := range in.Rotation {
		t.Rotation[i] = degrees * math.Pi / 180
	}
	s := &scene.Script{}
	switch in.Type {
	case "light":
		s.Light(scene.Light{Name: name, Kind: "POINT", Energy: 500, Color: [3]float64{1, 0.9, 0.75}, Size: 0.25,
			Transform: t})
	case "camera":
		s.Camera(name, 35, false, t)
	case "empty":
		s.Object(name, "", "", t)
	case "text":
		if in.Text == "" {
			return nil, studio.Fail(studio.Validation, "text: a text needs words")
		}
		s.Text(name, in.Text, in.Material, "", 1, t)
	default:
		s.Mesh(name, newSolid(in.Type))
		s.Object(name, name, "", t)
	}
	if in.Material != "" && in.Type != "light" && in.Type != "camera" && in.Type != "empty" && in.Type != "text" {
		s.Assign(name, in.Material)
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	if err := x.applyOps(ctx, s.Ops, nil); err != nil {
		return nil, err
	}
	return studio.ObjectOut{Name: name, ID: x.at.Name + "/" + name}, x.checkPresent(ctx, name)
}

// checkPresent checks that objects are in the scene.
func (x *txn) checkPresent(ctx context.Context, names ...string) error {
	have, err := x.Names(ctx)
	if err != nil {
		return err
	}
	for _, want := range names {
		found := false
		for _, n := range have {
			found = found || n == want
		}
		if !found {
			return studio.Fail(studio.ExecFailed, "%q is missing from the scene after it was added", want)
		}
	}
	return nil
}

// newSolid makes a solid two metres across, centred at the origin.
func newSolid(kind string) *scene.Mesh {
	up := func(m *scene.Mesh) *scene.Mesh { return (&scene.Mesh{}).At(m, scene.Vec{0, 0, -1}, 0) }
	switch kind {
	case "sphere":
		return scene.Sphere(1, 32, 16)
	case "cylinder":
		return up(scene.Cylinder(1, 2, 32))
	case "cone":
		return up(scene.Cone(1, 2, 32))
	case "plane":
		return scene.Quad(2, 2)
	case "torus":
		return scene.Torus(1, 0.25, 48, 12)
	}
	return up(scene.Box(2, 2, 2))
}

// makeTerrain makes a terrain, with its heightmap as an artifact.
func (x *txn) makeTerrain(ctx context.Context, w *studio.Work, in studio.TerrainIn) (any, error) {
	land := terrain.Make(w.Seed, terrain.Sides[in.Detail], in.Width, in.Height, in.Amplitude)
	s := &scene.Script{}
	s.Material(scene.Material{Name: in.Name, Color: [4]float64{0.16, 0.2, 0.08, 1}, Roughness: 0.95})
	s.Mesh(in.Name, land.Mesh(), in.Name)
	s.Object(in.Name, in.Name, "", scene.Transform{})
	if err := s.Err(); err != nil {
		return nil, err
	}
	w.Progress(1, 3, "placing "+in.Name)
	if err := x.applyOps(ctx, s.Ops, nil); err != nil {
		return nil, err
	}
	png, err := land.PNG()
	if err != nil {
		return nil, err
	}
	pixels := studio.Pixels(decodeImage(png))
	id, err := w.Keep(ctx, studio.OutputFile{Kind: "heightmap", Name: in.Name + "-height.png", Media: "image/png",
		Content: &pixels}, png)
	if err != nil {
		return nil, err
	}
	return studio.TerrainOut{Asset: in.Name, Heightmap: id, Parameters: map[string]any{
			"side": land.Side, "width": in.Width, "height": in.Height, "amplitude": in.Amplitude, "seed": w.Seed}},
		x.checkPresent(ctx, in.Name)
}

func decodeImage(png []byte) image.Image {
	m, _, err := image.Decode(bytes.NewReader(png))
	if err != nil {
		return image.NewGray(image.Rect(0, 0, 0, 0)) // invalid image data counts as an empty picture
	}
	return m
}

// paintTexture paints a texture and assigns it to an object.
func (x *txn) paintTexture(ctx context.Context, w *studio.Work, in studio.TextureIn) (any, error) {
	if err := x.checkPresent(ctx, in.Object); err != nil {
		return nil, studio.Fail(studio.Validation,
			"object_name: there is no %q in the scene; list_objects lists the objects", in.Object)
	}
	made := texture.Paint(in.Type, in.Size, w.Seed)
	s := &scene.Script{}
	name := fmt.Sprintf("%s %s %d", clipName(in.Object, 24), in.Type, w.Seed)
	var ids []string
	for _, one := range []struct {
		kind   string
		m      *image.RGBA
		linear bool
	}{{"color", made.Color, false}, {"normal", made.Normal, true}, {"rough", made.Rough, true}} {
		png, err := texture.PNG(one.m)
		if err != nil {
			return nil, err
		}
		pixels := studio.Pixels(one.m)
		id, err := w.Keep(ctx, studio.OutputFile{Kind: "texture", Name: fmt.Sprintf("%s-%s.png", in.Type, one.kind),
			Media: "image/png", Content: &pixels}, png)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
		sum, _, err := x.at.Files.Put(ctx, bytes.NewReader(png))
		if err != nil {
			return nil, studio.Fail(studio.IOFailed, "the texture cannot be stored").Because(err)
		}
		s.Image(name+" "+one.kind, sum, one.linear)
	}
	s.Material(scene.Material{Name: name, Color: [4]float64{1, 1, 1, 1}, Roughness: roughness[in.Type],
		Metallic: metallic[in.Type],
		Image:    name + " color", Normal: name + " normal", Rough: name + " rough"})
	s.Assign(in.Object, name)
	if err := s.Err(); err != nil {
		return nil, err
	}
	return studio.TextureOut{Material: name, Textures: ids}, x.applyOps(ctx, s.Ops, nil)
}

var (
	roughness = map[string]float64{"stone": 0.9, "wood": 0.7, "grass": 0.95, "sand": 0.95, "metal": 0.45,
		"fabric": 0.9}
	metallic = map[string]float64{"metal": 0.9}
)

func clipName(s string, n int) string { return strings.TrimRight(s[:min(len(s), n)], " .-_") }

// populateScene places instances of an object's mesh.
func (x *txn) populateScene(ctx context.Context, w *studio.Work, in studio.PopulateIn) (any, error) {
	ground, err := x.groundHeights(in.Ground)
	if err != nil {
		return nil, err
	}
	list, cut := studio.Strew(in, w.Seed, ground)
	if cut > 0 {
		w.Warn(fmt.Sprintf("%d more instances fit the density; budget_max_instances leaves them out", cut))
	}
	at := make([]scene.Transform, len(list))
	for i, p := range list {
		at[i] = scene.Transform{Location: p.Location, Rotation: scene.Vec{0, 0, p.Turn},
			Scale: scene.Vec{p.Scale, p.Scale, p.Scale}}
	}
	s := &scene.Script{}
	s.Instances(clipName(in.Asset, 40)+" many", in.Asset, "Populated", at)
	if err := s.Err(); err != nil {
		return nil, err
	}
	w.Progress(1, 2, fmt.Sprintf("placing %d", len(list)))
	if err := x.applyOps(ctx, s.Ops, nil); err != nil {
		return nil, err
	}
	id, err := w.Keep(ctx, studio.OutputFile{Kind: "placements", Name: in.Asset + "-placements.json",
		Media: "application/json"}, studio.PlacementsJSON(in, list))
	return studio.PopulateOut{Created: len(list), Placements: id}, err
}

// groundHeights returns a function for the height of the scene's terrain, read from the mesh in the
// journal; without a name, the plane at height 0.
func (x *txn) groundHeights(name string) (func(px, py float64) float64, error) {
	if name == "" {
		return func(float64, float64) float64 { return 0 }, nil
	}
	data, err := x.meshOf(name)
	if err != nil {
		return nil, err
	}
	height, err := scene.Heights(data)
	if err != nil {
		return nil, studio.Fail(studio.Validation, "ground: %q is not a terrain: %v", name, err)
	}
	return height, nil
}

// meshOf finds the packed mesh of this name in the operations of the journal and of this
// transaction.
func (x *txn) meshOf(name string) ([]byte, error) {
	ops := []raw{}
	if !x.reset {
		for _, e := range x.journal.Active() {
			if e.Reset {
				ops = nil
			}
			ops = append(ops, e.Ops...)
		}
	}
	for _, o := range slices.Backward(append(ops, x.ops...)) {
		var m struct {
			Op, Name, Blob string
			Data           []byte
		}
		if json.Unmarshal(o, &m) != nil || m.Op != "mesh" || m.Name != name {
			continue
		}
		if m.Blob == "" {
			return m.Data, nil
		}
		file, err := x.at.Files.Path(m.Blob)
		if err == nil {
			m.Data, err = os.ReadFile(file)
		}
		if err != nil {
			return nil, studio.Fail(studio.IOFailed, "the mesh of %q cannot be read", name).Because(err)
		}
		return m.Data, nil
	}
	return nil, studio.Fail(studio.Validation,
		"ground: there is no terrain %q in the scene; create one with generate_terrain", name)
}

// listObjects lists the objects of the scene.
func (x *txn) listObjects(ctx context.Context, w *studio.Work, in studio.ListIn) (any, error) {
	rows, err := queryScene[[]listed](ctx, x.target, map[string]string{"op": "list"})
	if err != nil {
		return nil, err
	}
	out := studio.ListOut{Objects: []studio.Object{}}
	for _, r := range rows {
		var o studio.Object
		for i, into := range []any{&o.Name, &o.Type, &o.Collection, &o.Location, &o.Size, &o.Material} {
			if err := json.Unmarshal(r[i], into); err != nil {
				return nil, fmt.Errorf("blender: listing: %w", err)
			}
		}
		if !strings.HasPrefix(o.Name, in.Prefix) {
			continue
		}
		out.Total++
		if out.Total > in.Offset && len(out.Objects) < in.Limit {
			out.Objects = append(out.Objects, o)
		}
	}
	out.Digest, err = x.Digest(ctx)
	return out, err
}

// renderPreview renders a picture in a process of its own, from a copy of the scene.
func (x *txn) renderPreview(ctx context.Context, w *studio.Work, in studio.RenderIn) (_ any, err error) {
	cameras := in.Cameras
	if len(cameras) == 0 {
		cameras = []string{in.Camera}
	}
	columns, rows := sheetGrid(len(cameras))
	out := studio.RenderOut{Width: in.Width / columns * columns, Height: in.Height / rows * rows}
	if in.Spec != "" {
		if err := x.showScene(ctx, w, in.Spec); err != nil {
			return nil, err
		}
		defer func() {
			if e := x.restoreScene(ctx); err == nil {
				err = e
			}
		}()
	}
	listed, err := queryScene[[]listed](ctx, x.target, map[string]string{"op": "list"})
	if err != nil {
		return nil, err
	}
	for _, name := range cameras {
		if !hasCamera(listed, name) {
			return nil, studio.Fail(studio.Validation,
				"camera: there is no camera %q in the scene; create one with generate_scene or add_object", name)
		}
	}
	if w.Dry {
		return out, nil
	}
	blend := filepath.Join(w.Dir, "scene.blend")
	if err := x.saveScene(ctx, blend); err != nil {
		return nil, err
	}
	sheet := image.NewRGBA(image.Rect(0, 0, out.Width, out.Height))
	view := in
	view.Width, view.Height = in.Width/columns, in.Height/rows
	for i, name := range cameras {
		w.Progress(float64(i), float64(len(cameras)), fmt.Sprintf("rendering %d by %d", view.Width, view.Height))
		view.Camera = name
		m, err := x.renderView(ctx, w, blend, view)
		if err != nil {
			return nil, err
		}
		at := image.Pt(i%columns*view.Width, i/columns*view.Height)
		draw.Draw(
			sheet,
			image.Rectangle{Min: at, Max: at.Add(image.Pt(view.Width, view.Height))},
			m,
			m.Bounds().Min,
			draw.Src,
		)
	}
	sheet = denoise(sheet)
	// Blender writes the render time into its file; the re-encoded bytes depend only on the pixels.
	clean, err := texture.PNG(sheet)
	if err != nil {
		return nil, err
	}
	pixels := studio.Pixels(sheet)
	out.Preview, err = w.Keep(ctx, studio.OutputFile{Kind: "preview", Name: "preview.png", Media: "image/png",
		Content: &pixels}, clean)
	return out, err
}

// showScene loads a stored scene in place of the target's own. The caller restores that one.
func (x *txn) showScene(ctx context.Context, w *studio.Work, id string) error {
	built, err := x.planScene(ctx, w, studio.SceneIn{Spec: id})
	if err != nil {
		return err
	}
	x.interrupted = true // if this call is rolled back, too
	_, err = x.sendOps(ctx, append([]raw{raw(`{"op":"new"}`), raw(`{"op":"begin"}`)}, built.list...), nil)
	return err
}

// restoreScene loads the target's own scene again, with the changes of this transaction.
func (x *txn) restoreScene(ctx context.Context) error {
	if err := x.restoreState(ctx); err != nil {
		return err
	}
	ops := x.ops
	if x.reset {
		x.sessionState = ""
		ops = append([]raw{raw(`{"op":"new"}`), raw(`{"op":"begin"}`)}, ops...)
	}
	_, err := x.sendOps(ctx, ops, nil)
	return err
}

// sheetGrid returns the columns and rows of a contact sheet of n views.
func sheetGrid(n int) (columns, rows int) {
	columns = int(math.Ceil(math.Sqrt(float64(n))))
	return columns, (n + columns - 1) / columns
}

// renderView renders the view of one camera of a saved scene.
func (x *txn) renderView(ctx context.Context, w *studio.Work, blend string, in studio.RenderIn) (image.Image, error) {
	folder, err := sandbox.OpenFolder(w.Dir)
	if err != nil {
		return nil, studio.Fail(studio.IOFailed, "the folder for the picture cannot be created").Because(err)
	}
	defer folder.Close()
	const picture = "picture.png"
	job := mustJSON(map[string]any{"scene": blend, "file": folder.Path(picture), "camera": in.Camera, "width": in.Width,
		"height":  in.Height,
		"samples": in.Samples, "threads": x.adapter.config.Threads})
	if err := x.adapter.runScript(ctx, folder, renderScript, job); err != nil {
		return nil, err
	}
	f, err := folder.Read(picture, maxRead)
	if err != nil {
		return nil, studio.Fail(studio.ExecFailed, "Blender made no picture").Because(err)
	}
	size, _, err := image.DecodeConfig(bytes.NewReader(f))
	var m image.Image
	if err == nil && size.Width == in.Width && size.Height == in.Height {
		m, _, err = image.Decode(bytes.NewReader(f))
	}
	if err != nil || m == nil {
		return nil, studio.Fail(studio.ExecFailed, "Blender made no picture of %d by %d", in.Width,
			in.Height).Because(err)
	}
	return m, nil
}

func hasCamera(rows []listed, name string) bool {
	return slices.ContainsFunc(rows, func(r listed) bool {
		return string(r[1]) == `"CAMERA"` && (name == "" || r.objectName() == name)
	})
}

// maxRead is the size of the largest file that is read of a script, as of a model that somebody gives.
const maxRead = 256 << 20

// runScript runs a script in a separate Blender, which sees only a folder and is killed when ctx ends.
func (a *Adapter) runScript(ctx context.Context, folder *sandbox.Folder, script []byte, job raw) error {
	binary, err := a.findBinary()
	if err != nil {
		return err
	}
	if err := folder.Write("script.py", script); err != nil {
		return studio.Fail(studio.IOFailed, "a script cannot be written").Because(err)
	}
	said := &tail{}
	cmd := exec.CommandContext(ctx, binary, "--background", "--factory-startup", "--python-exit-code", "9",
		"--python", folder.Path("script.py"), "--", string(job))
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = steadyEnv, said, said, time.Second
	if err = a.config.Sandbox.Confine(cmd, folder.Path(".")); err == nil {
		err = cmd.Run()
	}
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return studio.Fail(studio.ExecFailed,
			"Blender failed at the file or the picture").Because(fmt.Errorf("%w; it said: %s",
			err, said))
	}
	return nil
}

// painter paints the textures of scenes, each once.
type painter struct {
	ctx     context.Context
	files   studio.Files
	adapter *Adapter
}

// PaintedPNG returns the images of a kind of surface.
func (p *painter) PaintedPNG(kind string) (texture.Images, error) {
	return p.adapter.paints.PaintedPNG(kind)
}

// Keep stores bytes of the scene.
func (p *painter) Keep(data []byte) (string, error) {
	sum, _, err := p.files.Put(p.ctx, bytes.NewReader(data))
	if err != nil {
		return "", studio.Fail(studio.IOFailed, "a surface cannot be stored").Because(err)
	}
	return sum, nil
}

// Painted stores the images of a kind of surface and returns their hashes.
func (p *painter) Painted(kind string) (builder.Stored, error) {
	p.adapter.mu.Lock()
	stored, ok := p.adapter.painted[kind]
	p.adapter.mu.Unlock()
	if ok {
		if _, err := p.files.Path(stored.Color); err == nil {
			return stored, nil
		}
	}
	made, err := p.adapter.paints.PaintedPNG(kind)
	if err != nil {
		return stored, err
	}
	for _, one := range []struct {
		to  *string
		png []byte
	}{{&stored.Color, made.Color}, {&stored.Normal, made.Normal}, {&stored.Rough, made.Rough}} {
		if *one.to, err = p.Keep(one.png); err != nil {
			return stored, err
		}
	}
	p.adapter.mu.Lock()
	p.adapter.painted[kind] = stored
	p.adapter.mu.Unlock()
	return stored, nil
}
