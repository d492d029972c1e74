package identity

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jws"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// outsideToken holds the parts of an outside issuer's verified token that are used.
type outsideToken struct {
	by      *outsider
	key     keyName
	subject access.Subject
	values  []string // of the roles claim
	worlds  []string // of the world claim
	claims  claims   // only the times are set
}

// outsideHeader holds the checked members of a header. The kid alone selects the key: members that
// name or contain another key are refused, and so is crit.
type outsideHeader struct {
	Alg  string         `json:"alg"`
	KID  string         `json:"kid"`
	Typ  string         `json:"typ"`
	JKU  jsontext.Value `json:"jku"`
	JWK  jsontext.Value `json:"jwk"`
	X5U  jsontext.Value `json:"x5u"`
	X5C  jsontext.Value `json:"x5c"`
	Crit jsontext.Value `json:"crit"`
	B64  jsontext.Value `json:"b64"`
	Enc  jsontext.Value `json:"enc"`
	Zip  jsontext.Value `json:"zip"`
}

// idTokenTypes are the accepted typ values of ID tokens.
var idTokenTypes = []string{"", "JWT"}

// outsideTypes are the accepted typ values of access tokens: RFC 7519, and RFC 9068 in both its
// spellings.
var outsideTypes = []string{"", "JWT", "at+jwt", "application/at+jwt"}

// maxKID bounds a key's id, in bytes.
const maxKID = 200

// maxValues bounds the number of roles and of worlds that are read from a token.
const maxValues = 200

// issuerOf returns the issuer that a bearer token claims to be from, nil if it is not configured.
// The token is not verified yet.
func (o outsiders) issuerOf(bearer string) *outsider {
	if len(o) == 0 {
		return nil
	}
	parts, err := splitCompact(bearer)
	if err != nil {
		return nil
	}
	var said struct {
		Issuer string `json:"iss"`
	}
	if json.Unmarshal(parts[1], &said) != nil {
		return nil
	}
	return o[said.Issuer]
}

// verify checks an access token's form, signature and claims.
func (o *outsider) verify(ctx context.Context, token string, now time.Time) (*outsideToken, error) {
	payload, name, err := o.verifySignature(ctx, token, outsideTypes, now)
	if err != nil {
		return nil, err
	}
	t, err := o.readClaims(payload, o.Audiences)
	if err != nil {
		return nil, err
	}
	t.key = name
	return t, t.checkTimes(now)
}

// verifyIDToken checks the ID token that answers a sign-in with a nonce (OpenID Connect Core 1.0, section 3.1.3.7).
func (o *outsider) verifyIDToken(ctx context.Context, token, nonce string, now time.Time) (*outsideToken, error) {
	payload, _, err := o.verifySignature(ctx, token, idTokenTypes, now)
	if err != nil {
		return nil, err
	}
	t, err := o.readClaims(payload, []string{o.SignIn.ClientID})
	if err != nil {
		return nil, err
	}
	var said struct {
		Nonce    string   `json:"nonce"`
		Party    string   `json:"azp"`
		Audience audience `json:"aud"`
	}
	if json.Unmarshal(payload, &said) != nil {
		return nil, newOutsideRefusal(ErrInvalid, "its nonce or azp is no text")
	}
	known := append([]string{o.SignIn.ClientID}, o.Audiences...)
	begun := time.Unix(t.claims.IssuedAt, 0)
	switch {
	case subtle.ConstantTimeCompare([]byte(said.Nonce), []byte(nonce)) == 0:
		return nil, newOutsideRefusal(ErrInvalid, "it answers another sign-in")
	case said.Party != o.SignIn.ClientID && (said.Party != "" || len(said.Audience) > 1):
		return nil, newOutsideRefusal(ErrInvalid, "it was issued to another client")
	case slices.ContainsFunc(said.Audience, func(a string) bool { return !slices.Contains(known, a) }):
		return nil, newOutsideRefusal(ErrInvalid, "it is for unknown audiences too")
	case t.claims.IssuedAt == 0 || now.Sub(begun) > SignInLife+Leeway:
		return nil, newOutsideRefusal(ErrInvalid, "its iat is missing, or is before the sign-in")
	}
	return t, t.checkTimes(now)
}

