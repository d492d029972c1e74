package archive

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/outbound"
)

func TestFilesComeOnlyFromAllowedPublicHosts(t *testing.T) {
	asked := 0
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "/sign.png", http.StatusFound)
		case "/big":
			_, _ = w.Write(make([]byte, canon.MaxFile+1))
		default:
			_, _ = w.Write([]byte("a sign"))
		}
	}))
	defer server.Close()

	f := &fetcher{[]string{"127.0.0.1"}, outbound.New(outbound.Config{})}
	for name, address := range map[string]string{
		"plain HTTP": "http://127.0.0.1/sign.png", "a password": "https://ada:secret@127.0.0.1/sign.png",
		"no address":   "sign.png",
		"another host": "https://elsewhere.example/sign.png", "another port": server.URL + "/sign.png",
		"an address of this machine": "https://127.0.0.1/sign.png", "a file": "file:///etc/passwd",
	} {
		if data, _, err := f.get(t.Context(), address); err == nil || data != nil || fault.KindOf(err) == fault.Internal {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	none := &fetcher{nil, f.client}
	if _, _, err := none.get(t.Context(), "https://files.example/sign.png"); !errors.Is(err, fault.Denied) {
		t.Errorf("without a list: %v", err)
	}
	if asked > 0 {
		t.Errorf("the server was asked %d times", asked)
	}

	// Allowed hosts are fetched from; the test's server stands in for a public one.
	f.client = outbound.New(outbound.Config{Roots: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		}})
	if data, name, err := f.get(t.Context(), "https://127.0.0.1/sign.png"); string(data) != "a sign" ||
		name != "sign.png" || err != nil {
		t.Errorf("an allowed file: %q %q %v", data, name, err)
	}
	if _, _, err := f.get(t.Context(), "https://127.0.0.1/away"); !errors.Is(err, fault.Rule) {
		t.Errorf("a redirect: %v", err)
	}
	if _, _, err := f.get(t.Context(), "https://127.0.0.1/big"); !errors.Is(err, fault.TooLarge) {
		t.Errorf("a file too large: %v", err)
	}
}
