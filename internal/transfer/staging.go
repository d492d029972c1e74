package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Limits of sources.
const (
	maxSource  = 64 << 20       // bytes of a source
	maxSources = 32             // sources that wait at once
	maxWait    = 24 * time.Hour // time for which a source waits
)

// staging is the folder in which sources wait. Below it is a folder for each source, which holds one file in a
// folder of a fixed name: importers derive the ids of cards from that name.
type staging struct {
	folder string
	now    func() time.Time
}

// sourceOf returns the id of a person's source for a world. It is no secret: operations read only the
// source of their own caller.
func sourceOf(g access.Grant) string {
	sum := sha256.Sum256([]byte(g.World().String() + " " + string(g.Caller().Subject)))
	return hex.EncodeToString(sum[:12])
}

const uploadFolder = "upload"

// put stores a source in place of the person's earlier one.
func (s staging) put(source, name string, data io.Reader) (err error) {
	defer fault.Wrap(&err, "transfer: store a source")
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := root.RemoveAll(source); err != nil {
		return err
	}
	if err := s.checkRoom(root); err != nil {
		return err
	}
	if err := root.MkdirAll(filepath.Join(source, uploadFolder), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(filepath.Join(source, uploadFolder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, data)
	return errors.Join(err, f.Close())
}

// checkRoom removes the sources that have waited for too long, and refuses another one if too many are left.
func (s staging) checkRoom(root *os.Root) error {
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	left := 0
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			continue // removed in the meantime
		}
		if s.now().Sub(info.ModTime()) < maxWait {
			left++
			continue
		}
		if err := root.RemoveAll(e.Name()); err != nil {
			return err
		}
	}
	if left >= maxSources {
		return fault.New(fault.Unavailable, "%d imports of others wait on this server; try again when one is done",
			maxSources)
	}
	return nil
}

// findFile returns the path of a source and the SHA-256 of its bytes.
func (s staging) findFile(source string) (path, sum string, err error) {
	absent := fault.New(fault.NotFound, "the files are no longer on this server; send them again with check_import")
	dir := filepath.Join(s.folder, source, uploadFolder)
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(list) != 1 {
		return "", "", absent
	}
	if err != nil {
		return "", "", fmt.Errorf("transfer: find a source: %w", err)
	}
	path = filepath.Join(dir, list[0].Name())
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", absent
	}
	if err != nil {
		return "", "", fmt.Errorf("transfer: find a source: %w", err)
	}
	hash := sha256.New()
	_, err = io.Copy(hash, f)
	return path, hex.EncodeToString(hash.Sum(nil)), errors.Join(err, f.Close())
}

func (s staging) removeSource(source string) error {
	return os.RemoveAll(filepath.Join(s.folder, source))
}
