package exchange

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"loregate/internal/disk"
	"loregate/internal/fault"
)

// WriteNewFile calls write with a new file, which gets its name once it is complete. An existing file is
// refused, and after an error nothing is left.
func WriteNewFile(name string, write func(io.Writer) error) error {
	if _, err := os.Lstat(name); err == nil {
		return fault.New(fault.Conflict, "export: %s exists already; name a new file", name)
	}
	err := disk.WriteFile(name, write)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Invalid, "export: the folder of %s cannot be written to", name).Because(err)
	}
	return err
}
