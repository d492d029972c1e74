package transfer

import "sync"

// progressTable keeps the progress of this process's jobs by the id of their source.
type progressTable struct {
	mu    sync.Mutex
	steps map[string]steps // guarded by mu
}

type steps struct{ Done, Total int }

func (t *progressTable) set(source string, done, total int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.steps == nil {
		t.steps = map[string]steps{}
	}
	t.steps[source] = steps{done, total}
}

func (t *progressTable) get(source string) steps {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.steps[source]
}

func (t *progressTable) removeSteps(source string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.steps, source)
}
