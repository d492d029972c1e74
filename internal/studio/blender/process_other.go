//go:build unix && !linux

package blender

import "syscall"

// childAttr gives the program a process group of its own, so that only the studio handles Ctrl-C on
// a terminal. The program ends with the studio process because its socket closes.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
