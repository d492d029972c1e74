package blob

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"
)

// Remote is a store of blobs that the folder of a Store is a cache of, such as a bucket. It holds all
// blobs; the folder holds those used last. Its errors are fault.NotFound for a blob that does not
// exist, and fault.Unavailable if it does not answer.
type Remote interface {
	// Put stores a blob, durably. r has exactly its bytes.
	Put(ctx context.Context, b Ref, r io.ReadSeeker) error
	// Get returns a blob's size and bytes.
	Get(ctx context.Context, sum Sum) (Ref, io.ReadCloser, error)
	Stat(ctx context.Context, sum Sum) (Ref, error)
	// Touch is Stat which also sets the blob's time to now.
	Touch(ctx context.Context, sum Sum) (Ref, error)
	// All yields the stored blobs, by sum.
	All(ctx context.Context) iter.Seq2[Dated, error]
	// Remove removes a blob. It is no error if the blob does not exist.
	Remove(ctx context.Context, sum Sum) error
}

// OpenCache opens a store of blobs in a Remote. The folder keeps those used last: limit bytes, and
// all that were used within the hour. Close it.
func OpenCache(dir string, remote Remote, limit int64) (*Store, error) {
	s, err := Open(dir)
	if err != nil {
		return nil, err
	}
	s.remote, s.cache.limit = remote, limit
	return s, s.trimCache(limit)
}

// cache bounds the folder of a Store with a Remote.
type cache struct {
	limit int64
	mu    sync.Mutex
	added int64 // guarded by mu: bytes since the folder was last measured
}

// inUse is the time for which a file is kept after its last use: a program may be reading it by its
// path.
const inUse = time.Hour

// fetch copies a blob from the Remote into the folder. Bytes that do not match the sum are
// ErrDamaged.
func (s *Store) fetch(ctx context.Context, sum Sum) error {
	b, r, err := s.remote.Get(ctx, sum)
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := s.putFile(ctx, r, b.Size+1)
	if err != nil {
		return err
	}
	if got.Sum != sum {
		return ErrDamaged // the bytes that were read are kept under their own sum, and trimmed in time
	}
	return s.trimCache(got.Size)
}

// trimCache removes the files that were used longest ago, if the folder may hold more than its
// limit. Measuring reads the whole folder, so that it is done once for an eighth of the limit.
func (s *Store) trimCache(added int64) error {
	if s.remote == nil {
		return nil
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if s.cache.added += added; s.cache.added < s.cache.limit/8 {
		return nil
	}
	s.cache.added = 0
	var files []Dated
	var size int64
	for f, err := range s.eachFile {
		if err != nil {
			return err
		}
		files, size = append(files, f), size+f.Size
	}
	slices.SortFunc(files, func(a, b Dated) int { return cmp.Or(a.At.Compare(b.At), a.Sum.order(b.Sum)) })
	young := time.Now().Add(-inUse)
	for _, f := range files {
		if size <= s.cache.limit || f.At.After(young) {
			break
		}
		if err := s.root.Remove(blobPath(f.Sum)); err != nil {
			return fmt.Errorf("blob: %w", err)
		}
		size -= f.Size
	}
	return nil
}

// CopyAll copies the blobs of one store to another that lacks them, verified, and returns the number
// of blobs and the number of those copied. It can be repeated.
func CopyAll(ctx context.Context, from, to *Store) (all, copied int, err error) {
	for b, err := range from.All(ctx) {
		if err != nil {
			return all, copied, err
		}
		all++
		if _, err := to.Stat(ctx, b.Sum); err == nil {
			continue
		}
		if err := copyOne(ctx, from, to, b.Sum); err != nil {
			return all, copied, fmt.Errorf("%s: %w", b.Sum, err)
		}
		copied++
	}
	return all, copied, nil
}

func copyOne(ctx context.Context, from, to *Store, sum Sum) error {
	r, err := from.Open(ctx, sum)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = to.Put(ctx, r, 0)
	return err
}
