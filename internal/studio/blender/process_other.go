//go:build unix && !linux

package blender

import "syscall"

// childAttr gives the program a process group of its own, so that Ctrl-C on a terminal is
// the starter's to handle. It ends with its starter because its socket does.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
