package identity

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"golang.org/x/oauth2"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// SignIn configures how people sign in to the pages by an outside issuer (OpenID Connect Core 1.0, authorization code
// flow). The session has the subject that the issuer's tokens have. Its worlds are those that the subject is a member
// of, see limitToIssuer.
type SignIn struct {
	ClientID     string   // under which the pages are registered with the issuer; "" if people do not sign in by it
	ClientSecret string   // "" for a public client
	Scopes       []string // in addition to openid
	Label        string   // name for people; "" is the issuer's Name
}

// Bounds of signing in by an outside issuer.
const (
	maxExchanges = 16       // of codes, with one issuer at a time
	maxIDToken   = 64 << 10 // bytes
	maxReturn    = 2000     // bytes of IssuerSignIn.To, which a cookie holds with the rest
	maxClientID  = 255
)

func (c SignIn) checkFields() error {
	isText := func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) || r == ' ' })
	}
	switch {
	case c.ClientID == "" && (c.ClientSecret != "" || len(c.Scopes) > 0):
		return errors.New("client_id: set it, since the other settings of a client are set")
	case len(c.ClientID) > maxClientID || !isText(c.ClientID):
		return errors.New("client_id: set the word under which the issuer knows this server")
	case slices.ContainsFunc(c.Scopes, func(s string) bool { return s == "" || !isText(s) }):
		return errors.New("scopes: set words, such as profile")
	}
	var f faults
	f.checkName("label", c.Label)
	return f.toError()
}

// OutsideKey holds the claims of an outside issuer about a person who signed in by it.
type OutsideKey struct {
	Issuer string   `json:"issuer"`           // its address
	Values []string `json:"values,omitempty"` // of the roles claim, those that the configuration mapped then
	Worlds []string `json:"worlds,omitempty"` // of the world claim
}

// SignInIssuer is an outside issuer by which people sign in.
type SignInIssuer struct{ Name, Label string }

