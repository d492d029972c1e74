//go:build !linux

package loadtest

import "net/netip"

// serverProcess finds no process: it needs Linux's /proc.
func serverProcess(netip.AddrPort) (process, bool) { return process{}, false }

func processTime(int) (c cpuTime, p process, ok bool) { return c, p, false }
