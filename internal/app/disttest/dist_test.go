// Package disttest builds a release with scripts/dist.sh and gives its files to the programs of their clients.
package disttest

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// TestClientsTakeThePackages builds the release of this system twice, which must give the same bytes, and
// gives its files to the programs of their clients. CLIENTS is the folder of these programs.
func TestClientsTakeThePackages(t *testing.T) {
	programs := os.Getenv("CLIENTS")
	if programs == "" {
		t.Skip("CLIENTS does not name the folder of claude, gemini, codex and mcpb")
	}
	dist := buildRelease(t)
	files, err := os.ReadDir(dist)
	if err != nil {
		t.Fatal(err)
	}
	again := buildRelease(t)
	for _, f := range files {
		first, second := readFile(t, filepath.Join(dist, f.Name())), readFile(t, filepath.Join(again, f.Name()))
		if !bytes.Equal(first, second) {
			t.Errorf("%s: two builds gave other bytes", f.Name())
		}
	}
	t.Logf("%d files, twice the same bytes", len(files))
	checkRegistryEntry(t, string(readFile(t, filepath.Join(dist, "server.json"))))
	home := t.TempDir()
	run := func(dir, program string, args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, filepath.Join(programs, program), args...)
		c.Dir, c.Env = dir, append(os.Environ(), "HOME="+home)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s %v: %v\n%s", program, args, err, out)
			return
		}
		t.Logf("%s %s: valid", program, strings.Join(args, " "))
	}
	run(unpackFile(t, dist, "claude-extension.zip"), "claude", "plugin", "validate", ".")
	run(unpackFile(t, dist, "gemini-extension.zip"), "gemini", "extensions", "validate", ".")
	codex := unpackFile(t, dist, "codex-extension.zip")
	run(codex, "codex", "plugin", "marketplace", "add", "./")
	run(codex, "codex", "plugin", "add", "loregate@loregate")
	bundle := unpackFile(t, dist, ".mcpb")
	run(bundle, "mcpb", "validate", "manifest.json")
	greetBundle(t, bundle, home)
}

// buildRelease returns the folder of a release for this system.
func buildRelease(t *testing.T) string {
	t.Helper()
	dist := filepath.Join(t.TempDir(), "dist")
	c := exec.CommandContext(t.Context(), "../../../scripts/dist.sh")
	c.Env = append(os.Environ(), "DIST_DIR="+dist, "DIST_TARGETS="+runtime.GOOS+"/"+runtime.GOARCH,
		"SOURCE_DATE_EPOCH=1700000000")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("scripts/dist.sh: %v\n%s", err, out)
	}
	return dist
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkRegistryEntry validates server.json by the schema that the registry publishes.
func checkRegistryEntry(t *testing.T, good string) {
	t.Helper()
	var schema jsonschema.Schema
	if err := json.Unmarshal(readFile(t, "testdata/server.schema.json"), &schema); err != nil {
		t.Fatal(err)
	}
	rules, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(text string) error {
		var entry any
		if err := json.Unmarshal([]byte(text), &entry); err != nil {
			t.Fatal(err)
		}
		return rules.Validate(entry)
	}
	if err := check(good); err != nil {
		t.Errorf("server.json: %v\n%s", err, good)
	}
	for from, to := range map[string]string{
		`"description": "`:       `"description": "` + strings.Repeat("long ", 21),
		"org.example/loregate":   "loregate",
		`"stdio"`:                `"pipe"`,
		`"fileSha256": "`:        `"fileSha256": "x`,
		`"registryType": "mcpb"`: `"kind": "mcpb"`,
	} {
		bad := strings.Replace(good, from, to, 1)
		if bad == good || check(bad) == nil {
			t.Errorf("%q in place of %q is valid", to, from)
		}
	}
	t.Log("server.json is valid, and five wrong ones are not")
}

// unpackFile unpacks the file of a release with the given end of its name.
func unpackFile(t *testing.T, dist, end string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dist, "*"+end))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %v %v", end, names, err)
	}
	z, err := zip.OpenReader(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	dir := t.TempDir()
	if err := os.CopyFS(dir, z); err != nil {
		t.Fatal(err)
	}
	return dir
}

// greetBundle starts the server of an unpacked bundle in the way its manifest says, and lists its tools.
func greetBundle(t *testing.T, dir, home string) {
	t.Helper()
	var m struct {
		Server struct {
			Config struct {
				Command string
				Args    []string
				Env     map[string]string
			} `json:"mcp_config"`
		}
		UserConfig map[string]struct{ Default string } `json:"user_config"`
	}
	if err := json.Unmarshal(readFile(t, filepath.Join(dir, "manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	pairs := []string{"${__dirname}", dir, "${HOME}", home}
	for name, q := range m.UserConfig {
		pairs = append(pairs, "${user_config."+name+"}", strings.ReplaceAll(q.Default, "${HOME}", home))
	}
	fill := strings.NewReplacer(pairs...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	program := fill.Replace(m.Server.Config.Command)
	if err := os.Chmod(program, 0o755); err != nil { // os.CopyFS keeps no modes; clients set this one
		t.Fatal(err)
	}
	var args []string
	for _, a := range m.Server.Config.Args {
		args = append(args, fill.Replace(a))
	}
	c := exec.CommandContext(ctx, program, args...)
	for name, value := range m.Server.Config.Env {
		c.Env = append(c.Env, name+"="+fill.Replace(value))
	}
	c.Env = append(c.Env, "HOME="+home)
	c.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n")
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %v: %v", program, args, err)
	}
	tools := 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var answer struct {
			Result struct{ Tools []any }
		}
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			t.Errorf("%v: %s", err, lines.Bytes())
		}
		tools += len(answer.Result.Tools)
	}
	if tools == 0 {
		t.Errorf("the server of the bundle lists no tools:\n%.2000s", out)
	}
	t.Logf("the server of the bundle lists %d tools", tools)
}
