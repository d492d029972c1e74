package loadtest

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// ServerCPU is the processor time of the servers' processes during the load.
type ServerCPU struct {
	User    float64 `json:"user_seconds"`
	System  float64 `json:"system_seconds"`
	PerCall float64 `json:"us_per_call"` // per successful call
}

// cpuTime is the processor time of a process.
type cpuTime struct{ user, system time.Duration }

// process is a process of this machine. began, its start time, distinguishes it from a later
// process with the same pid.
type process struct {
	pid   int
	began string
}

// ProcessTime returns the processor time of a process of this machine, in steps of 10 ms. ok is
// false if there is no such process, or the system does not provide the figure.
func ProcessTime(pid int) (took time.Duration, ok bool) {
	c, _, ok := processTime(pid)
	return c.user + c.system, ok
}

// cpuMeter measures the processor time of processes since its creation.
type cpuMeter struct {
	began []cpuTime
	of    []process
}

// meterServers starts measuring the processes that listen at the servers' addresses. It returns nil
// if one of them cannot be found because it is on another machine or belongs to another user.
func meterServers(urls []string) *cpuMeter {
	var m cpuMeter
	for _, u := range urls {
		p, ok := serverAt(u)
		if !ok {
			return nil
		}
		if slices.Contains(m.of, p) {
			continue // one that listens at several addresses
		}
		c, _, ok := processTime(p.pid)
		if !ok {
			return nil
		}
		m.began, m.of = append(m.began, c), append(m.of, p)
	}
	return &m
}

// serverAt finds the process that listens at a URL's address, which must be loopback.
func serverAt(address string) (process, bool) {
	u, err := url.Parse(address)
	if err != nil {
		return process{}, false
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		return process{}, false
	}
	ips, err := net.LookupIP(u.Hostname())
	if err != nil {
		return process{}, false
	}
	for _, ip := range ips {
		if at, ok := netip.AddrFromSlice(ip); ok && ip.IsLoopback() {
			if p, found := serverProcess(netip.AddrPortFrom(at.Unmap(), uint16(port))); found {
				return p, true
			}
		}
	}
	return process{}, false
}

// read returns the processor time since the start, or nil if one of the processes has ended.
func (m *cpuMeter) read(calls int64) *ServerCPU {
	if m == nil {
		return nil
	}
	var took cpuTime
	for i, p := range m.of {
		c, now, ok := processTime(p.pid)
		if !ok || now != p {
			return nil
		}
		took.user, took.system = took.user+c.user-m.began[i].user, took.system+c.system-m.began[i].system
	}
	return &ServerCPU{User: took.user.Seconds(), System: took.system.Seconds(),
		PerCall: float64((took.user + took.system).Microseconds()) / float64(max(calls, 1))}
}

// formatCell formats the figure for a table.
func (c *ServerCPU) formatCell() string {
	if c == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.0f", c.PerCall)
}

func (c *ServerCPU) formatLine() string {
	if c == nil {
		return "server CPU: n/a; its process is not on this machine, or not to be seen by this user, or it was restarted"
	}
	return fmt.Sprintf("server CPU: %.0f µs a call (user %.2f s, system %.2f s)", c.PerCall, c.User, c.System)
}
