package world

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// contextRef identifies a context, so that it can be read again: the tool, its arguments with the
// tick that was used, the cards that ids in them resolved to, the commit, the view that it was read
// with, and the time of the read.
type contextRef struct {
	Tool    string                `json:"t"`
	Args    json.RawMessage       `json:"a"`
	Seq     canon.Seq             `json:"s"`
	Level   access.Level          `json:"l"`
	Subject access.Subject        `json:"u,omitempty"`
	Ceiling access.Level          `json:"c,omitempty"`
	Read    int64                 `json:"r"` // Unix milliseconds
	Meant   map[string]resolvedID `json:"m,omitempty"`
}

// refSealer encrypts context references, since not everyone may see commit numbers.
//
// A reference is base64url of nonce | AES-256-GCM(contextRef as JSON and spaces), with
// "context", a zero byte and the world's id as additional data. The spaces hide the number of
// digits of the commit's number, which also counts commits that the reader does not see.
type refSealer struct {
	aead   cipher.AEAD
	mac    [32]byte // key of the nonces of positions; see sealPosition
	random io.Reader
}

func newRefSealer(key [32]byte, random io.Reader) (*refSealer, error) {
	own := sha256.Sum256(append([]byte("loregate context reference\x00"), key[:]...))
	block, err := aes.NewCipher(own[:])
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	mac := sha256.Sum256(append([]byte("loregate feed position\x00"), key[:]...))
	return &refSealer{aead, mac, random}, err
}

func (s *refSealer) seal(world access.WorldID, r contextRef) (string, error) {
	plain, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	digits := len(strconv.FormatUint(uint64(r.Seq), 10))
	plain = append(plain, strings.Repeat(" ", maxDigits-digits)...)
	buf := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+len(plain)+s.aead.Overhead())
	if _, err := io.ReadFull(s.random, buf); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(buf, buf, plain, refOf(world))), nil
}

// maxDigits is the largest number of digits of a commit number.
const maxDigits = 20

// maxRef bounds the length of a reference, in characters.
const maxRef = 2048

func (s *refSealer) open(world access.WorldID, text string) (r contextRef, err error) {
	bad := fault.BadField("contextRef",
		"is not a reference from a context tool of this world; read the context again")
	if len(text) > maxRef {
		return r, bad
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < s.aead.NonceSize() {
		return r, bad
	}
	plain, err := s.aead.Open(nil, raw[:s.aead.NonceSize()], raw[s.aead.NonceSize():], refOf(world))
	if err != nil || json.Unmarshal(plain, &r) != nil {
		return r, bad
	}
	return r, nil
}

func refOf(world access.WorldID) []byte { return append([]byte("context\x00"), world[:]...) }

// Reading is a context that was read again.
type Reading struct {
	Answer json.RawMessage
	Level  access.Level // with which the context was read; it decides which readers may see the answer
	At     canon.Seq    // the commit that the context shows
}

// Reread answers the call of a context tool again, byte for byte as it was answered when the
// reference was given. Later changes do not matter, not even of names, codenames and the place
// where players begin; but the answer differs if a card that it showed has been erased, hidden or
// trashed since.
//
// The grant must reach as far as the view of the reference. Cards that were shared with the reader
// of the reference by name are read again only for that reader. The error is fault.Invalid if ref
// is not a reference of this world, or fault.Denied.
func (w *World) Reread(ctx context.Context, g access.Grant, ref string) (out Reading, err error) {
	r, err := w.refs.open(g.World(), ref)
	if err != nil {
		return out, err
	}
	tool := w.tools[r.Tool]
	if tool == nil {
		return out, fault.BadField("contextRef", "belongs to a tool that no longer exists; read the context again")
	}
	out.Level, out.At = r.Level, r.Seq
	if g, err = grantForRef(g, r); err != nil {
		return out, err
	}
	err = w.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		m := &AsOf{Snapshot: snap, w: w, Seq: r.Seq, readAt: time.UnixMilli(r.Read).UTC(), resolved: r.Meant,
			rereading: r.Meant != nil}
		out.Answer, err = tool(ctx, m, r.Args)
		return err
	})
	return out, err
}

// grantForRef returns the grant with the view of a reference.
func grantForRef(g access.Grant, r contextRef) (access.Grant, error) {
	v := g.View()
	switch {
	case v.Level == r.Level && v.Subject == r.Subject && v.Ceiling == r.Ceiling:
		return g, nil
	case v.Level < r.Level:
		return g, fault.New(fault.Denied,
			"this context was read by a higher role; use a key of that role").With("required_role", r.Level.String())
	}
	return g.As(r.Level), nil
}

// sealContext returns the reference of an answer that was read from m.
func (w *World) sealContext(m *AsOf, tool string, args json.RawMessage) (string, error) {
	v := m.View()
	return w.refs.seal(m.World().ID, contextRef{Tool: tool, Args: args, Seq: m.position(), Level: v.Level,
		Subject: v.Subject,
		Ceiling: v.Ceiling, Read: m.readAt.UnixMilli(), Meant: m.resolved})
}
