package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// outside is the place of the system's own root while the program's root is made.
const outside = "/.outside"

// enterRoot gives the process, which is alone in its namespaces, a root of its own: a file system in memory, on which
// only the readable paths, the devices, the processes of the namespace and the job's folder are mounted.
func (j job) enterRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts: %w", err)
	}
	// The new root is mounted on the job's folder only until it becomes the root.
	if err := unix.Mount("tmpfs", j.Source, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m,mode=755"); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	if err := os.Mkdir(j.Source+outside, 0o700); err != nil {
		return err
	}
	if err := unix.PivotRoot(j.Source, j.Source+outside); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	const plain = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	for _, path := range j.readable() {
		if err := show(path, path, plain|unix.MOUNT_ATTR_RDONLY); err != nil {
			return err
		}
	}
	for _, path := range devices {
		if err := show(path, path, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return err
		}
	}
	if err := mountNew("tmpfs", "/dev/shm", "size=64m,mode=700"); err != nil {
		return err
	}
	// Some containers allow no new /proc. Programs do without.
	switch err := mountNew("proc", "/proc", ""); {
	case err == nil: // its settings of the system may be written by the system's root, in every namespace
		if err := setAttributes("/proc", 0, plain|unix.MOUNT_ATTR_RDONLY); err != nil {
			return err
		}
	case !errors.Is(err, unix.EPERM):
		return err
	}
	if err := show(j.Source, j.Dir, plain|unix.MOUNT_ATTR_NOEXEC); err != nil {
		return err
	}
	if err := unix.Unmount(outside, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	if err := os.Remove(outside); err != nil {
		return err
	}
	return setAttributes("/", 0, plain|unix.MOUNT_ATTR_RDONLY)
}

func mountNew(kind, path, options string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(kind, path, kind, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, options); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// show makes a path of the system visible at a place: a link as a link, a folder or file by a mount. A path that does
// not exist is left out.
func show(path, at string, attributes uint64) error {
	info, err := os.Lstat(outside + path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(at), 0o755)
	}
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(outside + path)
		if err != nil {
			return err
		}
		return os.Symlink(target, at)
	case info.IsDir():
		err = os.MkdirAll(at, 0o755)
	default:
		err = os.WriteFile(at, nil, 0o600)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(outside+path, at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return setAttributes(at, unix.AT_RECURSIVE, attributes)
}

// setAttributes restricts the mount at a path, and with AT_RECURSIVE those below it. It needs Linux 5.12.
func setAttributes(path string, flags uint, attributes uint64) error {
	if err := unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: attributes}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
