package markup

// Distance is Levenshtein's: how many elements must be put in, taken out or changed to
// make b of a. It takes len(a)·len(b) steps, so bound what is compared.
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
