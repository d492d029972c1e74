// Package blob keeps bytes on disk under the SHA-256 of what they are: the artifacts that
// runs make, and whatever else is too large for the store.
//
// Its invariant: a file that has a blob's name has its bytes. Content is written beside its
// place, made durable, and renamed into it; whoever reads it whole can have it checked on the
// way. Nothing outside the folder is reached, whatever a name or a link in it says. Who may
// see a blob is not known here: whoever hands out hashes decides that.
package blob

import (
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

// SumOf is the sum of bytes at hand.
func SumOf(b []byte) Sum { return sha256.Sum256(b) }

// String is the sum in hexadecimal.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// IsZero reports whether the sum names nothing.
func (s Sum) IsZero() bool { return s == Sum{} }

// MarshalText gives the sum its JSON form.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what String gives, and nothing else.
func (s *Sum) UnmarshalText(b []byte) error {
	if len(b) != 2*len(s) {
		return fmt.Errorf("a SHA-256 is %d hexadecimal digits", 2*len(s))
	}
	_, err := hex.Decode(s[:], b)
	return err
}

// ParseSum reads what String gives.
func ParseSum(text string) (Sum, error) {
	var s Sum
	err := s.UnmarshalText([]byte(text))
	return s, err
}

// Ref names a blob and says how large it is.
type Ref struct {
	Sum  Sum
	Size int64
}

// Store is a folder of blobs. It is safe for concurrent use, by several processes too.
type Store struct {
	root *os.Root
	tmp  atomic.Uint64 // numbers temporary files of this process
}

// Open opens a folder of blobs, making it where it is not there. Close it.
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

// Close lets go of the folder.
func (s *Store) Close() error { return s.root.Close() }

// place is where a blob is kept: "ab/cdef…".
func place(sum Sum) string {
	name := sum.String()
	return path.Join(name[:2], name[2:])
}

// Path is where a blob lies on disk, for programs that read files. It may not be there.
func (s *Store) Path(sum Sum) string { return path.Join(s.root.Name(), place(sum)) }

// Put keeps what r gives, durably, and says what it is. What is there already is not
// kept again; where r can be read twice it is not even written. More than limit bytes are
// refused with fault.TooLarge; 0 is no limit.
func (s *Store) Put(ctx context.Context, r io.Reader, limit int64) (ref Ref, err error) {
	if twice, ok := r.(io.ReadSeeker); ok {
		if ref, found, err := s.there(ctx, twice, limit); found || err != nil {
			return ref, err
		}
	}
	name := fmt.Sprintf("tmp/%d-%d", os.Getpid(), s.tmp.Add(1))
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return ref, fmt.Errorf("blob: %w", err)
	}
	defer func() {
		if err != nil {
			_ = s.root.Remove(name) // a leftover is swept at a later start
		}
	}()
	ref, err = fill(ctx, f, r, limit)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return ref, err
	}
	if _, err := s.Touch(ref.Sum); err == nil {
		return ref, s.root.Remove(name)
	}
	return ref, s.adopt(name, ref.Sum)
}

// there looks whether what r gives is kept already, and goes back to where r was.
func (s *Store) there(ctx context.Context, r io.ReadSeeker, limit int64) (Ref, bool, error) {
	at, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return Ref{}, false, nil // it cannot be read twice after all
	}
	ref, err := fill(ctx, io.Discard, r, limit)
	if err != nil {
		return ref, false, err
	}
	if _, err := s.Touch(ref.Sum); err == nil {
		return ref, true, nil
	}
	if _, err := r.Seek(at, io.SeekStart); err != nil {
		return Ref{}, false, fmt.Errorf("blob: %w", err)
	}
	return Ref{}, false, nil
}

// Touch is Stat for a blob that is about to be named: Sweep leaves young ones alone.
func (s *Store) Touch(sum Sum) (Ref, error) {
	ref, err := s.Stat(sum)
	if err == nil {
		s.touch(sum)
	}
	return ref, err
}

// touch makes a blob young. Where it fails the blob is as old as it was.
func (s *Store) touch(sum Sum) {
	now := time.Now()
	_ = s.root.Chtimes(place(sum), now, now)
}

// Sweep takes away what keep does not know, unless it was put, also again, after a time:
// somebody may be about to name it. It calls gone for each; dry takes nothing away.
func (s *Store) Sweep(ctx context.Context, before time.Time, keep func(Sum) bool, gone func(Ref), dry bool) error {
	for ref, err := range s.All() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if keep(ref.Sum) {
			continue
		}
		info, err := s.root.Lstat(place(ref.Sum))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Before(before) {
			continue
		}
		if err == nil && !dry {
			err = s.root.Remove(place(ref.Sum))
		}
		if err != nil {
			return fmt.Errorf("blob: %w", err)
		}
		gone(ref)
	}
	return s.sweepLeft(before, dry)
}

// sweepLeft takes away what writers left that ended in the middle.
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

// adopt moves a finished file to its place, durably.
func (s *Store) adopt(name string, sum Sum) error {
	at := place(sum)
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
		err = nil // some systems keep names without being asked
	}
	return errors.Join(err, d.Close())
}

func fill(ctx context.Context, w io.Writer, r io.Reader, limit int64) (Ref, error) {
	h := sha256.New()
	if limit > 0 {
		r = io.LimitReader(r, limit+1)
	}
	n, err := io.Copy(io.MultiWriter(w, h), &stoppable{ctx, r})
	if err != nil {
		return Ref{}, fmt.Errorf("blob: %w", err)
	}
	if limit > 0 && n > limit {
		return Ref{}, fault.New(fault.TooLarge, "the file is larger than the %d bytes that are kept here", limit).With("limit_bytes", limit)
	}
	return Ref{Sum(h.Sum(nil)), n}, nil
}

// stoppable reads until its context ends.
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

// absent is the answer for a sum that names nothing here.
func absent(sum Sum) error {
	return fault.New(fault.NotFound, "no file with SHA-256 %s is kept here", sum)
}

// Stat says how large a blob is; fault.NotFound where it is not there.
func (s *Store) Stat(sum Sum) (Ref, error) {
	info, err := s.root.Lstat(place(sum))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return Ref{}, absent(sum)
	}
	if err != nil {
		return Ref{}, fmt.Errorf("blob: %w", err)
	}
	return Ref{sum, info.Size()}, nil
}

// Open gives a blob's bytes. A reader that reaches the end and finds that they are not
// what the sum says gets an error in place of io.EOF. Close it.
func (s *Store) Open(sum Sum) (io.ReadCloser, error) {
	f, err := s.root.Open(place(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, absent(sum)
	}
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	return &checked{f: f, want: sum, h: sha256.New()}, nil
}

// Bytes gives a blob whole and checked.
func (s *Store) Bytes(sum Sum) ([]byte, error) {
	r, err := s.Open(sum)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// ErrDamaged is met where kept bytes are not what they were.
var ErrDamaged = errors.New("blob: kept bytes are damaged; restore them from a backup or make them again")

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

// All yields what is kept, by sum.
func (s *Store) All() iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		err := fs.WalkDir(s.root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			sum, bad := ParseSum(path.Dir(at) + path.Base(at))
			if bad != nil {
				return nil // a temporary file
			}
			info, err := d.Info()
			if err == nil && !yield(Ref{sum, info.Size()}, nil) {
				return fs.SkipAll
			}
			return err
		})
		if err != nil {
			yield(Ref{}, fmt.Errorf("blob: %w", err))
		}
	}
}
