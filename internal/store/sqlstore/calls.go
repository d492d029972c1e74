package sqlstore

import "sync"

// Calls counts the running calls of a store, so that closing it waits for them.
type Calls struct {
	Closed error // returned by Begin after Close

	running sync.WaitGroup
	mu      sync.Mutex // guards closed, and running against Close
	closed  bool
}

// Begin counts a call, which ends with End. After Close it refuses the call.
func (c *Calls) Begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.Closed
	}
	c.running.Add(1)
	return nil
}

// End ends a call.
func (c *Calls) End() { c.running.Done() }

// Close refuses new calls and waits for the running ones.
func (c *Calls) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.running.Wait()
}
