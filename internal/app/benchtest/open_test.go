package benchtest

import (
	"bufio"
	"io"
	"os/exec"
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

// BenchmarkStart measures the time from the start of the program to the answer to initialize.
func BenchmarkStart(b *testing.B) {
	requireBench(b)
	dir := worldFolder(b, 100_000)
	path := program(b)
	m := medians{}
	for b.Loop() {
		took, cpu := start(b, path, dir)
		m.add("start-ms", ms(took))
		m.add("cpu-ms", ms(cpu))
	}
	m.report(b)
}

func start(b *testing.B, program, dir string) (took, cpu time.Duration) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), program, "mcp", "--data", dir)
	began := time.Now()
	in, out := startPiped(b, cmd)
	if _, err := in.Write([]byte(hello + "\n")); err != nil {
		b.Fatal(err)
	}
	if _, err := out.ReadSlice('\n'); err != nil {
		b.Fatal(err)
	}
	took = time.Since(began)
	if err := in.Close(); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
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
