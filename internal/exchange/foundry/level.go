package foundry

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
)

// Limits of one database.
const (
	maxLevelFiles = 10_000
	maxLevelBytes = 512 << 20
	maxRecords    = 500_000
)

// isLevelFolder reports whether the names of a folder's files are those of a LevelDB database.
func isLevelFolder(names []string) bool {
	for _, name := range names {
		if _, ok := parseLevelName(name); ok {
			return true
		}
	}
	return false
}

// parseLevelName returns the kind and number of a database file.
func parseLevelName(name string) (fd storage.FileDesc, ok bool) {
	if rest, found := strings.CutPrefix(name, "MANIFEST-"); found {
		n, err := strconv.ParseInt(rest, 10, 64)
		return storage.FileDesc{Type: storage.TypeManifest, Num: n}, err == nil
	}
	number, ending, _ := strings.Cut(name, ".")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return fd, false
	}
	switch ending {
	case "log":
		return storage.FileDesc{Type: storage.TypeJournal, Num: n}, true
	case "ldb", "sst":
		return storage.FileDesc{Type: storage.TypeTable, Num: n}, true
	}
	return fd, false
}

// readLevel calls each with the keys and values of a database, in the order of the keys. The folder is
// copied into memory, because opening it would write to it. recovered reports that the database has no
// list of its files (MANIFEST): then deleted records may be read again.
func readLevel(files fs.FS, dir string, each func(key string, value []byte) error) (recovered bool, err error) {
	mem, manifest, err := copyLevel(files, dir)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, mem.Close()) }()
	defer func() { // damaged blocks can make the library panic
		if r := recover(); r != nil {
			err = errors.New("the database is damaged")
		}
	}()
	o := &opt.Options{Filter: filter.NewBloomFilter(10), ErrorIfMissing: true, ReadOnly: true, Strict: opt.StrictAll}
	var db *leveldb.DB
	if manifest {
		db, err = leveldb.Open(mem, o)
	}
	if !manifest || err != nil {
		recovered = true
		if db, err = leveldb.Recover(mem, &opt.Options{Filter: o.Filter}); err != nil {
			return recovered, fmt.Errorf("the database cannot be read: %w", err)
		}
	}
	defer db.Close()
	it := db.NewIterator(nil, nil)
	defer it.Release()
	for n := 0; it.Next(); n++ {
		if n == maxRecords {
			return recovered, fmt.Errorf("the database has more than %d records", maxRecords)
		}
		if err := each(string(it.Key()), bytes.Clone(it.Value())); err != nil {
			return recovered, err
		}
	}
	return recovered, it.Error()
}

// copyLevel copies a database into memory. manifest reports whether its list of files is there.
func copyLevel(files fs.FS, dir string) (mem storage.Storage, manifest bool, err error) {
	list, err := fs.ReadDir(files, dir)
	if err != nil || len(list) > maxLevelFiles {
		return nil, false, errors.Join(err, errors.New("the folder cannot be read or holds too many files"))
	}
	mem = storage.NewMemStorage()
	left := int64(maxLevelBytes)
	held := map[string]storage.FileDesc{}
	for _, d := range list {
		fd, ok := parseLevelName(d.Name())
		if !ok || !d.Type().IsRegular() {
			continue
		}
		info, err := d.Info()
		if err != nil {
			return nil, false, err
		}
		if left -= info.Size(); left < 0 {
			return nil, false, fmt.Errorf("the database is larger than %d MiB", maxLevelBytes>>20)
		}
		data, err := fs.ReadFile(files, path.Join(dir, d.Name()))
		if err != nil {
			return nil, false, err
		}
		w, err := mem.Create(fd)
		if err != nil {
			return nil, false, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, false, err
		}
		if err := w.Close(); err != nil {
			return nil, false, err
		}
		held[d.Name()] = fd
	}
	current, err := fs.ReadFile(files, path.Join(dir, "CURRENT"))
	if err != nil {
		return mem, false, nil //nolint:nilerr // the database is recovered
	}
	fd, ok := held[strings.TrimSpace(string(current))]
	if !ok || fd.Type != storage.TypeManifest {
		return mem, false, nil
	}
	return mem, true, mem.SetMeta(fd)
}
