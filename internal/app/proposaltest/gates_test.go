package proposaltest

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/programtest"
	"loregate/internal/proposal"
)

var block = regexp.MustCompile("(?s)```sh ([a-z]+)\n(.*?)```")

// TestTheCommandsOfTheGatesPage runs the commands of docs/gates.md: the last answer of each part is
// the refusal that the part describes.
func TestTheCommandsOfTheGatesPage(t *testing.T) {
	programtest.Find(t, "curl")
	page, err := os.ReadFile("../../../docs/gates.md")
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, func(*app.Config) {})
	parts := block.FindAllStringSubmatch(string(page), -1)
	if len(parts) != 7 {
		t.Fatalf("the guide has %d parts", len(parts))
	}
	for _, part := range parts[1:] {
		sh := exec.CommandContext(t.Context(), "sh", "-euc", parts[0][2]+part[2])
		sh.Env = append(os.Environ(), "URL="+h.url, "KEY="+h.keys[access.RoleUser])
		out, err := sh.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", part[1], err, out)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		var last proposal.Result
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
			t.Fatalf("%s answers %s", part[1], out)
		}
		if r := last.Rejection; r == nil || string(r.Gate) != part[1] || r.Code == "" || r.Message == "" ||
			r.Fallback.Text == "" {
			t.Errorf("%s answers %s", part[1], out)
		}
	}
}
