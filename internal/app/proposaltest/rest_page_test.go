package proposaltest

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/identity"
	"loregate/internal/programtest"
)

// TestTheCommandsOfTheRESTPage runs the commands of docs/rest.md: each part answers with the status in its
// heading.
func TestTheCommandsOfTheRESTPage(t *testing.T) {
	programtest.Find(t, "curl")
	page, err := os.ReadFile("../../../docs/rest.md")
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, func(*app.Config) {})
	approver, _, err := h.app.CreateKey(t.Context(), identity.KeySpec{Name: "reviewer", Subject: "reviewer",
		Actor: access.Person, MaxRole: access.RoleAdmin, Approve: true}, []string{app.SampleWorld})
	if err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile("(?s)```sh ([a-z0-9]+)\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(parts) < 7 || parts[0][1] != "setup" {
		t.Fatalf("the page has %d parts", len(parts))
	}
	for _, part := range parts[1:] {
		sh := exec.CommandContext(t.Context(), "sh", "-euc", parts[0][2]+part[2])
		sh.Env = append(os.Environ(), "URL="+h.url, "KEY="+h.keys[access.RoleAdmin], "APPROVER="+approver)
		out, err := sh.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "HTTP/1.1 "+part[1]+" ") {
			t.Errorf("%s: %v\n%s", part[2], err, out)
		}
	}
}
