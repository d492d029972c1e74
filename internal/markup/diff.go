package markup

// Diff returns the unified line diff from a to b.
func Diff(a, b string) string { return "" }
