package canon

import "context"

// Captured is what rehearsals made under a context would have committed, in order, and what
// each would have answered. It is used by one call at a time.
type Captured struct {
	Sets     []ChangeSet
	Receipts []Receipt
}

type captureKey struct{}

// Capture gives a context under which every rehearsal that holds notes its ChangeSet.
// Canon.Commit then makes exactly that change, or refuses where what it rests on has
// moved: so that what somebody was shown is what they agree to.
func Capture(ctx context.Context) (context.Context, *Captured) {
	c := &Captured{}
	return context.WithValue(ctx, captureKey{}, c), c
}

func recordDryRun(ctx context.Context, set ChangeSet, r Receipt) {
	if c, ok := ctx.Value(captureKey{}).(*Captured); ok {
		c.Sets, c.Receipts = append(c.Sets, set), append(c.Receipts, r)
	}
}

// Body is content that the ChangeSet writes, by its hash.
func (s ChangeSet) Body(h Hash) ([]byte, bool) {
	b, ok := s.bodies[h]
	return b, ok
}
