// Package noise is the studio's randomness: hashes, smooth noise and cell patterns in integer
// arithmetic only, and a source of random numbers for placing objects.
//
// Its invariant: the same seed gives the same numbers on every machine and in every version.
// Fractions are 16.16 fixed point; One is 1.
package noise

import "math"

// One is 1 in fixed point.
const One = 1 << 16

// Hash mixes a seed and two coordinates: the finaliser of SplitMix64 (Steele, Lea and Flood, 2014)
// over their combination.
func Hash(seed uint64, x, y uint32) uint64 {
	z := seed + 0x9e3779b97f4a7c15*(uint64(x)<<32|uint64(y))
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Lattice is smooth, repeating noise over a square: n by n random values, interpolated smoothly.
type Lattice struct {
	n      uint32
	values []uint16
}

// NewLattice makes noise of n by n values.
func NewLattice(seed uint64, n int) *Lattice {
	l := &Lattice{n: uint32(n), values: make([]uint16, n*n)}
	for i := range l.values {
		l.values[i] = uint16(Hash(seed, uint32(i%n), uint32(i/n)) >> 48)
	}
	return l
}

// smoothCurve returns 3t²-2t³ in fixed point.
func smoothCurve(t int64) int64 { return t * t >> 16 * (3*One - 2*t) >> 16 }

// At returns the noise, 0 to One-1, at the point with x and y as fixed-point fractions of the
// square. Beyond the square the noise repeats.
func (l *Lattice) At(x, y int64) int64 {
	x, y = x*int64(l.n), y*int64(l.n)
	xi, yi := uint32(x>>16)%l.n, uint32(y>>16)%l.n
	if x < 0 || y < 0 {
		xi, yi = uint32(floorMod(x>>16, int64(l.n))), uint32(floorMod(y>>16, int64(l.n)))
	}
	xj, yj := xi+1, yi+1
	if xj == l.n {
		xj = 0
	}
	if yj == l.n {
		yj = 0
	}
	fx, fy := smoothCurve(x&(One-1)), smoothCurve(y&(One-1))
	a, b := int64(l.values[yi*l.n+xi]), int64(l.values[yi*l.n+xj])
	c, d := int64(l.values[yj*l.n+xi]), int64(l.values[yj*l.n+xj])
	low, high := a+(b-a)*fx>>16, c+(d-c)*fx>>16
	return low + (high-low)*fy>>16
}

func floorMod(a, n int64) int64 { return (a%n + n) % n }

// Fractal is a sum of octaves of noise, each with twice the frequency and half the amplitude of the
// one before.
type Fractal struct{ octaves []*Lattice }

// NewFractal makes octaves of noise, the first of n by n values.
func NewFractal(seed uint64, n, octaves int) *Fractal {
	f := &Fractal{}
	for i := range octaves {
		f.octaves = append(f.octaves, NewLattice(Hash(seed, uint32(i), 77), n<<i))
	}
	return f
}

// At returns the noise, 0 to One-1; see Lattice.At.
func (f *Fractal) At(x, y int64) int64 {
	sum, weight, total := int64(0), int64(One), int64(0)
	for _, o := range f.octaves {
		sum += o.At(x, y) * weight
		total += weight
		weight >>= 1
	}
	return sum / total
}

// Cells is a repeating pattern of random points over a square, with one point in each of n by n
// cells.
type Cells struct {
	n    int64
	x, y []int64 // of each point, in cells, fixed point
}

// NewCells makes the points.
func NewCells(seed uint64, n int) *Cells {
	c := &Cells{n: int64(n), x: make([]int64, n*n), y: make([]int64, n*n)}
	for i := range c.x {
		h := Hash(seed, uint32(i%n), uint32(i/n))
		c.x[i], c.y[i] = int64(h&0xffff)*3/4+One/8, int64(h>>16&0xffff)*3/4+One/8
	}
	return c
}

// At returns the distances to the nearest and the second nearest point, in cells as fixed point,
// and the index of the nearest. x and y are fixed-point fractions of the square, not below 0.
func (c *Cells) At(x, y int64) (near, next int64, which int) {
	x, y = x*c.n, y*c.n
	xi, yi := x>>16, y>>16
	first, second := int64(math.MaxInt64), int64(math.MaxInt64)
	for j := yi - 1; j <= yi+1; j++ {
		for i := xi - 1; i <= xi+1; i++ {
			k := floorMod(j, c.n)*c.n + floorMod(i, c.n)
			dx, dy := i<<16+c.x[k]-x, j<<16+c.y[k]-y
			d := dx*dx + dy*dy
			if d < first {
				first, second, which = d, first, int(k)
			} else if d < second {
				second = d
			}
		}
	}
	return intSqrt(first), intSqrt(second), which
}

// intSqrt returns the integer square root: the floating-point root, corrected if it is off.
func intSqrt(n int64) int64 {
	r := int64(math.Sqrt(float64(n)))
	for r*r > n {
		r--
	}
	for (r+1)*(r+1) <= n {
		r++
	}
	return r
}

// Source generates random numbers. The zero Source has seed 0.
type Source struct {
	seed uint64
	n    uint32
}

// NewSource makes the source of a seed and a purpose. Each purpose has its own sequence, which does
// not depend on the numbers drawn for other purposes.
func NewSource(seed uint64, purpose string) *Source {
	for i := range len(purpose) {
		seed = Hash(seed, uint32(purpose[i]), uint32(i))
	}
	return &Source{seed: seed}
}

// Uint64 returns the next number.
func (s *Source) Uint64() uint64 {
	s.n++
	return Hash(s.seed, s.n, 0)
}

// Intn returns a number from 0 to below n.
func (s *Source) Intn(n int) int { return int(s.Uint64() >> 33 % uint64(n)) }

// Float returns a number from 0 to below 1.
func (s *Source) Float() float64 { return float64(s.Uint64()>>11) / (1 << 53) }

// Between returns a number from a to b.
func (s *Source) Between(a, b float64) float64 { return a + float64((b-a)*s.Float()) }
