// Package slicesx has the two steps over slices that package slices lacks. A function that is given
// must not change the slice.
package slicesx

// Map returns the result of f for each element of list, in order. It never returns nil.
func Map[E, R any](list []E, f func(E) R) []R {
	out := make([]R, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// Filter returns the elements of list that keep accepts, in order, in a slice of its own. It returns
// nil if there are none.
func Filter[E any](list []E, keep func(E) bool) (kept []E) {
	for _, x := range list {
		if keep(x) {
			kept = append(kept, x)
		}
	}
	return kept
}
