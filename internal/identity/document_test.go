package identity_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/outbound"
)

// documentHost serves the documents of clients over TLS. It stands in for every host.
type documentHost struct {
	*httptest.Server
	asked atomic.Int32
	cache string // Cache-Control
}

const goodDocument = "https://quill.example/oauth/client.json"

func newDocumentHost(t *testing.T) *documentHost {
	h := &documentHost{}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.asked.Add(1)
		id := "https://" + r.Host + r.URL.Path
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		if h.cache != "" {
			w.Header().Set("Cache-Control", h.cache)
		}
		const redirects = `"redirect_uris": ["http://127.0.0.1/callback", "https://quill.example/back"]`
		switch strings.TrimPrefix(r.URL.Path, "/") {
		case "other-id":
			id = goodDocument
		case "no-id":
			id = ""
		case "html":
			w.Header().Set("Content-Type", "text/html")
		case "big":
			_, _ = w.Write([]byte(strings.Repeat(" ", 10<<10)))
		case "slow":
			<-r.Context().Done()
			return
		case "missing":
			w.WriteHeader(http.StatusNotFound)
		case "away":
			http.Redirect(w, r, goodDocument, http.StatusFound)
			return
		case "inside":
			http.Redirect(w, r, "https://169.254.169.254/latest/meta-data", http.StatusFound)
			return
		case "array":
			_, _ = fmt.Fprint(w, `[]`)
			return
		case "twice":
			_, _ = fmt.Fprintf(w, `{"client_id": %q, "client_id": %q, "client_name": "Quill", %s}`, id, id, redirects)
			return
		case "no-redirects":
			_, _ = fmt.Fprintf(w, `{"client_id": %q, "client_name": "Quill"}`, id)
			return
		case "no-name":
			_, _ = fmt.Fprintf(w, `{"client_id": %q, %s}`, id, redirects)
			return
		case "script":
			_, _ = fmt.Fprintf(w, `{"client_id": %q, "client_name": "Quill", "redirect_uris": ["javascript:alert(1)"]}`, id)
			return
		case "plain":
			_, _ = fmt.Fprintf(w, `{"client_id": %q, "client_name": "Quill", "redirect_uris": ["http://quill.example/"]}`, id)
			return
		case "secret":
			_, _ = fmt.Fprintf(w, `{"client_id": %q, "client_name": "Quill", "client_secret": "x", %s}`, id, redirects)
			return
		case "method":
			_, _ = fmt.Fprintf(
				w,
				`{"client_id": %q, "client_name": "Quill", "token_endpoint_auth_method": "private_key_jwt", %s}`,
				id,
				redirects,
			)
			return
		}
		_, _ = fmt.Fprintf(w, `{"client_id": %q, "client_name": "Quill", "token_endpoint_auth_method": "none", %s}`, id,
			redirects)
	}))
	t.Cleanup(h.Close)
	return h
}

// fixtureWithDocuments is a fixture whose clients' documents come from the host.
func (h *documentHost) fixture(t *testing.T) *fixture {
	roots := h.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	return newFixture(t, func(c *identity.Config) {
		c.Limiter = access.NewLimits(access.LimitConfig{}, c.Now)
		c.Documents = outbound.New(outbound.Config{Roots: roots,
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, h.Listener.Addr().String())
			}})
	})
}

// The certificate of httptest is for example.com.
func documentAt(path string) string { return "https://example.com/" + path }

func TestAClientIsFoundByItsDocument(t *testing.T) {
	h := newDocumentHost(t)
	f := h.fixture(t)
	id := documentAt("oauth/client.json")
	c, err := f.FindClient(t.Context(), "anna", id)
	if err != nil || c.Name != "Quill" || c.Document != "example.com" {
		t.Fatalf("%+v %v", c, err)
	}
	for redirect, want := range map[string]bool{"http://127.0.0.1:51234/callback": true, "http://127.0.0.1/callback": true,
		"https://quill.example/back": true, "https://quill.example:444/back": false, "http://localhost:1/callback": false,
		"http://127.0.0.1:1/other": false, "https://elsewhere.example/back": false} {
		if c.Accepts(redirect) != want {
			t.Errorf("%s: %v", redirect, !want)
		}
	}
	if !f.FetchesDocuments() || newFixture(t).FetchesDocuments() {
		t.Error("it is advertised wrongly")
	}
	if _, err := newFixture(t).FindClient(t.Context(), "anna", id); !errors.Is(err, fault.NotFound) {
		t.Errorf("a server that fetches nothing: %v", err)
	}
}

