package blender

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loregate/internal/slicesx"
	"loregate/internal/studio"
	"loregate/internal/studio/gltf"
	"loregate/internal/studio/scene"
)

// axes are the up axis and the forward axis of each format as written here.
var axes = map[string][2]string{"glb": {"Y", "Z"}, "gltf": {"Y", "Z"}, "obj": {"Y", "-Z"}, "fbx": {"Y", "-Z"}}

// mediaTypes are the media types of exports.
var mediaTypes = map[string]string{"glb": "model/gltf-binary", "gltf": "application/zip", "obj": "application/zip",
	"fbx": "application/octet-stream"}

// exportAsset exports the scene or a part of it, and reads the file back.
func (x *txn) exportAsset(ctx context.Context, w *studio.Work, in studio.ExportIn) (any, error) {
	names, err := x.findExportNames(ctx, in.Object)
	if err != nil {
		return nil, err
	}
	if in.Path != "" {
		if err := w.MayWrite(in.Path, in.Overwrite); err != nil {
			return nil, err
		}
	}
	if in.Format == "blend" {
		return x.exportBlend(ctx, w, in)
	}
	out := studio.ExportOut{Format: in.Format, Unit: 1, Up: axes[in.Format][0], Forward: axes[in.Format][1],
		Materials: []string{}}
	if w.Dry {
		return out, nil
	}
	textures := in.Textures == nil || *in.Textures
	file, err := x.writeExport(ctx, w, in.Format, names, textures)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, studio.Fail(studio.ExecFailed, "Blender wrote no %s", in.Format).Because(err)
	}
	if err := inspectExport(&out, filepath.Dir(file), data); err != nil {
		return nil, err
	}
	stem := in.Object
	if stem == "" {
		stem = strings.ReplaceAll(w.Name(), ":", "-")
	}
	name := studio.FileName(stem) + "." + in.Format
	if in.Format == "gltf" || in.Format == "obj" {
		if data, err = zipFolder(filepath.Dir(file)); err != nil {
			return nil, err
		}
		name += ".zip"
	}
	if out.Export, err = w.Keep(ctx, studio.OutputFile{Kind: "export", Name: name, Media: mediaTypes[in.Format]},
		data); err != nil {
		return nil, err
	}
	if out.Manifest, err = x.keepManifest(ctx, w, out, name, data); err != nil {
		return nil, err
	}
	if in.Path != "" {
		if err := w.Write(in.Path, data, in.Overwrite); err != nil {
			return nil, err
		}
		out.Written = in.Path
	}
	return out, nil
}

// exportBlend saves the scene as Blender's own file. Its bytes differ each time; its content hash is the
// scene's digest.
func (x *txn) exportBlend(ctx context.Context, w *studio.Work, in studio.ExportIn) (any, error) {
	if in.Object != "" {
		return nil, studio.Fail(studio.Validation, "object_name: a .blend file has the whole scene; leave object_name out")
	}
	now, err := x.countScene(ctx)
	if err != nil {
		return nil, err
	}
	out := studio.ExportOut{Format: in.Format, Unit: 1, Up: "Z", Forward: "Y", Materials: []string{}, Nodes: now.Objects,
		Triangles: now.Triangles}
	if w.Dry {
		return out, nil
	}
	digest, err := x.Digest(ctx)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(w.Dir, "scene.blend")
	if err := x.saveScene(ctx, file); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil || !isBlend(data) {
		return nil, studio.Fail(studio.ExecFailed, "Blender wrote no .blend file").Because(err)
	}
	content := studio.SumOf([]byte(digest))
	name := studio.FileName(strings.ReplaceAll(w.Name(), ":", "-")) + ".blend"
	if out.Export, err = w.Keep(ctx, studio.OutputFile{Kind: "export", Name: name, Media: "application/x-blender",
		Content: &content}, data); err != nil {
		return nil, err
	}
	if in.Path != "" {
		if err := w.Write(in.Path, data, in.Overwrite); err != nil {
			return nil, err
		}
		out.Written = in.Path
	}
	return out, nil
}

// isBlend reports whether bytes begin like a file of Blender: plain, or compressed by Zstandard or gzip.
func isBlend(data []byte) bool {
	for _, magic := range []string{"BLENDER", "\x28\xb5\x2f\xfd", "\x1f\x8b"} {
		if bytes.HasPrefix(data, []byte(magic)) {
			return true
		}
	}
	return false
}

// importAsset imports a GLB file as a part with a name.
func (x *txn) importAsset(ctx context.Context, w *studio.Work, in studio.ImportIn) (any, error) {
	own, err := w.OwnModel(ctx, in)
	if err != nil {
		return nil, err
	}
	data := own.GLB
	info, err := gltf.ParseGLB(data)
	if err != nil {
		return nil, studio.Fail(studio.Validation, "the file is no valid GLB file: %v", err)
	}
	name := cmp.Or(in.Name, studio.Manifest{Name: own.Name}.AssetName())
	if !scene.NameForm.MatchString(name) {
		return nil, studio.Fail(studio.Validation, "name: give the part a name of letters, digits and _")
	}
	sum, _, err := x.at.Files.Put(ctx, bytes.NewReader(data))
	if err != nil {
		return nil, studio.Fail(studio.IOFailed, "the file cannot be stored").Because(err)
	}
	before, err := x.countScene(ctx)
	if err != nil {
		return nil, err
	}
	op := mustJSON(map[string]string{"op": "import", "name": name, "blob": sum})
	if err := x.applyOps(ctx, []raw{op}, nil); err != nil {
		return nil, err
	}
	after, err := x.countScene(ctx)
	if err != nil {
		return nil, err
	}
	got := studio.ImportSummary{Nodes: after.Objects - before.Objects - 1, Triangles: after.Triangles - before.Triangles,
		Materials: after.Materials - before.Materials}
	got.Matches = got.Triangles == info.Triangles
	if !got.Matches {
		w.Warn(fmt.Sprintf("Blender counts %d triangles; the file has %d", got.Triangles, info.Triangles))
	}
	return studio.ImportOut{Assets: []string{name}, Summary: got}, x.checkPresent(ctx, name)
}

