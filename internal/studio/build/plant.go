package build

import (
	"fmt"
	"sync"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/plant"
	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
)

// farLeaves is the fraction of the leaves of a plant far away.
const farLeaves = 0.15

// addPlant adds a plant.
func (b *maker) addPlant(path string, p *spec.Part, g frame) error {
	of := p.Plant
	key := fmt.Sprint("plant ", *of, b.scene.Seed)
	mesh, err := b.findMesh(key, nil, func() (*Mesh, error) {
		seed := noise.Hash(uint64(b.scene.Seed), uint32(of.Variant), 41)
		grown := plant.Grow(of.Kind, of.Height, of.Season, seed, 1)
		m := &Mesh{Mesh: grown.Mesh, Materials: grown.Materials, leafy: true}
		m.simpler = sync.OnceValue(func() *Mesh {
			less := plant.Grow(of.Kind, of.Height, of.Season, seed, farLeaves)
			return &Mesh{Mesh: less.Mesh, Materials: less.Materials, leafy: true}
		})
		if grown.Trunk > 0 {
			r := grown.Trunk
			m.Solids = []Solid{boxSolid(scene.Vec{-r, -r, 0}, scene.Vec{r, r, grown.Height * 0.5})}
		}
		return m, nil
	})
	if err != nil {
		return err
	}
	b.addNode(path, mesh, p.Tilt, g)
	return nil
}
