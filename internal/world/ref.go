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
	"loregate/internal/op"
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
	random io.Reader
}

func newRefSealer(key [32]byte, random io.Reader) (*refSealer, error) {
	own := sha256.Sum256(append([]byte("loregate context reference\x00"), key[:]...))
	block, err := aes.NewCipher(own[:])
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &refSealer{aead, random}, err
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
		"is not a reference that a context tool of this world gave; read the context again")
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

// sealContext returns the reference of an answer that was read from m.
func (w *World) sealContext(m *asOf, tool string, args json.RawMessage) (string, error) {
	v := m.View()
	return w.refs.seal(m.World().ID, contextRef{Tool: tool, Args: args, Seq: m.position(), Level: v.Level,
		Subject: v.Subject,
		Ceiling: v.Ceiling, Read: m.readAt.UnixMilli(), Meant: m.resolved})
}

// Reread answers the call of a context tool again, byte for byte as it was answered when the
// reference was given. Later changes do not matter, not even of names, codenames and the place
// where players begin; but the answer differs if a card that it showed has been erased, hidden or
// trashed since.
//
// The grant must reach as far as the view of the reference. Cards that were shared with the reader
// of the reference by name are read again only for that reader. The error is fault.Invalid if ref
// is not a reference of this world, or fault.Denied.
func (w *World) Reread(ctx context.Context, g access.Grant, ref string) (answer json.RawMessage, err error) {
	r, err := w.refs.open(g.World(), ref)
	if err != nil {
		return nil, err
	}
	tool := w.tools[r.Tool]
	if tool == nil {
		return nil, fault.BadField("contextRef", "is of a tool that is no more; read the context again")
	}
	if g, err = grantForRef(g, r); err != nil {
		return nil, err
	}
	err = w.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		m := &asOf{Snapshot: snap, w: w, seq: r.Seq, readAt: time.UnixMilli(r.Read).UTC(), resolved: r.Meant,
			rereading: r.Meant != nil}
		answer, err = tool(ctx, m, r.Args)
		return err
	})
	return answer, err
}

// View returns the view that a reference was read with. Callers use it to decide which readers
// may see the content.
func (w *World) View(g access.Grant, ref string) (access.View, error) {
	r, err := w.refs.open(g.World(), ref)
	return access.View{Level: r.Level, Subject: r.Subject, Ceiling: r.Ceiling}, err
}

// Position returns the commit that a reference shows.
func (w *World) Position(g access.Grant, ref string) (canon.Seq, error) {
	r, err := w.refs.open(g.World(), ref)
	return r.Seq, err
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

// rereadFunc answers the call of a tool again from m. args are the arguments that the reference
// recorded.
type rereadFunc func(ctx context.Context, m *asOf, args json.RawMessage) (json.RawMessage, error)

// contextTool declares a tool that reads a context. Its answers contain a reference, and can be
// read again.
func contextTool[In any, Out any](w *World, s op.Spec,
	answer func(ctx context.Context, m *asOf, in In) (Out, error)) *op.Operation {
	s.Effect, s.MinRole = access.Read, max(s.MinRole, access.RoleUser)
	w.tools[s.Name] = func(ctx context.Context, m *asOf, args json.RawMessage) (json.RawMessage, error) {
		var in In
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, fault.BadField("contextRef", "does not fit its tool; read the context again").Because(err)
		}
		if t, ok := any(&in).(timedInput); ok && t.requestedTime().Tick != nil {
			m.tick, m.tickFixed = *t.requestedTime().Tick, true
		}
		out, err := answer(ctx, m, in)
		if err != nil {
			return nil, err
		}
		return op.Encode(out)
	}
	return op.Define(s, func(ctx context.Context, c *op.Call, in In) (out Out, err error) {
		err = w.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
			ask := timeInput{}
			t, isTimed := any(&in).(timedInput)
			if isTimed {
				ask = t.requestedTime()
			}
			m, err := w.readAsOf(ctx, snap, ask)
			if err != nil {
				return err
			}
			if out, err = answer(ctx, m, in); err != nil {
				return err
			}
			if isTimed {
				t.fixTick(m.tick)
			}
			return w.addCitation(c, m, s.Name, in, &out)
		})
		return out, err
	})
}

// citation is the member of an answer with which a proposal cites it. It comes first, so that
// clients that cut long answers still show it to their model.
type citation struct {
	ContextRef string `json:"contextRef,omitzero" jsonschema:"Send this as contextRef with what you propose from this answer."`
}

func (c *citation) citeAs(ref string) {
	if c != nil {
		c.ContextRef = ref
	}
}

// citable is implemented by answers with a citation. citeAs does nothing if the answer is empty.
type citable interface{ citeAs(ref string) }

// addCitation puts the reference of an answer into the answer and into its _meta.
func (w *World) addCitation(c *op.Call, m *asOf, tool string, in any, out any) error {
	args, err := op.Encode(in)
	if err != nil {
		return err
	}
	ref, err := w.sealContext(m, tool, args)
	if err != nil {
		return err
	}
	if o, ok := out.(citable); ok {
		o.citeAs(ref)
	}
	if c.Reply.Meta == nil {
		c.Reply.Meta = map[string]any{}
	}
	c.Reply.Meta["contextRef"] = ref
	return nil
}
