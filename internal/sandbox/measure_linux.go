package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// check lists the targets that the helper tries to reach in place of a program, from within. The caller made the file
// and listens on the port; everything but the folder should be out of reach.
type check struct {
	File    string // a file outside of the folder
	Port    int    // on 127.0.0.1
	Process int
}

// checked is the helper's report about a check.
type checked struct{ Files, Network, Processes, Limits bool }

// attempt carries out the check. Its network calls are plain system calls: the restrictions are those of this thread.
func (c check) attempt(dir string) (checked, error) {
	if err := os.WriteFile(filepath.Join(dir, "inside"), []byte("x"), 0o600); err != nil {
		return checked{}, fmt.Errorf("the folder cannot be written: %w", err)
	}
	_, readErr := os.ReadFile(c.File)
	writeErr := os.WriteFile(c.File, nil, 0o600)
	makeErr := os.WriteFile(c.File+".new", nil, 0o600)
	fd, netErr := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if netErr == nil {
		netErr = unix.Connect(fd, &unix.SockaddrInet4{Port: c.Port, Addr: [4]byte{127, 0, 0, 1}})
	}
	return checked{Files: readErr != nil && writeErr != nil && makeErr != nil, Network: netErr != nil,
		Processes: unix.Kill(c.Process, 0) != nil}, nil
}

// modes are the ways to confine a program, the best first.
var modes = []mode{
	{By: "namespaces", Spaces: true, User: true},
	{By: "namespaces", Spaces: true}, // root in a system without user namespaces
	{By: "Landlock", Landlock: true},
	{},
}

// found is the best mode that works here, with its measured protection. It is a fact about the system.
var found = sync.OnceValue(func() (best struct {
	mode
	Protection
}) {
	var refused []string
	for _, m := range modes {
		got, err := m.measure()
		if err == nil && !got.Files && m.By != "" {
			err = errors.New("it does not keep files apart")
		}
		if err != nil {
			refused = append(refused, fmt.Sprintf("%s: %v", m, err))
			continue
		}
		best.mode = m
		best.Protection = Protection{Files: got.Files, Network: got.Network, Processes: got.Processes, Limits: got.Limits,
			By: m.By, Refused: strings.Join(refused, "; ")}
		return best
	}
	best.mode.direct = true
	best.Refused = strings.Join(refused, "; ")
	return best
})

// Measure returns the protection that confined programs have. The first call tries it in a process, for some tens of
// milliseconds.
func Measure() Protection { return found().Protection }

// measureWait bounds a check, which takes 20 ms on an idle machine.
const measureWait = 10 * time.Second

// measure runs a check in this mode.
func (m mode) measure() (got checked, err error) {
	dir, err := os.MkdirTemp("", "loregate-sandbox-")
	if err != nil {
		return got, err
	}
	defer os.RemoveAll(dir)
	inside, canary := filepath.Join(dir, "job"), filepath.Join(dir, "canary")
	if err := errors.Join(os.Mkdir(inside, 0o700), os.WriteFile(canary, []byte("x"), 0o600)); err != nil {
		return got, err
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return got, err
	}
	defer listener.Close()
	ctx, cancel := context.WithTimeout(context.Background(), measureWait)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, selfPath, "check")
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.WaitDelay = inside, Environment(inside), &said, time.Second
	c := check{File: canary, Port: listener.Addr().(*net.TCPAddr).Port, Process: os.Getpid()}
	if err := m.wrap(cmd, job{Memory: defaultMemory, Check: &c}); err != nil {
		return got, err
	}
	out, err := cmd.Output()
	if err != nil {
		return got, fmt.Errorf("%w %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return got, json.Unmarshal(out, &got)
}

// mode is a way to confine a program.
type mode struct {
	By       string
	Spaces   bool // in namespaces of mounts, the network, processes and System V objects
	User     bool // and in one of users, which needs no privilege
	Landlock bool
	direct   bool // the helper itself does not work: the program is started without it
}

func (m mode) String() string {
	switch {
	case m.User:
		return "user namespaces"
	case m.Spaces:
		return "namespaces by root"
	case m.Landlock:
		return "Landlock"
	}
	return "limits"
}

// selfPath is the running program, also after its file was replaced by an upgrade.
const selfPath = "/proc/self/exe"

func (s *Sandbox) confine(cmd *exec.Cmd) error {
	return found().wrap(cmd, job{Memory: s.memory})
}

// wrap makes a command start the helper, which becomes the command's program. The kernel kills it when the thread that
// started it ends, which is with this process. It gets a process group of its own, so that only the server handles
// Ctrl-C on a terminal.
func (m mode) wrap(cmd *exec.Cmd, j job) (err error) {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.SysProcAttr = attr
	if cmd.Cancel != nil {
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	}
	if m.direct || cmd.Err != nil {
		return nil
	}
	if m.Spaces {
		attr.Cloneflags = unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	}
	if m.User {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	j.Spaces, j.Landlock, j.Dir = m.Spaces, m.Landlock, cmd.Dir
	if j.Source, err = filepath.EvalSymlinks(cmd.Dir); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	if j.Program, err = filepath.EvalSymlinks(cmd.Path); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	encoded, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	// Programs look for their files beside the path that they were called by.
	cmd.Args = append([]string{helperName, string(encoded), j.Program}, cmd.Args[1:]...)
	cmd.Path = selfPath
	return nil
}
