package sqlstore

import "sync"

// Calls counts the running calls of a store, so that closing it waits for them. The zero value is
// open.
type Calls struct {
	running sync.WaitGroup
	mu      sync.Mutex // guards closed, and running against Close
	closed  bool
}

// Begin counts a call, which ends with End; false after Close.
func (c *Calls) Begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.running.Add(1)
	}
	return !c.closed
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
