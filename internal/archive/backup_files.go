package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func backupFiles(d *deps) []*op.Operation {
	return []*op.Operation{
		defineWrite(d, op.Spec{
			Name: "list_backups",
			Asked: []string{
				"which safe copies are there", "saved snapshots", "older safety copies",
				"from which day is the last snapshot",
			},
			Title:  "List the backups",
			Doc:    "List the copies of the instance in the folder backups, latest first.",
			Effect: access.Read, Route: "GET /api/mcp/admin/backups", Operator: true, NoWorld: true,
			Older:    []op.OlderRoute{{Route: "GET /api/mcp/admin/database/backup/list"}},
			Examples: []op.Example{{Title: "All", Input: `{}`}},
		}, listBackups),
		defineWrite(d, op.Spec{
			Name:   "download_backup",
			Title:  "Download a backup",
			Doc:    "Get a copy of the instance as a file: one that list_backups names, or a new one.",
			Effect: access.Read, Route: "GET /api/mcp/admin/backups/{filename}", RESTBody: op.RESTFile, Operator: true,
			NoWorld: true, NoTool: true, Timeout: 10 * time.Minute,
			Older: []op.OlderRoute{{Route: "GET /api/mcp/admin/database/backup/download/{filename}"},
				{Route: "GET /api/mcp/admin/database/backup"}},
			Examples: []op.Example{{Title: "One that is there", Input: `{"filename": "loregate-0123456789abcdef.db"}`}},
		}, downloadBackup),
		defineWrite(d, op.Spec{
			Name: "delete_backup",
			Asked: []string{
				"remove a safe copy", "discard a snapshot", "throw a safety copy away",
			},
			Title:  "Delete a backup",
			Doc:    "Delete a copy of the instance from the folder backups, permanently. list_backups lists the copies.",
			Effect: access.Destroy, Route: "DELETE /api/mcp/admin/backups/{filename}", Operator: true, NoWorld: true,
			Older:    []op.OlderRoute{{Route: "DELETE /api/mcp/admin/database/backup/{filename}"}},
			Examples: []op.Example{{Title: "Delete one", Input: `{"filename": "loregate-0123456789abcdef.db"}`}},
		}, deleteBackup),
	}
}

// backupName matches the file names that create_backup gives to copies. Other files in the folder
// are neither listed nor touched.
var backupName = lazyregexp.New(`^loregate-[0-9a-f]{16}\.db$`)

type backupFile struct {
	Name       string        `json:"filename"`
	Size       int64         `json:"size" jsonschema:"Bytes."`
	SizeWords  string        `json:"size_human"`
	Age        string        `json:"age"`
	CreatedAt  surface.Stamp `json:"created_at"`
	ModifiedAt surface.Stamp `json:"modified_at"`
}

type backupsOut struct {
	Backups []backupFile `json:"backups"`
	Total   int          `json:"total"`
	Folder  string       `json:"backup_dir" jsonschema:"Below the instance's data folder."`
}

func listBackups(_ context.Context, d *deps, _ *op.Call, _ struct{}) (backupsOut, error) {
	out := backupsOut{Backups: []backupFile{}, Folder: backupFolder}
	entries, err := os.ReadDir(filepath.Join(d.data, backupFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !backupName.MatchString(e.Name()) {
			continue // deleted in the meantime, or not a copy
		}
		at := surface.Stamp(info.ModTime())
		out.Backups = append(out.Backups, backupFile{Name: e.Name(), Size: info.Size(), SizeWords: sizeWords(info.Size()),
			Age: time.Since(info.ModTime()).Round(time.Second).String(), CreatedAt: at, ModifiedAt: at})
	}
	slices.SortFunc(out.Backups, func(a, b backupFile) int {
		if n := time.Time(b.ModifiedAt).Compare(time.Time(a.ModifiedAt)); n != 0 {
			return n
		}
		return strings.Compare(a.Name, b.Name)
	})
	out.Total = len(out.Backups)
	return out, nil
}

func sizeWords(n int64) string {
	units, size := []string{"B", "KiB", "MiB", "GiB"}, float64(n)
	for len(units) > 1 && size >= 1024 {
		size, units = size/1024, units[1:]
	}
	return fmt.Sprintf("%.1f %s", size, units[0])
}

type backupFileIn struct {
	Name string `json:"filename" minlen:"1" maxlen:"64" jsonschema:"Name of the copy, as list_backups gives it."`
}

type downloadIn struct {
	Name string `json:"filename,omitzero" maxlen:"64" jsonschema:"Name of the copy, as list_backups gives it; without one a copy is made."`
}

func noBackup(name string) error {
	return fault.New(fault.NotFound, "there is no backup %q; list_backups lists the backups", markup.Clip(name, 64))
}

func downloadBackup(ctx context.Context, d *deps, c *op.Call, in downloadIn) (backupFileIn, error) {
	if d.backup == nil || d.data == "" {
		return backupFileIn{}, fault.New(fault.Unavailable,
			"backups are not configured on this server; stop the server and copy its data folder")
	}
	if in.Name == "" {
		made, err := d.copyStore(ctx)
		if err != nil {
			return backupFileIn{}, err
		}
		in.Name = made.File
	}
	if !backupName.MatchString(in.Name) {
		return backupFileIn{}, noBackup(in.Name)
	}
	return backupFileIn(in), d.sendBackup(ctx, c, in.Name)
}

type deletedBackup struct {
	Name    string `json:"filename"`
	Deleted bool   `json:"deleted"`
	Message string `json:"message"`
}

func deleteBackup(_ context.Context, d *deps, _ *op.Call, in backupFileIn) (deletedBackup, error) {
	if !backupName.MatchString(in.Name) || d.data == "" {
		return deletedBackup{}, noBackup(in.Name)
	}
	root, err := os.OpenRoot(filepath.Join(d.data, backupFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return deletedBackup{}, noBackup(in.Name)
	}
	if err != nil {
		return deletedBackup{}, err
	}
	defer func() { _ = root.Close() }() // the file is removed already
	if err := root.Remove(in.Name); errors.Is(err, fs.ErrNotExist) {
		return deletedBackup{}, noBackup(in.Name)
	} else if err != nil {
		return deletedBackup{}, err
	}
	return deletedBackup{Name: in.Name, Deleted: true, Message: "the copy was deleted"}, nil
}
