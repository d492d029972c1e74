package app

import (
	"crypto/rand"

	"loregate/internal/archive"
	"loregate/internal/front"
	"loregate/internal/op"
)

// openFront adds the default set as a surface. It shares the wiki's search and fetch. Connect the
// returned tools to the operations once all are known.
func (a *App) openFront(o Options) *front.Front {
	c := front.Config{Random: o.Random}
	if c.Random == nil {
		c.Random = func(b []byte) { _, _ = rand.Read(b) } // it never fails
	}
	for _, s := range a.Surfaces {
		for _, o := range s.Operations {
			if s.Name == archive.Surface && (o.Name == "search" || o.Name == "fetch") {
				c.Shared = append(c.Shared, o)
			}
		}
	}
	f := front.New(c)
	a.Surfaces = append(a.Surfaces, f.Surface())
	return f
}

var _ front.Engine = (*op.Local)(nil)
