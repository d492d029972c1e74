package exchange

import (
	"errors"
	"io/fs"
	"os"

	"loregate/internal/fault"
)

// WriteNewFolder writes files, by name, to a folder. It creates the folder if it does not exist, and
// refuses one that holds any file.
func WriteNewFolder(dir string, files map[string][]byte) (err error) {
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return fault.New(fault.Conflict, "export: the folder %s is not empty; name a new one", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Invalid, "export: %s cannot be written to; name a folder", dir).Because(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fault.New(fault.Invalid, "export: the folder %s cannot be created", dir).Because(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fault.New(fault.Invalid, "export: the folder %s cannot be opened", dir).Because(err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, name := range SortedKeys(files) {
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			_, err = f.Write(files[name])
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return fault.New(fault.Invalid, "export: %s cannot be written", name).Because(err)
		}
	}
	return nil
}
