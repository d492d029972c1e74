package loadtest

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestHelperServer is the process that the other tests measure: it listens, and computes for the
// requested durations.
func TestHelperServer(t *testing.T) {
	address := os.Getenv("LOAD_TEST_LISTEN")
	if address == "" {
		t.Skip("it is a process of other tests")
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fmt.Println(l.Addr())
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		d, err := time.ParseDuration(in.Text())
		if err != nil {
			t.Fatal(err)
		}
		for end := ownTime(t) + d; ownTime(t) < end; {
		}
		fmt.Println("done")
	}
}

func ownTime(t *testing.T) time.Duration {
	c, _, ok := processTime(os.Getpid())
	if !ok {
		t.Fatal("the process cannot be seen")
	}
	return c.user + c.system
}

// helper is a running TestHelperServer.
type helper struct {
	t   *testing.T
	cmd *exec.Cmd
	url string
	in  *os.File
	out *bufio.Scanner
}

func startHelper(t *testing.T, address string) *helper {
	t.Helper()
	h := &helper{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperServer$",
		"-test.timeout=2m")}
	h.cmd.Env = append(os.Environ(), "LOAD_TEST_LISTEN="+address)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	h.in, h.cmd.Stdin = w, r
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	t.Cleanup(h.end)
	h.out = bufio.NewScanner(out)
	h.url = "http://" + h.line()
	return h
}

func (h *helper) line() string {
	h.t.Helper()
	if !h.out.Scan() {
		h.t.Fatalf("the helper says no more: %v", h.out.Err())
	}
	return h.out.Text()
}

// compute makes it use the processor for d.
func (h *helper) compute(d time.Duration) {
	h.t.Helper()
	if _, err := fmt.Fprintln(h.in, d); err != nil {
		h.t.Fatal(err)
	}
	h.line()
}

func (h *helper) end() {
	_ = h.in.Close()
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
}

func TestTheServersProcessIsMeasured(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0"} {
		h := startHelper(t, address)
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(h.url, "http://"))
		url := "http://127.0.0.1:" + port
		if strings.HasPrefix(address, "[::1]") {
			url = "http://[::1]:" + port
		}
		h.compute(100 * time.Millisecond) // before the measurement
		m := meterServers([]string{url, url})
		if m == nil || len(m.of) != 1 || m.of[0].pid != h.cmd.Process.Pid {
			t.Fatalf("%s: measured %+v, want the process %d once", address, m, h.cmd.Process.Pid)
		}
		h.compute(300 * time.Millisecond)
		c := m.read(100)
		if c == nil || c.User+c.System < 0.28 || c.User+c.System > 2 || c.PerCall < 2800 {
			t.Errorf("%s: %+v", address, c)
		}
		h.end()
		if c := m.read(100); c != nil {
			t.Errorf("of a process that has ended: %+v", c)
		}
		if m := meterServers([]string{url}); m != nil {
			t.Errorf("where nobody listens: %+v", m)
		}
	}
}

func TestUnmeasurableServers(t *testing.T) {
	h := startHelper(t, "127.0.0.1:0")
	for _, urls := range [][]string{{"http://192.0.2.1:80"}, {"http://127.0.0.1"}, {"http://127.0.0.1:1"}, {":"},
		{h.url, "http://127.0.0.1:1"}, {strings.Replace(h.url, "127.0.0.1", "127.0.0.2", 1)}} {
		if m := meterServers(urls); m != nil {
			t.Errorf("%v is measured: %+v", urls, m)
		}
	}
	var none *cpuMeter
	if c := none.read(1); c != nil || c.formatCell() != "n/a" || !strings.Contains(c.formatLine(), "n/a") {
		t.Errorf("%+v", c)
	}
	// Another process of the same pid, later.
	m := meterServers([]string{h.url})
	m.of[0].began++
	if c := m.read(1); c != nil {
		t.Errorf("of another process: %+v", c)
	}
	// A socket that two processes hold cannot be assigned to one of them.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	url := "http://" + l.Addr().String()
	if m := meterServers([]string{url}); m == nil || m.of[0].pid != os.Getpid() {
		t.Errorf("our own socket: %+v", m)
	}
	heir := exec.CommandContext(t.Context(), "sleep", "60")
	heir.ExtraFiles = []*os.File{f}
	if err := heir.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = heir.Process.Kill(); _ = heir.Wait() }()
	if m := meterServers([]string{url}); m != nil {
		t.Errorf("a shared socket: %+v", m)
	}
}
