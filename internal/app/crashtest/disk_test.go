package crashtest

import (
	"cmp"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// disk records, in order, everything that SQLite does to the files of one folder. It
// stands between SQLite and SQLite's own access to files, which does the work. Syncs are
// recorded and not done: what they promise is what an image of the disk is made by.
type disk struct {
	dir string
	// instead are pragmas of which SQLite is given another value than the program set,
	// while the program is told that its own took: by name, what is given and what is
	// told. So a control runs with synchronous NORMAL, for which the program has no switch.
	instead map[string][2]string

	mu    sync.Mutex
	ops   []diskOp       // guarded by mu
	named map[string]int // guarded by mu: path to file number
	files int            // guarded by mu: numbers given out
	bad   outage         // guarded by mu
}

// outage is a disk that does not do what it should.
type outage struct {
	after  int   // operations that it still does
	times  int   // operations that it then fails; below 0 all
	answer int32 // what it answers them with; 0 for what each fails with
	failed int
}

// breaks makes the disk fail from some operation on; the zero outage mends it. It gives
// how many operations failed before.
func (d *disk) breaks(o outage) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	failed := d.bad.failed
	d.bad = o
	return failed
}

// try records an operation, or fails it with the answer of an outage or its own.
func (d *disk) try(o diskOp, own int32) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bad.times != 0 {
		if d.bad.after--; d.bad.after < 0 {
			d.bad.times--
			d.bad.failed++
			return cmp.Or(d.bad.answer, own)
		}
	}
	d.ops = append(d.ops, o)
	return lib.SQLITE_OK
}

type opKind int

const (
	opCreate opKind = iota // a file appears under a name
	opWrite
	opTruncate
	opSync   // what was done to the file before is safe
	opDelete // a name goes; at is 1 where the folder was synced along
)

// diskOp is one thing that happened to a file. Files are numbered, for a name can stand
// for one after the other.
type diskOp struct {
	kind opKind
	file int
	path string
	at   int64
	data []byte
}

// now is the number of operations so far, a point in time.
func (d *disk) now() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.ops)
}

// opened gives the number of the file that a path names.
func (d *disk) opened(path string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n, ok := d.named[path]; ok {
		return n
	}
	d.files++
	d.named[path] = d.files
	d.ops = append(d.ops, diskOp{kind: opCreate, file: d.files, path: path})
	return d.files
}

func (d *disk) deleted(path string, synced bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n, ok := d.named[path]; ok {
		delete(d.named, path)
		o := diskOp{kind: opDelete, file: n, path: path}
		if synced {
			o.at = 1
		}
		d.ops = append(d.ops, o)
	}
}

// shim is what stands between, for the whole process.
var shim struct {
	once sync.Once
	own  *lib.Tsqlite3_vfs

	mu      sync.RWMutex
	disks   map[string]*disk    // guarded by mu: by folder
	files   map[uintptr]handle  // guarded by mu: by SQLite's handle
	methods map[uintptr]uintptr // guarded by mu: by those they stand before
}

// handle is an open file of a recorded folder.
type handle struct {
	disk *disk
	file int
	own  *lib.Tsqlite3_io_methods
}

// record makes a disk of a folder.
func record(t testing.TB, dir string, instead map[string][2]string) *disk {
	t.Helper()
	shim.once.Do(func() { stand(t) })
	d := &disk{dir: dir, instead: instead, named: map[string]int{}}
	shim.mu.Lock()
	defer shim.mu.Unlock()
	shim.disks[dir] = d
	t.Cleanup(func() {
		shim.mu.Lock()
		defer shim.mu.Unlock()
		delete(shim.disks, dir)
	})
	return d
}

// stand makes SQLite open files through the shim.
func stand(t testing.TB) {
	t.Helper()
	tls := libc.NewTLS()
	if rc := lib.Xsqlite3_initialize(tls); rc != lib.SQLITE_OK {
		t.Fatalf("sqlite3_initialize: %d", rc)
	}
	name, err := libc.CString("recorded")
	if err != nil {
		t.Fatal(err)
	}
	shim.disks, shim.files, shim.methods = map[string]*disk{}, map[uintptr]handle{}, map[uintptr]uintptr{}
	shim.own = there[lib.Tsqlite3_vfs](lib.Xsqlite3_vfs_find(tls, 0))
	p := copied(tls, shim.own)
	between := there[lib.Tsqlite3_vfs](p)
	between.FzName, between.FpNext = name, 0
	between.FxOpen, between.FxDelete = address(diskOpen), address(diskDelete)
	if rc := lib.Xsqlite3_vfs_register(tls, p, 1); rc != lib.SQLITE_OK {
		t.Fatalf("sqlite3_vfs_register: %d", rc)
	}
}