// findExportNames finds the objects of an export: one object, or all of a scene by its prefix.
func (x *txn) findExportNames(ctx context.Context, name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	all, err := x.Names(ctx)
	if err != nil {
		return nil, err
	}
	if slices.Contains(all, name) {
		return []string{name}, nil
	}
	part := slicesx.Filter(all, func(n string) bool { return strings.HasPrefix(n, name+" ") })
	if len(part) == 0 {
		return nil, studio.Fail(studio.Validation,
			"object_name: there is no object or scene %q; list_objects lists the objects", name)
	}
	return part, nil
}

// writeExport has Blender write the files into a separate folder.
func (x *txn) writeExport(ctx context.Context, w *studio.Work, format string, names []string,
	textures bool) (string, error) {
	w.Progress(0, 1, "writing "+format)
	return x.exportTo(ctx, filepath.Join(w.Dir, "export"), map[string]any{"format": format, "names": names,
		"textures": textures})
}

// exportTo has Blender write the files of a format into a new folder, and returns the main one's path.
func (t *target) exportTo(ctx context.Context, to string, op map[string]any) (string, error) {
	const dir = "export"
	name := fmt.Sprintf("scene.%s", op["format"])
	op["op"], op["file"] = "export", t.folder.Path(dir+"/"+name)
	if err := t.folder.Make(dir); err != nil {
		return "", studio.Fail(studio.IOFailed, "the folder for the export cannot be created").Because(err)
	}
	if _, err := t.sendOps(ctx, []raw{mustJSON(op)}, nil); err != nil {
		return "", err
	}
	return filepath.Join(to, name), t.takeOut(dir, to)
}

// inspectExport reads the written file back into out.
func inspectExport(out *studio.ExportOut, dir string, data []byte) error {
	var info gltf.Info
	var err error
	switch out.Format {
	case "glb":
		info, err = gltf.ParseGLB(data)
	case "gltf":
		var bin []byte
		if bin, err = os.ReadFile(filepath.Join(dir, "scene.bin")); err == nil {
			info, err = gltf.Parse(data, bin)
		}
	case "obj":
		info = readOBJ(data)
	case "fbx":
		if !bytes.HasPrefix(data, []byte("Kaydara FBX Binary  \x00")) {
			err = fmt.Errorf("blender: the file does not begin as FBX does")
		}
	}
	if err != nil {
		return studio.Fail(studio.ExecFailed, "Blender wrote an invalid %s", out.Format).Because(err)
	}
	out.Nodes, out.Triangles = info.Nodes, info.Triangles
	if info.Materials != nil {
		out.Materials = info.Materials
	}
	return nil
}

// readOBJ counts objects, triangles and materials.
func readOBJ(data []byte) gltf.Info {
	info := gltf.Info{Materials: []string{}}
	for line := range bytes.Lines(data) {
		switch {
		case bytes.HasPrefix(line, []byte("o ")):
			info.Nodes++
		case bytes.HasPrefix(line, []byte("f ")):
			info.Triangles += len(bytes.Fields(line)) - 3
		case bytes.HasPrefix(line, []byte("usemtl ")):
			if name := string(bytes.TrimSpace(line[7:])); !slices.Contains(info.Materials, name) {
				info.Materials = append(info.Materials, name)
			}
		}
	}
	return info
}

// zipFolder packs the files of a folder into a zip: sorted, uncompressed and with a fixed time, so
// that the same files give the same bytes.
func zipFolder(dir string) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := z.CreateHeader(&zip.FileHeader{Name: filepath.ToSlash(name), Method: zip.Store,
			Modified: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err == nil {
			_, err = f.Write(data)
		}
		return err
	})
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, studio.Fail(studio.IOFailed, "the export cannot be packed").Because(err)
	}
	return b.Bytes(), nil
}

// keepManifest stores the export's manifest: all data that an importer needs, and nothing that
// differs between two identical exports.
func (x *txn) keepManifest(ctx context.Context, w *studio.Work, out studio.ExportOut, name string,
	data []byte) (string, error) {
	m := studio.Manifest{Protocol: studio.Protocol, Tool: "export_asset", Source: x.info, Seed: w.Seed, Name: name,
		Format: out.Format, SHA256: studio.SumOf(data), Bytes: len(data),
		Unit: out.Unit, Up: out.Up, Forward: out.Forward, Materials: out.Materials, Nodes: out.Nodes,
		Triangles: out.Triangles}
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return "", err
	}
	return w.Keep(ctx, studio.OutputFile{Kind: "manifest", Name: strings.TrimSuffix(name, ".zip") + ".manifest.json",
		Media: "application/json"}, append(b, '\n'))
}
