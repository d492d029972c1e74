// Package memory keeps worlds in the memory of one process. It is the model that every
// other store is held against, and the store of tests that need none on disk.
//
// Its invariant: a state that was published is never changed. A write works on a fork
// and publishes it whole, so that every reader has a snapshot of its own. Clarity comes
// before speed: queries are plain scans that ask View.Sees of every row. Keeping anything
// beyond the process is left to the other stores.
package memory

import (
	"context"
	"errors"
	"sync"

	"loregate/internal/canon"
)

var errClosed = errors.New("memory: the store is closed")

// Store is a canon.Store. Use New.
type Store struct {
	writing chan struct{} // holds a token while somebody writes

	mu      sync.Mutex // guards the rest
	now     *state
	changed chan struct{}
	closed  bool
}

var _ canon.Store = (*Store)(nil)

// New makes an empty store.
func New() *Store {
	return &Store{writing: make(chan struct{}, 1), now: &state{}, changed: make(chan struct{})}
}

// Read runs f on one snapshot.
func (s *Store) Read(ctx context.Context, f func(canon.Reader) error) error {
	now, err := s.current(ctx)
	if err != nil {
		return err
	}
	return f(reader{now})
}

// Write runs f alone among writers, and keeps all of its effects or none. A panic of f
// goes on to the caller.
func (s *Store) Write(ctx context.Context, f func(canon.Tx) error) error {
	select {
	case s.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.writing }()

	now, err := s.current(ctx)
	if err != nil {
		return err
	}
	next := now.fork()
	if err := f(tx{reader{next}}); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.publish(next)
	return nil
}

// Changed is closed at the next write.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Close refuses all further use.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

func (s *Store) current(ctx context.Context) (*state, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	return s.now, nil
}

func (s *Store) publish(next *state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = next
	close(s.changed)
	s.changed = make(chan struct{})
}
