package disttest

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestLinkerLeavesOutUnusedMethods fails if the program calls a method by a name that is not constant, as text/template
// and libraries that call functions by reflection do: then the linker keeps every exported method of every type. The
// first function of the list is the cause; the linker reaches others because of it.
func TestLinkerLeavesOutUnusedMethods(t *testing.T) {
	if testing.Short() {
		t.Skip("linking the program takes half a minute")
	}
	const mark = " <ReflectMethod>"
	c := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-dumpdep", "-o", os.DevNull, "./cmd/loregate")
	c.Dir = "../../.."
	var edges bytes.Buffer // lines of the form: caller -> callee
	c.Stderr = &edges
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%.2000s", err, edges.Bytes())
	}
	seen, found := 0, 0
	for lines := bufio.NewScanner(&edges); lines.Scan(); seen++ {
		caller, callee, _ := strings.Cut(lines.Text(), " -> ")
		if name, ok := strings.CutSuffix(callee, mark); ok && found < 5 {
			found++
			t.Errorf("%s calls methods by name; %s needs it", name, strings.TrimSuffix(caller, mark))
		}
	}
	if seen < 100_000 {
		t.Errorf("the linker lists only %d edges", seen)
	}
}
