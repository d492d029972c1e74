package loadtest

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/procfs"
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
	began uint64 // in ticks since the machine's start
}

// tick is the unit of processor time in /proc: USER_HZ is 100 on every Linux.
const tick = 10 * time.Millisecond

// ProcessTime returns the processor time of a process of this machine, in steps of 10 ms. ok is
// false if there is no such process, or the system does not provide the figure: it needs Linux's
// /proc.
func ProcessTime(pid int) (took time.Duration, ok bool) {
	c, _, ok := processTime(pid)
	return c.user + c.system, ok
}

func processTime(pid int) (c cpuTime, p process, ok bool) {
	of, err := procfs.NewProc(pid)
	if err != nil {
		return c, p, false
	}
	s, err := of.Stat()
	return cpuTime{time.Duration(s.UTime) * tick, time.Duration(s.STime) * tick}, process{pid, s.Starttime}, err == nil
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

// serverAt finds the one process that listens at a URL's address, which must be loopback.
func serverAt(address string) (p process, ok bool) {
	sockets := listeningSockets(address)
	all, err := procfs.AllProcs()
	if err != nil || len(sockets) == 0 {
		return p, false
	}
	for _, one := range all {
		open, err := one.FileDescriptorTargets()
		if err != nil || !slices.ContainsFunc(open, func(f string) bool { return slices.Contains(sockets, f) }) {
			continue // it has ended, or is another user's
		}
		if ok {
			return process{}, false
		}
		_, p, ok = processTime(one.PID)
	}
	return p, ok
}

// listeningSockets returns the sockets that listen at a URL's loopback address, by their names in
// /proc.
func listeningSockets(address string) (sockets []string) {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	ips, _ := net.LookupIP(u.Hostname())
	fs, _ := procfs.NewDefaultFS()
	four, _ := fs.NetTCP() //lint:ignore SA1019 its successor needs netlink, for a look once a run
	six, _ := fs.NetTCP6() //lint:ignore SA1019 likewise
	for _, s := range slices.Concat(four, six) {
		if s.St == listening && strconv.FormatUint(s.LocalPort, 10) == u.Port() &&
			slices.ContainsFunc(ips, func(ip net.IP) bool {
				return ip.IsLoopback() && (s.LocalAddr.IsUnspecified() || s.LocalAddr.Equal(ip))
			}) {
			sockets = append(sockets, fmt.Sprintf("socket:[%d]", s.Inode))
		}
	}
	return sockets
}

// listening is the state of a listening socket in /proc/net/tcp.
const listening = 0x0a

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
