package transfer

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// Limits of exports.
const (
	maxExports = 2         // that run at once
	maxExport  = 256 << 20 // bytes of the result, which is held in memory
)

func exportOps(d *deps) []*op.Operation {
	return []*op.Operation{
		op.Define(op.Spec{
			Name: "export_world", Title: "Export the world", Effect: access.Read, MinRole: access.RoleGM,
			Surfaces: []string{Surface}, NoTool: true, Route: "GET /api/export", RESTBody: op.RESTFile,
			Timeout: 10 * time.Minute,
			Doc: "Get the part of the world that a role sees as a file: a zip of at most 256 MiB, or the one file of the " +
				"format. loregate export has no limit.",
			Examples: []op.Example{{Title: "As players see it", Input: `{"role": "user"}`}},
		}, d.exportWorld),
	}
}

type exportIn struct {
	Format string `json:"format,omitzero" maxlen:"40" default:"markdown" jsonschema:"Format, such as markdown or site."`
	Role   string `json:"role,omitzero" enum:"user,gm,admin" default:"user" jsonschema:"The role that sees what is exported; at most yours."`
}

type exportOut struct {
	Filename string `json:"filename"`
	Size     int    `json:"size"`
}

func (d *deps) exportWorld(ctx context.Context, c *op.Call, in exportIn) (out exportOut, err error) {
	ending, ok := d.Exports[in.Format]
	if !ok {
		return out, fault.BadField("format", "must be one of %s",
			strings.Join(slices.Sorted(maps.Keys(d.Exports)), ", "))
	}
	role, _ := access.ParseRole(in.Role) // the schema checked it
	if role > c.Grant.Role() {
		return out, fault.BadField("role", "must be at most your own, %s", c.Grant.Role())
	}
	select {
	case d.exports <- struct{}{}:
		defer func() { <-d.exports }()
	case <-ctx.Done():
		return out, ctx.Err()
	}
	dir, err := os.MkdirTemp("", "loregate-export-")
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "world-"+in.Role+ending)
	if err := d.World.ExportFiles(ctx, c.Grant, in.Format, role, path); err != nil {
		return out, err
	}
	file, err := packFiles(path)
	if err != nil {
		return out, err
	}
	c.Reply.File = file
	return exportOut{file.Name, len(file.Data)}, nil
}

// packFiles returns an exported file, or a zip of an exported folder.
func packFiles(path string) (*op.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		if info.Size() > maxExport {
			return nil, errTooLarge
		}
		data, err := os.ReadFile(path)
		return &op.File{Name: filepath.Base(path), Type: "application/octet-stream", Data: data}, err
	}
	data, err := zipFolder(os.DirFS(path))
	return &op.File{Name: filepath.Base(path) + ".zip", Type: "application/zip", Data: data}, err
}

// zipFolder returns a zip of the files of a folder. It depends on their names and bytes alone.
func zipFolder(folder fs.FS) ([]byte, error) {
	var buf bytes.Buffer
	z := zip.NewWriter(&limitedWriter{to: &buf, left: maxExport})
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		to, err := z.Create(name)
		if err != nil {
			return err
		}
		from, err := folder.Open(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, from)
		return errors.Join(err, from.Close())
	})
	err = errors.Join(err, z.Close())
	return buf.Bytes(), err
}

var errTooLarge = fault.New(fault.TooLarge, "the export is larger than %d MiB; use loregate export on the server",
	maxExport>>20)

// limitedWriter refuses more than a number of bytes.
type limitedWriter struct {
	to   io.Writer
	left int
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errTooLarge
	}
	return w.to.Write(p)
}
