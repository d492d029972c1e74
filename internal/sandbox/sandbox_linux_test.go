package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loregate/internal/programtest"
	"loregate/internal/waittest"
)

// eachMode runs a test in every way to confine that works on this system.
func eachMode(t *testing.T, f func(t *testing.T, m mode)) {
	for _, m := range modes {
		t.Run(m.String(), func(t *testing.T) {
			if got, err := m.measure(); err != nil || !got.Files && m.By != "" {
				t.Skipf("this system does not allow it: %+v, %v", got, err)
			}
			f(t, m)
		})
	}
}

// confine is Confine in a mode.
func confine(t *testing.T, m mode, cmd *exec.Cmd, dir string) {
	t.Helper()
	cmd.Dir, cmd.Env = dir, append(Environment(dir), cmd.Env...)
	if err := m.wrap(cmd, job{Memory: defaultMemory}); err != nil {
		t.Fatal(err)
	}
}

// target is the part of the server that a hostile program is after.
type target struct {
	Data, Canary   string // a folder, and a file in it
	TCP, UDP, Unix string // addresses at which somebody listens
	Abstract       string
	Process        int
	Gentle         bool // nothing is tried that would change the system
}

// hostile is the environment variable by which TestHostile knows that it is the program.
const hostile = "HOSTILE_TARGET"

// intrusions are the attempts of a hostile program; the error of each says that it failed.
func (g target) intrusions() map[string]func() error {
	read := func(path string) func() error {
		return func() error { _, err := os.ReadFile(path); return err }
	}
	write := func(path string) func() error {
		return func() error { return os.WriteFile(path, []byte("x"), 0o600) }
	}
	dial := func(network, address string) func() error {
		return func() error {
			c, err := net.Dial(network, address)
			if err == nil {
				_, err = c.Write([]byte("x"))
			}
			return err
		}
	}
	all := map[string]func() error{
		"read /etc/passwd":   read("/etc/passwd"),
		"read the canary":    read(g.Canary),
		"list the data":      func() error { _, err := os.ReadDir(g.Data); return err },
		"read by a link":     func() error { return errors.Join(os.Symlink(g.Canary, "link"), read("link")()) },
		"link the canary":    func() error { return os.Link(g.Canary, "hard") },
		"read the server":    read(fmt.Sprintf("/proc/%d/environ", g.Process)),
		"root of the server": read(fmt.Sprintf("/proc/%d/root%s", g.Process, g.Canary)),
		"write the canary":   write(g.Canary),
		"write beside it":    write(filepath.Join(g.Data, "new")),
		"write /tmp":         write("/tmp/loregate-sandbox-escape"),
		"call by TCP":        dial("tcp", g.TCP),
		"call by UDP":        dial("udp", g.UDP),
		"call by a socket":   dial("unix", g.Unix),
		"call by a name":     dial("unix", g.Abstract),
		"signal the server":  func() error { return syscall.Kill(g.Process, 0) },
		"trace the server":   func() error { return unix.PtraceSeize(g.Process) },
		"run its own file": func() error {
			err := os.WriteFile("run", []byte("#!/bin/sh\n"), 0o700)
			return errors.Join(err, exec.Command("./run").Run())
		},
		"read a secret": func() error {
			if strings.Contains(strings.Join(os.Environ(), " "), "s3cr3t") {
				return nil
			}
			return os.ErrNotExist
		},
	}
	if !g.Gentle {
		all["write /usr"] = write("/usr/loregate-sandbox-escape")
		all["write a setting"] = func() error {
			f, err := os.OpenFile("/proc/sys/kernel/core_pattern", os.O_WRONLY, 0)
			return errors.Join(err, f.Close())
		}
		all["mount"] = func() error { return unix.Mount("tmpfs", ".", "tmpfs", 0, "") }
		all["new namespaces"] = func() error { return unix.Unshare(unix.CLONE_NEWUTS) }
		all["become another"] = func() error { return syscall.Setresuid(12, 12, 12) }
	}
	return all
}

// TestHostile is the program that other tests confine. It prints the names of the intrusions that worked.
func TestHostile(t *testing.T) {
	var g target
	if json.Unmarshal([]byte(os.Getenv(hostile)), &g) != nil {
		t.Skip("only as a program")
	}
	for name, try := range g.intrusions() {
		if try() == nil {
			fmt.Println("WORKED", name)
		}
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("TMPDIR"), "own"), []byte("x"), 0o600); err != nil {
		fmt.Println("WORKED not: its own folder:", err)
	}
	out, err := exec.Command("/bin/sh", "-c", "cat own; echo >/dev/null").CombinedOutput()
	if err != nil || string(out) != "x" {
		fmt.Printf("WORKED not: a program of the system: %s %v\n", out, err)
	}
}

