package vector

import "math"

// vector is a vector scaled so that its largest component is ±127.
type vector struct {
	at   []int8
	norm float64 // Euclidean norm of at
}

func toVector(at []float32) vector {
	var most float64
	for _, f := range at {
		most = max(most, math.Abs(float64(f)))
	}
	v := make([]int8, len(at))
	if most > 0 && !math.IsInf(most, 0) && !math.IsNaN(most) {
		for i, f := range at {
			v[i] = int8(math.Round(float64(f) / most * 127))
		}
	}
	return newVector(v)
}

func newVector(at []int8) vector {
	var sum int64
	for _, n := range at {
		sum += int64(n) * int64(n)
	}
	return vector{at, math.Sqrt(float64(sum))}
}

// cosineScale is the cosine of equal vectors: cosines are integers, so that no order of summing shows in their mean.
const cosineScale = 1 << 20

// cosine returns the cosine similarity of two vectors, or 0 if their lengths differ or one of them is zero.
func (v vector) cosine(o vector) int64 {
	if len(v.at) != len(o.at) || v.norm == 0 || o.norm == 0 {
		return 0
	}
	var dot int32
	for i, n := range v.at {
		dot += int32(n) * int32(o.at[i])
	}
	return int64(math.Round(float64(dot) / (v.norm * o.norm) * cosineScale))
}
