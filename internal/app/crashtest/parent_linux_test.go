package crashtest

import (
	"os/exec"
	"syscall"
)

// dieWithParent lets the kernel end a process whose test was killed.
func dieWithParent(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