// verifySignature checks the form and signature of a token whose typ is one of types, and returns its payload and the
// key that it was signed with.
func (o *outsider) verifySignature(ctx context.Context, token string, types []string,
	now time.Time) (payload []byte, name keyName, err error) {
	parts, err := splitCompact(token)
	if err != nil {
		return nil, name, err
	}
	if name, err = o.parseHeader(parts[0], types); err != nil {
		return nil, name, err
	}
	key, err := o.keys.findVerifier(ctx, name, now)
	if err != nil {
		return nil, name, err
	}
	alg := jwa.RS256()
	if name.alg == jwa.ES256().String() {
		alg = jwa.ES256()
	}
	if payload, err = jws.Verify([]byte(token), jws.WithKey(alg, key), jws.WithCompact()); err != nil {
		return nil, name, newOutsideRefusal(ErrInvalid, "its signature is not valid")
	}
	return payload, name, nil
}

func (o *outsider) parseHeader(raw []byte, types []string) (keyName, error) {
	var h outsideHeader
	if err := json.Unmarshal(raw, &h); err != nil {
		return keyName{}, newOutsideRefusal(ErrInvalid, "its header is malformed, or has a member twice")
	}
	for _, v := range []jsontext.Value{h.JKU, h.JWK, h.X5U, h.X5C, h.Crit, h.B64, h.Enc, h.Zip} {
		if v != nil {
			return keyName{}, newOutsideRefusal(ErrInvalid, "its header has more members than a kid")
		}
	}
	if !slices.Contains(o.Algorithms, h.Alg) || !slices.Contains(types, h.Typ) {
		return keyName{}, newOutsideRefusal(ErrInvalid,
			"it has another algorithm than the issuer's, or is a token of another kind")
	}
	if h.KID == "" || len(h.KID) > maxKID {
		return keyName{}, newOutsideRefusal(ErrInvalid, "no kid")
	}
	return keyName{h.KID, h.Alg}, nil
}

// readClaims reads the claims in use from a verified payload. The token must be for one of audiences.
func (o *outsider) readClaims(payload []byte, audiences []string) (*outsideToken, error) {
	var all map[string]jsontext.Value
	if err := json.Unmarshal(payload, &all); err != nil || all == nil {
		return nil, newOutsideRefusal(ErrInvalid, "its claims are malformed, or one of them occurs twice")
	}
	t := &outsideToken{by: o}
	if err := t.readTimes(all); err != nil {
		return nil, err
	}
	var iss string
	if json.Unmarshal(all["iss"], &iss) != nil || iss != o.Issuer.Issuer {
		return nil, newOutsideRefusal(ErrInvalid, "another issuer")
	}
	var aud audience
	if json.Unmarshal(all["aud"], &aud) != nil || !slices.ContainsFunc(audiences,
		func(a string) bool { return slices.Contains(aud, a) }) {
		return nil, newOutsideRefusal(ErrInvalid, "it is for another audience")
	}
	var name string
	if json.Unmarshal(findClaim(all, o.SubjectClaim), &name) != nil || name == "" {
		return nil, newOutsideRefusal(ErrInvalid, "no subject")
	}
	t.subject = o.subjectOf(name)
	if err := access.CheckSubject(t.subject); err != nil {
		return nil, newOutsideRefusal(ErrInvalid, "its subject is not valid here")
	}
	t.values = textsOfClaim(findClaim(all, o.RolesClaim))
	if o.WorldClaim != "" {
		t.worlds = textsOfClaim(findClaim(all, o.WorldClaim))
	}
	return t, nil
}

// subjectOf returns the subject by which the issuer's user is known here.
func (o *outsider) subjectOf(name string) access.Subject { return access.Subject(o.Name + ":" + name) }

// readTimes reads exp, and iat and nbf if present.
func (t *outsideToken) readTimes(all map[string]jsontext.Value) error {
	for name, into := range map[string]*int64{"exp": &t.claims.Expires, "iat": &t.claims.IssuedAt,
		"nbf": &t.claims.NotBefore} {
		raw, given := all[name]
		if !given && name != "exp" {
			continue
		}
		if json.Unmarshal(raw, into) != nil || *into <= 0 {
			return newOutsideRefusal(ErrInvalid, "a time is missing, or is not in whole seconds")
		}
	}
	return nil
}

// checkTimes checks that the token is valid at now. From its iat, or without one from now, it may
// live for MaxOutsideLife at most.
func (t *outsideToken) checkTimes(now time.Time) error {
	c := t.claims
	begun := c.IssuedAt
	if begun == 0 {
		begun = now.Unix()
	}
	switch err := c.checkTimes(now); {
	case err != nil:
		if errors.Is(err, ErrExpired) {
			return newOutsideRefusal(ErrExpired, "exp")
		}
		return newOutsideRefusal(ErrInvalid, "nbf or iat is in the future")
	case c.Expires-begun > int64(MaxOutsideLife/time.Second):
		return newOutsideRefusal(ErrInvalid, "its lifetime is too long")
	}
	return nil
}

