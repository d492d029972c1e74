package mcpd

import (
	"encoding/hex"
	"sync"
	"time"
)

// Bounds of the answers that are kept for the calls that go on with them.
const (
	keptFor  = 5 * time.Minute
	keptSize = 32 << 20 // bytes in all; the oldest go first
)

// kept holds answers to calls that cannot be made again: writes, and those whose input is
// long. Only the credential that made the call reads on.
type kept struct {
	now    func() time.Time
	random func([]byte)

	mu   sync.Mutex // guards what follows
	list []keptAnswer
	size int
}

type keptAnswer struct {
	id, tool, owner string
	output          []byte
	until           time.Time
}

func owner(c *call) string { return string(c.caller.Subject) + "\x00" + c.caller.Key }

func (k *kept) keep(output []byte, tool string, c *call) string {
	var b [12]byte
	k.random(b[:])
	a := keptAnswer{hex.EncodeToString(b[:]), tool, owner(c), output, k.now().Add(keptFor)}
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

func (k *kept) find(id, tool string, c *call) ([]byte, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range k.list {
		if a.id == id && a.tool == tool && a.owner == owner(c) && !a.until.Before(k.now()) {
			return a.output, true
		}
	}
	return nil, false
}
