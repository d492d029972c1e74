package benchtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"loregate/internal/cputest"
)

// BenchmarkOpen measures the time from opening a store until it answers.
func BenchmarkOpen(b *testing.B) {
	requireBench(b)
	dir := worldFolder(b, 100_000)
	m := medians{}
	for b.Loop() {
		cpu, began := cputest.Used(), time.Now()
		a := openApp(b, dir)
		if err := a.Ready(b.Context()); err != nil {
			b.Fatal(err)
		}
		m.add("open-ms", ms(time.Since(began)))
		m.add("cpu-ms", ms(cputest.Used()-cpu))
		a.Close(b.Context())
	}
	m.report(b)
}

// BenchmarkStart measures whole processes, of the programs of BENCH_SERVERS in turn: the version, a client over stdio on
// a new store and on the largest, a server with the sample world, and the same server again. It reports
// processor time and the most memory that was resident.
func BenchmarkStart(b *testing.B) {
	requireBench(b)
	programs := barServers(b)
	for _, start := range []struct {
		name string
		run  func(b *testing.B, path, dir string) *os.ProcessState
		dir  func(b *testing.B, p *barServer) string
	}{
		{"version", runVersion, noFolder},
		{"stdio", runClient, newFolder},
		{"stdio-large", runClient, func(b *testing.B, p *barServer) string {
			n := slices.Max(sizes(b))
			return p.copyFolder(b, filepath.Join(folder(), fmt.Sprintf("bars-%s-%d", p.name, n)), n)
		}},
		{"serve-sample", runServer, noFolder},
		{"serve-again", runServer, newFolder},
	} {
		b.Run(start.name, func(b *testing.B) {
			m := medians{}
			dirs := map[string]string{}
			for _, p := range programs {
				dirs[p.name] = start.dir(b, p)
			}
			for warm := false; b.Loop(); warm = true {
				for _, p := range programs {
					if !warm && dirs[p.name] != "" {
						start.run(b, p.path, dirs[p.name]) // makes or converts the store
					}
					dir := dirs[p.name]
					if dir == "" {
						dir = b.TempDir()
					}
					ended := start.run(b, p.path, dir)
					m.add(p.name+"-cpu-ms", ms(ended.UserTime()+ended.SystemTime()))
					m.add(p.name+"-MB", float64(ended.SysUsage().(*syscall.Rusage).Maxrss)/1024)
				}
			}
			m.report(b)
		})
	}
}

// noFolder and newFolder are the folders of programs that begin with an empty one each time, or only once.
func noFolder(*testing.B, *barServer) string      { return "" }
func newFolder(b *testing.B, _ *barServer) string { return b.TempDir() }

func runVersion(b *testing.B, path, dir string) *os.ProcessState {
	return ended(b, command(b, path, dir, "version"), nil)
}

// runClient starts the program as a client over stdio does, and ends it when it has told its tools.
func runClient(b *testing.B, path, dir string) *os.ProcessState {
	c := command(b, path, dir, "mcp")
	in, out := startPiped(b, c)
	for _, message := range []string{hello, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`} {
		if _, err := io.WriteString(in, message+"\n"); err != nil {
			b.Fatal(err)
		}
		if strings.Contains(message, `"id"`) {
			if line, err := out.ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
				b.Fatal(line, err)
			}
		}
	}
	return ended(b, c, in)
}

// runServer starts the program as a server with the sample world, and stops it when it serves.
func runServer(b *testing.B, path, dir string) *os.ProcessState {
	s := startServer(b, path, dir, "--sample")
	s.stop()
	return s.exec.ProcessState
}

// ended runs a command to its end, or one that has started until it ends because its input does.
func ended(b *testing.B, c *exec.Cmd, in io.Closer) *os.ProcessState {
	b.Helper()
	run := c.Run
	if in != nil {
		run = func() error { return errors.Join(in.Close(), c.Wait()) }
	}
	if err := run(); err != nil {
		b.Fatal(err)
	}
	return c.ProcessState
}

// startPiped starts a program and returns its standard input and output.
func startPiped(b *testing.B, c *exec.Cmd) (io.WriteCloser, *bufio.Reader) {
	b.Helper()
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	return in, bufio.NewReader(out)
}