// findClaim finds a claim by its name or its JSON pointer; nil if there is no such claim.
func findClaim(all map[string]jsontext.Value, name string) jsontext.Value {
	if !strings.HasPrefix(name, "/") {
		return all[name]
	}
	var v jsontext.Value
	for i, step := range strings.Split(name[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		if i > 0 {
			all = nil
			if json.Unmarshal(v, &all) != nil {
				return nil
			}
		}
		v = all[step]
	}
	return v
}

// textsOfClaim returns the strings of a claim: those of a list, or a string itself followed by its
// parts between spaces.
func textsOfClaim(v jsontext.Value) []string {
	if v == nil {
		return nil
	}
	var one string
	if json.Unmarshal(v, &one) == nil {
		list := append([]string{one}, strings.Fields(one)...)
		return list[:min(len(list), maxValues)]
	}
	var list []string
	if json.Unmarshal(v, &list) != nil {
		return nil
	}
	return list[:min(len(list), maxValues)]
}

// callerOfToken makes the caller of a token with its subject's current memberships. Memberships
// lower roles; if the issuer names no worlds, grants without a world apply in those of the
// memberships.
func (s *Service) callerOfToken(ctx context.Context, t *outsideToken) (access.Caller, error) {
	memberships, err := s.cfg.Worlds.Memberships(ctx, t.subject)
	if err != nil {
		return access.Caller{}, newUnavailable(err)
	}
	roles, err := s.rolesOfToken(ctx, t, memberships)
	if err != nil {
		return access.Caller{}, err
	}
	c := access.Caller{
		Subject: t.subject, Actor: t.by.Actor, Roles: roles, May: mayOf(memberships),
		Surfaces: t.by.Surfaces, RateClass: t.by.RateClass, TokenExpires: t.claims.expiryTime(),
	}
	return c, s.narrowToClaim(ctx, &c, t)
}

// rolesOfToken returns the roles that a token gives a subject with these memberships.
func (s *Service) rolesOfToken(ctx context.Context, t *outsideToken,
	memberships []Membership) (map[access.WorldID]access.Role, error) {
	base, roles := t.by.Everyone, map[access.WorldID]access.Role{}
	for _, v := range t.values {
		g, ok := t.by.Grants[v]
		if !ok {
			continue
		}
		if g.World == "" {
			base = max(base, g.Role)
			continue
		}
		if err := s.openWorlds(ctx, roles, g.Role, g.World); err != nil {
			return nil, err
		}
	}
	if err := s.openWorlds(ctx, roles, base, t.by.Worlds...); err != nil {
		return nil, err
	}
	if len(t.by.Worlds) == 0 {
		for _, m := range memberships {
			roles[m.World] = max(roles[m.World], base)
		}
	}
	return capRoles(roles, t.by.MaxRole, memberships), nil
}

// openWorlds gives a role in the named worlds. It skips worlds that do not exist.
func (s *Service) openWorlds(ctx context.Context, roles map[access.WorldID]access.Role, r access.Role,
	names ...string) error {
	for _, name := range names {
		w, ok, err := s.cfg.Worlds.FindWorld(ctx, name)
		if err != nil {
			return newUnavailable(err)
		}
		if ok {
			roles[w] = max(roles[w], r)
		}
	}
	return nil
}

// narrowToClaim limits a caller to the worlds in its token's world claim.
func (s *Service) narrowToClaim(ctx context.Context, c *access.Caller, t *outsideToken) error {
	if t.by.WorldClaim == "" {
		return nil
	}
	only := map[access.WorldID]access.Role{}
	if err := s.openWorlds(ctx, only, access.RoleAdmin, t.worlds...); err != nil {
		return err
	}
	for w := range c.Roles {
		if only[w] == access.RoleNone {
			delete(c.Roles, w)
		}
	}
	if len(c.Roles) == 1 {
		for w := range c.Roles {
			c.Home = w
		}
	}
	return nil
}

// newOutsideRefusal is newRefusal for a token of an outside issuer.
func newOutsideRefusal(reason error, detail string) error {
	text := "this token is not valid here; get a new one from its issuer"
	if reason == ErrExpired {
		text = "the token has expired; get a new one from its issuer"
	}
	return fault.New(fault.Unauthorized, "%s", text).Because(fmt.Errorf("identity: %w: %s", reason, detail))
}
