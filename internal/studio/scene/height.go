package scene

import (
	"encoding/binary"
	"errors"
	"math"
)

// Heights reads a packed mesh made by Grid and returns a function for the height at a point. Points
// beyond the edges get the height of the nearest edge.
func Heights(packed []byte) (func(x, y float64) float64, error) {
	errNone := errors.New("its mesh is not a grid")
	if len(packed) < 16 {
		return nil, errNone
	}
	count := int(binary.LittleEndian.Uint32(packed))
	n := int(math.Round(math.Sqrt(float64(count))))
	if n < 2 || n*n != count || len(packed) < 16+12*count {
		return nil, errNone
	}
	at := func(i, k int) float64 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(packed[16+12*i+4*k:])))
	}
	x0, y0, x1, y1 := at(0, 0), at(0, 1), at(count-1, 0), at(count-1, 1)
	if x1 <= x0 || y1 <= y0 || at(n-1, 1) != y0 || at(n-1, 0) != x1 {
		return nil, errNone
	}
	return func(x, y float64) float64 {
		u := min(max((x-x0)/(x1-x0), 0), 1) * float64(n-1)
		v := min(max((y-y0)/(y1-y0), 0), 1) * float64(n-1)
		i, j := min(int(u), n-2), min(int(v), n-2)
		fu, fv := u-float64(i), v-float64(j)
		low := at(j*n+i, 2) + float64((at(j*n+i+1, 2)-at(j*n+i, 2))*fu)
		high := at((j+1)*n+i, 2) + float64((at((j+1)*n+i+1, 2)-at((j+1)*n+i, 2))*fu)
		return low + float64((high-low)*fv)
	}, nil
}
