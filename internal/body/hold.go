package body

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"

	"loregate/internal/disk"
	"loregate/internal/fault"
)

// Uncounted is the number of bytes of a body that no budget counts: a connection takes about as much by itself. Small
// calls are therefore never refused because of large ones.
const Uncounted = 16 << 10

// Hold is the part of the budgets that one request has. It is safe for concurrent use. A nil Hold counts nothing, and
// keeps files in memory: it is for calls from this process. A released Hold counts nothing either.
type Hold struct {
	in *Intake
	by owner

	mu      sync.Mutex
	done    bool  // guarded by mu, as all below
	memory  int64 // of bodies and handlers
	loads   int64 // whole files that are being loaded
	answers int64 // in memory, that wait for the client
	disk    int64
	files   []*File
}

// NewHold returns a Hold for a request of a caller in a world; "" if the caller or the world is not known. Release it.
func (in *Intake) NewHold(caller, world string) *Hold {
	return &Hold{in: in, by: owner{caller, world}}
}

// SetWorld names the world of a request that holds nothing yet.
func (h *Hold) SetWorld(world string) { h.by[ofWorld] = world }

// Release closes all files and gives everything back.
func (h *Hold) Release() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.files {
		f.close()
	}
	h.files, h.done = nil, true
	h.in.memory.giveBack(&h.by, &h.memory)
	h.in.loads.giveBack(&h.by, &h.loads)
	h.in.answers.giveBack(&h.by, &h.answers)
	h.in.disk.giveBack(&h.by, &h.disk)
}

// ReleaseMemory gives the memory back. The request uses none of its bytes any more.
func (h *Hold) ReleaseMemory() {
	if h != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.in.memory.giveBack(&h.by, &h.memory)
		h.in.loads.giveBack(&h.by, &h.loads)
	}
}

// BeginLoad waits a little for the turn of a request whose handler loads a whole file of unknown size. ReleaseMemory ends
// the turn. Call it before anything of the store is open.
func (h *Hold) BeginLoad(ctx context.Context) error {
	if h == nil {
		return nil
	}
	return h.takeBytes(ctx, h.in.loads, &h.loads, 1)
}

// Reserve counts bytes that the request is about to have in memory. It waits a little for room; see budget.takeRoom for its
// errors.
func (h *Hold) Reserve(ctx context.Context, bytes int64) error {
	if h == nil || bytes <= 0 {
		return nil
	}
	return h.takeBytes(ctx, h.in.memory, &h.memory, bytes)
}

// takeBytes takes bytes of a budget for a request that has *held already.
func (h *Hold) takeBytes(ctx context.Context, b *budget, held *int64, bytes int64) error {
	h.mu.Lock()
	own, done := *held, h.done
	h.mu.Unlock()
	if done {
		return nil
	}
	if err := b.takeRoom(ctx, &h.by, own, bytes); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if *held += bytes; h.done {
		b.giveBack(&h.by, held)
	}
	return nil
}

// addFile makes a file end with the Hold.
func (h *Hold) addFile(f *File) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.files = append(h.files, f); h.done {
		f.close()
	}
}

// ErrTooLarge means that a body has more bytes than its limit.
var ErrTooLarge = errors.New("body: larger than its limit")

// Source is a body to read. Size is its announced number of bytes, or -1; more than Limit bytes are ErrTooLarge. Weight
// is the number of bytes of memory that each byte of a body in memory takes while it is handled; 0 is 1.
type Source struct {
	io.Reader
	Size, Limit int64
	Weight      int64
}

// ReadAll reads a body into memory. The room for an announced size is taken before a byte is read; memory is used for
// the bytes that arrive alone.
func (h *Hold) ReadAll(ctx context.Context, s Source) ([]byte, error) {
	if s.Size > s.Limit {
		return nil, ErrTooLarge
	}
	s.Weight = max(s.Weight, 1)
	counted := int64(0)
	count := func(bytes int64) error {
		more := (bytes-Uncounted)*s.Weight - counted
		if more <= 0 {
			return nil
		}
		counted += more
		return h.Reserve(ctx, more)
	}
	if err := count(s.Size); err != nil {
		return nil, err
	}
	b := make([]byte, 0, firstRoom(s.Size))
	for {
		n, err := s.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > s.Limit:
			return nil, ErrTooLarge
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		case len(b) < cap(b):
			continue
		}
		room := nextRoom(int64(cap(b)), s)
		if err := count(room); err != nil {
			return nil, err
		}
		b = append(make([]byte, 0, room), b...)
	}
}

// firstRoom returns the room for a body before it arrives: that for its announced size if it is small, and one byte in
// which the end is seen.
func firstRoom(size int64) int64 {
	if size < 0 {
		return 512
	}
	return min(size+1, Uncounted)
}

// nextRoom returns twice a room, or the room for the largest body.
func nextRoom(room int64, s Source) int64 {
	most := s.Limit + 1
	if s.Size >= room {
		most = s.Size + 1
	}
	return max(min(2*room, most), room+1)
}

// step is the number of bytes by which a file of unknown size takes room on disk.
const step = 1 << 20

