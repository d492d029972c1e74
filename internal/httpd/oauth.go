package httpd

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/markup"
)

// Grants lets clients sign in by the consent of people (OAuth 2.1). It is *identity.Service.
type Grants interface {
	RegisterClient(name string, redirects []string) (id string, c identity.Client, err error)
	RedeemCode(ctx context.Context, client, code, redirect, verifier, resource string) (identity.Tokens, error)
	RefreshGrant(ctx context.Context, client, refresh, resource string) (identity.Tokens, error)
	EndGrant(ctx context.Context, client, token string) error
	FetchesDocuments() bool
}

// oauthRoutes are the addresses of the authorization server. The page on which a person consents,
// /authorize, belongs to the console.
func (s *server) oauthRoutes() map[string]handler {
	if s.Grants == nil {
		return nil
	}
	return map[string]handler{
		"GET /.well-known/oauth-authorization-server": s.serveIssuer,
		"POST /oauth/register":                        s.registerClient,
		"POST /oauth/token":                           s.issueTokens,
		"POST /oauth/revoke":                          s.revokeTokens,
	}
}

// issuer is the metadata of RFC 8414, with the members of RFC 9207 and of the draft about clients with a document. Lists are never null, since clients abort
// on that.
type issuer struct {
	Issuer        string   `json:"issuer"`
	Authorize     string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Register      string   `json:"registration_endpoint"`
	Revoke        string   `json:"revocation_endpoint"`
	JWKS          string   `json:"jwks_uri"`
	Scopes        []string `json:"scopes_supported"`
	ResponseTypes []string `json:"response_types_supported"`
	ResponseModes []string `json:"response_modes_supported"`
	GrantTypes    []string `json:"grant_types_supported"`
	AuthMethods   []string `json:"token_endpoint_auth_methods_supported"`
	RevokeMethods []string `json:"revocation_endpoint_auth_methods_supported"`
	Challenges    []string `json:"code_challenge_methods_supported"`
	SendsIssuer   bool     `json:"authorization_response_iss_parameter_supported"`
	Documents     bool     `json:"client_id_metadata_document_supported,omitzero"`
}

func (s *server) serveIssuer(x *exchange, _ map[string]string) {
	base := s.baseURL(x)
	s.writeJSON(x, http.StatusOK, issuer{Issuer: base, Authorize: base + "/authorize",
		Token: base + "/oauth/token", Register: base + "/oauth/register", Revoke: base + "/oauth/revoke",
		JWKS: base + "/.well-known/jwks.json", Scopes: []string{identity.LeastScope}, ResponseTypes: []string{"code"},
		ResponseModes: []string{"query"}, GrantTypes: []string{"authorization_code", "refresh_token"},
		AuthMethods: []string{"none"}, RevokeMethods: []string{"none"}, Challenges: []string{"S256"}, SendsIssuer: true,
		Documents: s.Grants.FetchesDocuments()})
}

