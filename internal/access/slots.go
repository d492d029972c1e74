package access

import "sync"

// Slots bounds the number of resources that each account holds at once: sockets, or requests that
// are being answered. It stores only accounts that hold any. It is safe for concurrent use.
type Slots struct {
	most int

	mu   sync.Mutex
	held map[string]int // guarded by mu
}

// NewSlots returns Slots with at most that many per account; 0 or less means no bound.
func NewSlots(most int) *Slots { return &Slots{most: most, held: map[string]int{}} }

// Take takes one slot for an account, until release is called; further calls of release do nothing.
// ok is false if the account holds all its slots.
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
