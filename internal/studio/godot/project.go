package godot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loregate/internal/studio"
)

// files are a project's files: path and hash.
type files map[string]string

// historyEntry is what one run left: all files of the project.
type historyEntry struct {
	Run    string `json:"run"`
	Files  files  `json:"files"`
	Undoes string `json:"undoes,omitempty"`
}

// RunIDs names the run, and what it took back.
func (e historyEntry) RunIDs() (run, undoes string) { return e.Run, e.Undoes }

// project is a scratch project of Godot's. What the engine derives from its files lies
// beside them, and is no part of it.
type project struct {
	adapter *Adapter
	at      studio.Place
	dir     string
	history studio.Journal[historyEntry]
}

// activeFiles are the files that the entries in force left.
func (p *project) activeFiles() files {
	if force := p.history.Active(); len(force) > 0 {
		return maps.Clone(force[len(force)-1].Files)
	}
	return files{}
}

// Begin starts a transaction on the recorded state.
func (p *project) Begin(ctx context.Context, known func(string) bool) (studio.Txn, error) {
	if err := p.history.Load(known); err != nil {
		return nil, studio.Fail(studio.IOFailed, "the project's history cannot be read").Because(err)
	}
	info, err := p.adapter.Probe(ctx)
	if err != nil {
		return nil, err
	}
	info.Name = p.at.Name
	t := &txn{project: p, info: info, files: p.activeFiles()}
	return t, t.layOutFiles()
}

// Fork gives a project with the files that the first runs left.
func (p *project) Fork(_ context.Context, at studio.Place, keep func(string) bool) (studio.Target, error) {
	f := p.adapter.newProject(at)
	return f, p.history.Copy(&f.history, keep)
}

// Close does nothing: no program stays.
func (p *project) Close() {}

// txn is a transaction on a project.
type txn struct {
	*project
	info  studio.TargetInfo
	files files
	undid string
}

func (t *txn) Info() studio.TargetInfo { return t.info }

// Runs are the runs that the project holds something of.
func (t *txn) Runs() []string { return t.history.Runs() }

func (t *txn) Digest(context.Context) (string, error) {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		fmt.Fprintf(h, "%s %s\n", name, t.files[name])
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (t *txn) Names(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(t.files)), nil
}

// projectFiles make a project of a folder that Godot takes as one, and that it can pack
// without templates.
var projectFiles = map[string]string{
	"project.godot": "config_version=4\n\n[application]\n\nconfig/name=\"Loregate\"\n\n[rendering]\n\nquality/driver/driver_name=\"GLES2\"\nvram_compression/import_etc=false\n",
	"export_presets.cfg": "[preset.0]\n\nname=\"pack\"\nplatform=\"Linux/X11\"\nrunnable=true\ncustom_features=\"\"\nexport_filter=\"all_resources\"\n" +
		"include_filter=\"\"\nexclude_filter=\"\"\nexport_path=\"\"\n\n[preset.0.options]\n\n",
}

// layOutFiles makes the folder hold the transaction's files, and no others but derived ones.
func (t *txn) layOutFiles() error {
	err := os.MkdirAll(t.dir, 0o700)
	for name, text := range projectFiles {
		if err == nil {
			err = writeNew(filepath.Join(t.dir, name), []byte(text))
		}
	}
	for _, sub := range []string{"assets", "levels", "scripts"} {
		if err != nil {
			break
		}
		list, readErr := os.ReadDir(filepath.Join(t.dir, sub))
		if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
			err = readErr
		}
		for _, e := range list {
			if name := sub + "/" + strings.TrimSuffix(e.Name(), ".import"); t.files[name] == "" && t.files[assetFile(e.Name())] == "" {
				err = errors.Join(err, os.RemoveAll(filepath.Join(t.dir, sub, e.Name())))
			}
		}
	}
	for name, sum := range t.files {
		if err == nil {
			err = t.writeFromStore(name, sum)
		}
	}
	if err != nil {
		return studio.Fail(studio.IOFailed, "the project's files cannot be laid out").Because(err)
	}
	return nil
}

// writeFromStore puts a kept file into the folder, where it is not there as it is kept.
func (t *txn) writeFromStore(name, sum string) error {
	to := filepath.Join(t.dir, filepath.FromSlash(name))
	from, err := t.at.Files.Path(sum)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(to); strings.HasPrefix(name, "assets/") && (err != nil || !bytes.Equal(old, data)) {
		// What the engine made of another file of this name goes with it.
		if err := os.RemoveAll(filepath.Dir(to)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return writeNew(to, data)
}

// writeNew writes a file that does not hold the bytes already, so that Godot sees no change
// where there is none.
func writeNew(file string, data []byte) error {
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return os.WriteFile(file, data, 0o600)
}

// putFile makes a file part of the project.
func (t *txn) putFile(ctx context.Context, name string, data []byte) error {
	sum, _, err := t.at.Files.Put(ctx, bytes.NewReader(data))
	if err == nil {
		t.files[name] = sum
		err = t.writeFromStore(name, sum)
	}
	if err != nil {
		return studio.Fail(studio.IOFailed, "a file of the project cannot be written").Because(err)
	}
	return nil
}

// getFile reads a file of the project; nil where there is none.
func (t *txn) getFile(name string) ([]byte, error) {
	if t.files[name] == "" {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Join(t.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, studio.Fail(studio.IOFailed, "a file of the project cannot be read").Because(err)
	}
	return data, nil
}

func (t *txn) Undo(_ context.Context, run string) error {
	there, err := t.history.Undo(run, t.at.Name)
	if err != nil || !there {
		return err
	}
	t.undid, t.files = run, t.activeFiles()
	return t.layOutFiles()
}

func (t *txn) Commit(_ context.Context, run string) error {
	if t.undid == "" && maps.Equal(t.files, t.activeFiles()) {
		return nil
	}
	if err := t.history.Append(historyEntry{Run: run, Files: t.files, Undoes: t.undid}); err != nil {
		return studio.Fail(studio.IOFailed, "the project's history cannot be written").Because(err)
	}
	return nil
}

func (t *txn) Rollback(context.Context) error {
	t.history.IncludeAll()
	t.files, t.undid = t.activeFiles(), ""
	return t.layOutFiles()
}