// oauthError is an error of RFC 6749, section 5.2, or RFC 7591, section 3.2.2.
type oauthError struct {
	Code        string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

// refuseClient answers with an error to a client. Refusals of the server's own kinds keep their status.
func (s *server) refuseClient(x *exchange, code string, err error) {
	switch kind := fault.KindOf(err); {
	case errors.Is(err, identity.ErrGrant) || kind == fault.Invalid || kind == fault.NotFound:
		description := "the code or refresh token is unknown, used, expired or for another client; sign in again"
		if kind != fault.Internal {
			description = fault.Show(err, "").Error.Message
		}
		x.w.Header().Set("Pragma", "no-cache")
		s.writeJSON(x, http.StatusBadRequest, oauthError{code, description})
	default:
		s.writeError(x, "", err)
	}
}

// registerClient registers a client (RFC 7591). Attempts are limited by address.
func (s *server) registerClient(x *exchange, _ map[string]string) {
	if err := s.countClient(x, "register:"); err != nil {
		s.writeError(x, "", err)
		return
	}
	body, err := s.readUnknown(x)
	var in struct {
		Name      string   `json:"client_name"`
		Redirects []string `json:"redirect_uris"`
		Responses []string `json:"response_types"`
		Grants    []string `json:"grant_types"`
	}
	if err == nil && json.Unmarshal(body, &in) != nil {
		err = fault.New(fault.Invalid, "the body must be a JSON object with redirect_uris and client_name")
	}
	if err != nil {
		s.refuseClient(x, "invalid_client_metadata", err)
		return
	}
	id, c, err := s.Grants.RegisterClient(in.Name, in.Redirects)
	if err != nil {
		code := "invalid_redirect_uri"
		if e, ok := errors.AsType[*fault.Error](err); ok && len(e.Fields) > 0 && e.Fields[0].Field != "redirect_uris" {
			code = "invalid_client_metadata"
		}
		s.refuseClient(x, code, err)
		return
	}
	s.writeJSON(x, http.StatusCreated, map[string]any{"client_id": id, "client_id_issued_at": c.Issued,
		"client_name": c.Name, "redirect_uris": c.Redirects, "token_endpoint_auth_method": "none",
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
		"scope": identity.LeastScope})
}

// countClient counts a request of a client that has no credentials yet, by its address.
func (s *server) countClient(x *exchange, what string) error {
	if !x.client.IsValid() {
		return nil
	}
	return access.CountAttempt(s.Limiter, what+access.AddressAccount(x.client))
}

// readClientForm reads a form in which no field occurs twice (RFC 6749, section 3.2).
func (s *server) readClientForm(x *exchange) (url.Values, error) {
	kind, _, err := mediaType(x.r)
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, fault.New(fault.Invalid, "send application/x-www-form-urlencoded")
	}
	text, err := s.readUnknown(x)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, fault.New(fault.Invalid, "the form could not be read; percent-encode its fields")
	}
	for name, values := range form {
		if len(values) > 1 {
			return nil, fault.New(fault.Invalid, "a field occurs twice: %s", strings.ToValidUTF8(markup.Shorten(name, 60), ""))
		}
	}
	return form, nil
}

// issueTokens exchanges a code or a refresh token (RFC 6749, sections 4.1.3 and 6). Wrong ones are limited by
// address.
func (s *server) issueTokens(x *exchange, _ map[string]string) {
	form, err := s.readClientForm(x)
	if err != nil {
		s.refuseClient(x, "invalid_request", err)
		return
	}
	var t identity.Tokens
	ctx, client, resource := x.r.Context(), form.Get("client_id"), form.Get("resource")
	if client == "" {
		// Some clients first try HTTP Basic, and then the form. The first request must not spend the code.
		s.refuseClient(x, "invalid_request", fault.BadField("client_id", "is missing in the form"))
		return
	}
	switch form.Get("grant_type") {
	case "authorization_code":
		t, err = s.Grants.RedeemCode(ctx, client, form.Get("code"), form.Get("redirect_uri"), form.Get("code_verifier"),
			resource)
	case "refresh_token":
		t, err = s.Grants.RefreshGrant(ctx, client, form.Get("refresh_token"), resource)
	default:
		s.refuseClient(x, "unsupported_grant_type", fault.New(fault.Invalid,
			"grant_type must be authorization_code or refresh_token"))
		return
	}
	if errors.Is(err, identity.ErrGrant) {
		if limited := ChargeWrong(s.Limiter, x.client,
			identity.Unknown("a code or refresh token")); fault.KindOf(limited) == fault.RateLimited {
			err = limited
		}
	}
	if err != nil {
		s.refuseClient(x, "invalid_grant", err)
		return
	}
	x.w.Header().Set("Pragma", "no-cache")
	s.writeJSON(x, http.StatusOK, t)
}

// revokeTokens ends a grant by one of its tokens (RFC 7009).
func (s *server) revokeTokens(x *exchange, _ map[string]string) {
	form, err := s.readClientForm(x)
	if err == nil {
		err = s.Grants.EndGrant(x.r.Context(), form.Get("client_id"), form.Get("token"))
	}
	if err != nil {
		s.refuseClient(x, "invalid_request", err)
		return
	}
	x.w.WriteHeader(http.StatusOK)
}
