package sandbox

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// helperName is the name under which this program starts itself to become a confined one.
const helperName = "loregate-sandbox"

// The restrictions of a process are made by the process itself, between its start and its program. Every program that
// imports this package can be the helper, tests included; that is why this is an init function.
func init() {
	if len(os.Args) < 3 || os.Args[0] != helperName {
		return
	}
	fmt.Fprintln(os.Stderr, "loregate-sandbox:", becomeProgram(os.Args[1], os.Args[2:]))
	os.Exit(126)
}

// job tells the helper which program to become, and under which restrictions.
type job struct {
	Dir      string // the program's folder, as the program sees it
	Source   string // the same folder, without symbolic links
	Program  string
	Memory   uint64
	Spaces   bool
	Landlock bool
	Check    *check `json:",omitempty"` // instead of a program
}

// becomeProgram takes on the restrictions of a job and runs its program in this process. It returns only errors. It
// runs on the main thread, to which all restrictions apply; the program replaces the other threads.
func becomeProgram(encoded string, args []string) error {
	var j job
	if err := json.Unmarshal([]byte(encoded), &j); err != nil {
		return err
	}
	// If memory runs out, the system ends this program before the server.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // a system may refuse it
	if j.Spaces {
		if err := j.enterRoot(); err != nil {
			return err
		}
	}
	if err := os.Chdir(j.Dir); err != nil {
		return err
	}
	if err := dropPrivileges(); err != nil && j.Spaces {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if j.Landlock {
		if err := j.landlock(); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
	}
	_ = filterCalls() // the check measures its effect
	limited := j.limit()
	// Dropping privileges may have reset it.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	if j.Check != nil {
		got, err := j.Check.attempt(j.Dir)
		if err != nil {
			return err
		}
		got.Limits = limited == nil
		if err := json.NewEncoder(os.Stdout).Encode(got); err != nil {
			return err
		}
		os.Exit(0)
	}
	return fmt.Errorf("%s: %w", j.Program, syscall.Exec(j.Program, args, os.Environ()))
}

// limit sets the limits of the process and of those that it starts.
func (j job) limit() (err error) {
	for _, l := range []struct {
		resource int
		most     uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_CPU, uint64(maxCPU / time.Second)},
		{unix.RLIMIT_FSIZE, maxFileSize},
		{unix.RLIMIT_NPROC, maxProcesses},
		{unix.RLIMIT_AS, j.Memory}, // last: it holds for the helper too
	} {
		was := syscall.Rlimit{Max: math.MaxUint64}
		_ = syscall.Getrlimit(l.resource, &was) // if it fails, setting fails too
		most := min(l.most, was.Max)
		if e := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: most, Max: most}); e != nil {
			err = e
		}
	}
	return err
}

// dropPrivileges gives up every capability for good.
func dropPrivileges() error {
	for c := range uintptr(64) {
		if unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) == unix.EINVAL {
			break // past the last one
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) // there may be none
	var none [2]unix.CapUserData
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}

// systemPaths are the parts of the system that programs may read: programs, libraries, fonts. No other part of /etc
// is among them.
var systemPaths = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives",
	"/etc/fonts", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"}

// devices are the devices that programs may use.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// programPath returns the path that makes the program visible if no system path does: the folder that it is installed
// in, or the file alone if the job's folder is below that folder.
func (j job) programPath() string {
	dir := j.Program[:strings.LastIndexByte(j.Program, '/')]
	if dir == "" || strings.HasPrefix(j.Source+"/", dir+"/") {
		return j.Program
	}
	return dir
}

// readable returns the paths that the program may read and run. One that does not exist is left out where it is used.
func (j job) readable() []string {
	for _, p := range systemPaths {
		if strings.HasPrefix(j.Program, p+"/") {
			return systemPaths
		}
	}
	return append(append([]string{}, systemPaths...), j.programPath())
}
