package blender

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// socketPair has nothing to be made of: a program cannot be given a socket there.
func socketPair() (net.Conn, *os.File, error) {
	return nil, nil, errors.New("sessions need a system with socket pairs; run the studio on Linux or macOS")
}

func childAttr() *syscall.SysProcAttr { return nil }
