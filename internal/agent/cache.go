package agent

import (
	"container/list"
	"sync"
)

// cacheSize is the number of cached texts.
const cacheSize = 1000

// cacheKey identifies a cached text. For the same world, purpose, context and template the text is
// used again.
type cacheKey struct {
	world, purpose, context, template string
}

// cache holds up to size texts and evicts the least recently used. It is safe for concurrent use.
type cache struct {
	size  int
	mu    sync.Mutex // guards the fields below
	order *list.List // of *cached, latest used first
	byKey map[cacheKey]*list.Element
}

type cached struct {
	key  cacheKey
	text string
}

func newCache(size int) *cache {
	return &cache{size: size, order: list.New(), byKey: map[cacheKey]*list.Element{}}
}

func (c *cache) get(k cacheKey) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[k]
	if !ok {
		return "", false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).text, true
}

func (c *cache) put(k cacheKey, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[k]; ok {
		e.Value.(*cached).text = text
		c.order.MoveToFront(e)
		return
	}
	c.byKey[k] = c.order.PushFront(&cached{k, text})
	if c.order.Len() > c.size {
		old := c.order.Back()
		c.order.Remove(old)
		delete(c.byKey, old.Value.(*cached).key)
	}
}

// removeKey removes a text that was refused.
func (c *cache) removeKey(k cacheKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[k]; ok {
		c.order.Remove(e)
		delete(c.byKey, k)
	}
}
