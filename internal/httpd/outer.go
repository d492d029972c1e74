package httpd

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/body"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/markup"
)

// exchange is one request with the data that the outer layers found about it.
type exchange struct {
	w           *meter
	r           *http.Request
	correlation string
	client      netip.Addr // address of the client, looking through proxies
	proxied     bool       // came through a trusted proxy
	route       string     // pattern, for metrics
	caller      access.Caller
	hold        *body.Hold // of an operation's request; nil before its caller is known
}

type handler func(x *exchange, vars map[string]string)

// meter is a ResponseWriter that remembers status and size.
type meter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (m *meter) WriteHeader(status int) {
	if m.status == 0 || m.status < 200 {
		m.status = status
	}
	m.ResponseWriter.WriteHeader(status)
}

func (m *meter) Write(b []byte) (int, error) {
	m.status = cmp.Or(m.status, http.StatusOK)
	n, err := m.ResponseWriter.Write(b)
	m.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (m *meter) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// wrapOuter puts the outer layers around the handlers. The order matters: recovery first, so that
// no panic ends the process; then the id that the log and the answer share; then the checks of
// address, host and origin.
func (s *server) wrapOuter() (http.Handler, error) {
	origins := http.NewCrossOriginProtection()
	for _, o := range s.Origins {
		if err := origins.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("httpd: origin %q: %w", o, err)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := s.Now()
		x := &exchange{w: &meter{ResponseWriter: w}, r: r, correlation: s.setCorrelation(r), route: "other"}
		defer func() {
			if s.Observer != nil {
				s.Observer.Request(x.route, x.w.status, s.Now().Sub(began), x.w.bytes)
			}
		}()
		defer s.recoverPanic(x)
		x.answerWithin(answerWait)
		if r.Body != nil && r.Body != http.NoBody {
			x.bodyWithin(s.BodyWait) // also for bodies that no handler reads: net/http waits for the rest of them
		}
		x.client, x.proxied = s.clientOf(r)
		setHeaders(w.Header(), x.correlation)
		if err := s.checkAccess(x, origins); err != nil {
			s.writeError(x, "", err)
			return
		}
		leave, err := s.takeSlot(x)
		if err != nil {
			s.writeError(x, "", err)
			return
		}
		defer leave()
		s.dispatchRequest(x)
	}), nil
}

func setHeaders(h http.Header, correlation string) {
	h.Set("X-Correlation-Id", correlation)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// setCorrelation keeps the caller's correlation id if it is valid, and otherwise gives the request
// a new one. Inner handlers find it in the request's own header.
func (s *server) setCorrelation(r *http.Request) string {
	id := r.Header.Get("X-Correlation-Id")
	if !isValidID(id) {
		id = s.NewID()
	}
	r.Header.Set("X-Correlation-Id", id)
	return id
}

func isValidID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for _, c := range []byte(id) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// recoverPanic answers after a panic and keeps the process. It passes on http.ErrAbortHandler, with
// which a handler cuts a connection.
func (s *server) recoverPanic(x *exchange) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	err := fault.Panicked("a request", p)
	s.Logger.ErrorContext(x.r.Context(), "request panicked", "correlation_id", x.correlation, "route", x.route,
		"error", err)
	if x.w.status == 0 {
		s.writeError(x, "", err)
		return
	}
	panic(http.ErrAbortHandler) // half an answer has been sent: the client must not take it for a whole one
}

// clientOf returns the client's address: the peer, or the last address in X-Forwarded-For that is
// not a trusted proxy's.
func (s *server) clientOf(r *http.Request) (netip.Addr, bool) {
	peer := peerOf(r)
	if !isInRanges(peer, s.Proxies) {
		return peer, false
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		a, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		if a = a.Unmap(); !isInRanges(a, s.Proxies) {
			return a, true
		}
	}
	return peer, true
}

func peerOf(r *http.Request) netip.Addr {
	p, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return p.Addr().Unmap().WithZone("")
}

func isInRanges(a netip.Addr, ranges []netip.Prefix) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(a) })
}

// checkAccess checks address, Host and Origin. Health is open to all.
func (s *server) checkAccess(x *exchange, origins *http.CrossOriginProtection) error {
	if x.r.URL.Path == "/healthz" || x.r.URL.Path == "/readyz" {
		return nil
	}
	if len(s.AllowFrom) > 0 && !isInRanges(x.client, s.AllowFrom) {
		return fault.New(fault.Denied, "calls from this address are refused; ask the operator to add it to allow_from")
	}
	if !s.isHostAllowed(x.r.Host) {
		return fault.New(fault.Denied,
			"calls to the host %q are refused; ask the operator to add it to allowed_hosts",
			markup.Shorten(x.r.Host, 100))
	}
	if err := origins.Check(x.r); err != nil || !s.isOriginAllowed(x.r) {
		return fault.New(fault.Denied,
			"calls from this page's origin are refused; ask the operator to add it to allowed_origins")
	}
	return nil
}

func (s *server) isHostAllowed(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.ToLower(strings.Trim(name, "[]")), ".")
	if name == "localhost" || name == identity.PagesHost {
		return true
	}
	if a, err := netip.ParseAddr(name); err == nil && a.IsLoopback() {
		return true
	}
	if u, err := url.Parse(s.PublicURL); err == nil && name != "" && strings.EqualFold(u.Hostname(), name) {
		return true
	}
	return slices.ContainsFunc(s.Hosts, func(h string) bool { return h == "*" || strings.EqualFold(h, name) })
}

// isOriginAllowed also applies to reads, which http.CrossOriginProtection does not check: a page of
// another origin may not open a stream either.
func (s *server) isOriginAllowed(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(s.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// baseURL returns the address at which the caller reached the server.
func (s *server) baseURL(x *exchange) string {
	if s.PublicURL != "" {
		return s.PublicURL
	}
	scheme := "http"
	if x.r.TLS != nil || x.proxied && x.r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + x.r.Host
}

// bodyWithin bounds the time in which the body arrives. net/http lifts the bound when the body has
// been read. Writers without deadlines, as in tests, have no bound.
func (x *exchange) bodyWithin(d time.Duration) {
	_ = http.NewResponseController(x.w).SetReadDeadline(time.Now().Add(d))
}

// answerWithin bounds the time for making an answer and sending it to the client. Zero lifts the
// bound. Streams set one for each message and lift it, since HTTP/2 ends a stream whose bound has
// passed although nothing is being written.
func (x *exchange) answerWithin(d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = http.NewResponseController(x.w).SetWriteDeadline(at)
}
