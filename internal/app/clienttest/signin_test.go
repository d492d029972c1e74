package clienttest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/identity"
	"loregate/internal/waittest"
)

// entrant is a client that knows the address alone.
type entrant struct {
	name string
	// signIn returns the program that asks a person to let it in. Some of them call a tool at once.
	signIn func(t *testing.T, home, url string) *exec.Cmd
	keys   []string // typed into the program, once a pause
	// read calls a tool that reads the card Rent Quay, and returns what the client shows.
	read func(t *testing.T, home, url string) string
}

var entrants = []entrant{
	{name: "claude", signIn: signInClaude, read: readsBy(clients[0])},
	{name: "codex", signIn: signInCodex, read: readsBy(clients[2])},
	{name: "gemini", signIn: signInGemini, keys: []string{"/mcp auth loregate", "\r", "\r"}, read: readsBy(clients[1])},
	{name: "inspector", signIn: inspectorCall, read: func(t *testing.T, home, url string) string {
		return output(t, inspectorCall(t, home, url))
	}},
	{name: "mcp-remote", signIn: func(t *testing.T, home, url string) *exec.Cmd {
		return program(t, home, "mcp-remote-client", url, "--transport", "http-only", "--allow-http")
	}, read: readByRemote},
}

// TestClientsSignIn connects each client by the address alone. It asks to be let in, a person consents in Chromium, and
// its tools answer. When the person ends its access, no call of it is answered from a second later on.
func TestClientsSignIn(t *testing.T) {
	programs(t)
	g := newGate(t)
	for _, e := range entrants {
		t.Run(e.name, func(t *testing.T) {
			home, url, began := t.TempDir(), g.url+"/mcp", time.Now()
			g.letIn(t, e, home, url)
			t.Logf("%s was let in after %s", e.name, time.Since(began).Round(time.Second/10))
			if shown := e.read(t, home, url); !strings.Contains(shown, "Fishgate Market") {
				t.Errorf("the client shows %.900q", shown)
			}
			if let, refused := g.since(began); let == 0 || refused > 0 {
				t.Errorf("%d calls with a token are let in, %d refused", let, refused)
			}
			ended := g.endAccess(t)
			e.read(t, home, url)
			_, refused := g.since(ended)
			if let, _ := g.since(ended.Add(time.Second)); let > 0 || refused == 0 {
				t.Errorf("after the access has ended, %d calls are let in and %d refused", let, refused)
			}
		})
	}
}

var consentPage = regexp.MustCompile(`http://[\w.:]+/authorize\?[\w%.&=~-]+`)

// letIn starts a client's sign-in and consents to it.
func (g *gate) letIn(t *testing.T, e entrant, home, url string) {
	t.Helper()
	cmd := e.signIn(t, home, url)
	out := &screen{}
	cmd.Stdout, cmd.Stderr = out, out
	typed, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for _, key := range e.keys {
		out.rest(t)
		if _, err := io.WriteString(typed, key); err != nil {
			t.Fatal(err)
		}
	}
	address := ""
	apptest.Eventually(t, "the client asks to be let in", time.Minute, func() bool {
		address = consentPage.FindString(out.String())
		return address != ""
	})
	g.consent(t, address)
	if len(e.keys) > 0 { // it does not end by itself
		out.rest(t)
		_ = cmd.Process.Kill() // it may have ended
	}
	select {
	case err := <-ended:
		if err != nil && len(e.keys) == 0 {
			t.Errorf("%v\n%.3000s", err, out)
		}
	case <-waittest.Context(t).Done():
		t.Errorf("the client does not end after it was let in:\n%.3000s", out)
		_ = cmd.Process.Kill() // it is in the error already
	}
}

// screen is the output of a program while it runs.
type screen struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
	at   time.Time       // of the last output; guarded by mu
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = time.Now()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// rest waits until the program has written nothing for three seconds.
func (s *screen) rest(t *testing.T) {
	t.Helper()
	_, _ = s.Write(nil) // a key that was typed before counts
	apptest.Eventually(t, "the program waits for input", time.Minute, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.text.Len() > 0 && time.Since(s.at) > 3*time.Second
	})
}

// program returns one of the clients' programs, in a home.
func program(t *testing.T, home, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second) // it would wait for minutes if it has to ask again
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, filepath.Join(programs(t), name), args...)
	liveIn(t, cmd, home, []string{"BROWSER=true", "NO_BROWSER=true", "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"),
		"CODEX_HOME=" + filepath.Join(home, ".codex"), "GEMINI_API_KEY=scripted", "GEMINI_CLI_TRUST_WORKSPACE=true",
		"MCP_INSPECTOR_SECRET_STORE=file", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"})
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

// atTerminal runs a program at a terminal that is wide enough for an address.
func atTerminal(t *testing.T, home, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := program(t, home, name, args...)
	line := "stty rows 50 cols 2000; exec '" + strings.Join(cmd.Args, "' '") + "'"
	screen := program(t, home, name)
	screen.Path, screen.Args = "/usr/bin/script", []string{"script", "-qefc", line, "/dev/null"}
	return screen
}

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	b, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%s: %v", cmd.Args[0], err)
	}
	return string(b)
}

func signInClaude(t *testing.T, home, url string) *exec.Cmd {
	output(t, program(t, home, "claude", "mcp", "add", "--scope", "user", "--transport", "http", "loregate", url))
	return atTerminal(t, home, "claude", "mcp", "login", "loregate")
}

