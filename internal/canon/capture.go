package canon

import "context"

// Captured holds the ChangeSets of the dry runs under a context, in order, and the Receipt of each.
// Only one call at a time may use it.
type Captured struct {
	Sets     []ChangeSet
	Receipts []Receipt
}

type captureKey struct{}

// Capture returns a context under which every successful dry run adds its ChangeSet to Captured.
// Canon.Commit can then commit exactly that change; it refuses if the cards or links that the plan
// read have changed. People thus agree to exactly the change that they were shown.
func Capture(ctx context.Context) (context.Context, *Captured) {
	c := &Captured{}
	return context.WithValue(ctx, captureKey{}, c), c
}

// recordDryRun adds a dry run to the Captured of its context, if there is one.
func recordDryRun(ctx context.Context, set ChangeSet, r Receipt) {
	if c, ok := ctx.Value(captureKey{}).(*Captured); ok {
		c.Sets, c.Receipts = append(c.Sets, set), append(c.Receipts, r)
	}
}

// Body returns content that the ChangeSet writes, by its hash.
func (s ChangeSet) Body(h Hash) ([]byte, bool) {
	b, ok := s.bodies[h]
	return b, ok
}
