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
func (c *Canon) DryRuns(g access.Grant, f func(access.Grant) error) (runs []DryRun, err error) {
	id := c.dryRuns.open()
	defer func() { runs = c.dryRuns.close(id) }()
	return nil, f(g.CollectedDryRun(id))
}

// Body returns content that the ChangeSet writes, by its hash.
func (s ChangeSet) Body(h Hash) ([]byte, bool) {
	b, ok := s.bodies[h]
	return b, ok
}

// dryRunCollector holds the results of the calls of DryRuns that have not returned, by the id in
// their grant.
type dryRunCollector struct {
	mu   sync.Mutex // guards the fields below
	last uint64     // id
	runs map[uint64][]DryRun
}

func (d *dryRunCollector) open() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.runs == nil {
		d.runs = map[uint64][]DryRun{}
	}
	d.last++
	d.runs[d.last] = nil
	return d.last
}

// add adds a dry run to the call that made the grant, if that call has not returned.
func (d *dryRunCollector) add(g access.Grant, run DryRun) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := g.Request().DryRunID
	if list, open := d.runs[id]; open {
		d.runs[id] = append(list, run)
	}
}

func (d *dryRunCollector) close(id uint64) []DryRun {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.runs[id]
	delete(d.runs, id)
	return list
}
