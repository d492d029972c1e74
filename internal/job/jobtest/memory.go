package jobtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/job"
)

// Memory is a job.Store in memory. The zero Memory is empty. It passes TestStore.
type Memory struct {
	mu   sync.Mutex
	jobs map[uuid.UUID]job.Job // guarded by mu
	seen map[string]time.Time  // when each owner was touched. Guarded by mu
}

var _ job.Store = (*Memory)(nil)

// selectJobs returns the jobs that a condition selects, oldest first. The caller holds mu.
func (m *Memory) selectJobs(is func(job.Job) bool) []job.Job {
	var list []job.Job
	for j := range maps.Values(m.jobs) {
		if is(j) {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b job.Job) int {
		return cmp.Or(a.Created.Compare(b.Created), slices.Compare(a.ID[:], b.ID[:]))
	})
	return list
}

// AddJob implements job.Store.
func (m *Memory) AddJob(_ context.Context, j job.Job, b job.Bounds) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	own := m.selectJobs(func(o job.Job) bool { return o.State == job.Queued && o.By == j.By })
	if len(own) >= b.Caller {
		counts := map[string]int{}
		for _, o := range own {
			counts[o.Kind]++
		}
		var kinds []string
		for _, k := range slices.Sorted(maps.Keys(counts)) {
			kinds = append(kinds, fmt.Sprintf("%d %s", counts[k], k))
		}
		return job.TooManyOf(len(own), strings.Join(kinds, ", "))
	}
	if all := m.selectJobs(func(o job.Job) bool {
		return o.State == job.Queued && o.World == j.World
	}); len(all) >= b.World {
		return job.TooManyIn(len(all))
	}
	if m.jobs == nil {
		m.jobs, m.seen = map[uuid.UUID]job.Job{}, map[string]time.Time{}
	}
	m.jobs[j.ID] = j
	list := m.selectJobs(func(o job.Job) bool { return o.World == j.World })
	if b.Kept > 0 && len(list) > b.Kept {
		oldest := list[len(list)-b.Kept].Created
		maps.DeleteFunc(m.jobs, func(_ uuid.UUID, o job.Job) bool {
			return o.World == j.World && o.Done() && o.Created.Before(oldest)
		})
	}
	return nil
}

// ClaimJob implements job.Store.
func (m *Memory) ClaimJob(_ context.Context, owner string, s job.Slots, now time.Time) (next job.Job, found bool,
	err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	running, here := map[access.WorldID]int{}, map[access.WorldID]int{}
	last := map[access.WorldID]time.Time{}
	worlds := 0
	for _, j := range m.jobs {
		if j.State == job.Running {
			running[j.World]++
		}
		if j.State == job.Running && j.Owner == owner {
			here[j.World]++
			if !j.World.IsZero() {
				worlds++
			}
		}
		if j.Started.After(last[j.World]) {
			last[j.World] = j.Started
		}
	}
	list := m.selectJobs(func(j job.Job) bool {
		if j.World.IsZero() {
			return j.State == job.Queued && j.Owner == owner && here[j.World] < s.Instance
		}
		return j.State == job.Queued && j.Owner == owner && worlds < s.Worlds && here[j.World] < s.World
	})
	if len(list) == 0 {
		return next, false, nil
	}
	slices.SortStableFunc(list, func(a, b job.Job) int {
		return cmp.Or(running[a.World]-running[b.World], last[a.World].Compare(last[b.World]))
	})
	next = list[0]
	next.State, next.Started, next.Changed = job.Running, now, now
	m.jobs[next.ID] = next
	return next, true, nil
}

// EndJob implements job.Store.
func (m *Memory) EndJob(_ context.Context, j job.Job) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kept, ok := m.jobs[j.ID]; ok && !kept.Done() {
		kept.State, kept.Result, kept.Problem, kept.Changed = j.State, j.Result, j.Problem, j.Changed
		m.jobs[j.ID] = kept
	}
	return nil
}

// CancelJob implements job.Store.
func (m *Memory) CancelJob(_ context.Context, id uuid.UUID, now time.Time) (job.Job, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j, ok := m.jobs[id]
	switch {
	case !ok:
		return j, false, nil
	case j.State == job.Queued:
		j.State, j.Problem, j.Changed = job.Cancelled, job.CancelledText, now
	case j.State == job.Running:
		j.Stop = true
	}
	m.jobs[id] = j
	return j, true, nil
}

// Job implements job.Store.
func (m *Memory) Job(_ context.Context, id uuid.UUID) (job.Job, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j, ok := m.jobs[id]
	return j, ok, nil
}

// Jobs implements job.Store.
func (m *Memory) Jobs(_ context.Context, q job.Query) ([]job.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.selectJobs(func(j job.Job) bool {
		return (q.World == nil || *q.World == j.World) && (q.By == "" || q.By == j.By) &&
			(q.Level == access.LevelNone || j.Level <= q.Level) && (q.Owner == "" || q.Owner == j.Owner) &&
			(len(q.Kinds) == 0 || slices.Contains(q.Kinds, j.Kind)) && (!q.Open || !j.Done())
	})
	slices.Reverse(list)
	if q.Limit > 0 {
		list = list[:min(q.Limit, len(list))]
	}
	return list, nil
}

// Touch implements job.Store.
func (m *Memory) Touch(_ context.Context, owner string, now, before time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.jobs == nil {
		m.jobs, m.seen = map[uuid.UUID]job.Job{}, map[string]time.Time{}
	}
	m.seen[owner] = now
	for id, j := range m.jobs {
		if seen, ok := m.seen[j.Owner]; !j.Done() && (!ok || seen.Before(before)) {
			j.State, j.Problem, j.Changed = job.Failed, job.Interrupted, now
			m.jobs[id] = j
		}
	}
	return nil
}
