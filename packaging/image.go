package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the user and group of the program in the image.
const nobody = 65532

// writeImage writes a container image as a tar of an OCI image layout (image-spec 1.1). The image
// starts from nothing: it holds the program, the folder of its worlds and an empty /tmp, and no shell.
func (r release) writeImage(t target, program string) error {
	content, err := r.imageContent(program)
	if err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{
		Created: v1.Time{Time: r.time}, CreatedBy: "loregate " + r.version}})
	if err != nil {
		return err
	}
	image, err = mutate.ConfigFile(image, r.imageConfig(t, image))
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex),
		mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: t.os, Architecture: t.arch},
				Annotations: map[string]string{"org.opencontainers.image.ref.name": r.version}}})
	if _, err := layout.Write(folder, index); err != nil {
		return err
	}
	entries, err := readFolder(folder)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("loregate_%s_linux_%s.oci.tar", r.version, t.arch)
	return r.create(name, func(w io.Writer) error { return writeTar(w, entries, r.time) })
}

// imageConfig returns the settings of a container, the same as those of deploy/Dockerfile.
func (r release) imageConfig(t target, image v1.Image) *v1.ConfigFile {
	config, err := image.ConfigFile()
	if err != nil {
		config = &v1.ConfigFile{}
	}
	config = config.DeepCopy()
	config.Created = v1.Time{Time: r.time}
	config.OS, config.Architecture = t.os, t.arch
	config.Config = v1.Config{
		User:         fmt.Sprintf("%d:%d", nobody, nobody),
		ExposedPorts: map[string]struct{}{"8420/tcp": {}},
		Env:          []string{"LOREGATE_DATA=/var/lib/loregate", "LOREGATE_ADDR=0.0.0.0:8420"},
		Entrypoint:   []string{"/usr/local/bin/loregate"},
		Cmd:          []string{"serve"},
		Volumes:      map[string]struct{}{"/var/lib/loregate": {}},
		StopSignal:   "SIGTERM",
		Healthcheck: &v1.HealthConfig{
			Test:     []string{"CMD", "/usr/local/bin/loregate", "doctor", "--ready", "http://127.0.0.1:8420"},
			Interval: 5 * time.Second, Timeout: 3 * time.Second, StartPeriod: 20 * time.Second},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "Loregate",
			"org.opencontainers.image.description": summary,
			"org.opencontainers.image.version":     r.version,
			"org.opencontainers.image.licenses":    "Apache-2.0",
		},
	}
	return config
}

// imageContent returns the files of the image as an uncompressed tar.
func (r release) imageContent(program string) ([]byte, error) {
	data, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777},
		{Name: "usr/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "usr/local/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "usr/local/bin/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "usr/local/bin/loregate", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(data))},
		{Name: "var/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "var/lib/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "var/lib/loregate/", Typeflag: tar.TypeDir, Mode: 0o700, Uid: nobody, Gid: nobody},
	} {
		h.ModTime = r.time
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(data); err != nil {
				return nil, err
			}
		}
	}
	return b.Bytes(), w.Close()
}

// readFolder returns all files below a folder as entries.
func readFolder(folder string) ([]entry, error) {
	var out []entry
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		e, err := readEntry(filepath.ToSlash(name), path, 0o644)
		out = append(out, e)
		return err
	})
	return out, err
}
