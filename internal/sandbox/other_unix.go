//go:build unix && !linux

package sandbox

import "syscall"

// childAttr gives the program a process group of its own, so that only the server handles Ctrl-C on a terminal.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
