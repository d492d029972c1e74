package crashtest

import (
	"bufio"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"loregate/internal/programtest"
	"loregate/internal/waittest"
)

// watcher is a process that runs the agents.
type watcher struct {
	cmd    *exec.Cmd
	killed bool
	ended  chan struct{} // closed when its output has ended
}

// runLog has the runs that watchers printed, by id.
type runLog struct {
	mu   sync.Mutex
	by   map[string][]*watcher // guarded by mu
	some chan struct{}         // receives a signal for each run while there is room
}

// startWatcher starts a process that runs the agents, and waits until it does.
func startWatcher(t *testing.T, at string, l *runLog) *watcher {
	t.Helper()
	w := &watcher{cmd: command(t, at, "agent", "watch"), ended: make(chan struct{})}
	w.cmd.Env = append(w.cmd.Env, "LOREGATE_AGENTS_AUDIT=1s")
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || lines.Text() != "watching" {
		t.Fatalf("the watcher printed %q", lines.Text())
	}
	go func() {
		defer close(w.ended)
		for lines.Scan() {
			run, _, _ := strings.Cut(lines.Text(), "\t")
			l.mu.Lock()
			l.by[run] = append(l.by[run], w)
			l.mu.Unlock()
			select {
			case l.some <- struct{}{}:
			default:
			}
		}
	}()
	return w
}

// TestCrashOfAgents has three processes run an agent that is due every second, and kills them in turn. Each due run is
// made by one process.
func TestCrashOfAgents(t *testing.T) {
	programtest.Long(t)
	at := t.TempDir()
	mustRun(t, at, "world", "create", "main")
	l := &runLog{by: map[string][]*watcher{}, some: make(chan struct{}, 100)}
	var all []*watcher
	for range 3 {
		all = append(all, startWatcher(t, at, l))
	}
	for n := range 2 * len(all) {
		waittest.Receive(t, l.some, "an agent runs")
		w := all[n%len(all)]
		w.killed = true
		if err := w.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-w.ended
		_ = w.cmd.Wait() // it was killed
		all[n%len(all)] = startWatcher(t, at, l)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.by) < 2*len(all) {
		t.Errorf("%d runs were made", len(l.by))
	}
	for run, by := range l.by {
		if len(by) > 1 && !by[0].killed { // a process that was killed after its run may not have recorded it
			t.Errorf("%s was run %d times", run, len(by))
		}
	}
	t.Logf("%d runs by three processes, of which %d were killed", len(l.by), 2*len(all))
}
