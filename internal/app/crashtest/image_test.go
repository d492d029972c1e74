package crashtest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// loss describes the effect of a power cut on writes that were not synced.
type loss struct {
	name   string
	keep   float64 // share of them that reached the disk
	sector int     // size of a unit that is written completely or not at all; 0: whole writes
	prefix bool    // they reached the disk in order, up to some point
	stale  bool    // missing data inside a file reads as old junk, not as zeros
}

// losses are the known behaviours of disks. All of these disks obey syncs.
var losses = []loss{
	{name: "all of it is lost"},
	{name: "nothing is lost", keep: 1},
	{name: "the end is lost", prefix: true, sector: 512},
	{name: "the end is lost, with junk", prefix: true, sector: 4096, stale: true},
	{name: "some writes are lost", keep: 0.5},
	{name: "most sectors are lost", keep: 0.2, sector: 512, stale: true},
	{name: "few sectors are lost", keep: 0.9, sector: 512},
	{name: "some blocks are lost", keep: 0.6, sector: 4096, stale: true},
}

// inode is a file as the disk has it.
type inode struct {
	safe    []byte   // synced content
	pending []diskOp // operations since the last sync
	named   bool     // the file's name is safe
}

// image writes the content of the disk to a folder, as it is after a power cut before operation
// number cut. A lying disk ignores syncs.
func (d *disk) image(to string, cut int, how loss, lies bool, r *rand.Rand) error {
	// File 1 is the store's file, since SQLite opens it first; the names of the access record
	// files start with its name.
	inodes, names, gone, journals := map[int]*inode{}, map[string]int{}, map[string]int{}, map[int]bool{}
	d.mu.Lock()
	ops := slices.Clone(d.ops[:cut])
	d.mu.Unlock()
	for _, o := range ops {
		f := inodes[o.file]
		switch o.kind {
		case opCreate:
			inodes[o.file], names[o.path] = &inode{}, o.file
			journals[o.file] = strings.HasSuffix(o.path, "-wal") || strings.HasSuffix(o.path, "-journal")
		case opWrite, opTruncate:
			f.pending = append(f.pending, o)
		case opSync:
			if lies {
				break
			}
			if f.sync(); !f.named && journals[o.file] {
				// SQLite also syncs the folder at the first sync of a journal: all names and
				// removals of names are then safe.
				clear(gone)
				for _, n := range names {
					inodes[n].named = true
				}
			}
		case opDelete:
			if delete(names, o.path); o.at == 0 {
				gone[o.path] = o.file
			}
		}
	}
	// The program creates the store's file before SQLite opens it.
	if err := os.WriteFile(filepath.Join(to, "loregate.db"), nil, 0o600); err != nil {
		return err
	}
	lost := func() bool { return how.keep < 1 && r.IntN(2) == 0 }
	for path, n := range gone {
		if now, ok := names[path]; (!ok || !inodes[now].named) && lost() {
			names[path] = n
		}
	}
	for path, n := range names {
		f := inodes[n]
		if !f.named && n != 1 && lost() {
			continue
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(path)), f.cut(how, r), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// sync makes the pending operations safe.
func (f *inode) sync() {
	f.safe = applyCut(f.safe, f.pending, loss{keep: 1}, nil)
	f.pending = nil
}

func (f *inode) cut(how loss, r *rand.Rand) []byte { return applyCut(f.safe, f.pending, how, r) }

// applyCut returns the content of a file after a power cut.
func applyCut(safe []byte, pending []diskOp, how loss, r *rand.Rand) []byte {
	b := slices.Clone(safe)
	end := len(pending)
	if how.prefix {
		end = r.IntN(len(pending) + 1)
	}
	for i, o := range pending {
		if how.prefix && i > end {
			break
		}
		kept := func() bool {
			return how.keep >= 1 || how.prefix && i < end || r.Float64() < how.keep || how.prefix && r.IntN(2) == 0
		}
		if o.kind == opTruncate {
			if kept() {
				b = extend(b, int(o.at), how, r)[:o.at]
			}
			continue
		}
		for _, p := range splitWrite(o, how.sector) {
			if kept() {
				b = extend(b, int(p.at)+len(p.data), how, r)
				copy(b[p.at:], p.data)
			}
		}
	}
	return b
}

// splitWrite splits a write at sector boundaries.
func splitWrite(o diskOp, sector int) (list []diskOp) {
	if sector == 0 {
		return []diskOp{o}
	}
	for len(o.data) > 0 {
		n := min(len(o.data), sector-int(o.at)%sector)
		list = append(list, diskOp{at: o.at, data: o.data[:n]})
		o.at, o.data = o.at+int64(n), o.data[n:]
	}
	return list
}

// extend makes a file at least size bytes long.
func extend(b []byte, size int, how loss, r *rand.Rand) []byte {
	for len(b) < size {
		junk := byte(0)
		if how.stale {
			junk = byte(r.UintN(256))
		}
		b = append(b, junk)
	}
	return b
}
