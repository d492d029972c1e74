package studio

import (
	"os/exec"
	"path/filepath"
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
