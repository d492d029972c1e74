package native

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"loregate/internal/exchange"
	"loregate/internal/fault"
)

// folder is the destination of an export. Its manifest lists the files of the last export, so that
// the next export knows which files it may replace and which it must remove.
type folder struct {
	root     *os.Root
	previous map[string]string // SHA-256 by path; "" for files of an interrupted export
	vault    map[string]string // SHA-256 of the files of imported vaults, by path
	strange  []string          // files that neither an export wrote nor a vault had
	current  map[string]string
	dirs     map[string]bool
	modes    exchange.Modes
	journal  *os.File // paths of the files that this export writes, one a line
}

// The names of the folder's own files begin with a dot, because vaults ignore such files.
const (
	manifestName = ".loregate-export"         // lists the files of the last export
	journalName  = ".loregate-export-journal" // lists the files of an interrupted export
	partName     = ".loregate-export-part"    // the file being written, before it is renamed
)

type manifest struct {
	Loregate int               `json:"loregate"`
	Files    map[string]string `json:"files"`
}

// openFolder prepares a folder for an export. It refuses a folder with files that were edited since
// the last export or import. It also refuses one with files that no export wrote, unless the export
// contains files of a vault: these may lie beside others.
func openFolder(dir string, modes exchange.Modes, vault map[string]string) (*folder, error) {
	if err := os.MkdirAll(dir, modes.Dir); err != nil {
		return nil, fault.New(fault.Invalid, "the folder cannot be created").Because(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the folder cannot be opened").Because(err)
	}
	f := &folder{root: root, modes: modes, previous: map[string]string{}, vault: vault, current: map[string]string{},
		dirs: map[string]bool{".": true}}
	if err := f.checkContents(); err != nil {
		f.close()
		return nil, err
	}
	if f.journal, err = root.OpenFile(journalName, os.O_CREATE|os.O_APPEND|os.O_WRONLY, modes.File); err != nil {
		f.close()
		return nil, f.writeError(err)
	}
	return f, nil
}

func (f *folder) close() {
	if f.journal != nil {
		_ = f.journal.Close() // the journal is needed only after a crash
	}
	_ = f.root.Close()
}

func (f *folder) checkContents() error {
	if err := f.loadManifest(); err != nil {
		return err
	}
	var edited []string
	err := fs.WalkDir(f.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == "." {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		sum, ours := f.previous[p]
		imported, fromVault := f.vault[p]
		if !ours && !fromVault || !d.Type().IsRegular() {
			f.strange = append(f.strange, p)
			return nil
		}
		data, err := f.root.ReadFile(p)
		if now := HashOf(data); err == nil && now != imported && (!ours || sum != "" && sum != now) {
			edited = append(edited, p)
		}
		return err
	})
	switch {
	case err != nil:
		return fault.New(fault.Invalid, "the folder cannot be read").Because(err)
	case len(f.strange) > 0 && len(f.vault) == 0:
		return fault.New(fault.Conflict, "the folder contains files that no export wrote (%s); choose an empty folder",
			exchange.FirstNames(f.strange))
	case len(edited) > 0:
		return fault.New(fault.Conflict,
			"files were changed since the last export or import (%s); import them, or choose an empty folder",
			exchange.FirstNames(edited))
	}
	return nil
}

func (f *folder) loadManifest() error {
	defer f.loadJournal()
	data, err := f.root.ReadFile(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	m := manifest{Files: f.previous}
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return fault.New(fault.Invalid,
			"the list of the last export cannot be read; remove %s with the files it lists, or choose an empty folder",
			manifestName).Because(err)
	}
	f.previous = m.Files
	if f.previous == nil {
		f.previous = map[string]string{}
	}
	return nil
}

func (f *folder) loadJournal() {
	data, err := f.root.ReadFile(journalName)
	if err != nil {
		return // there is no journal
	}
	for p := range strings.Lines(string(data)) {
		f.previous[strings.TrimSuffix(p, "\n")] = ""
	}
}

// writeFile writes a file atomically. It leaves a file alone that already has these bytes.
func (f *folder) writeFile(p string, data []byte) error {
	f.current[p] = HashOf(data)
	if there, err := f.root.ReadFile(p); err == nil && bytes.Equal(there, data) {
		return nil
	}
	if _, err := f.journal.WriteString(p + "\n"); err != nil {
		return f.writeError(err)
	}
	if dir := path.Dir(p); !f.dirs[dir] {
		if err := f.root.MkdirAll(dir, f.modes.Dir); err != nil {
			return f.writeError(err)
		}
		f.dirs[dir] = true
	}
	return f.replaceFile(p, data)
}

func (f *folder) replaceFile(p string, data []byte) error {
	_ = f.root.Remove(partName) // one that an interrupted export left may have other permissions
	if err := f.root.WriteFile(partName, data, f.modes.File); err != nil {
		return f.writeError(err)
	}
	if err := f.root.Rename(partName, p); err != nil {
		return f.writeError(err)
	}
	return nil
}

// writeVaults names the vaults whose notes the folder holds.
func (f *folder) writeVaults(names VaultNames) error {
	names.Vaults = slices.DeleteFunc(names.Vaults, func(l string) bool { return l == "" })
	if len(names.Vaults) == 0 {
		return nil
	}
	data, err := json.MarshalIndent(names, "", " ")
	if err != nil {
		return err
	}
	if err := f.root.MkdirAll(path.Dir(VaultFile), f.modes.Dir); err != nil {
		return f.writeError(err)
	}
	return f.replaceFile(VaultFile, append(data, '\n'))
}

func (f *folder) writeError(err error) error {
	return fault.New(fault.Unavailable, "the folder cannot be written; check the free space and the permissions").Because(err)
}

func (f *folder) writeManifest(files map[string]string) error {
	data, err := json.MarshalIndent(manifest{1, files}, "", " ")
	if err != nil {
		return err
	}
	return f.replaceFile(manifestName, append(data, '\n'))
}

// finishExport removes the files of the last export that this one did not write, and writes the
// manifest.
func (f *folder) finishExport() error {
	kept := map[string]bool{}
	for p := range f.current {
		kept[exchange.FoldCase(p)] = true
	}
	var gone []string
	for _, files := range []map[string]string{f.previous, f.vault} {
		for p := range files {
			if _, ok := f.current[p]; !ok {
				gone = append(gone, p)
			}
		}
	}
	slices.Sort(gone)
	gone = slices.Compact(gone)
	for _, p := range gone {
		if kept[exchange.FoldCase(p)] && f.isSameFile(p) {
			continue
		}
		if err := f.root.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f.writeError(err)
		}
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if f.root.Remove(dir) != nil {
				break // the directory holds other files
			}
		}
	}
	if err := f.writeManifest(f.current); err != nil {
		return err
	}
	if err := f.root.Remove(journalName); err != nil {
		return f.writeError(err)
	}
	return nil
}

// isSameFile reports whether p is a file that this export just wrote under a name that differs only
// in case. This happens on file systems that ignore case.
func (f *folder) isSameFile(p string) bool {
	data, err := f.root.ReadFile(p)
	if err != nil {
		return false
	}
	for q, sum := range f.current {
		if exchange.FoldCase(q) == exchange.FoldCase(p) && sum == HashOf(data) {
			a, err1 := f.root.Stat(p)
			b, err2 := f.root.Stat(q)
			return err1 == nil && err2 == nil && os.SameFile(a, b)
		}
	}
	return false
}
