package benchtest

import (
	"bufio"
	"os/exec"
	"testing"
	"time"
)

// BenchmarkOpen opens the product on a store, until it can be asked.
func BenchmarkOpen(b *testing.B) {
	wanted(b)
	dir := stored(b, 100_000)
	m := medians{}
	for b.Loop() {
		cpu, began := processTime(), time.Now()
		a := openApp(b, dir)
		if err := a.Ready(b.Context()); err != nil {
			b.Fatal(err)
		}
		m.add("open-ms", ms(time.Since(began)))
		m.add("cpu-ms", ms(processTime()-cpu))
		a.Close(b.Context())
	}
	m.report(b)
}

// BenchmarkStart is from the start of the program to the answered initialize.
func BenchmarkStart(b *testing.B) {
	wanted(b)
	dir := stored(b, 100_000)
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
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := in.Write([]byte(hello + "\n")); err != nil {
		b.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadSlice('\n'); err != nil {
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
