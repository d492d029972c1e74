//go:build unix

package blender

import (
	"net"
	"os"
	"syscall"
)

// socketPair makes a pair of connected sockets: ours, and the program's, which gets it as file
// descriptor 3. No other process can reach it.
func socketPair() (ours net.Conn, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fds[0]), "session")
	defer f.Close()
	theirs = os.NewFile(uintptr(fds[1]), "session")
	if ours, err = net.FileConn(f); err != nil {
		_ = theirs.Close()
	}
	return ours, theirs, err
}