// newTarget makes the targets of a hostile program; arrived lists the addresses that were called.
func newTarget(t *testing.T) (g target, arrived func() []string) {
	t.Helper()
	g.Data, g.Process = t.TempDir(), os.Getpid()
	g.Canary, g.Unix = filepath.Join(g.Data, "canary"), filepath.Join(g.Data, "socket")
	g.Abstract = fmt.Sprintf("@loregate-sandbox-%d", os.Getpid())
	if err := os.WriteFile(g.Canary, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	var listeners []net.Listener
	for _, l := range [][2]string{{"tcp4", "127.0.0.1:0"}, {"unix", g.Unix}, {"unix", g.Abstract}} {
		listener, err := net.Listen(l[0], l[1])
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, listener)
		t.Cleanup(func() { _ = listener.Close() })
	}
	packets, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = packets.Close() })
	g.TCP, g.UDP = listeners[0].Addr().String(), packets.LocalAddr().String()
	return g, func() (list []string) {
		now := time.Unix(1, 0) // calls that arrived are there; none is waited for
		for _, l := range listeners {
			_ = l.(interface{ SetDeadline(time.Time) error }).SetDeadline(now)
			if _, err := l.Accept(); err == nil {
				list = append(list, l.Addr().String())
			}
		}
		_ = packets.SetDeadline(now)
		if _, _, err := packets.ReadFrom(make([]byte, 9)); err == nil {
			list = append(list, g.UDP)
		}
		return list
	}
}

// A program that does its worst gets nowhere, in every mode, and still works in its own folder.
func TestNothingLeads(t *testing.T) {
	t.Setenv("LOREGATE_KEY", "s3cr3t")
	eachMode(t, func(t *testing.T, m mode) {
		if m.By == "" {
			t.Skip("nothing keeps files apart; TestLimitsAlone has what holds")
		}
		g, arrived := newTarget(t)
		for _, what := range runHostile(t, m, g) {
			t.Error(what)
		}
		if list := arrived(); len(list) > 0 {
			t.Errorf("calls arrived at %v", list)
		}
		if got, err := os.ReadFile(g.Canary); string(got) != "canary" || err != nil {
			t.Errorf("the canary is now %q, %v", got, err)
		}
	})
}

// runHostile returns the intrusions that worked in a mode.
func runHostile(t *testing.T, m mode, g target) (worked []string) {
	t.Helper()
	encoded, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestHostile$")
	cmd.Env = []string{hostile + "=" + string(encoded)}
	confine(t, m, cmd, t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("PASS")) {
		t.Fatalf("the program did not run: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if what, ok := strings.CutPrefix(line, "WORKED "); ok {
			worked = append(worked, strings.TrimSpace(what))
		}
	}
	return worked
}

// Where the system allows nothing, the network, other processes' memory and the environment are out of reach still.
func TestLimitsAlone(t *testing.T) {
	t.Setenv("LOREGATE_KEY", "s3cr3t")
	g, arrived := newTarget(t)
	g.Gentle = true
	worked := strings.Join(runHostile(t, mode{}, g), "\n")
	for _, never := range []string{"call", "trace", "secret", "not:"} {
		if strings.Contains(worked, never) {
			t.Errorf("%s:\n%s", never, worked)
		}
	}
	if !strings.Contains(worked, "read the canary") {
		t.Errorf("the test does not see what works: %s", worked)
	}
	if list := arrived(); len(list) > 0 {
		t.Errorf("calls arrived at %v", list)
	}
}

// The same program without any confinement gets everywhere: the intrusions are real ones.
func TestIntrusionsWorkOutside(t *testing.T) {
	g, _ := newTarget(t)
	g.Gentle = true
	worked := strings.Join(runHostile(t, mode{direct: true}, g), "\n")
	for _, want := range []string{"read /etc/passwd", "read the canary", "list the data", "read by a link",
		"write the canary", "write beside it", "call by TCP", "call by UDP", "call by a socket", "call by a name",
		"signal the server", "run its own file", "read the server"} {
		if !strings.Contains(worked, want) {
			t.Errorf("%q does not work without a sandbox:\n%s", want, worked)
		}
	}
	_ = os.Remove("/tmp/loregate-sandbox-escape") // where it may be written
}

func TestLimits(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c",
			"ulimit -H -v; ulimit -H -t; ulimit -H -f; ulimit -H -c; grep -E 'NoNewPrivs|CapEff|CapBnd' /proc/self/status")
		confine(t, m, cmd, t.TempDir())
		out, err := cmd.Output()
		if err != nil && !m.Landlock { // which shows no /proc
			t.Fatal(err)
		}
		want := fmt.Sprintf("%d\n%d\n%d\n0\n", defaultMemory>>10, int(maxCPU/time.Second), maxFileSize>>9)
		if !strings.HasPrefix(string(out), want) {
			t.Errorf("limits are\n%swant\n%s", out, want)
		}
		const none = "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n"
		if m.Spaces && !strings.HasSuffix(string(out), none) {
			t.Errorf("privileges are\n%s", out)
		}
	})
}

