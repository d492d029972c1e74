package identity

import (
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

// Issuer is somebody else who signs tokens that are taken here: Entra ID, Auth0,
// Keycloak, or any other that publishes its keys as a JSON Web Key Set. What its tokens
// open is said here and not by them: each names a subject, which is never one of ours as
// it begins with Name, and values that Grants makes roles of, up to MaxRole. Nobody comes
// to approve or to be an operator this way.
type Issuer struct {
	Name      string   // a word; "entra" makes subjects "entra:…"
	Issuer    string   // the iss claim, to the letter, and where discovery begins
	Audiences []string // a token must name one
	// KeysURL is where the key set is. Empty: what Issuer's OpenID configuration says.
	KeysURL    string
	Algorithms []string // RS256, ES256; empty is both

	// Claims are named as they are at the top of the token, or by a JSON pointer (RFC
	// 6901), as "/realm_access/roles".
	SubjectClaim string // "" is "sub"
	RolesClaim   string // a text, texts parted by spaces, or a list of texts; "" is "roles"
	WorldClaim   string // slug or id of the world, or a list, that a token is for; "" leaves that open

	// Grants says what values of the roles claim give.
	Grants   map[string]RoleGrant
	Everyone access.Role // what each good token gives; RoleNone for nothing
	// MaxRole is the highest role that a token can give; RoleNone is user.
	MaxRole access.Role
	// Worlds are where a grant without a world is good, by slug or id. Empty: where the
	// subject is a member.
	Worlds []string

	Actor     access.Actor // "" is an AI
	Surfaces  []string     // that its tokens open; empty is all
	RateClass string       // limits profile
}

// RoleGrant is a role in a world, or, with no world named, wherever the issuer's grants
// are good.
type RoleGrant struct {
	Role  access.Role
	World string // slug or id
}

// MaxOutsideLife is how long a token of an outside issuer may live at most: nobody here
// can end one.
const MaxOutsideLife = 24 * time.Hour

// Bounds of what may be said of issuers.
const (
	maxIssuers = 16
	maxGrants  = 256
)

// outsider is an issuer and its keys.
type outsider struct {
	Issuer
	keys *outsideKeys
}

// outsiders are all, by iss.
type outsiders map[string]*outsider

func newOutsiders(c Config) (outsiders, error) {
	if len(c.Outside) > maxIssuers {
		return nil, fmt.Errorf("identity: there may be %d outside issuers at most", maxIssuers)
	}
	all, names := outsiders{}, map[string]bool{}
	for _, i := range c.Outside {
		i = i.tidy()
		if err := i.check(); err != nil {
			return nil, fmt.Errorf("issuer %q: %w", i.Name, err)
		}
		if i.Issuer == c.Issuer || all[i.Issuer] != nil || names[i.Name] {
			return nil, fmt.Errorf("issuer %q: the name or the address is in use already; give each its own", i.Name)
		}
		names[i.Name] = true
		all[i.Issuer] = &outsider{Issuer: i, keys: newOutsideKeys(i, c)}
	}
	return all, nil
}

func (i Issuer) tidy() Issuer {
	if len(i.Algorithms) == 0 {
		i.Algorithms = []string{jwa.RS256().String(), jwa.ES256().String()}
	}
	if i.SubjectClaim == "" {
		i.SubjectClaim = "sub"
	}
	if i.RolesClaim == "" {
		i.RolesClaim = "roles"
	}
	if i.MaxRole == access.RoleNone {
		i.MaxRole = access.RoleUser
	}
	if i.Actor == "" {
		i.Actor = access.AI
	}
	i.Grants, i.Surfaces = maps.Clone(i.Grants), sorted(i.Surfaces)
	return i
}

// check reports what cannot be. i is tidy.
func (i Issuer) check() error {
	switch {
	case !isWord(i.Name) || len(i.Name) > 20:
		return errors.New("name: a word of up to 20 small letters, digits, ., - and _")
	case len(i.Audiences) == 0 || slices.Contains(i.Audiences, ""):
		return errors.New("audience: name whom its tokens are for, as the issuer has this server registered")
	case i.Everyone > access.RoleAdmin || i.MaxRole > access.RoleAdmin:
		return errors.New("a role is user, gm or admin")
	case len(i.Grants) > maxGrants:
		return fmt.Errorf("roles: at most %d", maxGrants)
	case i.Actor != access.Person && i.Actor != access.AI:
		return errors.New("actor: person or ai")
	case i.RateClass != "" && !isWord(i.RateClass):
		return errors.New("rate_class: the name of a limits profile")
	}
	for _, a := range i.Algorithms {
		if a != jwa.RS256().String() && a != jwa.ES256().String() {
			return fmt.Errorf("algorithms: RS256 and ES256 are taken, %q is not", a)
		}
	}
	for value, g := range i.Grants {
		if value == "" || g.Role < access.RoleUser || g.Role > access.RoleAdmin {
			return fmt.Errorf("roles: %q gives user, gm or admin, as gm or gm@world", value)
		}
	}
	if i.KeysURL != "" {
		if err := mayFetch(i.KeysURL); err != nil {
			return fmt.Errorf("jwks_url: %w", err)
		}
		return nil
	}
	if err := mayFetch(i.Issuer); err != nil {
		return fmt.Errorf("issuer: %w", err)
	}
	return nil
}

// mayFetch refuses addresses that keys are not fetched from: whoever is on the way could
// put in keys of its own.
func mayFetch(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%q is no address such as https://login.example/realms/lore", short(address))
	}
	if u.Scheme == "https" || u.Scheme == "http" && IsLoopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("%q must begin with https://; without it only loopback addresses are fetched from", short(address))
}

// IsLoopback reports whether a host, without a port, is of this machine alone.
func IsLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// short is an address as a message may hold it.
func short(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// outsideClient fetches keys: without following redirects, and not for long.
func outsideClient(base http.RoundTripper) *http.Client {
	return &http.Client{Transport: base, Timeout: fetchWithin,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Issuers are the addresses of the outside issuers, in order.
func (s *Service) Issuers() []string { return slices.Sorted(maps.Keys(s.outside)) }

// OutsideCaller gives the caller that somebody of an outside issuer is today, for what
// they asked for before and is done now: what their token gives while this process knows
// a good one, else what they are as a member of worlds. ok says whether the subject is of
// an outside issuer at all.
func (s *Service) OutsideCaller(ctx context.Context, subject access.Subject) (c access.Caller, ok bool, err error) {
	name, _, _ := strings.Cut(string(subject), ":")
	for _, o := range s.outside {
		if o.Name != name {
			continue
		}
		if t := s.cache.outside(subject, s.cfg.Now()); t != nil {
			c, err = s.granted(ctx, t)
		} else {
			c, err = s.member(ctx, o, subject)
		}
		return c, true, err
	}
	return access.Caller{}, false, nil
}

// member is who a subject is by its memberships alone.
func (s *Service) member(ctx context.Context, o *outsider, subject access.Subject) (access.Caller, error) {
	memberships, err := s.cfg.Worlds.Memberships(ctx, subject)
	if err != nil {
		return access.Caller{}, unavailable(err)
	}
	roles := rolesOf(Key{}, o.MaxRole, memberships)
	return access.Caller{Subject: subject, Actor: o.Actor, Roles: roles, Surfaces: o.Surfaces, RateClass: o.RateClass}, nil
}
