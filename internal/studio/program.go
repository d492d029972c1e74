package studio

import (
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Program finds a target's program by name or path and returns its absolute path. If it is not
// installed, the error is a Failure with code Missing and the text install.
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

// probeLife is the time for which a program's reported version is cached.
const probeLife = 10 * time.Minute

// Probed caches a program's answer to a probe. The zero Probed is empty.
type Probed struct {
	mu   sync.Mutex // guards the fields below
	path string     // the program that info belongs to
	info TargetInfo
	when time.Time
}

// Info returns the cached info of a program, or calls ask.
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
