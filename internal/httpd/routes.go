package httpd

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/markup"
	"loregate/internal/op"
)

// addRoutes fills the router: first the fixed routes, then those of operations, feeds and
// Config.Routes.
func (s *server) addRoutes() error {
	s.openapi = newDocument(op.OpenAPI(op.APIInfo{Title: "Loregate", Version: s.Version, Operations: s.Engine.All(),
		Feeds: s.Engine.Feeds(), Paths: tokenPaths()}))
	fixed := []struct {
		pattern string
		serve   handler
	}{
		{"GET /healthz", s.serveHealthz},
		{"GET /readyz", s.serveReady},
		{"GET /metrics", s.serveMetrics},
		{"GET /api/openapi.json", func(x *exchange, _ map[string]string) { s.openapi.writeTo(x) }},
		{"GET /api/mcp/health", s.serveHealth},
		{"GET /api/mcp/health/ping", s.servePing},
		{"POST /api/mcp/auth", s.exchangeKey},
		{"GET /.well-known/jwks.json", s.serveKeySet},
		{"GET /api/mcp/.well-known/jwks.json", s.serveKeySet},
		{"GET /.well-known/oauth-protected-resource", s.serveMetadata},
		{"GET /.well-known/oauth-protected-resource/mcp", s.serveMetadata},
		{"GET /.well-known/oauth-protected-resource/mcp/{surface}", s.serveMetadata},
		{"GET /.well-known/oauth-protected-resource/mcp/{surface}/readonly", s.serveMetadata},
	}
	for pattern, serve := range s.oauthRoutes() {
		if err := s.router.add(pattern, serve); err != nil {
			return err
		}
	}
	if s.Page != nil {
		fixed = append(fixed, struct {
			pattern string
			serve   handler
		}{"GET /connect", s.servePage})
	}
	for _, f := range fixed {
		if err := s.router.add(f.pattern, f.serve); err != nil {
			return err
		}
	}
	for _, o := range s.Engine.All() {
		for _, r := range o.Routes() {
			if err := s.router.add(r.Route, s.serveOperation(o, r.Input)); err != nil {
				return err
			}
		}
	}
	for _, f := range s.Engine.Feeds() {
		if err := s.router.add(f.Route, s.serveFeed(f)); err != nil {
			return err
		}
	}
	for _, r := range s.Routes {
		if err := s.router.add(r.Pattern, s.serveRoute(r)); err != nil {
			return err
		}
	}
	return nil
}

// dispatchRequest finds the handler of a request and calls it.
func (s *server) dispatchRequest(x *exchange) {
	path := x.r.URL.Path
	if s.MCP != nil && (path == "/mcp" || strings.HasPrefix(path, "/mcp/")) {
		if s.Page != nil && asksForPage(x.r) {
			x.route = "GET /connect"
			s.servePage(x, nil)
			return
		}
		x.route = "/mcp"
		x.r.Body = http.MaxBytesReader(x.w, x.r.Body, bodyLimit)
		x.withClient()
		s.MCP.ServeHTTP(x.w, x.r)
		return
	}
	l, values, allowed := s.router.findRoute(x.r.Method, x.r.URL.EscapedPath())
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
		s.writeError(x, "", newRefusal(http.StatusMethodNotAllowed, "the method %s is not allowed here; use %s",
			markup.Shorten(x.r.Method, 20), strings.Join(allowed, ", ")))
	case s.Console != nil && !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/mcp"):
		x.route = "console"
		x.withClient()
		x.r = x.r.WithContext(context.WithValue(x.r.Context(), exchangeKey{}, served{s, x}))
		if !x.proxied {
			x.r.Header.Del("X-Forwarded-Proto") // only a trusted proxy knows
		}
		s.Console.ServeHTTP(x.w, x.r)
	default:
		s.writeError(x, "",
			fault.New(fault.NotFound, "there is nothing at this address; GET /api/openapi.json lists all addresses"))
	}
}

// servePage shows a page about this address to a person.
func (s *server) servePage(x *exchange, _ map[string]string) {
	x.w.Header().Set("Vary", "Accept")
	s.Page(x.w, s.baseURL(x))
}

// asksForPage reports whether a browser asks for a page, rather than a client that opens a stream.
func asksForPage(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(accept, "text/html") &&
		!strings.Contains(accept, "text/event-stream")
}

// serveRoute serves a route that does not belong to an operation.
func (s *server) serveRoute(r Route) handler {
	return func(x *exchange, vars map[string]string) {
		var c access.Caller
		if !r.Public {
			var err error
			if c, err = s.authenticate(x, r.Audience); err != nil {
				s.writeError(x, "", err)
				return
			}
		}
		r.Serve(x.w, x.r, c, vars)
	}
}

