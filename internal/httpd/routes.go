package httpd

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/op"
)

// routes fills the router: what surrounds the operations, then the operations.
func (s *server) routes() error {
	s.openapi = newDocument(op.OpenAPI(op.APIInfo{Title: "Loregate", Version: s.Version, Operations: s.Engine.All(), Feeds: s.Engine.Feeds(), Paths: tokenPaths()}))
	fixed := []struct {
		pattern string
		serve   handler
	}{
		{"GET /healthz", s.healthy},
		{"GET /readyz", s.ready},
		{"GET /metrics", s.metrics},
		{"GET /api/openapi.json", func(x *exchange, _ map[string]string) { s.openapi.serve(x) }},
		{"GET /api/mcp/health", s.health},
		{"GET /api/mcp/health/ping", s.ping},
		{"POST /api/mcp/auth", s.exchangeKey},
		{"GET /.well-known/jwks.json", s.keySet},
		{"GET /api/mcp/.well-known/jwks.json", s.keySet},
		{"GET /.well-known/oauth-protected-resource", s.metadata},
		{"GET /.well-known/oauth-protected-resource/mcp", s.metadata},
		{"GET /.well-known/oauth-protected-resource/mcp/{surface}", s.metadata},
	}
	if s.Page != nil {
		fixed = append(fixed, struct {
			pattern string
			serve   handler
		}{"GET /", s.page})
	}
	for _, f := range fixed {
		if err := s.router.add(f.pattern, f.serve); err != nil {
			return err
		}
	}
	for _, o := range s.Engine.All() {
		for _, r := range o.Routes() {
			if err := s.router.add(r.Route, s.operation(o, r.Input)); err != nil {
				return err
			}
		}
	}
	for _, f := range s.Engine.Feeds() {
		if err := s.router.add(f.Route, s.feed(f)); err != nil {
			return err
		}
	}
	for _, r := range s.Routes {
		if err := s.router.add(r.Pattern, s.extra(r)); err != nil {
			return err
		}
	}
	return nil
}

// dispatch finds what serves a request.
func (s *server) dispatch(x *exchange) {
	path := x.r.URL.Path
	if s.MCP != nil && (path == "/mcp" || strings.HasPrefix(path, "/mcp/")) {
		if s.Page != nil && asksForPage(x.r) {
			x.route = "GET /"
			s.page(x, nil)
			return
		}
		x.route = "/mcp"
		x.r.Body = http.MaxBytesReader(x.w, x.r.Body, bodyLimit)
		x.withClient()
		s.MCP.ServeHTTP(x.w, x.r)
		return
	}
	l, values, allowed := s.router.find(x.r.Method, x.r.URL.EscapedPath())
	switch {
	case l != nil:
		x.route = l.pattern
		vars := make(map[string]string, len(values))
		for i, v := range values {
			vars[l.vars[i]] = v
		}
		l.serve(x, vars)
	case len(allowed) > 0:
		x.w.Header().Set("Allow", strings.Join(allowed, ", "))
		if x.r.Method == http.MethodOptions {
			x.w.WriteHeader(http.StatusNoContent)
			return
		}
		s.fail(x, "", refusal(http.StatusMethodNotAllowed, "%s is not possible here; use %s", short(x.r.Method, 20), strings.Join(allowed, ", ")))
	case s.Console != nil && !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/mcp"):
		x.route = "console"
		s.Console.ServeHTTP(x.w, x.r)
	default:
		s.fail(x, "", fault.New(fault.NotFound, "there is nothing at this address; GET /api/openapi.json lists what there is"))
	}
}

// page shows a person what this address is.
func (s *server) page(x *exchange, _ map[string]string) {
	x.w.Header().Set("Vary", "Accept")
	s.Page(x.w, s.baseURL(x))
}

// asksForPage reports whether a browser asks, and not a client that opens a stream.
func asksForPage(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(accept, "text/html") && !strings.Contains(accept, "text/event-stream")
}

// extra serves a route that is no operation's.
func (s *server) extra(r Route) handler {
	return func(x *exchange, vars map[string]string) {
		var c access.Caller
		if !r.Public {
			var err error
			if c, err = s.authenticate(x, r.Audience); err != nil {
				s.fail(x, "", err)
				return
			}
		}
		r.Serve(x.w, x.r, c, vars)
	}
}

// caller finds who calls what is open to an audience besides the API's own ("" for none).
func (s *server) caller(x *exchange, audience string) (access.Caller, error) {
	if audience == identity.AudiencePlay && identity.LooksLikePlay(Bearer(x.r)) {
		return s.authenticate(x, audience)
	}
	return s.authenticate(x, "")
}

