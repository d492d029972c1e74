package exchange

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"loregate/internal/fault"
)

// folder is where an export goes. Its manifest lists what an export wrote there, so that
// the next one knows what it may replace and what it must take away.
type folder struct {
	root    *os.Root
	was     map[string]string // SHA-256 by path; "" where an export broke off
	now     map[string]string
	dirs    map[string]bool
	journal *os.File // paths that this export writes, a line each
}

// The folder's own files begin with a dot, as what is not part of a vault does.
const (
	manifestName = ".loregate-export"         // lists the last export
	journalName  = ".loregate-export-journal" // lists what an export that broke off wrote
	partName     = ".loregate-export-part"    // what is being written
)

type manifest struct {
	Loregate int               `json:"loregate"`
	Files    map[string]string `json:"files"`
}

// openFolder makes a folder ready to be written. It refuses one that holds files that no
// export wrote, and, unless overwrite is set, one whose files were edited since.
func openFolder(dir string, overwrite bool) (*folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fault.New(fault.Invalid, "the folder cannot be made").Because(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the folder cannot be opened").Because(err)
	}
	f := &folder{root: root, was: map[string]string{}, now: map[string]string{}, dirs: map[string]bool{".": true}}
	if err := f.check(overwrite); err != nil {
		f.close()
		return nil, err
	}
	if f.journal, err = root.OpenFile(journalName, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		f.close()
		return nil, f.failed(err)
	}
	return f, nil
}

func (f *folder) close() {
	if f.journal != nil {
		_ = f.journal.Close() // it only helps after a crash
	}
	_ = f.root.Close()
}

func (f *folder) check(overwrite bool) error {
	if err := f.load(); err != nil {
		return err
	}
	var strange, edited []string
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
		sum, ours := f.was[p]
		if !ours || !d.Type().IsRegular() {
			strange = append(strange, p)
			return nil
		}
		data, err := f.root.ReadFile(p)
		if err == nil && sum != "" && sum != digest(data) {
			edited = append(edited, p)
		}
		return err
	})
	switch {
	case err != nil:
		return fault.New(fault.Invalid, "the folder cannot be read").Because(err)
	case len(strange) > 0:
		return fault.New(fault.Conflict, "the folder holds files that no export wrote (%s); choose an empty folder", few(strange))
	case len(edited) > 0 && !overwrite:
		return fault.New(fault.Conflict, "files were changed since the last export (%s); import them first, then export with overwrite", few(edited))
	}
	return nil
}

// few names the first of several.
func few(list []string) string {
	if len(list) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:3], ", "), len(list)-3)
	}
	return strings.Join(list, ", ")
}

func (f *folder) load() error {
	defer f.loadJournal()
	data, err := f.root.ReadFile(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	m := manifest{Files: f.was}
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return fault.New(fault.Invalid, "the list of the last export cannot be read; remove %s with the files it lists, or choose an empty folder", manifestName).Because(err)
	}
	f.was = m.Files
	if f.was == nil {
		f.was = map[string]string{}
	}
	return nil
}

func (f *folder) loadJournal() {
	data, err := f.root.ReadFile(journalName)
	if err != nil {
		return // there is none
	}
	for p := range strings.Lines(string(data)) {
		f.was[strings.TrimSuffix(p, "\n")] = ""
	}
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// write puts a file in place, whole or not at all. A file that has the bytes is left.
func (f *folder) write(p string, data []byte) error {
	f.now[p] = digest(data)
	if there, err := f.root.ReadFile(p); err == nil && bytes.Equal(there, data) {
		return nil
	}
	if _, err := f.journal.WriteString(p + "\n"); err != nil {
		return f.failed(err)
	}
	if dir := path.Dir(p); !f.dirs[dir] {
		if err := f.root.MkdirAll(dir, 0o755); err != nil {
			return f.failed(err)
		}
		f.dirs[dir] = true
	}
	return f.replace(p, data)
}

func (f *folder) replace(p string, data []byte) error {
	if err := f.root.WriteFile(partName, data, 0o644); err != nil {
		return f.failed(err)
	}
	if err := f.root.Rename(partName, p); err != nil {
		return f.failed(err)
	}
	return nil
}

func (f *folder) failed(err error) error {
	return fault.New(fault.Unavailable, "the folder cannot be written; look at its space and rights").Because(err)
}

func (f *folder) list(files map[string]string) error {
	data, err := json.MarshalIndent(manifest{1, files}, "", " ")
	if err != nil {
		return err
	}
	return f.replace(manifestName, append(data, '\n'))
}

// finish takes away what the last export wrote and this one did not, and lists what is
// there.
func (f *folder) finish() error {
	kept := map[string]bool{}
	for p := range f.now {
		kept[folded(p)] = true
	}
	var gone []string
	for p := range f.was {
		if _, ok := f.now[p]; !ok {
			gone = append(gone, p)
		}
	}
	slices.Sort(gone)
	for _, p := range gone {
		if kept[folded(p)] && f.sameFile(p) {
			continue
		}
		if err := f.root.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f.failed(err)
		}
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if f.root.Remove(dir) != nil {
				break // it holds other files
			}
		}
	}
	if err := f.list(f.now); err != nil {
		return err
	}
	if err := f.root.Remove(journalName); err != nil {
		return f.failed(err)
	}
	return nil
}

// sameFile reports whether a path that differs in case only leads to a file just written,
// as it does where case does not count.
func (f *folder) sameFile(p string) bool {
	data, err := f.root.ReadFile(p)
	if err != nil {
		return false
	}
	for q, sum := range f.now {
		if folded(q) == folded(p) && sum == digest(data) {
			a, err1 := f.root.Stat(p)
			b, err2 := f.root.Stat(q)
			return err1 == nil && err2 == nil && os.SameFile(a, b)
		}
	}
	return false
}
