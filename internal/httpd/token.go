package httpd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/markup"
)

// authIn is the body of POST /api/mcp/auth. A key comes with a role, or as the password of the
// subject that it belongs to, as people log in to a wiki; then the role may be left out.
type authIn struct {
	APIKey   string `json:"api_key,omitzero" maxlen:"200"`
	Username string `json:"username,omitzero" maxlen:"200"`
	Password string `json:"password,omitzero" maxlen:"200"`
	Role     string `json:"role,omitzero" enum:"user,gm,admin"`
	World    string `json:"world,omitzero" maxlen:"255"`
}

// checkFields checks the fields given and sets APIKey from Password if there is a username.
func (in *authIn) checkFields() error {
	switch {
	case in.Username == "" && in.Password == "":
		return in.checkKey()
	case in.APIKey != "":
		return fault.BadField("api_key", "send either api_key and role, or username and password")
	case in.Username == "":
		return fault.BadField("username", "is missing; with password send the subject of the key")
	case in.Password == "":
		return fault.BadField("password", "is missing; with username send an API key")
	}
	in.APIKey = in.Password
	return nil
}

func (in *authIn) checkKey() error {
	missing := &fault.Error{Kind: fault.Invalid,
		Message: `send {"api_key": "lg_…", "role": "user"}, or {"username": "…", "password": "lg_…"}`}
	for _, f := range []struct{ name, value string }{{"api_key", in.APIKey}, {"role", in.Role}} {
		if f.value == "" {
			missing.Fields = append(missing.Fields, fault.Field{Field: f.name, Error: "is required"})
		}
	}
	if len(missing.Fields) > 0 {
		return missing
	}
	return nil
}

// exchangeKey answers with a token for a key. Attempts are limited by key, and wrong ones by
// address too; the record names neither.
func (s *server) exchangeKey(x *exchange, _ map[string]string) {
	ctx := x.r.Context()
	issued, err := func() (any, error) {
		var in authIn
		if err := s.readAuth(x, &in); err != nil {
			return nil, err
		}
		sum := sha256.Sum256([]byte(in.APIKey))
		if err := access.CountAttempt(s.Limiter, "auth:"+hex.EncodeToString(sum[:8])); err != nil {
			return nil, err
		}
		role, _ := access.ParseRole(in.Role) // without a role the token has the key's highest
		issued, err := s.Auth.Exchange(ctx, in.APIKey, role, in.World)
		if err == nil && in.Username != "" && !strings.EqualFold(in.Username, string(issued.Subject)) {
			err = identity.Unknown("the key belongs to another subject")
		}
		if err := ChargeWrong(s.Limiter, x.client, err); err != nil {
			return nil, err
		}
		return issued, nil
	}()
	s.recordAttempt(ctx, x, err)
	if err != nil {
		s.writeError(x, "", err)
		return
	}
	s.writeJSON(x, http.StatusCreated, issued)
}

// tokenPaths returns the OpenAPI path items of the token and key-set addresses.
func tokenPaths() map[string]any {
	type object = map[string]any
	text := object{"type": "string"}
	role := object{"type": "string", "enum": []string{"user", "gm", "admin"}}
	content := func(required []string, properties object) object {
		return object{"application/json": object{"schema": object{"type": "object", "required": required,
			"properties": properties}}}
	}
	failed := object{"description": "Refused or failed.",
		"content": object{"application/json": object{"schema": object{"$ref": "#/components/schemas/Error"}}}}
	auth := object{
		"operationId": "get_token", "summary": "Get a token for an API key", "tags": []string{"auth"}, "security": []any{},
		"description": "Returns a token with a role, at most the role of the key, for one world or for all worlds that " +
			"the key opens. Send api_key and role, or the key as password and its subject as username. Without a role the " +
			"token has the highest role of the key.",
		"requestBody": object{"required": true, "content": content(nil,
			object{"api_key": text, "username": text, "password": text, "role": role, "world": text})},
		"responses": object{"default": failed, "201": object{"description": "Issued.", "content": content(
			[]string{"token", "token_type", "username", "role", "expires_in", "expires_at"},
			object{"token": text, "token_type": text, "username": text, "role": role, "expires_in": object{"type": "integer"},
				"expires_at": object{"type": "string", "format": "date-time"}})}},
	}
	keys := object{
		"operationId": "get_keys", "summary": "Keys that verify tokens", "tags": []string{"auth"},
		"security": []any{},
		"responses": object{"default": failed, "200": object{"description": "A JSON Web Key Set.",
			"content": object{"application/jwk-set+json": object{"schema": object{"type": "object"}}}}},
	}
	return object{"/api/mcp/auth": object{"post": auth}, "/api/mcp/.well-known/jwks.json": object{"get": keys}}
}

// recordAttempt writes an access record of an attempt to get a token.
func (s *server) recordAttempt(ctx context.Context, x *exchange, err error) {
	if s.Guard == nil {
		return
	}
	a, refused := s.Guard.Admit(ctx, access.Caller{},
		access.Request{Operation: "auth", Effect: access.Read, Correlation: x.correlation})
	if refused == nil {
		a.Done(ctx, 0, err)
	}
}

func (s *server) serveKeySet(x *exchange, _ map[string]string) {
	keys, err := s.Auth.JWKS(x.r.Context())
	if err != nil {
		s.writeError(x, "", err)
		return
	}
	x.w.Header().Set("Content-Type", "application/jwk-set+json")
	x.w.Header().Set("Cache-Control", "public, max-age=300")
	_, _ = x.w.Write(keys)
}

// readAuth reads the body of POST /api/mcp/auth strictly.
func (s *server) readAuth(x *exchange, in *authIn) error {
	kind, _, err := mediaType(x.r)
	if err != nil {
		return err
	}
	if kind != "" && kind != "application/json" {
		return newRefusal(http.StatusUnsupportedMediaType, "send application/json, not %s", markup.Shorten(kind, 60))
	}
	body, err := s.readUnknown(x)
	if err != nil {
		return err
	}
	if err := s.authShape.Decode(body, in); err != nil {
		return err
	}
	return in.checkFields()
}
