package markup

// Distance returns the Levenshtein distance: the number of elements to insert, delete or change to
// turn a into b. It takes len(a)·len(b) steps, so callers must limit both lengths.
func Distance[E comparable](a, b []E) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Slips returns the number of letters to insert, delete, change or swap with the next one to turn a
// into b (optimal string alignment). Above most, the number may be too low, but is above most.
func Slips(a, b []rune, most int) int {
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		now[0] = i + 1
		least := now[0]
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			now[j+1] = min(last[j+1]+1, now[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
			least = min(least, now[j+1])
		}
		if least > most+1 { // a swap in the next row may save one
			return least
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
