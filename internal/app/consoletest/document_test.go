package consoletest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/outbound"
)

// newDocumentStage serves the sample world, and a document of a client at every address of example.com.
func newDocumentStage(t *testing.T) *stage {
	t.Helper()
	host := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/inside" {
			http.Redirect(w, r, "https://127.0.0.1/client.json", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"client_id": "https://example.com/client.json", "client_name": "Quill",
			"redirect_uris": ["http://127.0.0.1/callback"], "token_endpoint_auth_method": "none"}`)
	}))
	t.Cleanup(host.Close)
	o := apptest.Quiet()
	o.Outbound = outbound.Config{Roots: host.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, host.Listener.Addr().String())
		}}
	return newStageWith(t, o, func(c *app.Config) { c.Fetch.Clients = true })
}

// TestAClientWithADocumentSignsIn connects the client of the Go SDK by the address of its document.
func TestAClientWithADocumentSignsIn(t *testing.T) {
	t.Parallel()
	s := newDocumentStage(t)
	g, back := s.newSigner(access.RoleGM), newCallback(t)
	session, err := s.connect(back, func(c *auth.AuthorizationCodeHandlerConfig) {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: "https://example.com/client.json"}
	}, func(address string) {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		_, page, _ := g.send("GET", u.RequestURI(), nil)
		for _, want := range []string{"Let Quill in?", "<b>this computer</b>", "<b>example.com</b>",
			"https://example.com/client.json", back.url} {
			if !strings.Contains(page, want) {
				t.Errorf("the page of consent lacks %q", want)
			}
		}
		res, err := http.Get(g.consent(address))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	read, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_card",
		Arguments: map[string]any{"name": "Rent Quay"}})
	if err != nil || read.IsError {
		t.Fatalf("%v %v", read, err)
	}
}

// TestDocumentsOfOthersSendNothingAnywhere asks with documents that are not the client's, or lead elsewhere.
func TestDocumentsOfOthersSendNothingAnywhere(t *testing.T) {
	t.Parallel()
	g := newDocumentStage(t).newSigner(access.RoleGM)
	g.client, g.redirect = "https://example.com/client.json", "http://127.0.0.1:9/callback"
	if code := g.allow().Get("code"); code == "" {
		t.Fatal("the sound document gives no code")
	} else if status, answer := g.tokens("code", code, "client_id", "https://example.com/other.json"); status != 400 {
		t.Errorf("another document redeems the code: %d %v", status, answer)
	}
	for name, changes := range map[string][]string{
		"another redirect":       {"redirect_uri", "https://elsewhere.example/callback"},
		"another path":           {"redirect_uri", "http://127.0.0.1:9/other"},
		"another loopback host":  {"redirect_uri", "http://localhost:9/callback"},
		"another document":       {"client_id", "https://example.com/other.json"},
		"a redirect inside":      {"client_id", "https://example.com/inside"},
		"a document without TLS": {"client_id", "http://example.com/client.json"},
		"a port":                 {"client_id", "https://example.com:8443/client.json"},
	} {
		form := g.request(append(changes, "decision", "allow", "world", "lendwater", "role", "user")...)
		for _, method := range []string{"GET", "POST"} {
			path := "/authorize"
			if method == "GET" {
				path += "?" + form.Encode()
			}
			status, body, res := g.send(method, path, form)
			if status < 400 || res.Header.Get("Location") != "" || strings.Contains(body, "lga_") {
				t.Errorf("%s by %s: %d to %q", name, method, status, res.Header.Get("Location"))
			}
		}
	}
}

// TestDocumentsAreAdvertisedWhereTheyAreFetched reads the metadata with and without the setting.
func TestDocumentsAreAdvertisedWhereTheyAreFetched(t *testing.T) {
	t.Parallel()
	const member = `"client_id_metadata_document_supported":true`
	for want, s := range map[bool]*stage{true: newDocumentStage(t), false: newStage(t)} {
		_, body, _ := s.visitor().send("GET", "/.well-known/oauth-authorization-server", nil)
		if strings.Contains(body, member) != want {
			t.Errorf("%v: %s", want, body)
		}
	}
	g := newStage(t).newSigner(access.RoleGM)
	if status, body, _ := g.send("GET", "/authorize?"+g.request("client_id", "https://example.com/a").Encode(),
		nil); status != 404 || !strings.Contains(body, "not registered") {
		t.Errorf("a document at a server that fetches none: %d", status)
	}
}
