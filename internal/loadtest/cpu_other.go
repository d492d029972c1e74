//go:build !linux

package loadtest

import "net/netip"

// serverProcess finds none: what /proc tells on Linux is not known here.
func serverProcess(netip.AddrPort) (process, bool) { return process{}, false }

func processTime(int) (c cpuTime, p process, ok bool) { return c, p, false }
