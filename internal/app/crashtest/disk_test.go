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

// disk records, in order, every change that SQLite makes to the files of one folder. It sits
// between SQLite and SQLite's own file access, which does the work. Syncs are recorded and not
// done: image uses them to tell which writes survive a power cut.
type disk struct {
	dir string
	// instead maps the name of a pragma to the value that SQLite gets and the value that the
	// program is told. The control uses it to run with synchronous NORMAL, for which the
	// program has no setting.
	instead map[string][2]string

	mu    sync.Mutex
	ops   []diskOp       // guarded by mu
	named map[string]int // guarded by mu: path to file number
	files int            // guarded by mu: numbers given to files so far
	bad   outage         // guarded by mu
}

// outage makes a disk fail.
type outage struct {
	after  int   // number of operations that still succeed
	times  int   // number of operations that then fail; below 0 all
	answer int32 // error code of the failures; 0 for each operation's own
	failed int
}

// setOutage makes the disk fail as o says; the zero outage mends it. It returns the number of
// operations that failed before.
func (d *disk) setOutage(o outage) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	failed := d.bad.failed
	d.bad = o
	return failed
}

// recordOrFail records an operation and returns SQLITE_OK. During an outage it returns the
// outage's error code instead, or own if the outage has none.
func (d *disk) recordOrFail(o diskOp, own int32) int32 {
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
	opCreate opKind = iota // a file gets a name
	opWrite
	opTruncate
	opSync   // the earlier writes to the file are safe
	opDelete // a name is removed; at is 1 if the folder was synced with it
)

// diskOp is one operation on a file. Files are numbered, since a name can belong to several
// files one after the other.
type diskOp struct {
	kind opKind
	file int
	path string
	at   int64
	data []byte
}

// opCount returns the number of operations so far. It serves as a point in time.
func (d *disk) opCount() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.ops)
}

