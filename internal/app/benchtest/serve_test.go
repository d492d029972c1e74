package benchtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/app/apptest"
	"loregate/internal/loadtest"
)

// program builds the product with the flags of a release, once per benchmark.
func program(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "loregate")
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path,
		"loregate/cmd/loregate").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}

// command returns the program on the store of a folder, without limits.
func command(b *testing.B, path, dir string, args ...string) *exec.Cmd {
	c := exec.CommandContext(b.Context(), path, args...)
	c.Env = append(os.Environ(), "LOREGATE_DATA="+dir, "LOREGATE_DATABASE="+database(b, dir), "LOREGATE_LOG_LEVEL=error",
		"GOGC=", "GOMEMLIMIT=")
	c.Env = append(c.Env, apptest.Unlimited()...)
	return c
}

var servesLine = regexp.MustCompile(`serves (http://[^ ]+)`)

// served is a program that serves in its own process.
type served struct {
	url  string
	pid  int
	stop func() // also called at the end of the benchmark
	exec *exec.Cmd
}

// startServer starts serve and waits until it listens.
func startServer(b *testing.B, path, dir string, more ...string) served {
	b.Helper()
	c := command(b, path, dir, append([]string{"serve", "--addr", "127.0.0.1:0"}, more...)...)
	said, err := c.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait() // how it ended is not measured
	})
	b.Cleanup(stop)
	lines := bufio.NewReader(said)
	url := ""
	for url == "" {
		line, err := lines.ReadString('\n')
		if m := servesLine.FindStringSubmatch(line); m != nil {
			url = m[1]
		} else if err != nil {
			b.Fatal(err, line)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // until it ends
	return served{url, c.Process.Pid, stop, c}
}

// memory returns a figure of the process's memory in MB, by its name in /proc: VmHWM is the peak so
// far, RssAnon the current size without files.
func (s served) memory(b *testing.B, figure string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		b.Skip("memory is read from /proc")
	}
	_, rest, _ := strings.Cut(string(status), figure+":")
	n, _ := strconv.Atoi(strings.Fields(rest)[0])
	return float64(n) / 1024
}

// keyOf creates a key of the world, and the world if it does not exist.
func keyOf(b *testing.B, path, dir string) string {
	b.Helper()
	worlds, err := command(b, path, dir, "world", "list").Output()
	if err == nil && !strings.Contains(string(worlds), worldName) {
		err = command(b, path, dir, "world", "create", worldName).Run()
	}
	if err != nil {
		b.Fatal(err)
	}
	out, err := command(b, path, dir, "key", "create", "bench", "--role", "admin").Output()
	if err != nil {
		b.Fatal(err)
	}
	key, _, _ := strings.Cut(string(out), "\t")
	return strings.TrimSpace(key)
}

// BenchmarkServe drives the program, in its own process, with reads and searches by eight clients
// and then by 32, and reports its memory.
func BenchmarkServe(b *testing.B) {
	requireBench(b)
	path := program(b)
	eachStored(b, func(b *testing.B, dir string) {
		key, s := keyOf(b, path, dir), startServer(b, path, dir)
		m := medians{}
		drive := func(clients int) *loadtest.Report {
			r, err := loadtest.Run(context.WithoutCancel(b.Context()),
				loadtest.Config{URLs: []string{s.url}, Key: key, World: worldName, Role: "admin",
					Cards: 10, Clients: clients, Duration: 15 * time.Second, Keep: true,
					Mix: map[loadtest.Kind]int{loadtest.Read: 3, loadtest.Search: 1}})
			if err != nil || r.Failed > 0 {
				b.Fatal(err, r)
			}
			return r
		}
		for b.Loop() {
			r := drive(8)
			m.add("calls/s", r.PerSec)
			m.add("search-p50-ms", r.Kinds[loadtest.Search].Latency.P50)
			m.add("search-p99-ms", r.Kinds[loadtest.Search].Latency.P99)
			m.add("read-p99-ms", r.Kinds[loadtest.Read].Latency.P99)
			m.add("memory-MB", s.memory(b, "VmHWM"))
			m.add("anonymous-MB", s.memory(b, "RssAnon"))
			drive(clients)
			m.add("crowd-memory-MB", s.memory(b, "VmHWM"))
			m.add("crowd-anonymous-MB", s.memory(b, "RssAnon"))
		}
		m.report(b)
	})
}

// eachStored calls f with the folder of each size.
func eachStored(b *testing.B, f func(b *testing.B, dir string)) {
	for _, n := range sizes(b) {
		b.Run(strconv.Itoa(n), func(b *testing.B) { f(b, worldFolder(b, n)) })
	}
}
