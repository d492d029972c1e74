package canon

import (
	"sync"

	"loregate/internal/access"
)

// DryRun is a change that was planned and checked under a dry-run grant: its ChangeSet, and the
// Receipt that its commit would have had. Canon.Commit can commit exactly this ChangeSet; it refuses
// if the cards or links that the plan read have changed. People thus agree to exactly the change that
// they were shown.
type DryRun struct {
	Set     ChangeSet
	Receipt Receipt
}

// DryRuns calls f with a dry-run grant and returns the dry runs of all changes that f made under it,
// in the order in which they ended. If f fails, DryRuns returns its error and the dry runs that had
// succeeded before. A change that would commit nothing has no dry run.
func (c *Canon) DryRuns(g access.Grant, f func(access.Grant) error) ([]DryRun, error) {
	id, list := c.lastDryRunID.Add(1), &dryRunList{}
	c.dryRuns.Store(id, list)
	defer c.dryRuns.Delete(id)
	err := f(g.CollectedDryRun(id))
	list.mu.Lock()
	defer list.mu.Unlock()
	return list.runs, err
}

// dryRunList holds the dry runs of one call of DryRuns that has not returned.
type dryRunList struct {
	mu   sync.Mutex // guards runs
	runs []DryRun
}

// collectDryRun adds a dry run to the list of the call that made its grant, if there is one.
func (c *Canon) collectDryRun(g access.Grant, run DryRun) {
	if v, ok := c.dryRuns.Load(g.Request().DryRunID); ok {
		list := v.(*dryRunList)
		list.mu.Lock()
		defer list.mu.Unlock()
		list.runs = append(list.runs, run)
	}
}

// Body returns content that the ChangeSet writes, by its hash.
func (s ChangeSet) Body(h Hash) ([]byte, bool) {
	b, ok := s.bodies[h]
	return b, ok
}
