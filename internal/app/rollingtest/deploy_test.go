package rollingtest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"loregate/internal/app"
)

func readDeployFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// settingsOf reads environment variables as the program does.
func settingsOf(t *testing.T, environ []string) app.Config {
	t.Helper()
	c, err := app.LoadConfig("", environ)
	if err != nil {
		t.Errorf("%v: %v", environ, err)
	}
	return c
}

var assigned = regexp.MustCompile(`(?m)^([A-Z_]+=.*)$`)

// TestExampleSettings checks that the settings of the examples exist and are consistent.
func TestExampleSettings(t *testing.T) {
	c := settingsOf(t, assigned.FindAllString(readDeployFile(t, "loregate.env"), -1))
	if c.Drain.Notice < 4*time.Second || c.Drain.Notice+c.Drain.Calls >= 40*time.Second ||
		!strings.Contains(readDeployFile(t, "loregate@.service"), "TimeoutStopSec=40") {
		t.Errorf("%+v is not longer than Caddy looks, or not shorter than systemd waits", c.Drain)
	}
	if 3*(c.Pool.Connections+1) > 97 {
		t.Errorf("three processes open %d connections each", c.Pool.Connections+1)
	}
	var compose struct {
		Services map[string]struct {
			Environment map[string]string
		}
	}
	if err := yaml.Unmarshal([]byte(readDeployFile(t, "compose.yaml")), &compose); err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(maps.Keys(compose.Services)); len(names) != 5 {
		t.Errorf("services %v", names)
	}
	for _, name := range []string{"lore1", "lore2", "lore3"} {
		var environ []string
		for k, v := range compose.Services[name].Environment {
			environ = append(environ, k+"="+strings.NewReplacer("${SITE:-localhost}", "localhost").Replace(v))
		}
		if c := settingsOf(t, environ); c.Database == "" || !c.BehindProxy || c.Drain.Notice < 4*time.Second {
			t.Errorf("%s: %+v", name, c)
		}
	}
	for _, unit := range []string{"loregate.service", "loregate@.service"} {
		for _, line := range regexp.MustCompile(`(?m)^Environment=(.*)$`).FindAllStringSubmatch(readDeployFile(t, unit), -1) {
			settingsOf(t, strings.Fields(line[1]))
		}
	}
}

// TestExamplesAreProtected checks that the files of deploy and the commands of docs/operations.md open nothing to
// strangers: no program listens on all addresses, none of a cluster without TLS, and no password is in an address or
// among the arguments of a command. The image of the container listens in its own network.
func TestExamplesAreProtected(t *testing.T) {
	files, err := filepath.Glob("../../../deploy/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, "../../../docs/operations.md", "../../../docs/postgres.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // a folder
		}
		for n, line := range strings.Split(string(text), "\n") {
			for what, pattern := range exposed {
				if pattern.MatchString(line) && !strings.Contains(name, "Dockerfile") {
					t.Errorf("%s:%d: %s: %s", filepath.Base(name), n+1, what, line)
				}
			}
		}
	}
}

var exposed = map[string]*regexp.Regexp{
	"listens on all addresses": regexp.MustCompile(`(?i)(listen|addr|bind)\S*\s*[=:]\s*\S*(0\.0\.0\.0|'?\*'?$|\[::\])`),
	"etcd without TLS":         regexp.MustCompile(`ETCD_\w*=(.*=)?http://`),
	"a password in an address": regexp.MustCompile(`postgres(ql)?://[^/@\s:]+:[^/@\s]+@`),
	"a password as argument":   regexp.MustCompile(`(?i)(-c|--command).*PASSWORD\s*'`),
	"a secret for everybody":   regexp.MustCompile(`^#?\s*echo .*PASSWORD.*>`),
}