// copied is a copy in SQLite's own memory, for good.
func copied[T any](tls *libc.TLS, v *T) uintptr {
	p := lib.Xsqlite3_malloc(tls, int32(unsafe.Sizeof(*v)))
	*there[T](p) = *v
	return p
}

// there is what lies at an address of SQLite's.
func there[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// address and function turn a function into the address that SQLite calls it by, and
// back. It must be declared at the top level.
func address[F any](f F) uintptr  { return *(*uintptr)(unsafe.Pointer(&f)) }
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

type (
	openFunc     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	deleteFunc   = func(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32
	closeFunc    = func(tls *libc.TLS, file uintptr) int32
	writeFunc    = func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32
	truncateFunc = func(tls *libc.TLS, file uintptr, size int64) int32
	controlFunc  = func(tls *libc.TLS, file uintptr, op int32, arg uintptr) int32
)

func diskOpen(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	rc := function[openFunc](shim.own.FxOpen)(tls, vfs, name, file, flags, outFlags)
	if rc != lib.SQLITE_OK || name == 0 {
		return rc
	}
	path := libc.GoString(name)
	shim.mu.Lock()
	defer shim.mu.Unlock()
	d := shim.disks[filepath.Dir(path)]
	if d == nil {
		return rc
	}
	base := there[lib.Tsqlite3_file](file)
	own := base.FpMethods
	if shim.methods[own] == 0 {
		shim.methods[own] = copied(tls, there[lib.Tsqlite3_io_methods](own))
		m := there[lib.Tsqlite3_io_methods](shim.methods[own])
		m.FxClose, m.FxWrite, m.FxTruncate = address(diskClose), address(diskWrite), address(diskTruncate)
		m.FxSync, m.FxFileControl = address(diskSync), address(diskControl)
	}
	shim.files[file] = handle{d, d.opened(path), there[lib.Tsqlite3_io_methods](own)}
	base.FpMethods = shim.methods[own]
	return rc
}

func diskDelete(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32 {
	path := libc.GoString(name)
	shim.mu.RLock()
	d := shim.disks[filepath.Dir(path)]
	shim.mu.RUnlock()
	if d != nil {
		d.deleted(path, syncDir != 0)
	}
	return function[deleteFunc](shim.own.FxDelete)(tls, vfs, name, syncDir)
}

func handleOf(file uintptr) handle {
	shim.mu.RLock()
	defer shim.mu.RUnlock()
	return shim.files[file]
}

func diskClose(tls *libc.TLS, file uintptr) int32 {
	h := handleOf(file)
	shim.mu.Lock()
	delete(shim.files, file)
	shim.mu.Unlock()
	return function[closeFunc](h.own.FxClose)(tls, file)
}

func diskWrite(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
	h := handleOf(file)
	o := diskOp{kind: opWrite, file: h.file, at: at, data: slices.Clone(unsafe.Slice(there[byte](data), n))}
	if rc := h.disk.try(o, lib.SQLITE_IOERR_WRITE); rc != lib.SQLITE_OK {
		return rc
	}
	return function[writeFunc](h.own.FxWrite)(tls, file, data, n, at)
}

func diskTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	h := handleOf(file)
	if rc := h.disk.try(diskOp{kind: opTruncate, file: h.file, at: size}, lib.SQLITE_IOERR_TRUNCATE); rc != lib.SQLITE_OK {
		return rc
	}
	return function[truncateFunc](h.own.FxTruncate)(tls, file, size)
}

func diskSync(_ *libc.TLS, file uintptr, _ int32) int32 {
	h := handleOf(file)
	return h.disk.try(diskOp{kind: opSync, file: h.file}, lib.SQLITE_IOERR_FSYNC)
}

// diskControl sees every pragma before SQLite acts on it.
func diskControl(tls *libc.TLS, file uintptr, op int32, arg uintptr) int32 {
	h := handleOf(file)
	if op == lib.SQLITE_FCNTL_PRAGMA {
		words := there[[3]uintptr](arg) // the answer to give, the name, the value or 0
		if other, ok := h.disk.instead[libc.GoString(words[1])]; ok {
			if words[2] == 0 {
				words[0] = text(tls, other[1])
				return lib.SQLITE_OK
			}
			overwrite(words[2], other[0])
		}
	}
	return function[controlFunc](h.own.FxFileControl)(tls, file, op, arg)
}

// text is a string in SQLite's own memory.
func text(tls *libc.TLS, s string) uintptr {
	p := lib.Xsqlite3_malloc(tls, int32(len(s)+1))
	copy(unsafe.Slice(there[byte](p), len(s)+1), s+"\x00")
	return p
}

// overwrite puts a string in the place of one that is at least as long.
func overwrite(p uintptr, s string) {
	if len(libc.GoString(p)) >= len(s) {
		copy(unsafe.Slice(there[byte](p), len(s)+1), s+"\x00")
	}
}
