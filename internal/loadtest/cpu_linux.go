package loadtest

import (
	"bufio"
	"encoding/hex"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc: USER_HZ is 100 on every Linux.
const tick = 10 * time.Millisecond

// serverProcess finds the one process that listens at an address of this machine.
func serverProcess(at netip.AddrPort) (process, bool) {
	sockets := listeningSockets("/proc/net/tcp", at)
	sockets = append(sockets, listeningSockets("/proc/net/tcp6", at)...)
	if len(sockets) == 0 {
		return process{}, false
	}
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return process{}, false
	}
	found := 0
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || !slices.Contains(sockets, target) {
			continue // it has ended, or is another user's
		}
		pid, err := strconv.Atoi(strings.Split(link, "/")[2])
		if err != nil || found != 0 && found != pid {
			return process{}, false
		}
		found = pid
	}
	_, p, ok := processTime(found)
	return p, ok
}

// listeningSockets returns the sockets in one of the kernel's tables that listen at an address, by
// their names in /proc.
func listeningSockets(table string, at netip.AddrPort) (sockets []string) {
	f, err := os.Open(table)
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		row := strings.Fields(lines.Text())
		if len(row) < 10 || row[3] != "0A" { // LISTEN
			continue
		}
		local, ok := kernelAddress(row[1])
		if ok && local.Port() == at.Port() && (local.Addr() == at.Addr() || local.Addr().IsUnspecified()) {
			sockets = append(sockets, "socket:["+row[9]+"]")
		}
	}
	return sockets
}

// kernelAddress parses an address of /proc/net/tcp: words of four bytes in the machine's order, the
// last byte first, and the port.
func kernelAddress(text string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(host)
	n, perr := strconv.ParseUint(port, 16, 16)
	if err != nil || perr != nil || len(b)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for word := range slices.Chunk(b, 4) {
		slices.Reverse(word)
	}
	ip, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)), ok
}

// processTime reads the processor time of a process.
func processTime(pid int) (c cpuTime, p process, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return c, p, false
	}
	_, rest, _ := strings.Cut(string(b[strings.LastIndexByte(string(b), ')')+1:]), " ")
	fields := strings.Fields(rest) // from the third, the state
	if len(fields) < 20 {
		return c, p, false
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	system, serr := strconv.ParseInt(fields[12], 10, 64)
	return cpuTime{time.Duration(user) * tick, time.Duration(system) * tick}, process{pid, fields[19]}, err == nil &&
		serr == nil
}
