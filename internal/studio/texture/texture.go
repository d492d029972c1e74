package texture

import (
	"bytes"
	"image"
	"image/png"
	"runtime"
	"sync"

	"loregate/internal/studio/noise"
)

// Pair is a painted surface.
type Pair struct {
	Color  *image.RGBA // sRGB
	Normal *image.RGBA // tangent space, Y up (OpenGL), as glTF has it
}

// Paint makes a surface of size by size pixels; size is a power of two from 16 to 4096. The kind
// must be Known.
func Paint(kind string, size int, seed uint64) Pair {
	at := kinds[kind](noise.Hash(seed, uint32(len(kind)), uint32(kind[0])))
	p := Pair{image.NewRGBA(image.Rect(0, 0, size, size)), image.NewRGBA(image.Rect(0, 0, size, size))}
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
	return p
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
	up, down := (y+size-1)%size*size, (y+1)%size*size
	for x := range size {
		left, right := (x+size-1)%size, (x+1)%size
		dx := int64(h[y*size+left] - h[y*size+right])
		dy := int64(h[down+x] - h[up+x])
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
