package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

// authorization is a client's request for access (OAuth 2.1, section 4.1.1).
type authorization struct {
	ClientID  string
	Client    identity.Client
	Redirect  string
	State     string
	Challenge string
	Resource  string
	Issuer    string
	Problem   string // set if the redirect address is sound and the rest is not: an error of RFC 6749, 4.1.2.1
}

// authorizationFields are the parameters of a request that the form of the page repeats.
var authorizationFields = []string{"response_type", "client_id", "redirect_uri", "state", "scope", "code_challenge",
	"code_challenge_method", "resource"}

// readAuthorization reads a client's request. The error is shown to the person: without a sound client and
// redirect address nothing may be sent anywhere (RFC 6749, section 4.1.2.1).
func (s *server) readAuthorization(v *visit) (a authorization, err error) {
	r, q := v.r, v.r.Form
	for _, name := range authorizationFields {
		if len(q[name]) > 1 {
			return a, fault.New(fault.Invalid, "this request names %s twice; start again in the client", name)
		}
	}
	a = authorization{ClientID: q.Get("client_id"), Redirect: q.Get("redirect_uri"), State: q.Get("state"),
		Challenge: q.Get("code_challenge"), Resource: q.Get("resource"), Issuer: s.originOf(r)}
	if a.Client, err = s.Sessions.FindClient(r.Context(), v.caller.Subject, a.ClientID); err != nil {
		return a, err
	}
	if a.Redirect == "" && len(a.Client.Redirects) == 1 {
		a.Redirect = a.Client.Redirects[0]
	}
	if !a.Client.Accepts(a.Redirect) {
		return a, fault.New(fault.Invalid, "the client wants the answer at an address that it did not register; "+
			"nothing was sent there")
	}
	issuer, known := s.issuerOf(r, a.Resource)
	if a.Issuer = issuer; !known {
		a.Problem = "invalid_target"
	}
	switch {
	case q.Get("response_type") != "code":
		a.Problem = "unsupported_response_type"
	case len(a.State) > 2000 || q.Get("code_challenge_method") != "S256" || len(a.Challenge) != 43:
		a.Problem = "invalid_request" // RFC 9700, section 2.1.1: no other method, and none left out
	}
	return a, nil
}

// issuerOf returns the address of the server as the client knows it, and whether the resource is one of this
// server's. On a loopback address the pages have another host than the client uses.
func (s *server) issuerOf(r *http.Request, resource string) (issuer string, known bool) {
	own := s.originOf(r)
	if resource == "" {
		return own, false
	}
	u, err := url.Parse(resource)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Contains(resource, "#") {
		return own, false
	}
	issuer = u.Scheme + "://" + u.Host
	o, err := url.Parse(own)
	if err != nil || issuer != own && !(s.PublicURL == "" && u.Scheme == "http" && o.Port() == u.Port() &&
		identity.IsLoopbackHost(u.Hostname()) && identity.IsLoopbackHost(o.Hostname())) {
		return own, false
	}
	return issuer, u.Path == "/mcp" || strings.HasPrefix(u.Path, "/mcp/")
}

// answer sends the browser back to the client with an answer. Every answer names the issuer (RFC 9207).
func (a authorization) answer(v *visit, values url.Values) error {
	u, err := url.Parse(a.Redirect)
	if err != nil {
		return err
	}
	q := u.Query()
	for name := range values {
		q.Set(name, values.Get(name))
	}
	if a.State != "" {
		q.Set("state", a.State)
	}
	q.Set("iss", a.Issuer)
	u.RawQuery = q.Encode()
	if v.sharesHost(a.Redirect) {
		if err := v.endSession(); err != nil {
			return err
		}
	}
	v.allowAnswer(a.Redirect)
	http.Redirect(v.w, v.r, u.String(), http.StatusSeeOther)
	return nil
}

// sharesHost reports whether the browser would send the cookie of the session to a client's address. Cookies
// ignore ports, and the host of the pages may be another than identity.PagesHost.
func (v *visit) sharesHost(redirect string) bool {
	u, err := url.Parse(redirect)
	own := &url.URL{Host: v.r.Host}
	return err == nil && u.Hostname() == own.Hostname() && u.Host != own.Host
}

// allowAnswer lets the form of the page lead to the client's address, which was checked: browsers apply
// form-action to redirects too.
func (v *visit) allowAnswer(redirect string) {
	if u, err := url.Parse(redirect); err == nil {
		v.w.Header().Set("Content-Security-Policy",
			strings.Replace(policy, "form-action 'self'", "form-action 'self' "+u.Scheme+"://"+u.Host, 1))
	}
}

// consent is the state of the page on which a person lets a client in.
type consent struct {
	authorization
	Worlds   []world
	Surfaces []string
	Form     url.Values
	Mistake  string
	SignsOut bool // the answer ends the session
}

// showConsent asks the person whether to let the client in.
func (s *server) showConsent(v *visit) error {
	c, err := s.readConsent(v)
	if err != nil || c.Problem != "" {
		return c.refuse(v, err)
	}
	v.allowAnswer(c.Redirect)
	return v.write(http.StatusOK, consentPage(v.frame("Let a client in"), c))
}

