package identity

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jws"

	"loregate/internal/access"
)

// header has all members that a token's header may have. Any other member is refused, including
// jku, x5u, jwk and crit: a token never decides which key to trust.
type header struct {
	Alg string `json:"alg"`
	KID string `json:"kid"`
	Typ string `json:"typ,omitempty"`
}

// claims has all members that a token's payload may have. Times are whole seconds since 1970.
type claims struct {
	Issuer    string         `json:"iss"`
	Audience  audience       `json:"aud"`
	Subject   access.Subject `json:"sub"`
	Role      access.Role    `json:"role"`
	World     worldClaim     `json:"world"`
	Key       string         `json:"key"`
	IssuedAt  int64          `json:"iat"`
	NotBefore int64          `json:"nbf"`
	Expires   int64          `json:"exp"`
	ID        string         `json:"jti"`
}

func (c *claims) expiryTime() time.Time { return time.Unix(c.Expires, 0).UTC() }

// checkTimes checks that the token is valid at now, with Leeway on either side. At exp plus Leeway
// it has expired.
func (c *claims) checkTimes(now time.Time) error {
	switch {
	case !now.Before(c.expiryTime().Add(Leeway)):
		return newRefusal(ErrExpired, "exp")
	case now.Add(Leeway).Before(time.Unix(c.NotBefore, 0)):
		return newRefusal(ErrInvalid, "nbf lies ahead")
	case now.Add(Leeway).Before(time.Unix(c.IssuedAt, 0)):
		return newRefusal(ErrInvalid, "iat lies ahead")
	}
	return nil
}

// checkContent checks all of the claims that do not depend on the current time.
func (c *claims) checkContent(issuer string) error {
	switch {
	case c.Issuer != issuer:
		return newRefusal(ErrInvalid, "another issuer")
	case len(c.Audience) == 0 || c.Subject == "" || c.Key == "" || c.ID == "" || c.Role == access.RoleNone:
		return newRefusal(ErrInvalid, "a claim is missing")
	case c.Expires <= 0 || c.NotBefore <= 0 || c.IssuedAt <= 0:
		return newRefusal(ErrInvalid, "a time is missing")
	case c.Expires-c.IssuedAt > int64(MaxLife/time.Second):
		return newRefusal(ErrInvalid, "its lifetime is too long")
	}
	return nil
}

// audience is one string or a list of them.
type audience []string

// MarshalJSONTo writes one audience as a string, several as a list.
func (a audience) MarshalJSONTo(e *jsontext.Encoder) error {
	if len(a) == 1 {
		return json.MarshalEncode(e, a[0])
	}
	return json.MarshalEncode(e, []string(a))
}

// UnmarshalJSONFrom reads both forms.
func (a *audience) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '[' {
		return json.UnmarshalDecode(d, (*[]string)(a))
	}
	var one string
	if err := json.UnmarshalDecode(d, &one); err != nil {
		return err
	}
	if one != "" {
		*a = audience{one}
	}
	return nil
}

// worldClaim is a world's id; its text is "" if the token is not limited to a world.
type worldClaim struct{ access.WorldID }

// MarshalText returns the id's text, or "" for the zero id.
func (w worldClaim) MarshalText() ([]byte, error) {
	if w.IsZero() {
		return []byte{}, nil
	}
	return w.WorldID.MarshalText()
}

// UnmarshalText reads the canonical text of an id, or nothing.
func (w *worldClaim) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	return w.WorldID.UnmarshalText(b)
}

// verifyToken checks a token's form, signature and claims.
func (s *Service) verifyToken(ctx context.Context, token string, now time.Time) (*claims, error) {
	h, err := parseHeader(token)
	if err != nil {
		return nil, err
	}
	key, err := s.ring.findVerifier(ctx, h.KID, now)
	if err != nil {
		return nil, err
	}
	payload, err := jws.Verify([]byte(token), jws.WithKey(jwa.RS256(), key), jws.WithCompact())
	if err != nil {
		return nil, newRefusal(ErrInvalid, "its signature is not valid")
	}
	var c claims
	if err := decodeStrict(payload, &c); err != nil {
		return nil, err
	}
	if err := c.checkContent(s.cfg.Issuer); err != nil {
		return nil, err
	}
	return &c, c.checkTimes(now)
}

// parseHeader reads a token's header. It refuses everything but a compact RS256 token in its
// canonical spelling. The token is not verified yet.
func parseHeader(token string) (header, error) {
	var h header
	parts, err := splitCompact(token)
	if err != nil {
		return h, err
	}
	if err := decodeStrict(parts[0], &h); err != nil {
		return h, err
	}
	if h.Alg != jwa.RS256().String() || h.Typ != "" && h.Typ != "JWT" {
		return h, newRefusal(ErrInvalid, "it is not an RS256 JWT")
	}
	if h.KID == "" || len(h.KID) > 100 {
		return h, newRefusal(ErrInvalid, "no kid")
	}
	return h, nil
}

// splitCompact splits a compact token in its canonical spelling into its decoded parts.
func splitCompact(token string) (raw [3][]byte, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return raw, newRefusal(ErrInvalid, "it is not a compact token")
	}
	for i, p := range parts {
		b, err := base64.RawURLEncoding.Strict().DecodeString(p)
		if err != nil || len(b) == 0 || strings.ContainsAny(p, "\r\n") {
			return raw, newRefusal(ErrInvalid, "not base64url")
		}
		raw[i] = b
	}
	return raw, nil
}

// decodeStrict decodes JSON whose members are all known, in their exact case, and none of them
// repeated.
func decodeStrict(b []byte, into any) error {
	if err := json.Unmarshal(b, into, json.RejectUnknownMembers(true)); err != nil {
		return newRefusal(ErrInvalid, "its JSON is malformed, or has a member that is unknown or occurs twice")
	}
	return nil
}

// signToken returns the signed token of claims.
func signToken(c claims, k *ringKey) (string, error) {
	payload, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("identity: claims: %w", err)
	}
	h := jws.NewHeaders()
	for name, value := range map[string]string{jws.KeyIDKey: k.kid, jws.TypeKey: "JWT"} {
		if err := h.Set(name, value); err != nil {
			return "", fmt.Errorf("identity: header: %w", err)
		}
	}
	token, err := jws.Sign(payload, jws.WithKey(jwa.RS256(), k.private, jws.WithProtectedHeaders(h)))
	if err != nil {
		return "", fmt.Errorf("identity: sign: %w", err)
	}
	return string(token), nil
}
