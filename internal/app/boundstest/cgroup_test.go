package boundstest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// limits are those of deploy/loregate.service.
type limits struct {
	memory      int64 // MemoryMax, in bytes
	environment []string
}

var (
	memoryLine      = regexp.MustCompile(`(?m)^MemoryMax=(\d+)M$`)
	environmentLine = regexp.MustCompile(`(?m)^Environment=(.+)$`)
)

func serviceLimits(t testing.TB) limits {
	t.Helper()
	unit, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", "loregate.service"))
	if err != nil {
		t.Fatal(err)
	}
	most, set := memoryLine.FindSubmatch(unit), environmentLine.FindSubmatch(unit)
	if most == nil || set == nil {
		t.Fatal("deploy/loregate.service has no MemoryMax in M, or no Environment")
	}
	mib, err := strconv.ParseInt(string(most[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return limits{memory: mib << 20, environment: strings.Fields(string(set[1]))}
}

// cgroup is a group of processes whose memory is limited.
type cgroup struct {
	dir  string
	peak string // the file with the peak of all memory in bytes, page cache included
}

// cgroupTop is the mount point of the groups.
const cgroupTop = "/sys/fs/cgroup"

// newCgroup makes a group with at most that many bytes, and removes it at the end of the test. Where none can be made
// it returns nil: the memory is measured all the same.
func newCgroup(t testing.TB, most int64) *cgroup {
	t.Helper()
	parent, limit, peak := filepath.Join(cgroupTop, "memory"), "memory.limit_in_bytes", "memory.max_usage_in_bytes"
	if _, err := os.Stat(filepath.Join(cgroupTop, "cgroup.controllers")); err == nil { // version 2
		parent, limit, peak = cgroupTop, "memory.max", "memory.peak"
		_ = os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+memory"), 0) // writing limit tells
	}
	dir, err := os.MkdirTemp(parent, "loregate-bounds-")
	if err != nil {
		t.Logf("no memory cgroup can be made here, so the memory is measured without a limit: %v", err)
		return nil
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Log(err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, limit), []byte(strconv.FormatInt(most, 10)), 0); err != nil {
		t.Logf("the memory of a cgroup cannot be limited here, so it is measured without a limit: %v", err)
		return nil
	}
	return &cgroup{dir, filepath.Join(dir, peak)}
}

// members is the file to which a process writes its id to enter the group.
func (c *cgroup) members() string { return filepath.Join(c.dir, "cgroup.procs") }

// String tells the peak of the group since it was made.
func (c *cgroup) String() string {
	if c == nil {
		return "no cgroup"
	}
	text, err := os.ReadFile(c.peak)
	n, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || bad != nil {
		return "no peak of the cgroup"
	}
	return fmt.Sprintf("%d with page cache in a cgroup", n>>20)
}

// resetPeak returns the process's memory in MiB, and makes peak count from now on.
func (p *program) resetPeak() int64 {
	p.t.Helper()
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"),
		0) // else the peak is that of all time
	return p.status("VmRSS")
}

// peak returns the greatest memory of the process since resetPeak, in MiB.
func (p *program) peak() int64 { return p.status("VmHWM") }

// status returns a figure of the process in MiB.
func (p *program) status(name string) int64 {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Skipf("the system does not tell the memory of a process: %v", err)
	}
	_, rest, _ := strings.Cut(string(text), name+":")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		p.checkAlive()
		p.t.Fatalf("/proc has no %s", name)
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return kib >> 10
}
