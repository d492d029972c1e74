package blender

import (
	"image"
	"math"
	"slices"
	"sync"
)

// The reach of the search and of the patches that are compared, in pixels.
const (
	searchReach = 3
	patchReach  = 1
)

// denoise lowers the noise of a render: each pixel becomes a mean of those near it whose surroundings
// look the same (non-local means; Buades, Coll and Morel, 2005). It computes in integers, so that the same
// pixels give the same picture.
func denoise(m *image.RGBA) *image.RGBA {
	m = removeSparks(m)
	weights, ok := weightsFor(noiseOf(m))
	out := image.NewRGBA(m.Rect)
	copy(out.Pix, m.Pix)
	if !ok {
		return out
	}
	height := m.Rect.Dy()
	var wait sync.WaitGroup
	for w := range 2 {
		wait.Go(func() {
			for y := w; y < height; y += 2 {
				for x := range m.Rect.Dx() {
					denoisePixel(out, m, weights, x, y)
				}
			}
		})
	}
	wait.Wait()
	return out
}

// sparkStep is the difference in levels by which a spark is brighter than all but two pixels around it.
const sparkStep = 24

// removeSparks replaces single bright pixels, which rare paths of light leave, by the mean around them.
func removeSparks(m *image.RGBA) *image.RGBA {
	out := image.NewRGBA(m.Rect)
	copy(out.Pix, m.Pix)
	for y := 1; y < m.Rect.Dy()-1; y++ {
		for x := 1; x < m.Rect.Dx()-1; x++ {
			own, above := brightness(m, x, y), 0
			var sum [3]int
			for dy := -1; dy <= 1; dy++ {
				for dx := -1; dx <= 1; dx++ {
					if dx == 0 && dy == 0 {
						continue
					}
					p := m.Pix[pixelAt(m, x+dx, y+dy):]
					for k := range sum {
						sum[k] += int(p[k])
					}
					if own-brightness(m, x+dx, y+dy) > sparkStep {
						above++
					}
				}
			}
			if above >= 6 {
				p := out.Pix[pixelAt(out, x, y):]
				for k := range sum {
					p[k] = byte(sum[k] / 8)
				}
			}
		}
	}
	return out
}

func brightness(m *image.RGBA, x, y int) int {
	p := m.Pix[pixelAt(m, x, y):]
	return (int(p[0]) + 2*int(p[1]) + int(p[2])) / 4
}

// noiseOf estimates the noise of a picture in levels of brightness: the median of the differences of
// pixels from the mean of their neighbours.
func noiseOf(m *image.RGBA) int {
	var steps []int
	for y := 1; y < m.Rect.Dy()-1; y += 3 {
		for x := 1; x < m.Rect.Dx()-1; x += 3 {
			at := func(dx, dy int) int { return int(m.Pix[(y+dy)*m.Stride+4*(x+dx)+1]) }
			steps = append(steps, max(4*at(0, 0)-at(-1, 0)-at(1, 0)-at(0, -1)-at(0, 1), -4*at(0, 0)+at(-1, 0)+at(1, 0)+
				at(0, -1)+at(0, 1)))
		}
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return steps[len(steps)/2] / 4
}

// weightsFor returns the weights of pixels by the mean squared difference of their surroundings; false if
// there is no noise.
func weightsFor(noise int) ([]int, bool) {
	if noise < 1 {
		return nil, false
	}
	sigma := float64(min(noise, 18)) * 1.3
	weights := make([]int, int(sigma*sigma*12)+1)
	for i := range weights {
		far := max(float64(i)-1.6*sigma*sigma, 0)
		weights[i] = int(4096 * math.Exp(-far/(1.1*sigma*sigma)))
	}
	return weights, true
}

func denoisePixel(out, m *image.RGBA, weights []int, x, y int) {
	var sum [3]int
	total := 0
	for dy := -searchReach; dy <= searchReach; dy++ {
		for dx := -searchReach; dx <= searchReach; dx++ {
			d := patchDifference(m, x, y, x+dx, y+dy)
			if d >= len(weights) || weights[d] == 0 {
				continue
			}
			p := m.Pix[pixelAt(m, x+dx, y+dy):]
			for k := range sum {
				sum[k] += weights[d] * int(p[k])
			}
			total += weights[d]
		}
	}
	p := out.Pix[pixelAt(out, x, y):]
	for k := range sum {
		p[k] = byte((sum[k] + total/2) / total)
	}
}

// pixelAt returns the index of a pixel; those beyond the edge are the nearest ones of the picture.
func pixelAt(m *image.RGBA, x, y int) int {
	x, y = min(max(x, 0), m.Rect.Dx()-1), min(max(y, 0), m.Rect.Dy()-1)
	return y*m.Stride + 4*x
}

// patchDifference returns the mean squared difference between the surroundings of two pixels.
func patchDifference(m *image.RGBA, ax, ay, bx, by int) int {
	sum := 0
	for dy := -patchReach; dy <= patchReach; dy++ {
		for dx := -patchReach; dx <= patchReach; dx++ {
			p, q := m.Pix[pixelAt(m, ax+dx, ay+dy):], m.Pix[pixelAt(m, bx+dx, by+dy):]
			for k := range 3 {
				d := int(p[k]) - int(q[k])
				sum += d * d
			}
		}
	}
	return sum / 27
}
