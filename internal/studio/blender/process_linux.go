package blender

import "syscall"

// childAttr makes the program end with its starter, whatever ends that. It gets a process
// group of its own, so that Ctrl-C on a terminal is the starter's to handle.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
