package godot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"loregate/internal/sandbox"
	"loregate/internal/studio"
)

// files maps the paths of a project's files to their hashes.
type files map[string]string

// historyEntry is the state after one run: all files of the project.
type historyEntry struct {
	Run    string `json:"run"`
	Files  files  `json:"files"`
	Undoes string `json:"undoes,omitempty"`
}

// RunIDs returns the run's id and the id of the run that it undid.
func (e historyEntry) RunIDs() (run, undoes string) { return e.Run, e.Undoes }

// project is a scratch project of Godot. Files that the engine derives are stored beside the
// project's own files but are not part of its state.
type project struct {
	adapter *Adapter
	at      studio.Place
	dir     string
	folder  *sandbox.Folder // dir while a transaction uses it
	history studio.Journal[historyEntry]
}

// activeFiles returns the files after the last active entry.
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
	p.Close()
	if p.folder, err = sandbox.OpenFolder(p.dir); err != nil {
		return nil, studio.Fail(studio.IOFailed, "the project's folder cannot be opened").Because(err)
	}
	t := &txn{project: p, info: info, files: p.activeFiles()}
	return t, t.layOutFiles()
}

// Fork makes a project with the files after the leading runs that keep accepts.
func (p *project) Fork(_ context.Context, at studio.Place, keep func(string) bool) (studio.Target, error) {
	f := p.adapter.newProject(at)
	return f, p.history.Copy(&f.history, keep)
}

// Close releases the project's folder. No program keeps running.
func (p *project) Close() {
	if p.folder != nil {
		_ = p.folder.Close() // it was only read and written by name
		p.folder = nil
	}
}

// maxRead is the size of the largest file that is read of a project, as of a model that somebody gives.
const maxRead = 256 << 20

// txn is a transaction on a project.
type txn struct {
	*project
	info  studio.TargetInfo
	files files
	undid string
}

func (t *txn) Info() studio.TargetInfo { return t.info }

// Runs returns the runs whose changes the project includes.
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

// projectFiles are the files that make a folder a Godot project which can be packed without export
// templates.
var projectFiles = map[string]string{
	"project.godot": "config_version=4\n\n[application]\n\nconfig/name=\"Loregate\"\n\n[rendering]\n\nquality/driver/driver_name=\"GLES2\"\nvram_compression/import_etc=false\n",
	"export_presets.cfg": "[preset.0]\n\nname=\"pack\"\nplatform=\"Linux/X11\"\nrunnable=true\ncustom_features=\"\"\nexport_filter=\"all_resources\"\n" +
		"include_filter=\"\"\nexclude_filter=\"\"\nexport_path=\"\"\n\n[preset.0.options]\n\n",
}

// layOutFiles makes the folder contain the transaction's files and no others except derived ones.
func (t *txn) layOutFiles() error {
	var err error
	for name, text := range projectFiles {
		if err == nil {
			err = t.writeNew(name, []byte(text))
		}
	}
	for _, sub := range []string{"assets", "levels", "scripts"} {
		if err != nil {
			break
		}
		list, readErr := t.folder.List(sub)
		err = readErr
		for _, made := range list {
			if name := sub + "/" + strings.TrimSuffix(made, ".import"); t.files[name] == "" && t.files[assetFile(made)] == "" {
				err = errors.Join(err, t.folder.Remove(sub+"/"+made))
			}
		}
	}
	for name, sum := range t.files {
		if err == nil {
			err = t.writeFromStore(name, sum)
		}
	}
	if err != nil {
		return studio.Fail(studio.IOFailed, "the project's files cannot be restored").Because(err)
	}
	return nil
}

// writeFromStore copies a stored file into the folder unless the same bytes are there already.
func (t *txn) writeFromStore(name, sum string) error {
	from, err := t.at.Files.Path(sum)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if strings.HasPrefix(name, "assets/") && !t.holds(name, data) {
		// The files that the engine derived from the old content are removed too.
		if err := t.folder.Remove(path.Dir(name)); err != nil {
			return err
		}
	}
	return t.writeNew(name, data)
}

// writeNew writes a file unless it has these bytes already, so that Godot sees no change.
func (t *txn) writeNew(name string, data []byte) error {
	if t.holds(name, data) {
		return nil
	}
	return t.folder.Write(name, data)
}

// holds reports whether a file of the project has these bytes.
func (t *txn) holds(name string, data []byte) bool {
	old, err := t.folder.Read(name, int64(len(data)))
	return err == nil && bytes.Equal(old, data)
}

// putFile stores a file and adds it to the project.
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

// getFile reads a file of the project; it returns nil if there is no such file.
func (t *txn) getFile(name string) ([]byte, error) {
	if t.files[name] == "" {
		return nil, nil
	}
	data, err := t.folder.Read(name, maxRead)
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
