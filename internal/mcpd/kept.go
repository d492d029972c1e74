package mcpd

import (
	"encoding/hex"
	"sync"
	"time"
)

// Bounds of the kept answers.
const (
	keptFor  = 5 * time.Minute
	keptSize = 32 << 20 // bytes in total; the oldest are dropped first
)

// keptAnswers holds answers that were too long for one result, of calls that cannot be repeated:
// writes, and calls with long input. A further call reads the rest of an answer, with the same
// credential only.
type keptAnswers struct {
	now    func() time.Time
	random func([]byte)

	mu   sync.Mutex // guards the fields below
	list []keptAnswer
	size int
}

type keptAnswer struct {
	id, tool, owner string
	output          []byte
	until           time.Time
}

func callOwner(c *call) string { return string(c.caller.Subject) + "\x00" + c.caller.Key }

// keepBytes keeps the answer to a call and returns the id under which findKept finds it.
func (k *keptAnswers) keepBytes(output []byte, tool string, c *call) string {
	var b [12]byte
	k.random(b[:])
	a := keptAnswer{hex.EncodeToString(b[:]), tool, callOwner(c), output, k.now().Add(keptFor)}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, a)
	k.size += len(output)
	for len(k.list) > 1 && (k.size > keptSize || k.list[0].until.Before(k.now())) {
		k.size -= len(k.list[0].output)
		k.list = k.list[1:]
	}
	return a.id
}

// findKept returns a kept answer of a tool; false if there is none that the caller may read.
func (k *keptAnswers) findKept(id, tool string, c *call) ([]byte, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range k.list {
		if a.id == id && a.tool == tool && a.owner == callOwner(c) && !a.until.Before(k.now()) {
			return a.output, true
		}
	}
	return nil, false
}
