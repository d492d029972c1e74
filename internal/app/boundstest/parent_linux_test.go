package boundstest

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel end a process when its test process is killed.
func dieWithParent(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
