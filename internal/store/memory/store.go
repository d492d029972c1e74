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
	writing chan struct{} // holds a token during a write

	mu      sync.Mutex // guards the rest
	now     *state
	changed chan struct{}
	closed  bool
}

var _ canon.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	return &Store{writing: make(chan struct{}, 1), now: &state{}, changed: make(chan struct{})}
}

// Read runs f on one snapshot.
func (s *Store) Read(ctx context.Context, f func(canon.Reader) error) error {
	now, err := s.currentState(ctx)
	if err != nil {
		return err
	}
	return f(reader{now})
}

// Write runs f exclusively among writers, and keeps all of its changes or none. A panic of f
// reaches the caller.
func (s *Store) Write(ctx context.Context, f func(canon.Tx) error) error {
	select {
	case s.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.writing }()

	now, err := s.currentState(ctx)
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
	s.publishState(next)
	return nil
}

// Changed returns a channel that is closed at the next write.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Close makes all further reads and writes fail.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

func (s *Store) currentState(ctx context.Context) (*state, error) {
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

func (s *Store) publishState(next *state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = next
	close(s.changed)
	s.changed = make(chan struct{})
}
