// Package blob stores bytes under their SHA-256: the artifacts of runs, and other content that is
// too large for the store. They are on disk, or in a bucket of which a folder on disk is a cache.
//
// Its invariant: a file with a blob's name has that blob's bytes. Content is written to a temporary
// file, synced, and renamed to its final name. Open verifies the bytes of a blob that is read to
// the end. No name and no link leads outside the folder. This package does not know who may see a
// blob; the code that hands out sums decides that.
package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"sync/atomic"
	"time"

	"loregate/internal/fault"
)

// Sum is the SHA-256 of a blob.
type Sum [sha256.Size]byte

// SumOf returns the sum of bytes in memory.
func SumOf(b []byte) Sum { return sha256.Sum256(b) }

// String returns the sum in hexadecimal.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// IsZero reports whether the sum is zero, which names no blob.
func (s Sum) order(o Sum) int { return bytes.Compare(s[:], o[:]) }

func (s Sum) IsZero() bool { return s == Sum{} }

// MarshalText returns the sum as its JSON form has it.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the output of String, and nothing else.
func (s *Sum) UnmarshalText(b []byte) error {
	if len(b) != 2*len(s) {
		return fmt.Errorf("a SHA-256 must have %d hexadecimal digits", 2*len(s))
	}
	_, err := hex.Decode(s[:], b)
	return err
}

// ParseSum parses the output of String.
func ParseSum(text string) (Sum, error) {
	var s Sum
	err := s.UnmarshalText([]byte(text))
	return s, err
}

// Ref is a blob's sum and size.
type Ref struct {
	Sum  Sum
	Size int64
}

// Store is a folder of blobs. It is safe for concurrent use, by several processes too.
type Store struct {
	root   *os.Root
	tmp    atomic.Uint64 // numbers temporary files of this process
	remote Remote        // nil if the folder is the store itself
	cache  cache
}

// Open opens a folder of blobs, and creates it if it does not exist. Close it.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	if err := root.MkdirAll("tmp", 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("blob: %w", err), root.Close())
	}
	return &Store{root: root}, nil
}

// Close closes the folder.
func (s *Store) Close() error { return s.root.Close() }

// blobPath returns the path of a blob in the folder: "ab/cdef…".
func blobPath(sum Sum) string {
	name := sum.String()
	return path.Join(name[:2], name[2:])
}

// Path returns a blob's path on disk, for programs that read files. In a cache the file stays for at
// least an hour.
func (s *Store) Path(ctx context.Context, sum Sum) (string, error) {
	if _, err := s.Touch(ctx, sum); err != nil {
		return "", err
	}
	if s.remote != nil {
		r, err := s.Open(ctx, sum)
		if err != nil {
			return "", err
		}
		if err := r.Close(); err != nil {
			return "", fmt.Errorf("blob: %w", err)
		}
	}
	return path.Join(s.root.Name(), blobPath(sum)), nil
}

// Put stores the bytes of r, durably, and returns their sum and size. Bytes that are already stored
// are not stored again; if r can seek, they are not even written. More than limit bytes are refused
// with fault.TooLarge; 0 is no limit.
func (s *Store) Put(ctx context.Context, r io.Reader, limit int64) (ref Ref, err error) {
	if twice, ok := r.(io.ReadSeeker); ok {
		if ref, found, err := s.findStored(ctx, twice, limit); found || err != nil {
			return ref, err
		}
	}
	if ref, err = s.putFile(ctx, r, limit); err != nil || s.remote == nil {
		return ref, err
	}
	if _, err := s.remote.Touch(ctx, ref.Sum); err == nil {
		return ref, s.trimCache(ref.Size)
	}
	f, err := s.root.Open(blobPath(ref.Sum))
	if err != nil {
		return ref, fmt.Errorf("blob: %w", err)
	}
	defer f.Close()
	if err := s.remote.Put(ctx, ref, f); err != nil {
		return ref, err
	}
	return ref, s.trimCache(ref.Size)
}