func signInCodex(t *testing.T, home, url string) *exec.Cmd {
	prepareCodex(t, home, server{url: url}, newModel(t, nil))
	return program(t, home, "codex", "mcp", "login", "loregate")
}

func signInGemini(t *testing.T, home, url string) *exec.Cmd {
	prepareGemini(t, home, server{url: url}, newModel(t, nil))
	return atTerminal(t, home, "gemini")
}

func inspectorCall(t *testing.T, home, url string) *exec.Cmd {
	return atTerminal(
		t,
		home,
		"mcp-inspector",
		"--cli",
		url,
		"--transport",
		"http",
		"--method",
		"tools/call",
		"--tool-name",
		"browse",
		"--tool-arg",
		"name=Rent Quay",
	)
}

// readsBy lets a client's scripted model read the card.
func readsBy(c client) func(t *testing.T, home, url string) string {
	return func(t *testing.T, home, url string) string {
		m := newModel(t, func(t talk) step {
			if len(t.results) == 0 {
				return step{tool: "browse", args: object{"name": "Rent Quay"}}
			}
			return step{say: "done"}
		})
		said := converseAt(t, home, c, server{url: url}, m, "Read the card Rent Quay.")
		seen, _ := m.last()
		return strings.Join(seen.results, "\n") + said
	}
}

func readByRemote(t *testing.T, home, url string) string {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	session, err := mcp.NewClient(
		&mcp.Implementation{Name: "reader", Version: "1"},
		nil,
	).Connect(
		ctx,
		&mcp.CommandTransport{
			Command: program(t, home, "mcp-remote", url, "--transport", "http-only", "--allow-http")},
		nil,
	)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = session.Close() }() // it was only read from
	answer, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "browse", Arguments: object{"name": "Rent Quay"}})
	if err != nil {
		return err.Error()
	}
	return mustJSON(answer.Content)
}

// gate serves the product and notes how it answers calls that carry a token.
type gate struct {
	url    string
	person context.Context // of the tab in which the person is signed in

	mu      sync.Mutex
	answers []*noted // guarded by mu
}

func newGate(t *testing.T) *gate {
	t.Helper()
	data := t.TempDir()
	apptest.Sample(t, data)
	a, _ := apptest.Open(t, apptest.Config(t, data), apptest.Quiet())
	g := &gate{person: apptest.Browse(t, 10*time.Minute)}
	handler, end, err := a.Handler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(g.note(handler))
	t.Cleanup(func() {
		end()
		s.CloseClientConnections()
		s.Close()
	})
	g.url = s.URL
	link, err := a.SignInLink(t.Context(), g.url, identity.KeySpec{Name: "test", Subject: "keeper", Actor: access.Person,
		MaxRole: access.RoleGM, Approve: true}, []string{app.SampleWorld})
	if err != nil {
		t.Fatal(err)
	}
	g.do(t, chromedp.Navigate(strings.Replace(link, g.url, identity.PagesURL(g.url), 1)))
	g.wait(t, `location.pathname !== "/sign-in" && document.readyState === "complete"`)
	return g
}

func (g *gate) do(t *testing.T, step chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(g.person, step); err != nil {
		t.Fatal(err)
	}
}

func (g *gate) wait(t *testing.T, expression string) {
	t.Helper()
	apptest.Eventually(t, expression, waittest.Patience, func() bool {
		ctx, cancel := context.WithTimeout(g.person, 2*time.Second)
		defer cancel()
		holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		return err == nil && holds
	})
}

// note notes the statuses of calls that carry a token.
func (g *gate) note(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mcp" || r.Method != http.MethodPost || r.Header.Get("Authorization") == "" {
			next.ServeHTTP(w, r)
			return
		}
		n := &noted{ResponseWriter: w, at: time.Now(), status: http.StatusOK}
		next.ServeHTTP(n, r)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.answers = append(g.answers, n)
	})
}

// noted is an answer whose status is noted.
type noted struct {
	http.ResponseWriter
	at     time.Time
	status int
}

func (n *noted) WriteHeader(status int) {
	n.status = status
	n.ResponseWriter.WriteHeader(status)
}

func (n *noted) Unwrap() http.ResponseWriter { return n.ResponseWriter }

func (n *noted) Flush() { _ = http.NewResponseController(n.ResponseWriter).Flush() } // an answer that cannot is short

// since counts the answers to calls that came after a time, by whether they let the caller in.
func (g *gate) since(at time.Time) (let, refused int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.answers {
		switch {
		case n.at.Before(at):
		case n.status == http.StatusUnauthorized:
			refused++
		default:
			let++
		}
	}
	return let, refused
}

// consent lets in the client that asks in a program's output, and waits until the browser is back at it.
func (g *gate) consent(t *testing.T, address string) {
	t.Helper()
	g.do(t, chromedp.Navigate(address))
	g.wait(t, `document.querySelector("[value=allow]") !== null`)
	g.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector("[value=allow]").click()`))
	g.wait(
		t,
		`!location.host.startsWith("loregate.") && location.pathname !== "/authorize" && document.readyState === "complete"`,
	)
}

// endAccess ends the access of the one client that was let in, and returns the time.
func (g *gate) endAccess(t *testing.T) time.Time {
	t.Helper()
	g.do(t, chromedp.Navigate(identity.PagesURL(g.url)+"/account"))
	const button = `document.querySelector('[aria-label^="End the access of"]')`
	g.wait(t, button+" !== null")
	g.do(t, chromedp.Evaluate[chromedp.Void](button+".click()"))
	g.wait(t, button+` === null && document.readyState === "complete"`)
	return time.Now()
}