// refuse shows an error, or answers the client with its problem.
func (c consent) refuse(v *visit, err error) error {
	if err != nil {
		return err
	}
	return c.answer(v, url.Values{"error": {c.Problem}})
}

// readConsent reads the client's request and the worlds that the person can let it into.
func (s *server) readConsent(v *visit) (c consent, err error) {
	if v.r.Form == nil && v.r.ParseForm() != nil {
		return c, errWrongForm
	}
	if v.caller.Actor != access.Person {
		return c, fault.New(fault.Denied, "only a person can let a client in; sign in with a link or as a member, not with "+
			"the key of a program")
	}
	if c.authorization, err = s.readAuthorization(v); err != nil || c.Problem != "" {
		return c, err
	}
	worlds, err := v.listWorlds()
	if err == nil && len(worlds) == 0 {
		err = fault.New(fault.Denied, "you are in no world that you could let the client into")
	}
	c.Worlds, c.Surfaces, c.Form, c.SignsOut = worlds, s.Surfaces, v.r.PostForm, v.sharesHost(c.Redirect)
	return c, err
}

// decideConsent lets the client in with the rights that the person chose, or tells it that the person did
// not.
func (s *server) decideConsent(v *visit) error {
	c, err := s.readConsent(v)
	if err != nil || c.Problem != "" {
		return c.refuse(v, err)
	}
	if v.r.PostFormValue("decision") != "allow" {
		c.Problem = "access_denied"
		return c.refuse(v, nil)
	}
	rights, err := s.rightsOf(c)
	if err == nil {
		var code string
		code, err = s.Sessions.CreateCode(v.r.Context(), identity.Consent{Client: c.ClientID, Redirect: c.Redirect,
			Challenge: c.Challenge, Resource: c.Resource, Rights: rights, Person: v.caller.Subject, Session: v.caller.Key})
		if err == nil {
			return c.answer(v, url.Values{"code": {code}})
		}
	}
	if c.Mistake, _ = problemOf(err); c.Mistake == "" {
		return err
	}
	v.allowAnswer(c.Redirect)
	return v.write(fault.KindOf(err).HTTPStatus(), consentPage(v.frame("Let a client in"), c))
}

// rightsOf returns the rights that the person chose: a role in one world, at most the person's own.
func (s *server) rightsOf(c consent) (spec identity.KeySpec, err error) {
	form := c.Form
	i := slices.IndexFunc(c.Worlds, func(w world) bool { return w.Slug == form.Get("world") })
	if i < 0 {
		return spec, fault.BadField("world", "choose one of your worlds")
	}
	var id access.WorldID
	if err := id.UnmarshalText([]byte(c.Worlds[i].ID)); err != nil {
		return spec, err
	}
	role, ok := access.ParseRole(form.Get("role"))
	if own := ownRole(c.Worlds[i].Role); !ok || role < access.RoleUser || role > own {
		return spec, fault.BadField("role", "must be at most your own in this world, %s", own)
	}
	for _, name := range form["surfaces"] {
		if !slices.Contains(s.Surfaces, name) {
			return spec, fault.BadField("surfaces", "choose some of those listed")
		}
	}
	may := form.Get("may")
	return identity.KeySpec{MaxRole: role, Worlds: map[access.WorldID]access.Role{id: role}, Surfaces: form["surfaces"],
		ReadOnly: may == identity.MayRead, Advisory: may != identity.MayWrite && may != identity.MayRead}, nil
}

// ownRole returns the role that campaign_list names.
func ownRole(name string) access.Role {
	if name == "player" {
		return access.RoleUser
	}
	role, _ := access.ParseRole(name)
	return role
}

// host returns the part of the redirect address that tells a person where the answer goes.
func (a authorization) host() string {
	u, err := url.Parse(a.Redirect)
	if err != nil {
		return ""
	}
	if identity.IsLoopbackHost(u.Hostname()) {
		return "this computer"
	}
	return u.Host
}

// repeated returns the parameters of the request that the form sends again.
func (c consent) repeated() (pairs [][2]string) {
	return [][2]string{{"response_type", "code"}, {"client_id", c.ClientID}, {"redirect_uri", c.Redirect},
		{"state", c.State}, {"code_challenge", c.Challenge}, {"code_challenge_method", "S256"}, {"resource", c.Resource}}
}

// bestRole returns the person's highest role in any world.
func (c consent) bestRole() (best access.Role) {
	for _, w := range c.Worlds {
		best = max(best, ownRole(w.Role))
	}
	return best
}

// grant is a client that a person let in.
type grant struct {
	ID, Name, Role, May string
	Created             time.Time
}

func showGrants(keys []identity.Key) (list []grant) {
	for _, k := range keys {
		list = append(list, grant{k.ID, k.Name, k.MaxRole.String(), k.May(), k.Created})
	}
	return list
}
