//go:build !linux

package sandbox

import "os/exec"

// Measure returns the zero Protection: the folder and the environment are all that this system offers.
func Measure() Protection { return Protection{} }

func (s *Sandbox) confine(cmd *exec.Cmd) error {
	cmd.SysProcAttr = childAttr()
	return nil
}
