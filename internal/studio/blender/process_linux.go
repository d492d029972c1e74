package blender

import "syscall"

// childAttr makes the kernel kill the program when the studio process ends for any reason. The
// program gets a process group of its own, so that only the studio handles Ctrl-C on a terminal.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