// putFile stores the bytes of r in the folder.
func (s *Store) putFile(ctx context.Context, r io.Reader, limit int64) (ref Ref, err error) {
	name := fmt.Sprintf("tmp/%d-%d", os.Getpid(), s.tmp.Add(1))
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return ref, fmt.Errorf("blob: %w", err)
	}
	defer func() {
		if err != nil {
			_ = s.root.Remove(name) // a later Sweep removes leftovers
		}
	}()
	ref, err = copySum(ctx, f, r, limit)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return ref, err
	}
	if _, err := s.statFile(ref.Sum); err == nil {
		s.touchFile(ref.Sum)
		return ref, s.root.Remove(name)
	}
	return ref, s.moveToPlace(name, ref.Sum)
}

// findStored reports whether the bytes of r are already stored; if not, it seeks r back to its
// start position.
func (s *Store) findStored(ctx context.Context, r io.ReadSeeker, limit int64) (Ref, bool, error) {
	at, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return Ref{}, false, nil // it cannot be read twice after all
	}
	ref, err := copySum(ctx, io.Discard, r, limit)
	if err != nil {
		return ref, false, err
	}
	if _, err := s.Touch(ctx, ref.Sum); err == nil {
		return ref, true, nil
	}
	if _, err := r.Seek(at, io.SeekStart); err != nil {
		return Ref{}, false, fmt.Errorf("blob: %w", err)
	}
	return Ref{}, false, nil
}

// Touch is Stat for a blob that is about to be referenced: it makes the blob young, and Sweep keeps
// young blobs.
func (s *Store) Touch(ctx context.Context, sum Sum) (Ref, error) {
	if s.remote != nil {
		return s.remote.Touch(ctx, sum)
	}
	ref, err := s.statFile(sum)
	if err == nil {
		s.touchFile(sum)
	}
	return ref, err
}

// touchFile sets a blob's time to now. If that fails, the blob keeps its old time.
func (s *Store) touchFile(sum Sum) {
	now := time.Now()
	_ = s.root.Chtimes(blobPath(sum), now, now)
}

// Sweep removes the blobs that keep does not accept. It keeps those that were put or touched at or
// after before, since somebody may be about to reference them. It calls gone for each removed blob;
// with dry it removes nothing but still calls gone.
func (s *Store) Sweep(ctx context.Context, before time.Time, keep func(Sum) bool, gone func(Ref), dry bool) error {
	for b, err := range s.eachDated(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if keep(b.Sum) || !b.At.Before(before) {
			continue
		}
		if !dry {
			if err := s.remove(ctx, b.Sum); err != nil {
				return err
			}
		}
		gone(b.Ref)
	}
	return s.sweepLeft(before, dry)
}

// remove removes a blob; it may be gone already.
func (s *Store) remove(ctx context.Context, sum Sum) error {
	if s.remote != nil {
		if err := s.remote.Remove(ctx, sum); err != nil {
			return err
		}
	}
	if err := s.root.Remove(blobPath(sum)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blob: %w", err)
	}
	return nil
}

// sweepLeft removes temporary files of writers that did not finish.
func (s *Store) sweepLeft(before time.Time, dry bool) error {
	list, err := fs.ReadDir(s.root.FS(), "tmp")
	if err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	for _, e := range list {
		info, err := e.Info()
		if err != nil || dry || !info.ModTime().Before(before) {
			continue // it is gone already, or young
		}
		if err := s.root.Remove(path.Join("tmp", e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("blob: %w", err)
		}
	}
	return nil
}

// moveToPlace renames a finished file to its final path, durably.
func (s *Store) moveToPlace(name string, sum Sum) error {
	at := blobPath(sum)
	if err := s.root.MkdirAll(path.Dir(at), 0o700); err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	if err := s.root.Rename(name, at); err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	return s.syncDir(path.Dir(at))
}

func (s *Store) syncDir(dir string) error {
	d, err := s.root.Open(dir)
	if err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		err = nil // some systems sync names on their own
	}
	return errors.Join(err, d.Close())
}

