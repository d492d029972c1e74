package canon

import "context"

type longReadKey struct{}

// LongRead returns a context whose reads of the store may be made at a standby of the database: those
// of an export, which would take the primary's time. A store that has no standby reads as always.
//
// The reads find all that was written before each of them, and nothing that was hidden before it. They
// may fail with fault.Unavailable where the primary would not: repeat them without it.
func LongRead(ctx context.Context) context.Context {
	return context.WithValue(ctx, longReadKey{}, true)
}

// IsLongRead reports whether a context is one of LongRead.
func IsLongRead(ctx context.Context) bool { return ctx.Value(longReadKey{}) != nil }