func TestDocumentsAreChecked(t *testing.T) {
	h := newDocumentHost(t)
	for _, path := range []string{"other-id", "no-id", "html", "big", "missing", "away", "inside", "array", "twice",
		"no-redirects", "no-name", "script", "plain", "secret", "method"} {
		before := h.asked.Load()
		c, err := h.fixture(t).FindClient(t.Context(), "anna", documentAt(path))
		if !errors.Is(err, fault.Rule) || h.asked.Load() != before+1 {
			t.Errorf("%s: %+v %v after %d requests", path, c, err, h.asked.Load()-before)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := h.fixture(t).FindClient(ctx, "anna", documentAt("slow")); !errors.Is(err, fault.Rule) {
		t.Errorf("a slow host: %v", err)
	}
}

func TestAddressesOfDocumentsAreChecked(t *testing.T) {
	h := newDocumentHost(t)
	f := h.fixture(t)
	for _, id := range []string{"https://example.com", "https://example.com/", "https://example.com/a/../b",
		"https://example.com/./a", "https://example.com/%2e%2e/a", "https://example.com//a", "https://example.com/a?b",
		"https://example.com/a?", "https://example.com/a#b", "https://example.com/a#", "https://u@example.com/a",
		"https://example.com:443/a", "https://example.com:8443/a", "https://Example.com/a", "https://exаmple.com/a",
		"https://example.com/" + strings.Repeat("a", 300), "https://", "https:///a", "https://example.com/a b"} {
		if _, err := f.FindClient(t.Context(), "anna", id); !errors.Is(err, fault.Rule) {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, id := range []string{"http://example.com/a", "HTTPS://example.com/a", "file:///etc/passwd"} {
		if _, err := f.FindClient(t.Context(), "anna", id); !errors.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if n := h.asked.Load(); n > 0 {
		t.Errorf("the host was asked %d times", n)
	}
}

// TestDocumentsInsideAreNotFetched has documents at addresses of this machine, its neighbours and its cloud.
func TestDocumentsInsideAreNotFetched(t *testing.T) {
	f := newFixture(t, func(c *identity.Config) { c.Documents = outbound.New(outbound.Config{}) })
	for _, host := range []string{"127.0.0.1", "[::1]", "localhost", "10.0.0.1", "192.168.1.1", "169.254.169.254",
		"[fd00::1]", "[::ffff:127.0.0.1]", "0.0.0.0"} {
		_, err := f.FindClient(t.Context(), "anna", "https://"+host+"/client.json")
		if !errors.Is(err, fault.Rule) || !errors.Is(err, outbound.ErrNotPublic) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// TestDocumentsAreCached counts requests while time passes, and looks up more documents than are kept.
func TestDocumentsAreCached(t *testing.T) {
	for cache, life := range map[string]time.Duration{"": time.Hour, "no-store": time.Minute, "max-age=0": time.Minute,
		"public, max-age=600": 10 * time.Minute, "max-age=99999999": 24 * time.Hour, "max-age=x": time.Hour} {
		h := newDocumentHost(t)
		h.cache = cache
		f := h.fixture(t)
		find := func() int32 {
			if _, err := f.FindClient(t.Context(), "anna", documentAt("a")); err != nil {
				t.Error(err)
			}
			return h.asked.Load()
		}
		find()
		f.add(life - time.Second)
		if n := find(); n != 1 {
			t.Errorf("%q: %d requests within %s", cache, n, life)
		}
		f.add(time.Second)
		if n := find(); n != 2 {
			t.Errorf("%q: %d requests after %s", cache, n, life)
		}
	}
	h := newDocumentHost(t)
	f := h.fixture(t)
	for n := range 600 {
		if _, err := f.FindClient(t.Context(), access.Subject(fmt.Sprint("p", n)), documentAt(fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	if n := identity.CachedDocuments(f.Service); n > 256 {
		t.Errorf("%d documents are cached", n)
	}
}

// TestFetchesAreLimited has one person look up clients without end, which takes nothing from others.
func TestFetchesAreLimited(t *testing.T) {
	h := newDocumentHost(t)
	f := h.fixture(t)
	err := error(nil)
	for n := 0; n < 100 && !errors.Is(err, fault.RateLimited); n++ {
		_, err = f.FindClient(t.Context(), "anna", documentAt("missing"))
	}
	if n := h.asked.Load(); !errors.Is(err, fault.RateLimited) || n > 10 {
		t.Errorf("%v after %d requests", err, n)
	}
	if _, err := f.FindClient(t.Context(), "bert", documentAt("a")); err != nil {
		t.Errorf("another person: %v", err)
	}
	if _, err := f.FindClient(t.Context(), "anna", documentAt("a")); err != nil {
		t.Errorf("a cached document costs a fetch: %v", err)
	}
}
