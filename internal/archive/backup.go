package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/job"
	"loregate/internal/op"
)

// Backuper copies the instance's store.
type Backuper interface {
	// Backup writes a consistent copy, without signing keys, to path, which must not exist yet. The
	// copy can be used in place of the original store.
	Backup(ctx context.Context, path string) error
}

func backupWork(d *deps) []*op.Operation {
	return []*op.Operation{
		defineWrite(d, op.Spec{
			Name: "create_backup",
			Asked: []string{
				"make a safe copy of everything", "save all worlds", "snapshot of the data",
				"copy everything for safety", "save a snapshot before we go on",
			},
			Title: "Back up the instance",
			Doc: "Make a consistent copy of all worlds, without the signing keys, while the instance keeps running. " +
				"The copy is written to the folder backups of the data folder. To restore it, run loregate serve on a data folder that has the copy as its store.",
			Route: "POST /api/mcp/admin/backup", Status: 202, Operator: true, NoWorld: true, Idempotent: true,
			Examples: []op.Example{{Title: "Back up", Input: `{}`}},
		}, createBackup),
		defineWrite(d, op.Spec{
			Name:   "get_backup",
			Asked:  []string{"is the safe copy ready", "how big is the snapshot"},
			Title:  "Get a backup",
			Doc:    "Get the state, size and SHA-256 of a backup. With download, REST answers with the copy itself.",
			Effect: access.Read, Route: "GET /api/mcp/admin/backup/{id}", RESTBody: op.RESTEither, Operator: true, NoWorld: true,
			NoTool: true, Timeout: time.Minute,
			Examples: []op.Example{{Title: "Its state", Input: `{"id": "01900000-0000-7000-8000-000000000000"}`}},
		}, getBackup),
	}
}

const (
	backupKind     = "backup"
	backupFolder   = "backups"
	backupPatience = 10 * time.Second // a copy runs at disk speed: most are finished by then
)

type backupOut struct {
	ID      string `json:"id"`
	Status  string `json:"status" enum:"queued,running,completed,failed,cancelled"`
	File    string `json:"file,omitzero" jsonschema:"Its name in the folder backups."`
	Size    int64  `json:"size,omitzero" jsonschema:"Bytes."`
	SHA256  string `json:"sha256,omitzero"`
	Message string `json:"message,omitzero" jsonschema:"Why it failed or was cancelled."`
}

// backupCopy is the result of a finished copy.
type backupCopy struct {
	File   string `json:"file"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

func createBackup(ctx context.Context, d *deps, c *op.Call, _ struct{}) (backupOut, error) {
	if d.jobs == nil || d.backup == nil || d.data == "" {
		return backupOut{}, fault.New(fault.Unavailable,
			"backups are not configured on this server; stop the server and copy its data folder")
	}
	j, err := d.jobs.Start(ctx, c.Grant, backupKind, backupPatience,
		func(ctx context.Context) (any, error) { return d.copyStore(ctx) })
	if err != nil {
		return backupOut{}, err
	}
	c.Reply.Location = "/api/mcp/admin/backup/" + j.ID.String()
	return backupOf(j)
}

// copyStore writes a copy of the store and names it after its checksum: equal copies become one
// file, and an interrupted copy never has the name of a finished one.
func (d *deps) copyStore(ctx context.Context) (out backupCopy, err error) {
	defer fault.Wrap(&err, "archive: backup")
	folder := filepath.Join(d.data, backupFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return backupCopy{}, err
	}
	work, err := os.MkdirTemp(folder, ".making-")
	if err != nil {
		return backupCopy{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	made := filepath.Join(work, "copy.db")
	if err := d.backup.Backup(ctx, made); err != nil {
		return backupCopy{}, err
	}
	if out.SHA256, out.Size, err = checksumFile(made); err != nil {
		return backupCopy{}, err
	}
	out.File = "loregate-" + out.SHA256[:16] + ".db"
	return out, os.Rename(made, filepath.Join(folder, out.File))
}

// checksumFile returns the SHA-256 of a file in hexadecimal and the file's size.
func checksumFile(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }() // the file was only read
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

func backupOf(j job.Job) (backupOut, error) {
	out := backupOut{ID: j.ID.String(), Status: string(j.State), Message: j.Problem}
	if j.State != job.Completed {
		return out, nil
	}
	var done backupCopy
	if err := json.Unmarshal(j.Result, &done); err != nil {
		return out, fmt.Errorf("archive: result of backup %s: %w", j.ID, err)
	}
	out.File, out.Size, out.SHA256 = done.File, done.Size, done.SHA256
	return out, nil
}

type getBackupIn struct {
	ID       string `json:"id" minlen:"1" maxlen:"64" jsonschema:"The backup, as create_backup answered."`
	Download bool   `json:"download,omitzero" jsonschema:"Send the copy itself; over REST only."`
}

func getBackup(ctx context.Context, d *deps, c *op.Call, in getBackupIn) (backupOut, error) {
	absent := fault.New(fault.NotFound, "there is no such backup; make one with create_backup")
	if d.jobs == nil {
		return backupOut{}, absent
	}
	j, err := d.jobs.Find(ctx, c.Grant, in.ID)
	if err != nil || j.Kind != backupKind {
		if err == nil || fault.KindOf(err) == fault.NotFound {
			err = absent
		}
		return backupOut{}, err
	}
	out, err := backupOf(j)
	if err != nil || !in.Download || out.File == "" || !c.SendsFile() {
		return out, err
	}
	return out, d.sendBackup(ctx, c, out.File)
}

// sendBackup answers a call with a copy, which is read from the disk while it is sent. No name leads out of the folder.
func (d *deps) sendBackup(ctx context.Context, c *op.Call, name string) error {
	root, err := os.OpenRoot(filepath.Join(d.data, backupFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return noBackup(name)
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // the folder was only read
	f, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return noBackup(name)
	}
	if err != nil {
		return err
	}
	kept, err := c.Hold.Adopt(ctx, f)
	c.Reply.File = &op.File{Name: name, Type: "application/vnd.sqlite3", Body: kept}
	return err
}
