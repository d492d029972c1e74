package identity

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// audiencePasskey is the audience of passkeys: keys whose secret stays in a person's authenticator (Web
// Authentication, level 3). A passkey opens nothing but sessions.
const audiencePasskey = "passkey"

// Bounds of passkeys.
const (
	ChallengeLife = 5 * time.Minute // time in which the authenticator must answer
	maxPasskeys   = 20              // of a person
	maxCeremony   = 64 << 10        // bytes of an authenticator's answer, and of the state that comes back
)

// Ceremony is a question to an authenticator. State comes back with the answer; it is authenticated, so that
// no process keeps it.
type Ceremony struct {
	Options any    `json:"options"` // of navigator.credentials, as JSON
	State   string `json:"state"`
}

// CheckPasskeyOrigin returns an error if browsers have no passkeys for pages at an origin: they need a
// domain name, and https unless it is localhost or a name below it.
func CheckPasskeyOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Hostname() == "" {
		return fault.New(fault.Rule, "passkeys need the server's address; set public_url")
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return fault.New(fault.Rule, "passkeys need a host name; open the pages at %s",
			strings.Replace(origin, u.Host, strings.Replace(u.Host, u.Hostname(), PagesHost, 1), 1))
	}
	if u.Scheme != "https" && !IsLoopbackHost(u.Hostname()) {
		return fault.New(fault.Rule, "passkeys need https")
	}
	return nil
}

// relyingParty returns the relying party of the pages at an origin.
func relyingParty(origin string) (*webauthn.WebAuthn, error) {
	if err := CheckPasskeyOrigin(origin); err != nil {
		return nil, err
	}
	u, err := url.Parse(origin)
	if err != nil {
		return nil, err
	}
	limit := webauthn.TimeoutConfig{Enforce: true, Timeout: ChallengeLife, TimeoutUVD: ChallengeLife}
	return webauthn.New(&webauthn.Config{
		RPID: u.Hostname(), RPDisplayName: "Loregate", RPOrigins: []string{u.Scheme + "://" + u.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired},
		Timeouts: webauthn.TimeoutsConfig{Login: limit, Registration: limit},
	})
}

// passkeyUser is a person as authenticators know one.
type passkeyUser struct {
	id      []byte // follows from the subject, but does not tell it
	subject access.Subject
	known   []webauthn.Credential
}

func (u passkeyUser) WebAuthnID() []byte                         { return u.id }
func (u passkeyUser) WebAuthnName() string                       { return string(u.subject) }
func (u passkeyUser) WebAuthnDisplayName() string                { return string(u.subject) }
func (u passkeyUser) WebAuthnCredentials() []webauthn.Credential { return u.known }

// newPasskeyUser returns the person of a session as authenticators know it. Sessions that name worlds have a user of
// their own for these worlds: an authenticator replaces a passkey by another of the same user.
func (s *Service) newPasskeyUser(session KeySpec, keys ...Key) passkeyUser {
	worlds := slices.Collect(maps.Keys(session.Worlds))
	slices.SortFunc(worlds, func(a, b access.WorldID) int { return strings.Compare(a.String(), b.String()) })
	text := []byte(session.Subject)
	for _, w := range worlds {
		text = append(text, "\n"+w.String()...)
	}
	u := passkeyUser{id: s.passkeyUserID(text), subject: session.Subject}
	for _, k := range keys {
		u.known = append(u.known, *k.Passkey)
	}
	return u
}

func (s *Service) passkeyUserID(text []byte) []byte { return s.stateMAC("passkey user", text) }

// CheckPasskeyOf returns an error if a session may add no passkey: the admin who made its link may hold it too, and a
// passkey outlives it.
func CheckPasskeyOf(session KeySpec) error {
	if session.Vouched {
		return fault.New(fault.Denied, "a link that an admin made opened this session; sign in with a key or a passkey "+
			"of your own to add another")
	}
	return nil
}

