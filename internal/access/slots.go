package access

import "sync"

// Slots bounds how many of a thing each account holds at once: sockets, or requests that
// are being answered. It remembers only accounts that hold any. It is safe for concurrent
// use.
type Slots struct {
	most int

	mu   sync.Mutex
	held map[string]int // guarded by mu
}

// NewSlots gives each account so many; none or fewer is no bound.
func NewSlots(most int) *Slots { return &Slots{most: most, held: map[string]int{}} }

// Take takes one for an account, until release is called, once. ok is false where the
// account holds all that it may.
func (s *Slots) Take(account string) (release func(), ok bool) {
	if s.most <= 0 {
		return func() {}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[account] >= s.most {
		return nil, false
	}
	s.held[account]++
	return sync.OnceFunc(func() { s.release(account) }), true
}

func (s *Slots) release(account string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[account]--; s.held[account] == 0 {
		delete(s.held, account)
	}
}
