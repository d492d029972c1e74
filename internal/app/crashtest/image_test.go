package crashtest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// loss is what a power cut does to what was written and not synced.
type loss struct {
	name   string
	keep   float64 // how much of it is on the disk all the same
	sector int     // size of what is written whole or not at all; 0: whole writes
	prefix bool    // it reached the disk in order, up to some point
	stale  bool    // what is missing inside a file reads as old junk, and not as zeros
}

// losses are the ways in which disks are known to behave. All obey syncs.
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
	safe    []byte   // what was synced
	pending []diskOp // what came after that
	named   bool     // its name is safe
}

// image writes what is on the disk after a power cut before operation number cut to a
// folder. A disk that lies takes no notice of syncs.
func (d *disk) image(to string, cut int, how loss, lies bool, r *rand.Rand) error {
	// File 1 is the store's, which is opened first, and that of records has its name after.
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
				// The first sync of a journal that SQLite made syncs the folder too: what
				// names stand for, and which are gone, is safe.
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
	// The store's file was made by the program before SQLite opened it.
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
		if err := os.WriteFile(filepath.Join(to, filepath.Base(path)), f.left(how, r), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// sync makes safe what was written.
func (f *inode) sync() {
	f.safe = left(f.safe, f.pending, loss{keep: 1}, nil)
	f.pending = nil
}

func (f *inode) left(how loss, r *rand.Rand) []byte { return left(f.safe, f.pending, how, r) }

// left is what a cut leaves of a file.
func left(safe []byte, pending []diskOp, how loss, r *rand.Rand) []byte {
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
		for _, p := range pieces(o, how.sector) {
			if kept() {
				b = extend(b, int(p.at)+len(p.data), how, r)
				copy(b[p.at:], p.data)
			}
		}
	}
	return b
}

// pieces splits a write at sector boundaries.
func pieces(o diskOp, sector int) (list []diskOp) {
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

// extend makes a file at least so long.
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
