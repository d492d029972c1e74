package mcpd

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"time"

	"loregate/internal/fault"
)

// cursorLife is the lifetime of a list's cursor: longer than any client takes to turn a page,
// shorter than its lists stay of interest.
const cursorLife = time.Hour

// sealer makes cursors that only work for the caller and the list they were made for.
//
// A cursor is a box of expiry in Unix seconds, 8 bytes | position, 8 bytes, bound to the list and
// the caller's account.
type sealer struct {
	aead  cipher.AEAD
	nonce func([]byte)
	now   func() time.Time
}

func newSealer(key [32]byte, nonce func([]byte), now func() time.Time) *sealer {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("mcpd: " + err.Error()) // 32 bytes are always a valid key
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("mcpd: " + err.Error())
	}
	return &sealer{aead: aead, nonce: nonce, now: now}
}

// sealBox encrypts bytes and binds them to data that is needed for opening: base64url of nonce |
// AES-256-GCM(plain).
func (s *sealer) sealBox(plain, bound []byte) string {
	buf := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+len(plain)+s.aead.Overhead())
	s.nonce(buf)
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(buf, buf, plain, bound))
}

// openBox opens a box from sealBox; ok is false for anything else.
func (s *sealer) openBox(text string, bound []byte) (plain []byte, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) < s.aead.NonceSize() {
		return nil, false
	}
	plain, err = s.aead.Open(nil, raw[:s.aead.NonceSize()], raw[s.aead.NonceSize():], bound)
	return plain, err == nil
}

// sealCursor makes the cursor of a position in a list.
func (s *sealer) sealCursor(list, account string, position int) string {
	plain := binary.BigEndian.AppendUint64(nil, uint64(s.now().Add(cursorLife).Unix()))
	plain = binary.BigEndian.AppendUint64(plain, uint64(position))
	return s.sealBox(plain, cursorBinding(list, account))
}

// openCursor reads a cursor; "" is the beginning.
func (s *sealer) openCursor(list, account, cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	bad := fault.BadField("cursor", "is not a cursor of this list; start again without a cursor")
	plain, ok := s.openBox(cursor, cursorBinding(list, account))
	if !ok || len(plain) != 16 {
		return 0, bad
	}
	if s.now().Unix() > int64(binary.BigEndian.Uint64(plain)) {
		return 0, fault.BadField("cursor", "has expired; start again without a cursor")
	}
	return int(binary.BigEndian.Uint64(plain[8:])), nil
}

func cursorBinding(list, account string) []byte { return []byte(list + "\x00" + account) }
