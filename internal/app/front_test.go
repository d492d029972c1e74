package app

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func TestBrowsersGetTheFrontPage(t *testing.T) {
	h, stop, err := declared(t).Handler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, row := range []struct {
		method, path, accept string
		status               int
		page                 bool
	}{
		{"GET", "/connect", browser, 200, true}, {"GET", "/connect", "*/*", 200, true}, {"HEAD", "/connect", browser, 200, true},
		{"GET", "/mcp", browser, 200, true}, {"GET", "/mcp/campaign", browser, 200, true},
		{"GET", "/mcp", "text/event-stream", 401, false}, {"GET", "/mcp", "application/json, text/event-stream", 401, false},
		{"GET", "/mcp", "text/html, text/event-stream", 401, false}, {"POST", "/mcp", browser, 401, false},
		{"GET", "/mcp", "", 401, false},
		{"POST", "/connect", browser, 405, false},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(row.method, row.path, nil)
		r.Host = "localhost:8420"
		r.Header.Set("Accept", row.accept)
		h.ServeHTTP(w, r)
		html := strings.HasPrefix(w.Header().Get("Content-Type"), "text/html")
		if w.Code != row.status || html != row.page {
			t.Errorf("%+v: %d %s", row, w.Code, w.Header())
		}
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "sandbox") ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("%+v: policy %q", row, policy)
		}
	}
}

// A person who is not signed in is sent to the page to sign in, and returns from there.
func TestPagesNeedASession(t *testing.T) {
	h, stop, err := declared(t).Handler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for path, want := range map[string]string{
		"/": "/sign-in", "/w/main/Rent%20Quay": "/sign-in?to=%2Fw%2Fmain%2FRent%2520Quay", "/account": "/sign-in?to=%2Faccount",
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", path, nil)
		r.Host = "localhost:8420"
		h.ServeHTTP(w, r)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != want {
			t.Errorf("%s: %d %s, want %s", path, w.Code, w.Header().Get("Location"), want)
		}
	}
}

// The page shows the address that was opened, escaped, and loads and runs nothing.
func TestFrontPageIsStatic(t *testing.T) {
	w := httptest.NewRecorder()
	frontPage()(w, `http://lore.example"><script>x</script>`)
	text := w.Body.String()
	if strings.Contains(text, "<script") || strings.Contains(text, "src=") || strings.Contains(text, "http-equiv") ||
		len(text) > 8<<10 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	w = httptest.NewRecorder()
	frontPage()(w, "https://lore.example")
	if n := strings.Count(w.Body.String(), "https://lore.example/mcp"); n != 3 {
		t.Errorf("the address stands %d times", n)
	}
	if n := len(regexp.MustCompile("<style>").FindAllString(text, -1)); n != 1 || w.Result().StatusCode != http.StatusOK {
		t.Errorf("%d styles, which the policy's one hash cannot cover", n)
	}
}

// The lines printed for a new key and a new world can be pasted into a shell.
func TestConnectLinesCanBePasted(t *testing.T) {
	c := Config{Addr: "127.0.0.1:8420", Data: "/tmp/a b's", KeyAsBearer: "auto"}
	var key, here, far strings.Builder
	c.PrintConnect(&key, "lg_x")
	c.PrintConnectHere(&here, "mire")
	for _, client := range []string{"claude mcp add", "gemini mcp add", "codex mcp add"} {
		if !strings.Contains(key.String(), client) || !strings.Contains(here.String(), client) {
			t.Errorf("lacks %s:\n%s%s", client, key.String(), here.String())
		}
	}
	if !strings.Contains(key.String(), "http://127.0.0.1:8420/mcp") ||
		strings.Contains(key.String(), "allow_key_as_bearer") {
		t.Error(key.String())
	}
	if !strings.Contains(here.String(), `--data '/tmp/a b'\''s' --world mire`) ||
		!strings.Contains(here.String(), "loregate key create") {
		t.Error(here.String())
	}
	c.PublicURL, c.BehindProxy = "https://lore.example", true
	c.Database = "postgres://u:secret@h/d"
	c.PrintConnect(&far, "lg_x")
	c.PrintConnectHere(&far, "mire")
	if !strings.Contains(far.String(), "https://lore.example/mcp") ||
		!strings.Contains(far.String(), "allow_key_as_bearer") || strings.Contains(far.String(), "secret") {
		t.Error(far.String())
	}
}
