package exchange

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"loregate/internal/access"
	"loregate/internal/decoded"
	"loregate/internal/fault"
)

// Modes are the permissions of the folders and files that an export writes.
type Modes struct{ Dir, File fs.FileMode }

// ModesFor returns the permissions of an export of the cards that a level opens: only the owner reads the secrets of
// a GM or an admin.
func ModesFor(level access.Level) Modes {
	if level > access.LevelUser {
		return Modes{0o700, 0o600}
	}
	return Modes{0o755, 0o644}
}

// NewFolder is a folder that an export fills.
type NewFolder struct {
	root  *os.Root
	modes Modes
}

// OpenNewFolder creates a folder if it does not exist, and refuses one that holds any file. Close it.
func OpenNewFolder(dir string, modes Modes) (*NewFolder, error) {
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return nil, fault.New(fault.Conflict, "export: the folder %s is not empty; name a new one", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Invalid, "export: %s cannot be written to; name a folder", dir).Because(err)
	}
	if err := os.MkdirAll(dir, modes.Dir); err != nil {
		return nil, fault.New(fault.Invalid, "export: the folder %s cannot be created", dir).Because(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault.New(fault.Invalid, "export: the folder %s cannot be opened", dir).Because(err)
	}
	return &NewFolder{root, modes}, nil
}

// Write stores a new file by its slash-separated name.
func (n *NewFolder) Write(name string, data []byte) error {
	err := n.root.MkdirAll(path.Dir(name), n.modes.Dir)
	if err == nil {
		var f *os.File
		if f, err = n.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, n.modes.File); err == nil {
			_, err = f.Write(data)
			err = errors.Join(err, f.Close())
		}
	}
	if err != nil {
		return fault.New(fault.Invalid, "export: %s cannot be written", name).Because(err)
	}
	return nil
}

// Close releases the folder.
func (n *NewFolder) Close() error { return n.root.Close() }

// WriteNewFolder writes files, by name, to a folder; see OpenNewFolder.
func WriteNewFolder(dir string, modes Modes, files map[string][]byte) (err error) {
	n, err := OpenNewFolder(dir, modes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	for _, name := range decoded.SortedKeys(files) {
		if err := n.Write(name, files[name]); err != nil {
			return err
		}
	}
	return nil
}