// Passkeys lists a person's passkeys that have not ended, by creation, without their hashes.
func (s *Service) Passkeys(ctx context.Context, subject access.Subject) ([]Key, error) {
	all, err := s.listKeys(ctx, audiencePasskey)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(k Key) bool {
		return k.Subject != subject || k.Passkey == nil || !k.Good(s.cfg.Now()) || s.checkMaker(ctx, k) != nil
	}), nil
}

// BeginPasskey asks for a new passkey for the person of a session. origin is that of the pages, from the
// configuration. The error is fault.Rule if there are no passkeys at that origin.
func (s *Service) BeginPasskey(ctx context.Context, origin, session string) (Ceremony, error) {
	rp, err := relyingParty(origin)
	if err != nil {
		return Ceremony{}, err
	}
	k, err := s.personOf(ctx, session)
	if err != nil {
		return Ceremony{}, err
	}
	own, err := s.OwnOf(ctx, session)
	if err != nil {
		return Ceremony{}, err
	}
	known := own.Passkeys
	if len(known) >= maxPasskeys {
		return Ceremony{}, fault.New(fault.Rule, "there are 20 passkeys already; remove one first")
	}
	user := s.newPasskeyUser(k.KeySpec, known...)
	options, state, err := rp.BeginRegistration(user,
		webauthn.WithExclusions(webauthn.Credentials(user.known).CredentialDescriptors()))
	if err != nil {
		return Ceremony{}, err
	}
	return s.newCeremony("add "+session, options, state)
}

// personOf returns the session with an id, if a person signed in with it and may add passkeys.
func (s *Service) personOf(ctx context.Context, session string) (Key, error) {
	k, ok, err := s.cfg.Store.KeyByID(ctx, session)
	if err != nil {
		return Key{}, newUnavailable(err)
	}
	if !ok || k.Audience != AudienceConsole || k.Actor != access.Person || !k.Good(s.cfg.Now()) {
		return Key{}, fault.New(fault.Rule, "only a person who is signed in has passkeys")
	}
	return k, CheckPasskeyOf(k.KeySpec)
}

func (s *Service) newCeremony(purpose string, options any, state *webauthn.SessionData) (Ceremony, error) {
	if len(s.cfg.ClientSecret) == 0 {
		return Ceremony{}, errors.New("identity: passkeys need a ClientSecret")
	}
	text, err := json.Marshal(state)
	if err != nil {
		return Ceremony{}, err
	}
	return Ceremony{options, s.sealState("passkey "+purpose, text)}, nil
}

// errPasskey does not tell why an answer is refused.
var errPasskey = newRefusal(ErrInvalid, "the passkey was not accepted")

// openState returns the state of a ceremony that newCeremony began for the same purpose.
func (s *Service) openState(purpose, state, answer string) (d webauthn.SessionData, err error) {
	if len(state)+len(answer) > maxCeremony || len(s.cfg.ClientSecret) == 0 {
		return d, errPasskey
	}
	body, ok := s.openSealed("passkey "+purpose, state)
	if !ok || json.Unmarshal(body, &d) != nil || !s.cfg.Now().Before(d.Expires) {
		return d, errPasskey
	}
	return d, nil
}

