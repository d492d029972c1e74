package outbound

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

// Config configures a Client. The zero value is that of the product.
type Config struct {
	// Dial opens connections, in tests; nil opens those to public addresses and no other.
	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
	Roots *x509.CertPool // nil: those of the system
}

// Client fetches from public addresses. It is safe for concurrent use.
type Client struct {
	http   *http.Client
	dialer *net.Dialer
}

// New returns a Client. It keeps no connection open.
func New(c Config) *Client {
	// The IP address is checked when it is dialled, because a name can resolve to another address
	// later.
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !isPublic(at.Addr().Unmap()) {
			return ErrNotPublic
		}
		return nil
	}}
	if c.Dial == nil {
		c.Dial = dialer.DialContext
	}
	return &Client{dialer: dialer, http: &http.Client{Timeout: 50 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DialContext: c.Dial, TLSClientConfig: &tls.Config{RootCAs: c.Roots},
			TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 20 * time.Second, DisableKeepAlives: true,
			MaxResponseHeaderBytes: 64 << 10}}}
}

// Reasons that an address is not fetched. Other errors are those of the connection.
var (
	ErrAddress   = errors.New("outbound: not an https address on port 443 without a user")
	ErrTooLarge  = errors.New("outbound: the answer is larger than the limit")
	ErrNotPublic = errors.New("outbound: the address is not public")
)

// StatusError is the status of an answer other than 200; a redirect is one too.
type StatusError int

func (s StatusError) Error() string { return fmt.Sprintf("outbound: the host answered %d", int(s)) }

// Answer is the answer of a host.
type Answer struct {
	Header http.Header
	Body   []byte
}

// ParseAddress reads an address that Get may fetch. The error is ErrAddress.
func ParseAddress(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Port() != "" && u.Port() != "443" {
		return nil, ErrAddress
	}
	return u, nil
}

// Get fetches an address of ParseAddress and returns an answer of at most most bytes.
func (c *Client) Get(ctx context.Context, u *url.URL, most int64) (a Answer, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return a, err
	}
	res, err := c.http.Do(r)
	if err != nil {
		return a, err
	}
	defer func() { _ = res.Body.Close() }() // the body was only read
	if res.StatusCode != http.StatusOK {
		return a, StatusError(res.StatusCode)
	}
	a.Header = res.Header
	a.Body, err = io.ReadAll(io.LimitReader(res.Body, most+1))
	if err == nil && int64(len(a.Body)) > most {
		err = ErrTooLarge
	}
	return a, cmp.Or(err, ctx.Err()) // a body that the end of the time cut may read as whole
}

// notPublic are the non-public ranges that netip does not know: shared, documentation,
// benchmarking, reserved, and those that embed an IPv4 address.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
}

func isPublic(a netip.Addr) bool {
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(notPublic,
		func(p netip.Prefix) bool { return p.Contains(a) })
}
