package exchange

import (
	"errors"
	"os"
	"path/filepath"

	"loregate/internal/fault"
)

// WriteNewFile calls write with a new file, which gets its name once it is complete. An existing file is
// refused, and after an error nothing is left.
func WriteNewFile(name string, write func(*os.File) error) error {
	if _, err := os.Lstat(name); err == nil {
		return fault.New(fault.Conflict, "export: %s exists already; name a new file", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".export-*")
	if err != nil {
		return fault.New(fault.Invalid, "export: the folder of %s cannot be written to", name).Because(err)
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		return os.Rename(f.Name(), name)
	}
	return errors.Join(err, os.Remove(f.Name()))
}
