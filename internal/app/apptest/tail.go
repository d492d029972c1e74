package apptest

import (
	"strings"
	"sync"
)

// maxTailLines has room for the stacks of a process.
const maxTailLines = 1000

// Tail keeps the last lines of a process's output. It is safe for concurrent use.
type Tail struct {
	mu    sync.Mutex
	lines []string // guarded by mu
}

// Add adds a line.
func (t *Tail) Add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line)
	if len(t.lines) > maxTailLines {
		t.lines = t.lines[1:]
	}
}

// Write keeps b as one line, even if it is not.
func (t *Tail) Write(b []byte) (int, error) {
	t.Add(string(b))
	return len(b), nil
}

func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}
