package identity

import (
	"context"
	"crypto"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"

	"loregate/internal/fault"
)

// maxSeal is the maximum size of a seal in bytes.
const maxSeal = 16 << 10

var errSeal = fault.New(fault.Invalid, "the signature is not one of this text")

// sealedText returns the signed bytes. They are no JSON object, so that a seal is never a token.
func sealedText(purpose string, text []byte) []byte { return append([]byte(purpose+"\n"), text...) }

// Seal signs a text for a purpose with the key that signs tokens, and creates the key if there is none. It
// returns a compact JWS (RFC 7515) without the text, whose header holds the public key, and the key's
// thumbprint (RFC 7638). The same key gives the same seal.
func (s *Service) Seal(ctx context.Context, purpose string, text []byte) (seal []byte, key string, err error) {
	k, err := s.ring.loadSigner(ctx)
	if err != nil {
		return nil, "", err
	}
	public, err := publicJWK(k)
	if err != nil {
		return nil, "", err
	}
	h := jws.NewHeaders()
	for name, value := range map[string]any{jws.KeyIDKey: k.kid, jws.TypeKey: purpose, jws.JWKKey: public} {
		if err := h.Set(name, value); err != nil {
			return nil, "", fmt.Errorf("identity: header: %w", err)
		}
	}
	seal, err = jws.Sign(nil, jws.WithKey(jwa.RS256(), k.private, jws.WithProtectedHeaders(h)),
		jws.WithDetachedPayload(sealedText(purpose, text)))
	if err != nil {
		return nil, "", fmt.Errorf("identity: sign: %w", err)
	}
	key, err = thumbprintOf(public)
	return seal, key, err
}

// VerifySeal returns the thumbprint of the key that signed a text for a purpose, and whether it is a key of
// this store. Any other seal is refused with fault.Invalid.
func (s *Service) VerifySeal(ctx context.Context, purpose string, text, seal []byte) (key string, own bool, err error) {
	if len(seal) > maxSeal {
		return "", false, errSeal
	}
	m, err := jws.Parse(seal, jws.WithCompact())
	if err != nil || len(m.Signatures()) != 1 {
		return "", false, errSeal
	}
	h := m.Signatures()[0].ProtectedHeaders()
	public, _ := h.JWK()
	var k rsa.PublicKey
	if typ, _ := h.Type(); typ != purpose || public == nil || jwk.Export(public, &k) != nil || k.Size() < 256 ||
		k.Size() > 1024 {
		return "", false, errSeal
	}
	if _, err := jws.Verify(seal, jws.WithKey(jwa.RS256(), &k), jws.WithCompact(),
		jws.WithDetachedPayload(sealedText(purpose, text))); err != nil {
		return "", false, errSeal
	}
	if key, err = thumbprintOf(public); err != nil {
		return "", false, errSeal
	}
	all, err := s.cfg.Store.SigningKeys(ctx)
	if err != nil {
		return "", false, newUnavailable(err)
	}
	for _, stored := range all {
		private, err := parsePEM(stored.PEM)
		if err != nil {
			return "", false, err
		}
		own = own || private.PublicKey.Equal(&k)
	}
	return key, own, nil
}

func thumbprintOf(public jwk.Key) (string, error) {
	sum, err := public.Thumbprint(crypto.SHA256)
	if err != nil {
		return "", errors.New("identity: a key has no thumbprint")
	}
	return base64.RawURLEncoding.EncodeToString(sum), nil
}
