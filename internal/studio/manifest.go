package studio

import (
	"context"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"loregate/internal/blob"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/studio/intake"
)

// Manifest describes an export to importers.
type Manifest struct {
	Protocol  string     `json:"protocol_version"`
	Tool      string     `json:"tool_name"`
	Source    TargetInfo `json:"source"`
	Seed      uint64     `json:"seed"`
	Name      string     `json:"name"`
	Format    string     `json:"format"`
	SHA256    blob.Sum   `json:"sha256"`
	Bytes     int        `json:"bytes"`
	Unit      float64    `json:"unit_scale"`
	Up        string     `json:"up_axis"`
	Forward   string     `json:"forward_axis"`
	Materials []string   `json:"materials"`
	Nodes     int        `json:"nodes"`
	Triangles int        `json:"triangles"`
}

// SumOf returns the hash of bytes.
func SumOf(b []byte) blob.Sum { return blob.SumOf(b) }

// Name returns the name of the target that the call is carried out on.
func (w *Work) Name() string {
	if n := len(w.run.Steps); n > 0 {
		return w.run.Steps[n-1].Target.Name
	}
	return "scene"
}

// Exported finds an export by the id of its manifest artifact. It returns the manifest and the export's bytes,
// checked against their hash; a GLB is inspected.
func (w *Work) Exported(ctx context.Context, manifest string) (m Manifest, data []byte, err error) {
	a, err := w.Artifact(ctx, manifest)
	if err != nil {
		return m, nil, err
	}
	if a.Kind != "manifest" {
		return m, nil, Fail(Validation, "manifest: artifact %s is a %s; give the manifest of an export_asset",
			markup.Shorten(manifest, 60), a.Kind)
	}
	b, err := w.Bytes(ctx, a)
	if err != nil {
		return m, nil, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, nil, Fail(Validation, "manifest: artifact %s cannot be read", markup.Shorten(manifest, 60)).Because(err)
	}
	data, err = w.files.Blobs.Bytes(ctx, m.SHA256)
	if err != nil {
		return m, nil, Fail(IOFailed, "the export of manifest %s no longer exists",
			markup.Shorten(manifest, 60)).Because(err)
	}
	if m.Format == "glb" {
		_, err = inspectModel(data)
	}
	return m, data, err
}

// OwnFile is a model that somebody made or changed outside.
type OwnFile struct {
	Name   string // of the file
	GLB    []byte
	Digest string // SHA-256 of the file as it is: of a .blend file, not of its GLB form
}

// OwnModel returns the file that an import names: a GLB or .blend file below an allowed root, an export by its
// manifest, or a file that scene_spec or export_asset made. A file that refers to data outside of itself is
// refused before any program sees it.
func (w *Work) OwnModel(ctx context.Context, in ImportIn) (OwnFile, error) {
	own, err := w.readOwn(ctx, in)
	if err != nil {
		return own, err
	}
	own.Digest = SumOf(own.GLB).String()
	kind, err := inspectModel(own.GLB)
	if err != nil || kind == intake.GLB {
		return own, err
	}
	if w.blend == nil {
		return own, Fail(Missing, "path: a .blend file is read by Blender, which this server lacks; export it as GLB")
	}
	if own.GLB, err = w.blend.ReadBlend(ctx, filepath.Join(w.Dir, "own"), own.GLB); err != nil {
		return own, err
	}
	_, err = inspectModel(own.GLB)
	return own, err
}

func inspectModel(data []byte) (intake.Kind, error) {
	kind, err := intake.Inspect(data)
	if err != nil {
		return "", Fail(Validation, "path: %v", err)
	}
	return kind, nil
}

func (w *Work) readOwn(ctx context.Context, in ImportIn) (own OwnFile, err error) {
	switch {
	case (in.Path == "") == (in.Manifest == ""):
		return own, Fail(Validation, "manifest: give manifest or path")
	case in.Path != "":
		own.GLB, err = w.files.roots.readFile(in.Path, maxModel)
		own.Name = path.Base(in.Path)
		return own, err
	}
	a, err := w.Artifact(ctx, in.Manifest)
	if err != nil {
		return own, err
	}
	if a.Kind == "export" && slices.Contains([]string{"model/gltf-binary", "application/x-blender"}, a.Media) {
		own.GLB, err = w.Bytes(ctx, a)
		own.Name = a.Name
		return own, err
	}
	m, data, err := w.Exported(ctx, in.Manifest)
	if err == nil && m.Format != "glb" {
		err = Fail(NotSupported, "blender imports only glb; the manifest is of a %s, so export it as glb", m.Format)
	}
	return OwnFile{Name: m.Name, GLB: data}, err
}

// maxModel is the size of the largest file that is imported, in bytes.
const maxModel = 256 << 20

var notInAssetName = lazyregexp.New(`[^A-Za-z0-9_]+`)

// AssetName derives an asset's name from the export's file name.
func (m Manifest) AssetName() string {
	stem, _, _ := strings.Cut(m.Name, ".")
	return strings.Trim(notInAssetName.ReplaceAllString(stem, "_"), "_")
}
