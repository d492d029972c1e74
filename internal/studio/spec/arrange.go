package spec

import "math"

// Size returns the number of members; 1 if there is no repeat.
func (r *Repeat) Size() int {
	switch {
	case r == nil:
		return 1
	case r.Row != nil:
		return r.Row.Count
	case r.Ring != nil:
		return r.Ring.Count
	case r.Grid != nil:
		return r.Grid.Columns * r.Grid.Rows
	case r.Along != nil && r.Along.Count > 0:
		return r.Along.Count
	case r.Along != nil:
		return min(int(PathLength(r.Along.Path)/r.Along.Every)+1, MaxParts+1)
	case r.Scatter != nil && r.Scatter.Count > 0:
		return r.Scatter.Count
	case r.Scatter != nil:
		a := r.Scatter.Area
		return int(min(math.Round((a[2]-a[0])*(a[3]-a[1])*r.Scatter.Density), MaxParts+1))
	}
	return 1
}

// PathLength returns the length of a chain of points.
func PathLength(path [][2]float64) float64 {
	length := 0.0
	for i := 1; i < len(path); i++ {
		length += math.Hypot(path[i][0]-path[i-1][0], path[i][1]-path[i-1][1])
	}
	return length
}