// Spool reads a body into a File, which is on disk unless it is small.
func (h *Hold) Spool(ctx context.Context, s Source) (*File, error) {
	if s.Size > s.Limit {
		return nil, ErrTooLarge
	}
	w, err := h.Create(ctx, s.Size)
	if err != nil {
		return nil, err
	}
	if n, err := io.Copy(w, io.LimitReader(s.Reader, s.Limit+1)); err != nil {
		return nil, err
	} else if n > s.Limit {
		return nil, ErrTooLarge
	}
	return w.File(), nil
}

// maxInMemory bounds an answer that may wait in memory for its client: producing and sending a larger one costs far more
// than writing it to disk.
const maxInMemory = 1 << 20

// KeepAnswer returns a File with the bytes of an answer, which its client may read slowly, and gives back all memory that
// the request has reserved. A large answer goes to disk, and so does one of a caller whose answers take much memory
// already. The caller of KeepAnswer drops the bytes.
func (h *Hold) KeepAnswer(ctx context.Context, data []byte) (*File, error) {
	h.ReleaseMemory()
	f, size := &File{data: data, size: int64(len(data))}, int64(len(data))
	switch {
	case h == nil || size <= Uncounted:
		return f, nil
	case size <= maxInMemory && h.tryAnswer(size):
		return f, nil
	}
	w, err := h.Create(ctx, size)
	if err != nil {
		return nil, err
	}
	w.hash = nil
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	return w.File(), nil
}

// tryAnswer counts an answer in memory if there is room.
func (h *Hold) tryAnswer(size int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done || !h.in.answers.tryTake(&h.by, h.answers, size) {
		return false
	}
	h.answers += size
	return true
}

// Adopt makes the bytes of an open file a File, which the Hold closes. A nil Hold takes them into memory.
func (h *Hold) Adopt(ctx context.Context, f *os.File) (*File, error) {
	if h == nil {
		data, err := io.ReadAll(f)
		return Bytes(data), errors.Join(err, f.Close())
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	kept := &File{disk: f, size: info.Size()}
	h.addFile(kept)
	return kept, nil
}

// Load returns the bytes of a file. They are counted with a weight, as in Source.
func (h *Hold) Load(ctx context.Context, f *File, weight int64) ([]byte, error) {
	if f.disk == nil {
		return f.data, nil
	}
	if err := h.BeginLoad(ctx); err != nil {
		return nil, err
	}
	if err := h.Reserve(ctx, f.size*max(weight, 1)); err != nil {
		return nil, err
	}
	data := make([]byte, f.size)
	_, err := f.disk.ReadAt(data, 0)
	if err == io.EOF {
		err = nil
	}
	return data, err
}

// Writer makes a File of the bytes that are written to it.
type Writer struct {
	ctx  context.Context
	h    *Hold
	room int64 // on disk, that is taken
	file *File
	hash hash.Hash    // nil if nobody asks for the sum
	head bytes.Buffer // while there is no file on disk
	size int64
}

// Create returns a Writer of a file with an announced size, or -1, whose room on disk is taken at once.
func (h *Hold) Create(ctx context.Context, size int64) (*Writer, error) {
	w := &Writer{ctx: ctx, h: h, hash: sha256.New()}
	if h == nil || size <= Uncounted {
		return w, nil
	}
	return w, w.growFile(size)
}

func (w *Writer) growFile(bytes int64) error {
	if err := w.h.takeBytes(w.ctx, w.h.in.disk, &w.h.disk, bytes); err != nil {
		return err
	}
	w.room += bytes
	return nil
}

// Write takes bytes.
func (w *Writer) Write(p []byte) (int, error) {
	w.size += int64(len(p))
	if w.hash != nil {
		_, _ = w.hash.Write(p) // it never fails
	}
	if w.file == nil && (w.h == nil || w.size <= Uncounted) {
		return w.head.Write(p)
	}
	if w.size > w.room {
		if err := w.growFile(max(step, w.size-w.room)); err != nil {
			return 0, err
		}
	}
	if w.file == nil {
		if err := w.createFile(); err != nil {
			return 0, err
		}
	}
	n, err := w.file.disk.Write(p)
	return n, w.explainDisk(err)
}

// createFile creates the file on disk with the bytes that have come so far.
func (w *Writer) createFile() error {
	f, err := os.CreateTemp(w.h.in.folder, filePrefix)
	if err != nil {
		return w.explainDisk(fmt.Errorf("body: %w", err))
	}
	w.file = &File{disk: f}
	w.h.addFile(w.file)
	if os.Remove(f.Name()) != nil {
		w.file.name = f.Name() // the system keeps the names of open files
	}
	_, err = f.Write(w.head.Bytes())
	w.head = bytes.Buffer{}
	return w.explainDisk(err)
}

// explainDisk returns the error of a full disk in words for callers.
func (w *Writer) explainDisk(err error) error {
	if err == nil {
		return nil
	}
	if _, known := errors.AsType[*fault.Error](err); known {
		return err
	}
	return disk.Explain(w.h.in.folder, err)
}

// File returns the file. Nothing is written any more.
func (w *Writer) File() *File {
	if w.file == nil {
		w.file = &File{data: w.head.Bytes()}
	}
	w.file.size = w.size
	if w.hash != nil {
		w.file.sum = [sha256.Size]byte(w.hash.Sum(nil))
	}
	return w.file
}