// findCaller finds the caller of an operation or feed, which may be open to another audience
// besides the API's ("" for none).
func (s *server) findCaller(x *exchange, audience string) (access.Caller, error) {
	if audience == identity.AudiencePlay && identity.LooksLikePlay(Bearer(x.r)) {
		return s.authenticate(x, audience)
	}
	return s.authenticate(x, "")
}

// authenticate finds the caller, and sends it the remaining life of its token.
func (s *server) authenticate(x *exchange, audience string) (access.Caller, error) {
	c, err := s.Auth.Authenticate(x.r.Context(), Bearer(x.r), audience)
	if err != nil {
		return c, ChargeWrong(s.Limiter, x.client, err)
	}
	if !c.TokenExpires.IsZero() {
		left := max(c.TokenExpires.Sub(s.Now()), 0)
		x.w.Header().Set("X-Token-Expires-In", formatInt(int(left/time.Second)))
	}
	return c, nil
}

// Bearer returns the request's bearer credential; "" if there is none, or more than one.
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

// serveMetadata describes /mcp, or an address below it that has its own metadata at the same path.
func (s *server) serveMetadata(x *exchange, vars map[string]string) {
	base := s.baseURL(x)
	path := strings.TrimPrefix(x.r.URL.EscapedPath(), "/.well-known/oauth-protected-resource")
	if name, ok := vars["surface"]; ok && !s.isAddress(name) {
		s.writeError(x, "", fault.New(fault.NotFound, "there is no such surface; leave the surface out"))
		return
	}
	servers := s.AuthorizationServers
	if s.Grants != nil && len(servers) == 0 {
		servers = []string{base}
	}
	s.writeJSON(x, http.StatusOK, protectedResource{
		Resource: base + cmp.Or(path, "/mcp"), Name: "Loregate", AuthorizationServers: servers,
		JWKS: base + "/.well-known/jwks.json", Scopes: []string{identity.LeastScope}, Methods: []string{"header"},
	})
}

// isAddress reports whether a path below /mcp names surfaces, joined by a plus, or all or only reads.
func (s *server) isAddress(name string) bool {
	if name == "all" || name == "readonly" {
		return true
	}
	for one := range strings.SplitSeq(name, "+") {
		if !s.hasSurface(one) {
			return false
		}
	}
	return true
}

func (s *server) hasSurface(name string) bool {
	return slices.ContainsFunc(s.Engine.Surfaces(), func(f op.Surface) bool { return f.Name == name })
}

func (s *server) serveHealthz(x *exchange, _ map[string]string) {
	s.writeJSON(x, http.StatusOK, map[string]any{"status": "ok"})
}

// serveHealth is serveReady in the format of the card wiki's API.
func (s *server) serveHealth(x *exchange, _ map[string]string) {
	if err := s.checkReady(x); err != nil {
		s.writeError(x, "", err)
		return
	}
	s.writeJSON(x, http.StatusOK, map[string]any{"status": "healthy", "timestamp": s.Now().UTC().Format(time.RFC3339),
		"version": s.Version,
		"checks":  map[string]string{"database": "ok", "cards": "ok"}})
}

// servePing answers without regard to the store.
func (s *server) servePing(x *exchange, _ map[string]string) {
	s.writeJSON(x, http.StatusOK, map[string]any{"status": "ok", "timestamp": s.Now().UTC().Format(time.RFC3339)})
}

// serveMetrics serves loopback peers, unless a proxy passed the request on, and the operator: the
// numbers include hidden content.
func (s *server) serveMetrics(x *exchange, _ map[string]string) {
	if s.Metrics == nil {
		s.writeError(x, "", fault.New(fault.NotFound, "this server has no metrics"))
		return
	}
	if !s.isLocal(x) {
		c, err := s.authenticate(x, "")
		if err == nil && !c.Operator {
			err = fault.New(fault.Denied, "metrics are only for the instance's operator; use the operator's key")
		}
		if err != nil {
			s.writeError(x, "", err)
			return
		}
	}
	s.Metrics.ServeHTTP(x.w, x.r)
}

func (s *server) isLocal(x *exchange) bool {
	peer := peerOf(x.r)
	return peer != (netip.Addr{}) && peer.IsLoopback() && x.r.Header.Get("X-Forwarded-For") == "" &&
		x.r.Header.Get("Forwarded") == ""
}