// A program ends with the process that started it, however that ends, and so do the programs that it started.
func TestEndsWithItsStarter(t *testing.T) {
	if dir := os.Getenv("SANDBOX_DIR"); dir != "" { // this is the starter
		cmd := exec.Command("/bin/sh", "-c", "sleep 600 & echo started; wait")
		cmd.Stdout = os.Stdout
		if err := New(Config{}).Confine(cmd, dir); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Run()
		return
	}
	if !Measure().Processes {
		t.Skip("without namespaces only the program itself ends")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	starter := exec.CommandContext(t.Context(), self, "-test.run=^TestEndsWithItsStarter$")
	starter.Env = []string{"SANDBOX_DIR=" + t.TempDir()}
	// The pipe is open for as long as any of the programs lives.
	pipe, err := starter.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(pipe, make([]byte, len("started\n"))); err != nil {
		t.Fatal(err)
	}
	if err := starter.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, pipe); ended <- err }()
	waittest.Receive(t, ended, "all programs end after their starter was killed")
	_ = starter.Wait()
}

// When the context of a command ends, its program ends with all that it started.
func TestEndsWithItsContext(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "sleep 600 & echo started; wait")
		confine(t, m, cmd, t.TempDir())
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(pipe, make([]byte, len("started\n"))); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Cancel(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, pipe); err != nil { // until the last of the programs has ended
			t.Error(err)
		}
		_ = cmd.Wait() // it was killed
	})
}

// Engines work in every mode. A picture takes libraries, fonts, threads and temporary files.
func TestEnginesRunInEveryMode(t *testing.T) {
	const render = `
import bpy, os, numpy
bpy.ops.mesh.primitive_monkey_add()
r = bpy.context.scene.render
r.engine, r.resolution_x, r.resolution_y, r.filepath = "CYCLES", 32, 32, os.path.join(os.getcwd(), "picture.png")
bpy.context.scene.cycles.samples = 1
bpy.context.scene.cycles.use_denoising = False
bpy.ops.render.render(write_still=True)
`
	for _, engine := range []struct {
		name string
		args []string
		made string
	}{
		{"blender", []string{"--background", "--factory-startup", "--python-exit-code", "9", "--python-expr", render},
			"picture.png"},
		{"godot3-server", []string{"--export-pack", "pack", "pack.zip"}, "pack.zip"},
	} {
		t.Run(engine.name, func(t *testing.T) {
			program := programtest.Find(t, engine.name)
			eachMode(t, func(t *testing.T, m mode) {
				dir := t.TempDir()
				if err := errors.Join(os.WriteFile(filepath.Join(dir, "project.godot"), []byte("config_version=4\n"), 0o600),
					os.WriteFile(filepath.Join(dir, "export_presets.cfg"), []byte("[preset.0]\n\nname=\"pack\"\n"+
						"platform=\"Linux/X11\"\nexport_filter=\"all_resources\"\nexport_path=\"\"\n\n[preset.0.options]\n\n"),
						0o600)); err != nil {
					t.Fatal(err)
				}
				cmd := exec.CommandContext(t.Context(), program, engine.args...)
				confine(t, m, cmd, dir)
				out, err := cmd.CombinedOutput()
				if info, statErr := os.Stat(filepath.Join(dir, engine.made)); err != nil || statErr != nil || info.Size() == 0 {
					t.Errorf("%v, %v\n%s", err, statErr, out)
				}
			})
		})
	}
}

// A program outside of the system's folders sees the folder that it is installed in.
func TestInstalledElsewhere(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		installed := t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(installed, "data"), []byte("its data\n"), 0o600),
			os.WriteFile(filepath.Join(installed, "program"), []byte("#!/bin/sh\ncat \"${0%/*}/data\"\n"), 0o700),
			os.Symlink("program", filepath.Join(installed, "link"))); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), filepath.Join(installed, "link"))
		confine(t, m, cmd, t.TempDir())
		if out, err := cmd.CombinedOutput(); string(out) != "its data\n" || err != nil {
			t.Errorf("%s, %v", out, err)
		}
	})
	j := job{Source: "/srv/data/job", Program: "/srv/blender"}
	if got := j.programPath(); got != j.Program {
		t.Errorf("a program above its job's folder shows %s", got)
	}
}

func TestProtectionIsSaidOnce(t *testing.T) {
	var log bytes.Buffer
	s := New(Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 2 {
		if err := s.Confine(exec.Command("/bin/true"), t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "protection of outside programs") {
		t.Errorf("the log says\n%s", got)
	}
	for _, c := range []struct {
		p    Protection
		want string
	}{
		{Protection{}, "a temporary folder and a minimal environment; NOT kept from other files, network, other processes: " +
			"this system has no means for it; run programs on a Linux system that allows user namespaces or has Landlock"},
		{Protection{Files: true, Network: true, Processes: true, Limits: true, By: "namespaces"}, "a temporary folder and " +
			"a minimal environment, limits of memory and time; kept from other files, network, other processes (namespaces)"},
	} {
		if got := c.p.String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
