package studiotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"loregate/internal/programtest"
)

// The plans of examples/ pass the check that CI runs, including their digests. A plan with a wrong
// digest, a wrong parameter or an unknown tool fails it.
func TestExamplePlansPassCheck(t *testing.T) {
	programtest.Long(t)
	requirePrograms(t, "blender")
	files, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(files) != 6 {
		t.Fatal(files, err)
	}
	data := t.TempDir()
	check := func(files ...string) (string, error) {
		cmd := exec.Command(program(t), append([]string{"studio", "check", "--data", data}, files...)...)
		cmd.Env = append(os.Environ(), "LOREGATE_LOG_LEVEL=error")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if said, err := check(files...); err != nil || strings.Count(said,
		"the digest is the golden one") != len(files) &&
		!strings.Contains(said, "there is no golden digest for") {
		t.Errorf("examples: %v\n%s", err, said)
	}
	text, err := os.ReadFile("../../../examples/lighthouse.yaml")
	if err != nil {
		t.Fatal(err)
	}
	digest := regexp.MustCompile(`[0-9a-f]{64}`)
	for _, row := range []struct{ name, text, say string }{
		{"moved", digest.ReplaceAllString(string(text), strings.Repeat("0", 64)), "moved"},
		{"parameter", strings.Replace(string(text), "style: dusk", "style: noon", 1), "calls[0].with.style"},
		{"tool", strings.Replace(string(text), "tool: render_preview", "tool: render_film", 1), "render_film"},
	} {
		file := filepath.Join(t.TempDir(), row.name+".yaml")
		if err := os.WriteFile(file, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := check(file); err == nil || !strings.Contains(said, row.say) {
			t.Errorf("%s: %v\n%s", row.name, err, said)
		}
	}
}
