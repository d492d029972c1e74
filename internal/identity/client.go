package identity

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/net/idna"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Bounds of a client's registration.
const (
	maxRedirects    = 10
	maxRedirectText = 2000 // characters of all redirect addresses
	// RegistrationLife is the time in which a registration must be used for the first time.
	RegistrationLife = time.Hour
)

// Client is a program that asks people for access (OAuth 2.1, a public client). The id of a client that
// registers contains its registration, authenticated by the instance's secret, so that registrations need no
// storage and a flood of them fills nothing: base64url(JSON) "." base64url(HMAC-SHA-256 of the JSON). Other
// clients have the address of their document as id.
type Client struct {
	Name      string   `json:"n"`
	Redirects []string `json:"r"`
	Issued    int64    `json:"t"` // seconds since 1970; zero for a client with a document
	Document  string   `json:"-"` // host of its document; "" for a client that registered
}

// RegisterClient returns the id of a client with these redirect addresses (RFC 7591). The errors are
// fault.Invalid, with the field client_name or redirect_uris.
func (s *Service) RegisterClient(name string, redirects []string) (id string, c Client, err error) {
	name = cmp.Or(name, "unnamed client")
	c = Client{Name: name, Redirects: redirects, Issued: s.cfg.Now().Unix()}
	if err := c.checkFields(); err != nil {
		return "", c, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return "", c, err
	}
	return joinMAC(text, s.clientMAC(text)), c, nil
}

// checkFields checks the name and the redirect addresses of a client.
func (c Client) checkFields() error {
	var f faults
	f.checkName("client_name", c.Name)
	f.addUnless(len(c.Redirects) >= 1 && len(c.Redirects) <= maxRedirects, "redirect_uris", "must be 1 to 10 addresses")
	total := 0
	for _, r := range c.Redirects {
		total += len(r)
		f.addUnless(isRedirect(r), "redirect_uris",
			"must be https, or http on 127.0.0.1, [::1] or localhost, on one host by its name, without a fragment or a user")
	}
	f.addUnless(total <= maxRedirectText, "redirect_uris", "must have at most 2,000 characters together")
	return f.toError()
}

func (s *Service) clientMAC(text []byte) []byte {
	h := hmac.New(sha256.New, s.cfg.ClientSecret)
	h.Write(text)
	return h.Sum(nil)
}

// stateMAC authenticates a state that a browser keeps. The purpose tells its uses apart, and all of them from ids of
// clients, which begin with a brace.
func (s *Service) stateMAC(purpose string, text []byte) []byte {
	return s.clientMAC(append([]byte(purpose+"\n"), text...))
}

// sealState returns a state with its MAC, so that no process needs to keep it.
func (s *Service) sealState(purpose string, text []byte) string {
	return joinMAC(text, s.stateMAC(purpose, text))
}

// openSealed returns the state that sealState sealed for the same purpose.
func (s *Service) openSealed(purpose, sealed string) (text []byte, ok bool) {
	return s.openText(sealed, func(text []byte) []byte { return s.stateMAC(purpose, text) })
}

// joinMAC returns base64url(text) "." base64url(mac).
func joinMAC(text, mac []byte) string {
	return base64.RawURLEncoding.EncodeToString(text) + "." + base64.RawURLEncoding.EncodeToString(mac)
}

// openText returns a text that joinMAC joined with its MAC.
func (s *Service) openText(sealed string, macOf func([]byte) []byte) (text []byte, ok bool) {
	first, second, _ := strings.Cut(sealed, ".")
	text, err1 := base64.RawURLEncoding.Strict().DecodeString(first)
	mac, err2 := base64.RawURLEncoding.Strict().DecodeString(second)
	return text, err1 == nil && err2 == nil && len(s.cfg.ClientSecret) > 0 && hmac.Equal(mac, macOf(text))
}

// errNoClient does not tell a forged id from one of another instance.
var errNoClient = fault.New(fault.NotFound, "this client is not registered here; let it register again")

// FindClient returns the client of an id that RegisterClient returned, or that is the address of a document.
// The document may be fetched, on behalf of a person. A registration ends after RegistrationLife if nobody has
// let the client in.
func (s *Service) FindClient(ctx context.Context, person access.Subject, id string) (Client, error) {
	if strings.HasPrefix(id, "https://") {
		return s.documents.findClient(ctx, person, id)
	}
	var c Client
	body, ok := s.openText(id, s.clientMAC)
	if !ok {
		return c, errNoClient
	}
	if err := json.Unmarshal(body, &c); err != nil {
		return c, errNoClient
	}
	if s.cfg.Now().Sub(time.Unix(c.Issued, 0)) < RegistrationLife {
		return c, nil
	}
	all, err := s.listKeys(ctx, AudienceGrant)
	if err != nil {
		return c, err
	}
	if !slices.ContainsFunc(all, func(k Key) bool { return k.OAuth != nil && k.OAuth.Client == clientHash(id) }) {
		return c, fault.New(fault.NotFound,
			"this client registered more than an hour ago and was never let in; let it register again")
	}
	return c, nil
}

// clientHash returns the text under which a client's id is stored.
func clientHash(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// isRedirect reports whether an address may be registered (RFC 8252, sections 7.3 and 8.4): https, or http
// on a loopback host.
func isRedirect(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || strings.Contains(text, "#") ||
		strings.ContainsAny(text, "\\\r\n\t \"'<>;,") {
		return false
	}
	return (u.Scheme == "https" || u.Scheme == "http" && IsLoopbackHost(u.Hostname())) && isHost(u.Hostname())
}

// isHost reports whether a text is an IP address or a host name in its ASCII form. A wildcard is neither: it would
// stand for any host where redirect addresses are listed, as in a content security policy.
func isHost(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	name := strings.ToLower(text)
	ascii, err := idna.Registration.ToASCII(name)
	return err == nil && ascii == name
}

// IsLoopbackHost reports whether a host name is this machine's: localhost, a name below it, or a loopback
// address.
func IsLoopbackHost(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// PagesHost is the host of the pages on a loopback address. Cookies ignore ports: on 127.0.0.1 or localhost
// any program that listens there would get the cookie of a session, also the one that a client's answer is
// sent to. Browsers resolve names below localhost themselves; programs may not.
const PagesHost = "loregate.localhost"

// PagesURL returns the address of the pages for the address of a server.
func PagesURL(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" || !IsLoopbackHost(u.Hostname()) {
		return base
	}
	port := u.Port()
	if u.Host = PagesHost; port != "" {
		u.Host = net.JoinHostPort(PagesHost, port)
	}
	return u.String()
}

// Accepts reports whether answers to the client may go to an address: one of its redirect addresses,
// exactly; on a loopback host, with any port (RFC 8252, section 7.3).
func (c Client) Accepts(redirect string) bool {
	if !isRedirect(redirect) {
		return false
	}
	return slices.ContainsFunc(c.Redirects, func(r string) bool {
		return r == redirect || withoutPort(r) != "" && withoutPort(r) == withoutPort(redirect)
	})
}

// withoutPort returns an address on a loopback host without its port; "" for any other address.
func withoutPort(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || !IsLoopbackHost(u.Hostname()) {
		return ""
	}
	u.Host = u.Hostname()
	return u.String()
}
