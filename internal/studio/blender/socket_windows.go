package blender

import (
	"errors"
	"net"
	"os"
)

// socketPair fails: a program cannot inherit a socket on Windows.
func socketPair() (net.Conn, *os.File, error) {
	return nil, nil, errors.New("sessions need a system with socket pairs; run the studio on Linux or macOS")
}
