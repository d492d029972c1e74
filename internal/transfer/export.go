package transfer

import (
	"archive/zip"
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
	maxExport  = 256 << 20 // bytes of the result
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
	release, ok := d.worlds.Take(c.Grant.World().String())
	if !ok {
		e := fault.New(fault.RateLimited, "this world is being exported already; try again when that is done")
		e.RetryAfter = 10 * time.Second
		return out, e
	}
	defer release()
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
	w, err := c.Hold.Create(ctx, -1)
	if err != nil {
		return out, err
	}
	file, err := packFiles(&limitedWriter{to: w, left: maxExport}, path)
	if err != nil {
		return out, err
	}
	file.Body = w.File()
	c.Reply.File = file
	return exportOut{file.Name, int(file.Body.Size())}, nil
}

// packFiles writes an exported file, or a zip of an exported folder, and returns its name and type.
func packFiles(w io.Writer, path string) (*op.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &op.File{Name: filepath.Base(path) + ".zip", Type: "application/zip"}, zipFolder(w, os.DirFS(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(w, f)
	return &op.File{Name: filepath.Base(path), Type: "application/octet-stream"}, errors.Join(err, f.Close())
}

// zipFolder writes a zip of the files of a folder. It depends on their names and bytes alone.
func zipFolder(w io.Writer, folder fs.FS) error {
	z := zip.NewWriter(w)
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
	return errors.Join(err, z.Close())
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
