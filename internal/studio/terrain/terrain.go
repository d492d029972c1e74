// Package terrain makes heightmaps from a size, a level of detail, an amplitude and a seed, as
// 16-bit heights, a mesh and a PNG.
//
// Its invariant: heights are computed in integers, so that the same arguments give the same
// heightmap on every machine.
package terrain

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/png"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// Land is a square heightmap of Side by Side heights, row by row from the south-west.
type Land struct {
	Side      int
	Heights   []uint16 // 0 to 65535: 0 to Amplitude
	Width     float64  // metres along X
	Depth     float64  // metres along Y
	Amplitude float64  // metres from the lowest possible height to the highest
}

// Sides is the number of heights along an edge, by level of detail.
var Sides = map[string]int{"low": 129, "medium": 257, "high": 513}

// Make makes land. side is at least 2; the number of octaves of noise depends on it.
func Make(seed uint64, side int, width, depth, amplitude float64) *Land {
	l := &Land{Side: side, Heights: make([]uint16, side*side), Width: width, Depth: depth, Amplitude: amplitude}
	octaves := 1
	for n := 4; n < side && octaves < 7; n *= 2 {
		octaves++
	}
	hills, ridges, warp := noise.NewFractal(seed, 3, octaves), noise.NewFractal(seed+1, 4, octaves-1),
		noise.NewFractal(seed+2, 2, 3)
	const one = noise.One
	for y := range side {
		for x := range side {
			// The noise repeats after One; the land uses nine tenths of it, so that opposite
			// edges do not match.
			u, v := int64(x)*one*9/10/int64(side), int64(y)*one*9/10/int64(side)
			w := (warp.At(u, v) - one/2) / 8
			h := hills.At(u+w+one, v-w+one)
			r := ridges.At(u-w+one, v+w+one) - one/2
			if r < 0 {
				r = -r
			}
			r = one - 4*r
			if r < 0 {
				r = 0
			}
			l.Heights[y*side+x] = uint16(min(max(h*7/10+(h*r>>16)*4/10, 0), one-1))
		}
	}
	return l
}

// Mesh returns the land as a surface centred at the origin; its lowest possible height is 0.
func (l *Land) Mesh() *scene.Mesh {
	m := scene.Grid(l.Side, 1, func(x, y int) float64 { return float64(l.Heights[y*l.Side+x]) / 65535 * l.Amplitude })
	n := float64(l.Side - 1)
	for i := range m.V {
		m.V[i][0] *= l.Width / n
		m.V[i][1] *= l.Depth / n
	}
	return m
}

// PNG encodes the heightmap as a 16-bit grey image, north up.
func (l *Land) PNG() ([]byte, error) {
	m := image.NewGray16(image.Rect(0, 0, l.Side, l.Side))
	for y := range l.Side {
		row := m.Pix[(l.Side-1-y)*m.Stride:]
		for x := range l.Side {
			binary.BigEndian.PutUint16(row[2*x:], l.Heights[y*l.Side+x])
		}
	}
	var b bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestSpeed}
	err := e.Encode(&b, m)
	return b.Bytes(), err
}