// SignInIssuers returns the outside issuers by which people sign in, by label.
func (s *Service) SignInIssuers() (all []SignInIssuer) {
	for _, o := range s.outside {
		if o.SignIn.ClientID != "" {
			all = append(all, SignInIssuer{o.Name, o.SignIn.Label})
		}
	}
	slices.SortFunc(all, func(a, b SignInIssuer) int {
		return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// IssuerSignIn is a sign-in by an outside issuer.
type IssuerSignIn struct {
	Issuer     string `json:"i"`           // its name
	Redirect   string `json:"r"`           // address of this server to which the issuer sends the browser back
	To         string `json:"t"`           // path of the page that the person wants; / if it is longer than maxReturn
	Invitation string `json:"c,omitempty"` // code of an invitation that the person accepts; "" for none
}

// begunSignIn is a sign-in whose answer has not come. The browser keeps it.
type begunSignIn struct {
	IssuerSignIn
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"` // RFC 7636
	Expires  int64  `json:"e"` // seconds since 1970
}

// purposeIssuer is the purpose of the sealed state of a sign-in.
const purposeIssuer = "issuer sign-in"

// IssuerAnswer is the answer of an issuer: the parameters of the address that it sends the browser back to.
type IssuerAnswer struct {
	Issuer string // name in the address
	State  string
	Code   string
	Iss    string // RFC 9207
	Error  string // RFC 6749, section 4.1.2.1
}

var (
	errNoIssuer = fault.New(fault.NotFound, "nobody signs in by this issuer; go back to the sign-in page")
	// errIssuerAnswer does not tell why an answer is refused; the log does.
	errIssuerAnswer = newRefusal(ErrInvalid, "the answer of an outside issuer was not accepted")
)

// newOutage returns the error for an issuer that does not answer, or not as it should.
func (i Issuer) newOutage(cause error) error {
	e := fault.New(fault.Unavailable, "%s cannot be reached now, or does not answer as it should; try again shortly, or "+
		"sign in another way", i.SignIn.Label)
	e.RetryAfter = firstRetryPause
	return e.Because(cause)
}

// findSignInIssuer returns the issuer of a name, if people sign in by it.
func (s *Service) findSignInIssuer(name string) (*outsider, error) {
	for _, o := range s.outside {
		if o.Name == name && o.SignIn.ClientID != "" {
			return o, nil
		}
	}
	return nil, errNoIssuer
}

// BeginIssuerSignIn returns the address of the issuer to which the person's browser goes, and a state that this browser
// alone keeps until the answer. The error is fault.Unavailable if the issuer does not answer.
func (s *Service) BeginIssuerSignIn(ctx context.Context, r IssuerSignIn) (address, state string, err error) {
	o, err := s.findSignInIssuer(r.Issuer)
	if err != nil {
		return "", "", err
	}
	now := s.cfg.Now()
	said, err := o.keys.findMetadata(ctx, now)
	if err != nil {
		return "", "", err
	}
	if len(r.To) > maxReturn {
		r.To = "/"
	}
	if _, ok := secretHash(codePrefix, r.Invitation); !ok {
		r.Invitation = ""
	}
	b := begunSignIn{IssuerSignIn: r, Expires: now.Add(SignInLife).Unix()}
	for _, into := range []*string{&b.State, &b.Nonce, &b.Verifier, &b.Verifier} { // RFC 7636 asks for 43 characters
		if *into, err = newSecret(*into, s.cfg.Random); err != nil {
			return "", "", err
		}
	}
	text, err := json.Marshal(b)
	if err != nil {
		return "", "", err
	}
	address = o.oauth(said, r.Redirect).AuthCodeURL(b.State, oauth2.S256ChallengeOption(b.Verifier),
		oauth2.SetAuthURLParam("nonce", b.Nonce))
	return address, s.sealState(purposeIssuer, text), nil
}

// oauth returns the pages as a client of the issuer.
func (o *outsider) oauth(said metadata, redirect string) *oauth2.Config {
	style := oauth2.AuthStyleInHeader // the default of OpenID Connect Discovery
	if o.SignIn.ClientSecret == "" || len(said.TokenAuth) > 0 && !slices.Contains(said.TokenAuth, "client_secret_basic") {
		style = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{ClientID: o.SignIn.ClientID, ClientSecret: o.SignIn.ClientSecret, RedirectURL: redirect,
		Scopes:   append([]string{"openid"}, o.SignIn.Scopes...),
		Endpoint: oauth2.Endpoint{AuthURL: said.Authorize, TokenURL: said.Token, AuthStyle: style}}
}

// OpenIssuerSession opens a session for the person whom an issuer's answer names. begun is the state that the browser
// kept; it works once. The errors are fault.Unauthorized for an answer that is not accepted, fault.Denied if the issuer
// refused, and fault.Unavailable if it does not answer.
func (s *Service) OpenIssuerSession(ctx context.Context, begun string,
	a IssuerAnswer) (r IssuerSignIn, session Key, token string, err error) {
	b, ok := s.openBegun(begun, a)
	if !ok {
		return r, Key{}, "", errIssuerAnswer
	}
	o, err := s.findSignInIssuer(b.Issuer)
	if err != nil {
		return r, Key{}, "", err
	}
	t, err := s.redeemAnswer(ctx, o, b, a)
	if errors.Is(err, fault.Unauthorized) {
		s.cfg.Logger.Warn("the answer of an outside issuer was refused", "issuer", o.Name, "error", err)
		err = errIssuerAnswer
	}
	if err != nil {
		return r, Key{}, "", err
	}
	spec := PersonSpec(t.subject)
	spec.Name, spec.RateClass = o.SignIn.Label, o.RateClass
	spec.Outside = &OutsideKey{Issuer: o.Issuer.Issuer, Worlds: t.worlds,
		Values: slices.DeleteFunc(t.values, func(v string) bool { _, mapped := o.Grants[v]; return !mapped })}
	// The id of the session follows from the state, so that a second answer to it fails in the store, in whichever
	// process it arrives.
	sum := sha256.Sum256([]byte(b.State))
	session, token, err = s.addSession(ctx, "issuer-"+hex.EncodeToString(sum[:16]), spec, "")
	if errors.Is(err, ErrExists) {
		return r, Key{}, "", errIssuerAnswer
	}
	return b.IssuerSignIn, session, token, err
}

// openBegun returns the sign-in that the browser kept, if an answer belongs to it.
func (s *Service) openBegun(begun string, a IssuerAnswer) (b begunSignIn, ok bool) {
	text, ok := s.openSealed(purposeIssuer, begun)
	return b, ok && json.Unmarshal(text, &b) == nil && s.cfg.Now().Before(time.Unix(b.Expires, 0)) && b.Issuer == a.Issuer &&
		subtle.ConstantTimeCompare([]byte(b.State), []byte(a.State)) == 1
}

// redeemAnswer exchanges the code of an answer for an ID token, and verifies both.
func (s *Service) redeemAnswer(ctx context.Context, o *outsider, b begunSignIn, a IssuerAnswer) (*outsideToken, error) {
	said, err := o.keys.findMetadata(ctx, s.cfg.Now())
	if err != nil {
		return nil, err
	}
	if a.Iss != o.Issuer.Issuer && (a.Iss != "" || said.SendsIss) {
		return nil, newOutsideRefusal(ErrInvalid, "the answer names another issuer")
	}
	if a.Error != "" {
		return nil, fault.New(fault.Denied, "%s did not sign you in; try again, or sign in another way", o.SignIn.Label)
	}
	token, err := o.exchangeCode(ctx, o.oauth(said, b.Redirect), a.Code, b.Verifier)
	if err != nil {
		return nil, err
	}
	return o.verifyIDToken(ctx, token, b.Nonce, s.cfg.Now())
}

// exchangeCode returns the ID token for a code. Like every fetch from the issuer it follows no redirect and ends within
// fetchTimeout; oauth2 reads 1 MiB at most.
func (o *outsider) exchangeCode(ctx context.Context, c *oauth2.Config, code, verifier string) (string, error) {
	select {
	case o.exchanges <- struct{}{}:
		defer func() { <-o.exchanges }()
	default:
		return "", o.newOutage(fmt.Errorf("%d exchanges are under way", maxExchanges))
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, o.keys.client)
	answer, err := c.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		err = fmt.Errorf("the token endpoint answers with %s, error %.100q", e.Response.Status, e.ErrorCode)
		if e.ErrorCode == "invalid_grant" && e.Response.StatusCode < http.StatusInternalServerError {
			return "", newOutsideRefusal(ErrInvalid, "its code was not accepted")
		}
	}
	if err != nil {
		o.keys.log.Error("an outside issuer does not exchange a code", "issuer", o.Name, "error", err)
		return "", o.newOutage(err)
	}
	token, _ := answer.Extra("id_token").(string)
	if len(token) > maxIDToken {
		return "", newOutsideRefusal(ErrInvalid, "its ID token is too long")
	}
	return token, nil
}

// limitToIssuer lowers the caller of a person who signed in by an outside issuer to the roles that the issuer's
// configuration of today gives for the claims of then, or to MaxRole if it maps nothing to roles. Claims open no world:
// a session outlives them, and only a membership can be ended here.
func (s *Service) limitToIssuer(ctx context.Context, c *access.Caller, k OutsideKey, memberships []Membership) error {
	o := s.outside[k.Issuer]
	if o == nil || o.SignIn.ClientID == "" || !strings.HasPrefix(string(c.Subject), o.Name+":") {
		return newRefusal(ErrInvalid, "nobody signs in by its issuer any more")
	}
	t := &outsideToken{by: o, subject: c.Subject, values: k.Values, worlds: k.Worlds}
	given, err := s.rolesOfToken(ctx, t, memberships)
	if err != nil {
		return err
	}
	roles := map[access.WorldID]access.Role{}
	for w, r := range c.Roles {
		most := given[w]
		if len(o.Grants) == 0 && o.Everyone == access.RoleNone {
			most = o.MaxRole
		}
		putRole(roles, w, min(r, most))
	}
	c.Roles, c.Surfaces = roles, o.Surfaces
	return s.narrowToClaim(ctx, c, t)
}
