package studio

import (
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Program finds a target's program by name or path, and gives its whole path. install says
// how to get it where it is not there, which is the fault Missing.
func Program(name, install string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", Fail(Missing, "%s", install).Because(err)
	}
	return path, nil
}

// probeLife is how long an answer of a program about its version is believed.
const probeLife = 10 * time.Minute

// Probed remembers what a program said of itself. The zero Probed has asked none.
type Probed struct {
	mu   sync.Mutex // guards what follows
	path string     // of the program that info is of
	info TargetInfo
	when time.Time
}

// Info gives what is remembered of a program, or asks it anew.
func (p *Probed) Info(path string, ask func() (TargetInfo, error)) (TargetInfo, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.path == path && time.Since(p.when) < probeLife {
		return p.info, nil
	}
	info, err := ask()
	if err == nil {
		p.path, p.info, p.when = path, info, time.Now()
	}
	return info, err
}