// authenticate finds the caller, and tells it how long its token lasts.
func (s *server) authenticate(x *exchange, audience string) (access.Caller, error) {
	c, err := s.Auth.Authenticate(x.r.Context(), Bearer(x.r), audience)
	if err != nil {
		return c, ChargeWrong(s.Limiter, x.client, err)
	}
	if !c.TokenExpires.IsZero() {
		left := max(c.TokenExpires.Sub(s.Now()), 0)
		x.w.Header().Set("X-Token-Expires-In", itoa(int(left/time.Second)))
	}
	return c, nil
}

// Bearer is the request's bearer credential; "" where there is none, or more than one.
func Bearer(r *http.Request) string {
	lines := r.Header.Values("Authorization")
	if len(lines) != 1 {
		return ""
	}
	scheme, credential, _ := strings.Cut(lines[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(credential)
}

// protectedResource is the metadata of RFC 9728.
type protectedResource struct {
	Resource             string   `json:"resource"`
	Name                 string   `json:"resource_name"`
	AuthorizationServers []string `json:"authorization_servers,omitempty"`
	JWKS                 string   `json:"jwks_uri"`
	Scopes               []string `json:"scopes_supported"`
	Methods              []string `json:"bearer_methods_supported"`
}

func (s *server) metadata(x *exchange, vars map[string]string) {
	base, path := s.baseURL(x), "/mcp"
	if name, ok := vars["surface"]; ok {
		if !s.hasSurface(name) {
			s.fail(x, "", fault.New(fault.NotFound, "there is no such surface"))
			return
		}
		path += "/" + url.PathEscape(name)
	}
	s.writeJSON(x, http.StatusOK, protectedResource{
		Resource: base + path, Name: "Loregate", AuthorizationServers: s.AuthorizationServers,
		JWKS: base + "/.well-known/jwks.json", Scopes: []string{"user", "gm", "admin"}, Methods: []string{"header"},
	})
}

func (s *server) hasSurface(name string) bool {
	for _, f := range s.Engine.Surfaces() {
		if f.Name == name {
			return true
		}
	}
	return false
}

func (s *server) healthy(x *exchange, _ map[string]string) {
	s.writeJSON(x, http.StatusOK, map[string]any{"status": "ok"})
}

// ready says whether the store answers and takes writes.
func (s *server) ready(x *exchange, _ map[string]string) {
	if err := s.answers(x); err != nil {
		s.fail(x, "", err)
		return
	}
	body := map[string]any{"status": "ready"}
	if s.StoreState != nil {
		body["store"] = s.StoreState()
	}
	s.writeJSON(x, http.StatusOK, body)
}

// answers checks that the store answers and takes writes. Of why it does not, callers get
// the words that a call would be refused with, and the log the rest.
func (s *server) answers(x *exchange) error {
	if s.Ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(x.r.Context(), 2*time.Second)
	defer cancel()
	err := s.Ready(ctx)
	if err == nil {
		return nil
	}
	s.Logger.WarnContext(ctx, "not ready", "correlation_id", x.correlation, "error", err)
	e := fault.New(fault.Unavailable, "a part that is needed does not answer; try again shortly")
	if said := (*fault.Error)(nil); errors.As(err, &said) && said.Kind == fault.Unavailable {
		e.Message = said.Message
	}
	e.RetryAfter = time.Second
	return e
}

// health is ready in the words of the card wiki's API.
func (s *server) health(x *exchange, _ map[string]string) {
	if err := s.answers(x); err != nil {
		s.fail(x, "", err)
		return
	}
	s.writeJSON(x, http.StatusOK, map[string]any{"status": "healthy", "timestamp": s.Now().UTC().Format(time.RFC3339), "version": s.Version,
		"checks": map[string]string{"database": "ok", "cards": "ok"}})
}

// ping answers whatever the store does.
func (s *server) ping(x *exchange, _ map[string]string) {
	s.writeJSON(x, http.StatusOK, map[string]any{"status": "ok", "timestamp": s.Now().UTC().Format(time.RFC3339)})
}

// metrics are for loopback peers, unless a proxy passed the request on, and for the
// operator: the numbers count what is hidden too.
func (s *server) metrics(x *exchange, _ map[string]string) {
	if s.Metrics == nil {
		s.fail(x, "", fault.New(fault.NotFound, "metrics are not set up"))
		return
	}
	if !s.local(x) {
		c, err := s.authenticate(x, "")
		if err == nil && !c.Operator {
			err = fault.New(fault.Denied, "metrics are for the instance's operator")
		}
		if err != nil {
			s.fail(x, "", err)
			return
		}
	}
	s.Metrics.ServeHTTP(x.w, x.r)
}

func (s *server) local(x *exchange) bool {
	peer := peerOf(x.r)
	return peer != (netip.Addr{}) && peer.IsLoopback() && x.r.Header.Get("X-Forwarded-For") == "" && x.r.Header.Get("Forwarded") == ""
}
