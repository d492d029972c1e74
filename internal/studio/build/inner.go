package build

// gap is an opening of a wall without a leaf.
type gap struct{ Width float64 }

// Kind returns the kind of the body; so do the following.
func (*gap) Kind() string         { return "gap" }
func (*panel) Kind() string       { return "panel" }
func (*battlements) Kind() string { return "battlements" }
func (*framing) Kind() string     { return "framing" }
