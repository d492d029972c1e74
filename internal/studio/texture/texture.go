package texture

import (
	"bytes"
	"image"
	"image/png"
	"runtime"
	"slices"
	"sync"

	"loregate/internal/studio/noise"
)

// Maps is a painted surface.
type Maps struct {
	Color  *image.RGBA // sRGB
	Normal *image.RGBA // tangent space, Y up (OpenGL), as glTF has it
	Rough  *image.RGBA // G is the share of the material's roughness; R and B are 255, as glTF has it

	relief []int32 // heights from 0 to One
}

// Images are the maps of a surface as PNG files.
type Images struct{ Color, Normal, Rough []byte }

// Encode returns the maps as PNG files.
func (p Maps) Encode() (out Images, err error) {
	for _, half := range []struct {
		to   *[]byte
		from *image.RGBA
	}{{&out.Color, p.Color}, {&out.Normal, p.Normal}, {&out.Rough, p.Rough}} {
		if *half.to, err = PNG(half.from); err != nil {
			return out, err
		}
	}
	return out, nil
}

// Paint makes a surface of size by size pixels; size is a power of two from 16 to 4096. The kind
// must be Known.
func Paint(kind string, size int, seed uint64) Maps {
	at := kinds[kind](noise.Hash(seed, uint32(len(kind)), uint32(kind[0])))
	blank := func() *image.RGBA { return image.NewRGBA(image.Rect(0, 0, size, size)) }
	p := Maps{Color: blank(), Normal: blank(), Rough: blank()}
	heights := make([]int32, size*size)
	step := int64(noise.One / size)
	eachRow(size, func(y int) {
		for x := range size {
			t := at(int64(x)*step, int64(y)*step)
			i := y*size + x
			heights[i] = int32(t.height)
			copy(p.Color.Pix[4*i:], []byte{t.r, t.g, t.b, 255})
		}
	})
	eachRow(size, func(y int) { writeNormals(p.Normal, heights, size, y) })
	p.relief = stretchHeights(heights)
	p.writeRoughness(kind)
	return p
}

// stretchHeights scales heights in place, so that they reach from 0 to One.
func stretchHeights(h []int32) []int32 {
	low, high := int64(slices.Min(h)), int64(slices.Max(h))
	for i, v := range h {
		h[i] = int32((int64(v) - low) * one / max(high-low, 1))
	}
	return h
}

// sheen has the shares of roughness, in hundredths, at the lowest and the highest points of a surface.
// Raised edges are worn smooth; water stands in the hollows of mud; rust is rougher than the metal below it.
type sheen struct{ low, high int64 }

var sheens = map[string]sheen{"mud": {35, 100}, "metal": {68, 100}, "rust": {55, 100}, "water": {100, 90},
	"mosaic": {100, 60}, "salt": {100, 68}, "cobbles": {100, 70}, "tiles": {100, 72}, "slate": {100, 74},
	"stone": {100, 78}, "planks": {100, 78}, "marble": {100, 86}, "snow": {100, 88}, "sand": {100, 94}}

// writeRoughness writes the roughness of a surface from its relief.
func (p Maps) writeRoughness(kind string) {
	s, ok := sheens[kind]
	if !ok {
		s = sheen{100, 84}
	}
	for i, h := range p.relief {
		share := s.low + (s.high-s.low)*int64(h)/one
		copy(p.Rough.Pix[4*i:], []byte{255, byte(share * 255 / 100), 255, 255})
	}
}

// eachRow runs f for each row, on all processors.
func eachRow(n int, f func(y int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for y := w; y < n; y += workers {
				f(y)
			}
		})
	}
	wait.Wait()
}

// writeNormals writes a row of normals from the slopes of the heights. Image rows go down, the
// normal's Y goes up.
func writeNormals(to *image.RGBA, h []int32, size, y int) {
	up, here, down := (y+size-1)%size*size, y*size, (y+1)%size*size
	for x := range size {
		left, right := (x+size-1)%size, (x+1)%size
		// Sobel's weights: grains of one pixel would be noise in a picture.
		dx := int64(h[up+left]+2*h[here+left]+h[down+left]-h[up+right]-2*h[here+right]-h[down+right]) / 4
		dy := int64(h[down+left]+2*h[down+x]+h[down+right]-h[up+left]-2*h[up+x]-h[up+right]) / 4
		// A slope of one tile's height over a hundredth of the tile's side counts as 45 degrees.
		dx, dy = dx*int64(size)/200, dy*int64(size)/200
		const dz = 1 << 16
		l := vectorLength(dx, dy, dz)
		i := 4 * (y*size + x)
		to.Pix[i], to.Pix[i+1], to.Pix[i+2], to.Pix[i+3] = normalByte(dx, l), normalByte(dy, l), normalByte(dz, l), 255
	}
}

func normalByte(x, l int64) byte { return byte(128 + 127*x/l) }

// vectorLength returns the integer length of a vector, by Newton's method.
func vectorLength(x, y, z int64) int64 {
	n := x*x + y*y + z*z
	r := int64(1) << 17
	for {
		next := (r + n/r) / 2
		if next >= r && next-r <= 1 || next < r && r-next <= 1 {
			return max(next, 1)
		}
		r = next
	}
}

// PNG encodes an image: the same pixels give the same bytes from the same build.
func PNG(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestSpeed}
	err := e.Encode(&b, m)
	return b.Bytes(), err
}
