package op

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"

	"loregate/internal/fault"
)

// input is a call's input as the engine read it.
type input struct {
	json     []byte // canonical, complete with defaults, without the engine's own fields
	hash     [32]byte
	world    string
	worldArg bool // the world came as an argument
	key      string
	target   string
	dry      bool
}

// read checks a call's input and takes the engine's own fields out of it.
func (o *Operation) read(r Request) (in input, err error) {
	in.world, in.key = r.World, r.IdempotencyKey
	raw := []byte(r.Input)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	n, err := parse(raw)
	if err != nil {
		return in, err
	}
	if n.kind != '{' {
		return in, fault.New(fault.Invalid, "the input must be a JSON object")
	}
	var f faults
	o.strip(&n, &in, &f)
	if r.Upload != nil && o.upload != "" {
		n.take(o.upload)
		n.kids = append(n.kids, member{o.upload, node{kind: '"'}})
	}
	if !o.loose {
		o.rename(&n)
		o.shape.check(&n, nil, &f)
	}
	if r.Upload != nil && o.upload != "" {
		n.take(o.upload)
	}
	o.note(&n, &in)
	checkKey(in.key, &f)
	if err := f.err(); err != nil {
		return in, o.exampled(err)
	}
	if err := o.fits(&n, r.Upload); err != nil {
		return in, err
	}
	in.json = appendCanonical(make([]byte, 0, len(raw)+64), &n)
	in.hash = o.hash(in.json, r.Upload)
	return in, nil
}

// exampled adds to a fault of an input how the call is written.
func (o *Operation) exampled(err error) error {
	var e *fault.Error
	if !errors.As(err, &e) || len(o.Examples) == 0 || len(o.Examples[0].Input) > 300 || o.Examples[0].Input == "{}" {
		return err
	}
	c := *e
	c.Message += "; for example " + o.Examples[0].Input
	return &c
}

// fits holds a file, however it came, to the operation's BodyLimit.
func (o *Operation) fits(n *node, upload []byte) error {
	size := len(upload)
	if v := n.member(o.upload); v != nil && o.upload != "" {
		size = base64.StdEncoding.DecodedLen(len(v.text)) - strings.Count(v.text[max(len(v.text)-2, 0):], "=")
	}
	if o.BodyLimit == 0 || int64(size) <= o.BodyLimit {
		return nil
	}
	return fault.New(fault.TooLarge, "the file is larger than the %d bytes that are taken here", o.BodyLimit).With("limit_bytes", o.BodyLimit)
}

// strip takes out the fields that are the engine's, unless the operation declares them.
func (o *Operation) strip(n *node, in *input, f *faults) {
	take := func(name string) (node, bool) {
		if o.declares(name) {
			return node{}, false
		}
		return n.take(name)
	}
	take("wait_for_previous")
	take("_meta")
	if !o.NoWorld {
		if v, ok := take("world"); ok {
			in.askWorld(v, "world", f)
		}
		if v := n.member("campaign_id"); v != nil && o.declares("campaign_id") {
			in.askWorld(*v, "campaign_id", f)
		}
	}
	if !o.keyed() {
		return
	}
	name := "idempotency_key"
	v, ok := take(name)
	if o.declares("idempotencyKey") && !ok {
		name = "idempotencyKey"
		v, ok = n.take(name) // taken too: the key is no part of what is hashed
	}
	if !ok || v.kind == 'n' {
		return
	}
	if v.kind != '"' || in.key != "" && in.key != v.text {
		f.add(&where{name: name, index: -1}, "must be a string, the same as in the header")
	}
	in.key = v.text
}

// askWorld notes a world that was asked for as an argument.
func (in *input) askWorld(v node, field string, f *faults) {
	at := &where{name: field, index: -1}
	switch {
	case v.kind == 'n':
		return
	case v.kind != '"':
		f.add(at, "must be a string, not %s", kindWord(&v))
	case in.world != "" && in.world != v.text:
		f.add(at, "differs from the world that the request names")
	default:
		in.world, in.worldArg = v.text, true
	}
}

// note keeps what the Guard asks of an input.
func (o *Operation) note(n *node, in *input) {
	if v := n.member("dry_run"); v != nil && o.declares("dry_run") {
		in.dry = v.kind == 't'
	}
	if o.Target != "" {
		if v := n.member(o.Target); v != nil && v.kind == '"' && isTarget(o.In.Properties[o.Target], v.text) {
			in.target = clip(v.text, 255)
		}
	}
}

// isTarget reports whether a text may be recorded as a target: where ids are asked for,
// nothing else is, lest a record hold what somebody wrote in place of an id.
func isTarget(s *jsonschema.Schema, text string) bool {
	return s.Format != "uuid" || uuid.Validate(text) == nil
}

func checkKey(key string, f *faults) {
	if key == "" {
		return
	}
	at := &where{name: "idempotency_key", index: -1}
	if utf8.RuneCountInString(key) > maxKey || !utf8.ValidString(key) {
		f.add(at, "takes at most %d characters", maxKey)
	}
	if slices.ContainsFunc([]rune(clip(key, 4*maxKey)), unicode.IsControl) {
		f.add(at, "must not hold control characters")
	}
}

// hash is SHA-256 over the operation's name, a NUL, the canonical input and, where a file
// came beside it, the file's SHA-256.
func (o *Operation) hash(input, upload []byte) [32]byte {
	b := make([]byte, 0, len(o.Name)+1+len(input)+32)
	b = append(append(append(b, o.Name...), 0), input...)
	if upload != nil {
		sum := sha256.Sum256(upload)
		b = append(b, sum[:]...)
	}
	return sha256.Sum256(b)
}

// withUpload puts a file into an input, as base64.
func withUpload(body []byte, name string, data []byte) ([]byte, error) {
	n, err := parse(body)
	if err != nil {
		return nil, err
	}
	n.kids = append(n.kids, member{name, node{kind: '"', text: base64.StdEncoding.EncodeToString(data)}})
	return appendCanonical(nil, &n), nil
}
