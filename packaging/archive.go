package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file to be packed.
type entry struct {
	name string // path in the archive, with slashes
	data []byte
	mode os.FileMode // permission bits
}

// readEntry reads a file of the disk as an entry.
func readEntry(name, path string, mode os.FileMode) (entry, error) {
	data, err := os.ReadFile(path)
	return entry{name, data, mode}, err
}

// sortEntries returns the entries in the order of their names.
func sortEntries(entries []entry) []entry {
	return slices.SortedFunc(slices.Values(entries), func(a, b entry) int { return strings.Compare(a.name, b.name) })
}

// writeZip packs entries as zip with fixed times. zip keeps times to two seconds.
func writeZip(w io.Writer, entries []entry, at time.Time) error {
	z := zip.NewWriter(w)
	for _, e := range sortEntries(entries) {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at.Truncate(2 * time.Second)}
		h.SetMode(e.mode)
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(e.data); err != nil {
			return err
		}
	}
	return z.Close()
}

// writeTar packs entries as tar, owned by root.
func writeTar(w io.Writer, entries []entry, at time.Time) error {
	t := tar.NewWriter(w)
	for _, e := range sortEntries(entries) {
		h := &tar.Header{Name: e.name, Mode: int64(e.mode), Size: int64(len(e.data)), ModTime: at, Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.data); err != nil {
			return err
		}
	}
	return t.Close()
}

// writeTarGz packs entries as tar and compresses them. The header of gzip names no file and no time.
func writeTarGz(w io.Writer, entries []entry, at time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := writeTar(z, entries, at); err != nil {
		return err
	}
	return z.Close()
}

// create writes a file of the release by a function.
func (r release) create(name string, write func(io.Writer) error) error {
	f, err := os.Create(r.path(name))
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.Close()
}

// writeArchive writes the program with its licence and, for Linux, the files of the folder deploy: a zip for Windows, a
// compressed tar for the other systems. All lies in one folder.
func (r release) writeArchive(t target, program string) error {
	name := fmt.Sprintf("loregate_%s_%s_%s", r.version, t.os, t.arch)
	sources := map[string]string{t.programName(): program}
	for _, file := range []string{"LICENSE", "README.md"} {
		sources[file] = filepath.Join(r.source, file)
	}
	if t.os == "linux" {
		files, err := os.ReadDir(filepath.Join(r.source, "deploy"))
		if err != nil {
			return err
		}
		for _, file := range files {
			if file.Type().IsRegular() {
				sources["deploy/"+file.Name()] = filepath.Join(r.source, "deploy", file.Name())
			}
		}
	}
	var entries []entry
	for to, from := range sources {
		mode := os.FileMode(0o644)
		if info, err := os.Stat(from); err == nil && info.Mode()&0o100 != 0 { // a missing file is found below
			mode = 0o755
		}
		e, err := readEntry(name+"/"+to, from, mode)
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	if t.os == "windows" {
		return r.create(name+".zip", func(w io.Writer) error { return writeZip(w, entries, r.time) })
	}
	return r.create(name+".tar.gz", func(w io.Writer) error { return writeTarGz(w, entries, r.time) })
}
