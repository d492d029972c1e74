package build

import (
	"container/list"
	"sync"
)

// maxCached bounds the corners of the meshes that a Cache holds.
const maxCached = 8_000_000

// Cache keeps meshes by the hash of their descriptions between builds, so that a changed scene makes
// only the bodies that changed. It is safe for concurrent use. A nil Cache keeps nothing.
type Cache struct {
	mu      sync.Mutex // guards the fields below
	meshes  map[string]*list.Element
	used    list.List // of *Mesh, the latest first
	corners int
}

// NewCache makes an empty cache.
func NewCache() *Cache { return &Cache{meshes: map[string]*list.Element{}} }

func (c *Cache) findMesh(key string) *Mesh {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.meshes[key]
	if e == nil {
		return nil
	}
	c.used.MoveToFront(e)
	return e.Value.(*Mesh)
}

func (c *Cache) keepMesh(key string, m *Mesh) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.meshes[key] != nil {
		return
	}
	c.meshes[key] = c.used.PushFront(m)
	c.corners += m.countCorners()
	for c.corners > maxCached {
		last := c.used.Remove(c.used.Back()).(*Mesh)
		delete(c.meshes, last.key)
		c.corners -= last.countCorners()
	}
}
