package app

import (
	"crypto/rand"
	"slices"
	"strings"

	"loregate/internal/archive"
	"loregate/internal/fault"
	"loregate/internal/front"
	"loregate/internal/op"
	"loregate/internal/slicesx"
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

// SurfacesOf returns the surfaces that a key for a set of tools opens; nil for all. An unknown name
// is an error.
func (a *App) SurfacesOf(tools []string) ([]string, error) {
	if len(tools) == 0 || slices.Equal(tools, []string{"all"}) {
		return nil, nil
	}
	names := slicesx.Map(a.Surfaces, func(s op.Surface) string { return s.Name })
	for _, t := range tools {
		if !slices.Contains(names, t) {
			return nil, fault.BadField("tools", "%q is no set; name all, or any of %s", t, strings.Join(names, ", "))
		}
	}
	return tools, nil
}
