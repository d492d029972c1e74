//go:build !linux

package crashtest

import "os/exec"

func dieWithParent(*exec.Cmd) {}
