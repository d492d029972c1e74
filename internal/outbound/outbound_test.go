package outbound

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// host serves some answers over TLS, and counts them.
type host struct {
	*httptest.Server
	asked atomic.Int32
}

func newHost(t *testing.T) *host {
	h := &host{}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.asked.Add(1)
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "/sign.png", http.StatusFound)
		case "/inside":
			http.Redirect(w, r, "https://169.254.169.254/latest", http.StatusTemporaryRedirect)
		case "/big":
			_, _ = w.Write(make([]byte, 2000))
		case "/slow":
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		default:
			_, _ = w.Write([]byte("a sign"))
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// config returns a configuration by which the host stands in for any public one.
func (h *host) config() Config {
	return Config{Roots: h.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, h.Listener.Addr().String())
		}}
}

func parse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestAnswersAreBounded(t *testing.T) {
	h := newHost(t)
	c := New(h.config())
	if a, err := c.Get(t.Context(), parse(t, "https://example.com/sign.png"), 6); string(a.Body) != "a sign" ||
		err != nil {
		t.Errorf("%q %v", a.Body, err)
	}
	if _, err := c.Get(t.Context(), parse(t, "https://example.com/big"), 1999); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an answer that is too large: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Get(ctx, parse(t, "https://example.com/slow"), 1999); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an answer that is too slow: %v", err)
	}
	before := h.asked.Load()
	for path, status := range map[string]StatusError{"/away": 302, "/inside": 307} {
		if _, err := c.Get(t.Context(), parse(t, "https://example.com"+path), 1999); !errors.Is(err, status) {
			t.Errorf("a redirect: %v", err)
		}
	}
	if got := h.asked.Load() - before; got != 2 {
		t.Errorf("two redirects made %d requests", got)
	}
	if _, err := New(Config{Dial: h.config().Dial}).Get(t.Context(), parse(t, "https://example.com/"), 10); err == nil {
		t.Error("a certificate that nobody vouches for is accepted")
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"http://example.com/", "https://ada:secret@example.com/", "sign.png", "",
		"https://example.com:8443/", "file:///etc/passwd", "https:///x", "https://:443/", "HTTPS//x"} {
		if u, err := ParseAddress(address); !errors.Is(err, ErrAddress) {
			t.Errorf("%q is accepted as %v", address, u)
		}
	}
}

// TestNothingInsideIsReached asks for addresses of this machine and its neighbours, by number and by name.
func TestNothingInsideIsReached(t *testing.T) {
	c := New(Config{})
	for _, at := range []string{"127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "0.0.0.0", "10.1.2.3",
		"169.254.169.254", "[fe80::1]", "[64:ff9b::7f00:1]"} {
		if _, err := c.Get(t.Context(), parse(t, "https://"+at+"/"), 10); !errors.Is(err, ErrNotPublic) {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// TestRebinding asks for a name whose first answer is public and whose later ones are of this machine.
func TestRebinding(t *testing.T) {
	names, asked := serveNames(t, "93.184.216.34", "127.0.0.1")
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", names)
	}}
	first, err := resolver.LookupNetIP(t.Context(), "ip4", "rebind.example.")
	if err != nil || len(first) != 1 || !isPublic(first[0].Unmap()) {
		t.Fatalf("the first answer is %v, %v", first, err)
	}
	c := New(Config{})
	c.dialer.Resolver = resolver
	before := asked.Load()
	if _, err := c.Get(t.Context(), parse(t, "https://rebind.example./"), 10); !errors.Is(err, ErrNotPublic) {
		t.Errorf("a name that now leads here: %v", err)
	}
	if asked.Load() == before {
		t.Error("the name was not looked up")
	}
}

// serveNames answers the first question for an IPv4 address with the first address, and later ones with the
// second.
func serveNames(t *testing.T, first, later string) (at string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // it was only read
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				to := later
				if asked.Add(1) == 1 {
					to = first
				}
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
					Body: &dnsmessage.AResource{A: netip.MustParseAddr(to).As4()}}}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	return conn.LocalAddr().String(), asked
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
