package identity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"

	"loregate/internal/access"
)

// Issuer is an outside issuer of tokens that this server accepts: Entra ID, Auth0, Keycloak, or
// another that publishes its keys as a JSON Web Key Set. This configuration, not the token, decides
// on roles. A token contains a subject, which gets the prefix Name and so never equals a local one,
// and values that Grants maps to roles, up to MaxRole. Tokens of outside issuers never give Approve
// or Operator.
type Issuer struct {
	Name      string   // a word; "entra" makes subjects "entra:…"
	Issuer    string   // the iss claim, compared exactly, and the base URL of discovery
	Audiences []string // a token must name one of them
	// KeysURL is the address of the key set. Empty: taken from Issuer's OpenID configuration.
	KeysURL    string
	Algorithms []string // RS256, ES256; empty is both

	// Claims are named by their top-level member, or by a JSON pointer (RFC 6901) such as
	// "/realm_access/roles".
	SubjectClaim string // "" is "sub"
	RolesClaim   string // a string, a string of words separated by spaces, or a list of strings; "" is "roles"
	// claim with the slug or id of the token's world, or a list of them; "" means that tokens are not
	// limited to worlds
	WorldClaim string

	// Grants maps values of the roles claim to roles.
	Grants   map[string]RoleGrant
	Everyone access.Role // the role that each valid token gives; RoleNone for no role
	// MaxRole is the highest role that a token can give; RoleNone is user.
	MaxRole access.Role
	// Worlds are the worlds in which a grant without a world applies, by slug or id. Empty: the
	// worlds that the subject is a member of.
	Worlds []string

	Actor     access.Actor // "" is an AI
	Surfaces  []string     // that its tokens open; empty is all
	RateClass string       // limits profile

	SignIn SignIn // how people sign in to the pages by the issuer
}

// RoleGrant is a role in a world or, without a world, in all worlds where the issuer's grants
// apply.
type RoleGrant struct {
	Role  access.Role
	World string // slug or id
}

// MaxOutsideLife is the longest life of an outside issuer's token: this server cannot revoke such a
// token.
const MaxOutsideLife = 24 * time.Hour

// Bounds of the configuration of issuers.
const (
	maxIssuers = 16
	maxGrants  = 256
)

// outsider is an issuer and its keys.
type outsider struct {
	Issuer
	keys      *outsideKeys
	exchanges chan struct{} // holds an element for each exchange of a code that is under way
}

// outsiders maps the iss claim to its issuer.
type outsiders map[string]*outsider

func newOutsiders(c Config) (outsiders, error) {
	if len(c.Outside) > maxIssuers {
		return nil, fmt.Errorf("identity: there may be %d outside issuers at most", maxIssuers)
	}
	all, names := outsiders{}, map[string]bool{}
	for _, i := range c.Outside {
		i = i.normalize()
		if err := i.checkFields(); err != nil {
			return nil, fmt.Errorf("issuer %q: %w", i.Name, err)
		}
		if i.Issuer == c.Issuer || all[i.Issuer] != nil || names[i.Name] {
			return nil, fmt.Errorf("issuer %q: another issuer has the same name or address; give each its own", i.Name)
		}
		names[i.Name] = true
		all[i.Issuer] = &outsider{i, newOutsideKeys(i, c), make(chan struct{}, maxExchanges)}
	}
	return all, nil
}

func (i Issuer) normalize() Issuer {
	if len(i.Algorithms) == 0 {
		i.Algorithms = []string{jwa.RS256().String(), jwa.ES256().String()}
	}
	i.SubjectClaim = cmp.Or(i.SubjectClaim, "sub")
	i.RolesClaim = cmp.Or(i.RolesClaim, "roles")
	if i.MaxRole == access.RoleNone {
		i.MaxRole = access.RoleUser
	}
	i.Actor = cmp.Or(i.Actor, access.AI)
	i.SignIn.Label = cmp.Or(i.SignIn.Label, i.Name)
	i.Grants, i.Surfaces = maps.Clone(i.Grants), sortedUnique(i.Surfaces)
	return i
}

