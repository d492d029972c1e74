package build

import (
	"fmt"
	"strings"
	"sync"

	"loregate/internal/studio/texture"
)

// The textures of scenes: pixels along a side, and one seed for all, so that all scenes share them.
const (
	surfaceSize = 512
	surfaceSeed = 11
)

// Paints paints the surfaces of scenes, each once. It is safe for concurrent use.
type Paints struct {
	mu   sync.Mutex // guards made
	made map[string]func() (texture.Images, error)
}

// NewPaints makes an empty Paints.
func NewPaints() *Paints { return &Paints{made: map[string]func() (texture.Images, error){}} }

// PaintedPNG returns the maps of a kind of surface.
func (p *Paints) PaintedPNG(kind string) (texture.Images, error) {
	p.mu.Lock()
	paint := p.made[kind]
	if paint == nil {
		paint = sync.OnceValues(func() (texture.Images, error) { return paintSurface(kind) })
		p.made[kind] = paint
	}
	p.mu.Unlock()
	return paint()
}

// finishedKind returns the name of a kind of surface with a finish.
func finishedKind(kind string, f texture.Finish) string {
	if f == (texture.Finish{}) {
		return kind
	}
	return fmt.Sprintf("%s %02x%02x%02x %d %d", kind, f.Tint[0], f.Tint[1], f.Tint[2], f.Wear, f.Wet)
}

// splitKind is the inverse of finishedKind.
func splitKind(name string) (kind string, f texture.Finish) {
	kind, rest, ok := strings.Cut(name, " ")
	if ok {
		_, _ = fmt.Sscanf(rest, "%02x%02x%02x %d %d", &f.Tint[0], &f.Tint[1], &f.Tint[2], &f.Wear, &f.Wet) // as written above
	}
	return kind, f
}

func paintSurface(name string) (texture.Images, error) {
	kind, finish := splitKind(name)
	made := texture.Paint(kind, surfaceSize, surfaceSeed)
	finish.Apply(made, surfaceSeed)
	return made.Encode()
}
