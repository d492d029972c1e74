package archive

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/fault"
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
	host, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "https://"), ":")

	f := newFetcher([]string{host})
	for name, address := range map[string]string{
		"plain HTTP": "http://" + host + "/sign.png", "a password": "https://ada:secret@" + host + "/sign.png",
		"no address":   "sign.png",
		"another host": "https://elsewhere.example/sign.png", "another port": "https://" + host + ":" + port + "/sign.png",
		"an address of this machine": "https://" + host + "/sign.png", "a file": "file:///etc/passwd",
	} {
		if data, _, err := f.get(t.Context(), address); err == nil || data != nil || fault.KindOf(err) == fault.Internal {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if _, _, err := newFetcher(nil).get(t.Context(), "https://files.example/sign.png"); !errors.Is(err, fault.Denied) {
		t.Errorf("without a list: %v", err)
	}
	if asked > 0 {
		t.Errorf("the server was asked %d times", asked)
	}

	// Allowed hosts are fetched from; the test's server stands in for a public one.
	f.mayDial = func(netip.Addr) bool { return true }
	transport := f.client.Transport.(*http.Transport)
	transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dial(ctx, network, host+":"+port)
	}
	if data, name, err := f.get(t.Context(), "https://"+host+"/sign.png"); string(data) != "a sign" ||
		name != "sign.png" || err != nil {
		t.Errorf("an allowed file: %q %q %v", data, name, err)
	}
	if _, _, err := f.get(t.Context(), "https://"+host+"/away"); !errors.Is(err, fault.Rule) {
		t.Errorf("a redirect: %v", err)
	}
	if _, _, err := f.get(t.Context(), "https://"+host+"/big"); !errors.Is(err, fault.TooLarge) {
		t.Errorf("a file too large: %v", err)
	}
}

func TestPublicAddresses(t *testing.T) {
	for address, public := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1:248:1893:25c8:1946": true,
		"127.0.0.1": false, "10.1.2.3": false, "192.168.1.1": false, "172.16.0.1": false, "169.254.169.254": false,
		"0.0.0.0": false, "100.64.0.1": false,
		"::1": false, "fe80::1": false, "fc00::1": false, "224.0.0.1": false, "255.255.255.255": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false,
	} {
		if got := isPublic(netip.MustParseAddr(address)); got != public {
			t.Errorf("%s: %v", address, got)
		}
	}
	if isPublic(netip.MustParseAddr("::ffff:127.0.0.1").Unmap()) {
		t.Error("a mapped address of this machine is public")
	}
}
