package identity

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"io"
	"strings"
)

// A secret is a prefix and 32 characters of lower-case base32 (RFC 4648, unpadded):
// 160 random bits.
const (
	keyPrefix  = "lg_"
	codePrefix = "lgi_"
	playPrefix = "lgp_"

	sessionPrefix = "lgs_"
	signInPrefix  = "lgc_"

	grantCodePrefix = "lga_"
	refreshPrefix   = "lgr_"

	secretBytes = 20
	secretChars = 32
)

const secretAlphabet = "abcdefghijklmnopqrstuvwxyz234567"

var secretEncoding = base32.NewEncoding(secretAlphabet).WithPadding(base32.NoPadding)

func newSecret(prefix string, random io.Reader) (string, error) {
	var b [secretBytes]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("identity: random bytes: %w", err)
	}
	return prefix + secretEncoding.EncodeToString(b[:]), nil
}

// secretHash returns the hash under which a secret is stored; false if text does not have a
// secret's form.
func secretHash(prefix, text string) (Hash, bool) {
	body, ok := strings.CutPrefix(text, prefix)
	if !ok || len(body) != secretChars {
		return Hash{}, false
	}
	for i := range len(body) {
		if strings.IndexByte(secretAlphabet, body[i]) < 0 {
			return Hash{}, false
		}
	}
	return sha256.Sum256([]byte(text)), true
}

func sameHash(a, b Hash) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }

// LooksLikeKey reports whether a bearer credential has the prefix of an API key, even if the rest
// is malformed.
func LooksLikeKey(bearer string) bool { return strings.HasPrefix(bearer, keyPrefix) }

// LooksLikePlay reports whether a bearer credential has the prefix of a play token, even if the
// rest is malformed.
func LooksLikePlay(bearer string) bool { return strings.HasPrefix(bearer, playPrefix) }
