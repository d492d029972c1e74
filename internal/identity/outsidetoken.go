package identity

import (
	"context"
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

// outsideToken is what a good token of an outside issuer says, as far as it is used.
type outsideToken struct {
	by      *outsider
	key     keyName
	subject access.Subject
	values  []string // of the roles claim
	worlds  []string // of the world claim
	claims  claims   // its times alone
}

// outsideHeader is what is read of a header. Who signed it is told by kid alone: members
// that would name or bring another key are refused, and so is what must be understood.
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

// outsideTypes are what access tokens are marked as: RFC 7519, and RFC 9068 in both its
// spellings.
var outsideTypes = []string{"", "JWT", "at+jwt", "application/at+jwt"}

// maxKID bounds a key's id, in bytes.
const maxKID = 200

// maxValues bounds the roles and worlds that are read of a token.
const maxValues = 200

// of is the issuer whose token a bearer says that it is; nil for none. Nothing of it is
// trusted yet.
func (o outsiders) of(bearer string) *outsider {
	if len(o) == 0 {
		return nil
	}
	parts, err := compact(bearer)
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

// verify checks a token's form, signature and claims.
func (o *outsider) verify(ctx context.Context, token string, now time.Time) (*outsideToken, error) {
	parts, err := compact(token)
	if err != nil {
		return nil, err
	}
	name, err := o.header(parts[0])
	if err != nil {
		return nil, err
	}
	key, err := o.keys.verifier(ctx, name, now)
	if err != nil {
		return nil, err
	}
	alg := jwa.RS256()
	if name.alg == jwa.ES256().String() {
		alg = jwa.ES256()
	}
	payload, err := jws.Verify([]byte(token), jws.WithKey(alg, key), jws.WithCompact())
	if err != nil {
		return nil, refusedOutside(ErrInvalid, "its signature does not hold")
	}
	t, err := o.read(payload)
	if err != nil {
		return nil, err
	}
	t.key = name
	return t, t.current(now)
}

func (o *outsider) header(raw []byte) (keyName, error) {
	var h outsideHeader
	if err := json.Unmarshal(raw, &h); err != nil {
		return keyName{}, refusedOutside(ErrInvalid, "malformed header, or a member twice")
	}
	for _, v := range []jsontext.Value{h.JKU, h.JWK, h.X5U, h.X5C, h.Crit, h.B64, h.Enc, h.Zip} {
		if v != nil {
			return keyName{}, refusedOutside(ErrInvalid, "its header asks for more than a kid")
		}
	}
	if !slices.Contains(o.Algorithms, h.Alg) || !slices.Contains(outsideTypes, h.Typ) {
		return keyName{}, refusedOutside(ErrInvalid, "not of the issuer's algorithms, or not an access token")
	}
	if h.KID == "" || len(h.KID) > maxKID {
		return keyName{}, refusedOutside(ErrInvalid, "no kid")
	}
	return keyName{h.KID, h.Alg}, nil
}

// read takes from verified claims what is used.
func (o *outsider) read(payload []byte) (*outsideToken, error) {
	var all map[string]jsontext.Value
	if err := json.Unmarshal(payload, &all); err != nil || all == nil {
		return nil, refusedOutside(ErrInvalid, "malformed claims, or one twice")
	}
	t := &outsideToken{by: o}
	if err := t.times(all); err != nil {
		return nil, err
	}
	var iss string
	if json.Unmarshal(all["iss"], &iss) != nil || iss != o.Issuer.Issuer {
		return nil, refusedOutside(ErrInvalid, "another issuer")
	}
	var aud audience
	if json.Unmarshal(all["aud"], &aud) != nil || !slices.ContainsFunc(o.Audiences, func(a string) bool { return slices.Contains(aud, a) }) {
		return nil, refusedOutside(ErrInvalid, "meant for another audience")
	}
	var name string
	if json.Unmarshal(claim(all, o.SubjectClaim), &name) != nil || name == "" {
		return nil, refusedOutside(ErrInvalid, "no subject")
	}
	t.subject = o.subject(name)
	if err := access.CheckSubject(t.subject); err != nil {
		return nil, refusedOutside(ErrInvalid, "its subject cannot be one here")
	}
	t.values = texts(claim(all, o.RolesClaim))
	if o.WorldClaim != "" {
		t.worlds = texts(claim(all, o.WorldClaim))
	}
	return t, nil
}

// subject is who somebody of the issuer is here.
func (o *outsider) subject(name string) access.Subject { return access.Subject(o.Name + ":" + name) }

// times reads exp, and iat and nbf where they are given.
func (t *outsideToken) times(all map[string]jsontext.Value) error {
	for name, into := range map[string]*int64{"exp": &t.claims.Expires, "iat": &t.claims.IssuedAt, "nbf": &t.claims.NotBefore} {
		raw, given := all[name]
		if !given && name != "exp" {
			continue
		}
		if json.Unmarshal(raw, into) != nil || *into <= 0 {
			return refusedOutside(ErrInvalid, "a time is missing, or is not in whole seconds")
		}
	}
	return nil
}

// current reports whether the token is neither too old nor too new. One that says when it
// was made may not live for longer than MaxOutsideLife, and none may still have longer.
func (t *outsideToken) current(now time.Time) error {
	c := t.claims
	begun := c.IssuedAt
	if begun == 0 {
		begun = now.Unix()
	}
	switch err := c.current(now); {
	case err != nil:
		if errors.Is(err, ErrExpired) {
			return refusedOutside(ErrExpired, "exp")
		}
		return refusedOutside(ErrInvalid, "nbf or iat lies ahead")
	case c.Expires-begun > int64(MaxOutsideLife/time.Second):
		return refusedOutside(ErrInvalid, "it lives too long")
	}
	return nil
}

// claim finds a claim by its name or its JSON pointer; nil where there is none.
func claim(all map[string]jsontext.Value, name string) jsontext.Value {
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

// texts are the texts of a claim: one, those that spaces part in it besides, or a list.
func texts(v jsontext.Value) []string {
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

// granted is the caller that a token makes, with its subject's memberships of today: they
// lower roles, and say where grants without a world are good if the issuer does not.
func (s *Service) granted(ctx context.Context, t *outsideToken) (access.Caller, error) {
	memberships, err := s.cfg.Worlds.Memberships(ctx, t.subject)
	if err != nil {
		return access.Caller{}, unavailable(err)
	}
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
			return access.Caller{}, err
		}
	}
	if err := s.openWorlds(ctx, roles, base, t.by.Worlds...); err != nil {
		return access.Caller{}, err
	}
	if len(t.by.Worlds) == 0 {
		for _, m := range memberships {
			roles[m.World] = max(roles[m.World], base)
		}
	}
	c := access.Caller{
		Subject: t.subject, Actor: t.by.Actor, Roles: capped(roles, t.by.MaxRole, memberships),
		Surfaces: t.by.Surfaces, RateClass: t.by.RateClass, TokenExpires: t.claims.expires(),
	}
	return c, s.narrowTo(ctx, &c, t)
}

// openWorlds gives a role in worlds. Those that are not there, or not yet, are left out.
func (s *Service) openWorlds(ctx context.Context, roles map[access.WorldID]access.Role, r access.Role, names ...string) error {
	for _, name := range names {
		w, ok, err := s.cfg.Worlds.FindWorld(ctx, name)
		if err != nil {
			return unavailable(err)
		}
		if ok {
			roles[w] = max(roles[w], r)
		}
	}
	return nil
}

// narrowTo leaves a caller the worlds that its token is for.
func (s *Service) narrowTo(ctx context.Context, c *access.Caller, t *outsideToken) error {
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

// refusedOutside is refused for a token that came from elsewhere.
func refusedOutside(reason error, detail string) error {
	text := "this token is not valid here; get another from its issuer"
	if reason == ErrExpired {
		text = "the token has expired; get a new one from its issuer"
	}
	return fault.New(fault.Unauthorized, "%s", text).Because(fmt.Errorf("identity: %w: %s", reason, detail))
}
