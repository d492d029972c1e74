// Package clienttest runs the real clients (Claude Code, Gemini CLI, Codex) with a scripted
// model against the product on its default limits. The clients are npm packages; CLIENTS names
// the folder of their programs, and without it the tests are skipped.
package clienttest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience bounds the time of one conversation: a client starts within seconds, and takes
// longer on a busy machine.
const patience = 3 * time.Minute

// server is the product's URL, and a key to it; "" for a client that signs in.
type server struct{ url, key string }

// settings returns the settings of an MCP client that names the address by a key, and sends the key if there is one.
func (s server) settings(address string, more object) object {
	out := object{address: s.url}
	if s.key != "" {
		out["headers"] = object{"Authorization": "Bearer " + s.key}
	}
	maps.Copy(out, more)
	return out
}

// client is one of the real clients.
type client struct {
	name, program string
	// prepare writes the client's settings into a home folder of its own, and returns its
	// command line and additional environment.
	prepare func(t testing.TB, home string, at server, m *model) (args, environ []string)
}

var clients = []client{
	{"claude", "claude", prepareClaude}, {"gemini", "gemini", prepareGemini}, {"codex", "codex", prepareCodex},
}

// programs returns the folder of the clients' programs. It skips the test if CLIENTS is not
// set.
func programs(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("CLIENTS")
	if dir == "" {
		t.Skip("CLIENTS is not set: the real clients are not tried (make proof does)")
	}
	return dir
}

// converse starts a client in a home of its own, lets it talk to a model to the end, and returns its output.
func converse(t testing.TB, c client, at server, m *model, prompt string) string {
	t.Helper()
	return converseAt(t, t.TempDir(), c, at, m, prompt)
}

// converseAt does the same in a home.
func converseAt(t testing.TB, home string, c client, at server, m *model, prompt string) string {
	t.Helper()
	args, environ := c.prepare(t, home, at, m)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs(t), c.program), append(args, prompt)...)
	liveIn(t, cmd, home, environ)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v\n%.3000s", c.name, err, out.String())
	}
	return out.String()
}

// liveIn gives a program a home, a folder to work in, and an environment.
func liveIn(t testing.TB, cmd *exec.Cmd, home string, environ []string) {
	t.Helper()
	cmd.Dir = filepath.Join(home, "work")
	if err := os.MkdirAll(cmd.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append([]string{"HOME=" + home, "PATH=" + programs(t) + ":" + os.Getenv("PATH"), "TERM=dumb",
		"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"}, environ...)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func prepareClaude(t testing.TB, home string, at server, m *model) (args, environ []string) {
	config := filepath.Join(home, "mcp.json")
	write(t, config, mustJSON(object{"mcpServers": object{"loregate": at.settings("url", object{"type": "http"})}}))
	return []string{"--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__loregate", "--model",
			"scripted", "-p"},
		[]string{"ANTHROPIC_BASE_URL=" + m.URL, "ANTHROPIC_API_KEY=scripted", "CLAUDE_CONFIG_DIR=" +
			filepath.Join(home, ".claude"),
			"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "ENABLE_TOOL_SEARCH=false"}
}

// prepareDeferring prepares Claude Code that defers the tools of servers until its model has searched
// for them.
func prepareDeferring(t testing.TB, home string, at server, m *model) (args, environ []string) {
	args, environ = prepareClaude(t, home, at, m)
	return args, append(environ, "ENABLE_TOOL_SEARCH=true")
}

func prepareGemini(t testing.TB, home string, at server, m *model) (args, environ []string) {
	write(t, filepath.Join(home, ".gemini", "settings.json"), mustJSON(object{
		"security":   object{"auth": object{"selectedType": "gemini-api-key"}, "folderTrust": object{"enabled": false}},
		"general":    object{"enableAutoUpdate": false, "disableAutoUpdate": true},
		"privacy":    object{"usageStatisticsEnabled": false},
		"telemetry":  object{"enabled": false},
		"mcpServers": object{"loregate": at.settings("httpUrl", object{"trust": true})},
	}))
	return []string{"--approval-mode", "yolo", "-m", "gemini-2.5-flash", "-p"},
		[]string{"GOOGLE_GEMINI_BASE_URL=" + m.URL, "GEMINI_API_KEY=scripted", "GEMINI_CLI_TRUST_WORKSPACE=true"}
}

func prepareCodex(t testing.TB, home string, at server, m *model) (args, environ []string) {
	return prepareCodexModel(t, home, at, m, "scripted")
}

// prepareCodexSearch prepares Codex for a model of its catalogue that searches for tools: it is shown none
// of a server until it has.
func prepareCodexSearch(t testing.TB, home string, at server, m *model) (args, environ []string) {
	return prepareCodexModel(t, home, at, m, "gpt-5.5")
}

func prepareCodexModel(t testing.TB, home string, at server, m *model, model string) (args, environ []string) {
	key := ""
	if at.key != "" {
		key = "\nbearer_token_env_var = \"LOREGATE_KEY\"\n"
	}
	write(t, filepath.Join(home, ".codex", "config.toml"), fmt.Sprintf(strings.TrimSpace(`
model = %q
model_provider = "scripted"
check_for_update_on_startup = false
mcp_oauth_credentials_store = "file"
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = %q
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[mcp_servers.loregate]
url = %q
`), model, m.URL+"/v1", at.url)+key)
	return []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"},
		[]string{"SCRIPTED_KEY=scripted", "LOREGATE_KEY=" + at.key, "CODEX_HOME=" + filepath.Join(home, ".codex")}
}