// openFile returns the number of the file with this path, and numbers a new file.
func (d *disk) openFile(path string) int {
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

func (d *disk) deleteFile(path string, synced bool) {
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

// shim is the recording VFS of the whole process.
var shim struct {
	once sync.Once
	own  *lib.Tsqlite3_vfs

	mu      sync.RWMutex
	disks   map[string]*disk    // guarded by mu: by folder
	files   map[uintptr]handle  // guarded by mu: by SQLite's handle
	methods map[uintptr]uintptr // guarded by mu: recording methods by SQLite's own methods
}

// handle is an open file in a recorded folder.
type handle struct {
	disk *disk
	file int
	own  *lib.Tsqlite3_io_methods
}

// recordDisk records the file operations in a folder until the test ends.
func recordDisk(t testing.TB, dir string, instead map[string][2]string) *disk {
	t.Helper()
	shim.once.Do(func() { registerShim(t) })
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

// registerShim makes SQLite open files through the shim.
func registerShim(t testing.TB) {
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
	shim.own = ptrAt[lib.Tsqlite3_vfs](lib.Xsqlite3_vfs_find(tls, 0))
	p := copyToSQLite(tls, shim.own)
	between := ptrAt[lib.Tsqlite3_vfs](p)
	between.FzName, between.FpNext = name, 0
	between.FxOpen, between.FxDelete = funcToAddress(diskOpen), funcToAddress(diskDelete)
	if rc := lib.Xsqlite3_vfs_register(tls, p, 1); rc != lib.SQLITE_OK {
		t.Fatalf("sqlite3_vfs_register: %d", rc)
	}
}

// copyToSQLite copies a value into SQLite's memory, where it stays.
func copyToSQLite[T any](tls *libc.TLS, v *T) uintptr {
	p := lib.Xsqlite3_malloc(tls, int32(unsafe.Sizeof(*v)))
	*ptrAt[T](p) = *v
	return p
}

// ptrAt converts an address of SQLite's to a pointer.
func ptrAt[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// funcToAddress and addressToFunc convert between a Go function and the address by which SQLite
// calls it. The function must be declared at the top level.
func funcToAddress[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }
func addressToFunc[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

type (
	openFunc     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	deleteFunc   = func(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32
	closeFunc    = func(tls *libc.TLS, file uintptr) int32
	writeFunc    = func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32
	truncateFunc = func(tls *libc.TLS, file uintptr, size int64) int32
	controlFunc  = func(tls *libc.TLS, file uintptr, op int32, arg uintptr) int32
)

func diskOpen(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	rc := addressToFunc[openFunc](shim.own.FxOpen)(tls, vfs, name, file, flags, outFlags)
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
	base := ptrAt[lib.Tsqlite3_file](file)
	own := base.FpMethods
	if shim.methods[own] == 0 {
		shim.methods[own] = copyToSQLite(tls, ptrAt[lib.Tsqlite3_io_methods](own))
		m := ptrAt[lib.Tsqlite3_io_methods](shim.methods[own])
		m.FxClose, m.FxWrite, m.FxTruncate = funcToAddress(diskClose), funcToAddress(diskWrite), funcToAddress(diskTruncate)
		m.FxSync, m.FxFileControl = funcToAddress(diskSync), funcToAddress(diskControl)
	}
	shim.files[file] = handle{d, d.openFile(path), ptrAt[lib.Tsqlite3_io_methods](own)}
	base.FpMethods = shim.methods[own]
	return rc
}

func diskDelete(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32 {
	path := libc.GoString(name)
	shim.mu.RLock()
	d := shim.disks[filepath.Dir(path)]
	shim.mu.RUnlock()
	if d != nil {
		d.deleteFile(path, syncDir != 0)
	}
	return addressToFunc[deleteFunc](shim.own.FxDelete)(tls, vfs, name, syncDir)
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
	return addressToFunc[closeFunc](h.own.FxClose)(tls, file)
}

func diskWrite(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
	h := handleOf(file)
	o := diskOp{kind: opWrite, file: h.file, at: at, data: slices.Clone(unsafe.Slice(ptrAt[byte](data), n))}
	if rc := h.disk.recordOrFail(o, lib.SQLITE_IOERR_WRITE); rc != lib.SQLITE_OK {
		return rc
	}
	return addressToFunc[writeFunc](h.own.FxWrite)(tls, file, data, n, at)
}

func diskTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	h := handleOf(file)
	if rc := h.disk.recordOrFail(diskOp{kind: opTruncate, file: h.file, at: size},
		lib.SQLITE_IOERR_TRUNCATE); rc != lib.SQLITE_OK {
		return rc
	}
	return addressToFunc[truncateFunc](h.own.FxTruncate)(tls, file, size)
}

func diskSync(_ *libc.TLS, file uintptr, _ int32) int32 {
	h := handleOf(file)
	return h.disk.recordOrFail(diskOp{kind: opSync, file: h.file}, lib.SQLITE_IOERR_FSYNC)
}

// diskControl is called with every pragma before SQLite acts on it.
func diskControl(tls *libc.TLS, file uintptr, op int32, arg uintptr) int32 {
	h := handleOf(file)
	if op == lib.SQLITE_FCNTL_PRAGMA {
		words := ptrAt[[3]uintptr](arg) // the answer to give, the name, the value or 0
		if other, ok := h.disk.instead[libc.GoString(words[1])]; ok {
			if words[2] == 0 {
				words[0] = newCString(tls, other[1])
				return lib.SQLITE_OK
			}
			overwriteCString(words[2], other[0])
		}
	}
	return addressToFunc[controlFunc](h.own.FxFileControl)(tls, file, op, arg)
}

// newCString copies a string into SQLite's memory.
func newCString(tls *libc.TLS, s string) uintptr {
	p := lib.Xsqlite3_malloc(tls, int32(len(s)+1))
	copy(unsafe.Slice(ptrAt[byte](p), len(s)+1), s+"\x00")
	return p
}

// overwriteCString replaces a C string in place if the new string is not longer.
func overwriteCString(p uintptr, s string) {
	if len(libc.GoString(p)) >= len(s) {
		copy(unsafe.Slice(ptrAt[byte](p), len(s)+1), s+"\x00")
	}
}