// checkFields returns an error if the configuration is invalid. i is normalized.
func (i Issuer) checkFields() error {
	switch {
	case !isWord(i.Name) || len(i.Name) > 20:
		return errors.New("name: set a word of up to 20 lower-case letters, digits, ., - and _")
	case len(i.Audiences) == 0 && i.SignIn.ClientID == "" || slices.Contains(i.Audiences, ""):
		return errors.New("audience: set the name under which this server is registered with the issuer")
	case i.Everyone > access.RoleAdmin || i.MaxRole > access.RoleAdmin:
		return errors.New("a role must be user, gm or admin")
	case len(i.Grants) > maxGrants:
		return fmt.Errorf("roles: set at most %d", maxGrants)
	case i.Actor != access.Person && i.Actor != access.AI:
		return errors.New("actor: set person or ai")
	case i.RateClass != "" && !isWord(i.RateClass):
		return errors.New("rate_class: set the name of a limits profile")
	}
	if err := i.SignIn.checkFields(); err != nil {
		return err
	}
	for _, a := range i.Algorithms {
		if a != jwa.RS256().String() && a != jwa.ES256().String() {
			return fmt.Errorf("algorithms: %q is not supported; set RS256 or ES256", a)
		}
	}
	for value, g := range i.Grants {
		if value == "" || g.Role < access.RoleUser || g.Role > access.RoleAdmin {
			return fmt.Errorf("roles: %q gives user, gm or admin, as gm or gm@world", value)
		}
	}
	if i.KeysURL != "" {
		if err := checkFetchable(i.KeysURL); err != nil {
			return fmt.Errorf("jwks_url: %w", err)
		}
		if i.SignIn.ClientID == "" {
			return nil
		}
	}
	if err := checkFetchable(i.Issuer); err != nil {
		return fmt.Errorf("issuer: %w", err)
	}
	return nil
}

// checkFetchable refuses addresses without TLS, except on loopback: anyone on the network path
// could substitute keys.
func checkFetchable(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%q is not an address; write it as https://login.example/realms/lore", shortenAddress(address))
	}
	if u.Scheme == "https" || u.Scheme == "http" && IsLoopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("%q must begin with https://; only loopback addresses may use http://",
		shortenAddress(address))
}

// IsLoopback reports whether a host, without a port, is a loopback address.
func IsLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// shortenAddress limits an address to a length that fits a message.
func shortenAddress(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// outsideClient returns a client for fetching keys. It follows no redirects and times out after
// fetchTimeout.
func outsideClient(base http.RoundTripper) *http.Client {
	return &http.Client{Transport: base, Timeout: fetchTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Issuers returns the addresses of the outside issuers whose tokens are accepted, in order.
func (s *Service) Issuers() (all []string) {
	for address, o := range s.outside {
		if len(o.Audiences) > 0 {
			all = append(all, address)
		}
	}
	slices.Sort(all)
	return all
}

// OutsideCaller returns the current caller of an outside issuer's subject, for work that the
// subject requested earlier and that runs now. Its roles come from the subject's token while this
// process has a valid one cached, else from the subject's memberships. ok reports whether the
// subject belongs to an outside issuer.
func (s *Service) OutsideCaller(ctx context.Context, subject access.Subject) (c access.Caller, ok bool, err error) {
	name, _, _ := strings.Cut(string(subject), ":")
	for _, o := range s.outside {
		if o.Name != name {
			continue
		}
		if t := s.cache.outsideTokenOf(subject, s.cfg.Now()); t != nil {
			c, err = s.callerOfToken(ctx, t)
		} else {
			c, err = s.callerOfMember(ctx, o, subject)
		}
		return c, true, err
	}
	return access.Caller{}, false, nil
}

// callerOfMember returns a subject's caller from its memberships alone.
func (s *Service) callerOfMember(ctx context.Context, o *outsider, subject access.Subject) (access.Caller, error) {
	memberships, err := s.cfg.Worlds.Memberships(ctx, subject)
	if err != nil {
		return access.Caller{}, newUnavailable(err)
	}
	roles := rolesOf(Key{}, o.MaxRole, memberships)
	return access.Caller{Subject: subject, Actor: o.Actor, Roles: roles, May: mayOf(memberships),
		Surfaces: o.Surfaces, RateClass: o.RateClass}, nil
}