// AddPasskey stores the passkey that an authenticator made for a session's person. Sessions that it opens
// have that session's rights; it ends with the API key that the person signed in with, if any.
func (s *Service) AddPasskey(ctx context.Context, origin, session, name, state, answer string) (Key, error) {
	rp, err := relyingParty(origin)
	if err != nil {
		return Key{}, err
	}
	k, err := s.personOf(ctx, session)
	if err != nil {
		return Key{}, err
	}
	var f faults
	f.checkName("name", name)
	if err := f.toError(); err != nil {
		return Key{}, err
	}
	begun, err := s.openState("add "+session, state, answer)
	if err != nil {
		return Key{}, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(answer))
	if err != nil {
		return Key{}, errPasskey
	}
	c, err := rp.CreateCredential(s.newPasskeyUser(k.KeySpec), begun, parsed)
	if err != nil {
		return Key{}, errPasskey
	}
	c.Attestation = webauthn.CredentialAttestation{} // none was asked for
	spec := k.KeySpec
	spec.Name, spec.Audience, spec.Expires, spec.Passkey = name, audiencePasskey, time.Time{}, c
	if err := s.bindToMaker(ctx, &spec); err != nil {
		return Key{}, err
	}
	added := Key{ID: s.cfg.NewID(), Hash: passkeyHash(c.ID), KeySpec: spec, Created: s.cfg.Now().UTC()}
	switch err := s.cfg.Store.AddKey(ctx, added); {
	case errors.Is(err, ErrExists):
		return Key{}, fault.New(fault.Rule, "this passkey was added before")
	case err != nil:
		return Key{}, newUnavailable(err)
	}
	added.Hash = Hash{}
	return added, nil
}

// passkeyHash returns the hash under which a passkey is stored. No secret of another kind has it.
func passkeyHash(id []byte) Hash { return sha256.Sum256(append([]byte("passkey\n"), id...)) }

// BeginPasskeySignIn asks any authenticator for a passkey of the pages at an origin. Nobody is named, so that
// the question tells nothing about people.
func (s *Service) BeginPasskeySignIn(origin string) (Ceremony, error) {
	rp, err := relyingParty(origin)
	if err != nil {
		return Ceremony{}, err
	}
	options, state, err := rp.BeginDiscoverableLogin()
	if err != nil {
		return Ceremony{}, err
	}
	return s.newCeremony("sign-in", options, state)
}

// OpenPasskeySession opens a session for the person of a passkey. An answer works once. The count of
// signatures is not compared: passkeys that a person's devices share have none.
func (s *Service) OpenPasskeySession(ctx context.Context, origin, state, answer string) (Key, string, error) {
	rp, err := relyingParty(origin)
	if err != nil {
		return Key{}, "", err
	}
	begun, err := s.openState("sign-in", state, answer)
	if err != nil {
		return Key{}, "", err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(answer))
	if err != nil {
		return Key{}, "", errPasskey
	}
	var k Key
	var outage error // or an unknown passkey, which the library's error would hide
	find := func(id, handle []byte) (webauthn.User, error) {
		if k, outage = s.passkeyByID(ctx, id); outage != nil {
			return nil, outage
		}
		u := s.newPasskeyUser(k.KeySpec, k)
		if older := s.passkeyUserID([]byte(k.Subject)); bytes.Equal(handle, older) {
			u.id = older // of a passkey made when all of a person's had one user
		}
		return u, nil
	}
	if _, err = rp.ValidateDiscoverableLogin(find, begun, parsed); outage != nil {
		return Key{}, "", outage
	}
	if err != nil {
		return Key{}, "", errPasskey
	}
	// The id of the session follows from the challenge, so that a second answer to it fails in the store, in
	// whichever process it arrives.
	sum := sha256.Sum256([]byte(begun.Challenge))
	spec := k.KeySpec
	spec.Passkey = nil
	session, token, err := s.addSession(ctx, "passkey-"+hex.EncodeToString(sum[:16]), spec, k.MadeWith)
	if errors.Is(err, ErrExists) {
		return Key{}, "", errPasskey
	}
	return session, token, err
}

// passkeyByID returns the usable passkey with the id of its credential.
func (s *Service) passkeyByID(ctx context.Context, id []byte) (Key, error) {
	h := passkeyHash(id)
	k, ok, err := s.cfg.Store.KeyByHash(ctx, h)
	if err != nil {
		return Key{}, newUnavailable(err)
	}
	if !ok || !sameHash(k.Hash, h) || k.Audience != audiencePasskey || k.Passkey == nil || !k.Good(s.cfg.Now()) {
		return Key{}, errPasskey
	}
	return k, s.checkMaker(ctx, k)
}