func copySum(ctx context.Context, w io.Writer, r io.Reader, limit int64) (Ref, error) {
	h := sha256.New()
	if limit > 0 {
		r = io.LimitReader(r, limit+1)
	}
	n, err := io.Copy(io.MultiWriter(w, h), &stoppable{ctx, r})
	if err != nil {
		return Ref{}, fmt.Errorf("blob: %w", err)
	}
	if limit > 0 && n > limit {
		return Ref{}, fault.New(fault.TooLarge, "the file is larger than %d bytes; send a smaller one",
			limit).With("limit_bytes", limit)
	}
	return Ref{Sum(h.Sum(nil)), n}, nil
}

// stoppable is a Reader that fails once its context ends.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

// NewAbsent returns the error for a sum without a blob: fault.NotFound.
func NewAbsent(sum Sum) error {
	return fault.New(fault.NotFound, "no file with SHA-256 %s is stored here", sum)
}

// Stat returns a blob's size; fault.NotFound if the blob does not exist.
func (s *Store) Stat(ctx context.Context, sum Sum) (Ref, error) {
	if s.remote != nil {
		return s.remote.Stat(ctx, sum)
	}
	return s.statFile(sum)
}

func (s *Store) statFile(sum Sum) (Ref, error) {
	info, err := s.root.Lstat(blobPath(sum))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return Ref{}, NewAbsent(sum)
	}
	if err != nil {
		return Ref{}, fmt.Errorf("blob: %w", err)
	}
	return Ref{sum, info.Size()}, nil
}

// Open returns a reader of a blob's bytes. If the bytes do not match the sum, the reader returns
// ErrDamaged at the end in place of io.EOF. Close it.
func (s *Store) Open(ctx context.Context, sum Sum) (io.ReadCloser, error) {
	f, err := s.root.Open(blobPath(sum))
	if errors.Is(err, fs.ErrNotExist) && s.remote != nil {
		if err = s.fetch(ctx, sum); err != nil {
			return nil, err
		}
		f, err = s.root.Open(blobPath(sum))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, NewAbsent(sum)
	}
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	if s.remote != nil {
		s.touchFile(sum) // it was used
	}
	return &checked{f: f, want: sum, h: sha256.New()}, nil
}

// Bytes returns all bytes of a blob, verified.
func (s *Store) Bytes(ctx context.Context, sum Sum) ([]byte, error) {
	b, err := s.readBytes(ctx, sum)
	if errors.Is(err, ErrDamaged) && s.remote != nil {
		// The copy in the cache is damaged: fetch it again.
		if err := s.root.Remove(blobPath(sum)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("blob: %w", err)
		}
		return s.readBytes(ctx, sum)
	}
	return b, err
}

func (s *Store) readBytes(ctx context.Context, sum Sum) ([]byte, error) {
	r, err := s.Open(ctx, sum)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// ErrDamaged means that stored bytes do not match their sum.
var ErrDamaged = errors.New("blob: stored bytes are damaged; restore them from a backup or create them again")

type checked struct {
	f    *os.File
	want Sum
	h    hash.Hash
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.f.Read(p)
	c.h.Write(p[:n])
	if err == io.EOF && Sum(c.h.Sum(nil)) != c.want {
		err = ErrDamaged
	}
	return n, err
}

func (c *checked) Close() error { return c.f.Close() }

// All yields the stored blobs, by sum.
func (s *Store) All(ctx context.Context) iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		for b, err := range s.eachDated(ctx) {
			if !yield(b.Ref, err) {
				return
			}
		}
	}
}

// Dated is a blob with the time at which it was put or touched.
type Dated struct {
	Ref
	At time.Time
}

func (s *Store) eachDated(ctx context.Context) iter.Seq2[Dated, error] {
	if s.remote != nil {
		return s.remote.All(ctx)
	}
	return s.eachFile
}

// eachFile yields the blobs in the folder, by sum.
func (s *Store) eachFile(yield func(Dated, error) bool) {
	err := fs.WalkDir(s.root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		sum, bad := ParseSum(path.Dir(at) + path.Base(at))
		if bad != nil {
			return nil // a temporary file
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !yield(Dated{Ref{sum, info.Size()}, info.ModTime()}, nil) {
			return fs.SkipAll
		}
		return err
	})
	if err != nil {
		yield(Dated{}, fmt.Errorf("blob: %w", err))
	}
}
