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

	"loregate/internal/access"
	"loregate/internal/body"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// input is a call's input after the engine has read it.
type input struct {
	json     []byte // canonical, complete with defaults, without the engine's own fields
	hash     [32]byte
	world    string
	worldArg bool // the world came as an argument
	key      string
	target   string
	player   uuid.UUID
	dry      bool
	unsure   access.Unsure
	upload   *body.File // nil for none
	part     bool       // of another call, whose world it has unless it names a campaign
}

// readInput checks a call's input and removes the engine's own fields from it.
func (o *Operation) readInput(r Request) (in input, err error) {
	in.world, in.key, in.dry, in.part = r.World, r.IdempotencyKey, r.whole.Request().DryRun, r.whole.Valid()
	in.unsure = r.whole.Request().Unsure
	raw := []byte(r.Input)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	n, err := parseJSON(raw)
	if err != nil {
		return in, err
	}
	if n.kind != '{' {
		return in, fault.New(fault.Invalid, "the input must be a JSON object")
	}
	var f faults
	form := o.input()
	o.fillIn(&n, &in, r)
	o.takeEngineFields(&n, &in, &f)
	if r.Upload != nil && form.upload != "" {
		n.takeMember(form.upload)
		n.kids = append(n.kids, member{form.upload, node{kind: '"'}})
	}
	if !o.loose {
		o.applyAliases(&n)
		form.shape.checkValue(&n, nil, &f)
	}
	if r.Upload != nil && form.upload != "" {
		n.takeMember(form.upload)
	}
	o.setGuardFields(&n, &in)
	o.setUnsure(&n, &in, &f)
	checkKey(in.key, &f)
	if err := f.err(); err != nil {
		return in, o.withExample(err)
	}
	if err := o.checkFileSize(&n, r.Upload); err != nil {
		return in, err
	}
	in.upload = r.Upload
	if o.BodyLimit > 0 && in.upload == nil {
		in.upload = o.takeUpload(&n)
	}
	in.json = appendCanonical(make([]byte, 0, len(raw)+64), &n)
	in.hash = o.hashInput(in.json, in.upload)
	return in, nil
}

// takeUpload takes a file out of an input that has it as base64, so that a file is handled in one way however it
// came. A text that is not base64 stays, and is refused when the input is decoded.
func (o *Operation) takeUpload(n *node) *body.File {
	v := n.member(o.UploadField())
	if v == nil || v.kind != '"' {
		return nil
	}
	data, err := base64.StdEncoding.Strict().DecodeString(v.text)
	if err != nil || strings.ContainsAny(v.text, "\r\n") {
		return nil
	}
	n.takeMember(o.UploadField())
	return body.Bytes(data)
}

// withExample adds an example call to a fault about the input.
func (o *Operation) withExample(err error) error {
	var e *fault.Error
	if !errors.As(err, &e) || len(o.Examples) == 0 || len(o.Examples[0].Input) > 300 || o.Examples[0].Input == "{}" {
		return err
	}
	c := *e
	c.Message += "; for example " + o.Examples[0].Input
	return &c
}

// checkFileSize compares a file, uploaded or in the input, with the operation's BodyLimit.
func (o *Operation) checkFileSize(n *node, upload *body.File) error {
	size := 0
	if upload != nil {
		size = int(upload.Size())
	}
	if v := n.member(o.UploadField()); v != nil && o.UploadField() != "" {
		size = base64.StdEncoding.DecodedLen(len(v.text)) - strings.Count(v.text[max(len(v.text)-2, 0):], "=")
	}
	if o.BodyLimit == 0 || int64(size) <= o.BodyLimit {
		return nil
	}
	return fault.New(fault.TooLarge, "the file is larger than %d bytes; send a smaller one",
		o.BodyLimit).With("limit_bytes", o.BodyLimit)
}

// takeEngineFields removes the fields that belong to the engine, unless the operation declares
// them.
func (o *Operation) takeEngineFields(n *node, in *input, f *faults) {
	take := func(name string) (node, bool) {
		if o.declaresField(name) {
			return node{}, false
		}
		return n.takeMember(name)
	}
	take("wait_for_previous")
	take("_meta")
	take("provenance")
	if !o.NoWorld {
		if v, ok := take("world"); ok {
			in.setWorldArg(v, "world", f)
		}
		if v := n.member(campaignField); v != nil && o.declaresField(campaignField) {
			in.setWorldArg(*v, campaignField, f)
		}
	}
	if !o.takesKey() {
		take("idempotency_key")
		return
	}
	name := "idempotency_key"
	v, ok := take(name)
	if o.declaresField("idempotencyKey") && !ok {
		name = "idempotencyKey"
		v, ok = n.takeMember(name) // removed too: the key is not part of the hashed input
	}
	if !ok || v.kind == 'n' {
		return
	}
	if v.kind != '"' || in.key != "" && in.key != v.text {
		f.add(&fieldPath{name: name, index: -1}, "must be a string, equal to the one in the header")
	}
	in.key = v.text
}

// setWorldArg records a world that was given as an argument.
func (in *input) setWorldArg(v node, field string, f *faults) {
	at := &fieldPath{name: field, index: -1}
	switch {
	case v.kind == 'n':
		return
	case v.kind != '"':
		f.add(at, "must be a string, not %s", kindWord(&v))
	case in.world != "" && in.world != v.text && !(in.part && field == campaignField):
		f.add(at, "differs from the world in the address of the request; send only one of them")
	default:
		in.world, in.worldArg = v.text, true
	}
}

// setGuardFields records the input fields that the Guard needs: dry_run, the target and the player.
func (o *Operation) setGuardFields(n *node, in *input) {
	if v := n.member("dry_run"); v != nil && o.declaresField("dry_run") {
		in.dry = in.dry || v.kind == 't'
	}
	if o.Target != "" {
		if v := n.member(o.Target); v != nil && v.kind == '"' && isTarget(o.In().Properties[o.Target], v.text) {
			in.target = markup.Shorten(v.text, 255)
		}
	}
	if v := n.member(o.Player); o.Player != "" && v != nil && v.kind == '"' {
		in.player, _ = uuid.Parse(v.text) // a codename is nobody's id
	}
}

// The input fields with the answer about unsure marks of secrecy; see [Answers].
const (
	asWritten   = "as_written"
	hidesUnsure = "hide_unsure"
)

// setUnsure records the answer about unsure marks of secrecy.
func (o *Operation) setUnsure(n *node, in *input, f *faults) {
	isSet := func(name string) bool {
		v := n.member(name)
		return v != nil && v.kind == 't' && o.declaresField(name)
	}
	switch text, hides := isSet(asWritten), isSet(hidesUnsure); {
	case text && hides:
		f.add(&fieldPath{name: hidesUnsure, index: -1}, "give as_written, for text, or hide_unsure, not both")
	case text:
		in.unsure = access.UnsureText
	case hides:
		in.unsure = access.UnsureHides
	}
}

// isTarget reports whether a text may be recorded as a target. In a field for ids only an id may
// be: a caller could send private text there, which a record must not keep.
func isTarget(s *jsonschema.Schema, text string) bool {
	return s.Format != "uuid" || uuid.Validate(text) == nil
}

func checkKey(key string, f *faults) {
	if key == "" {
		return
	}
	at := &fieldPath{name: "idempotency_key", index: -1}
	if utf8.RuneCountInString(key) > maxKey || !utf8.ValidString(key) {
		f.add(at, "takes at most %d characters", maxKey)
	}
	if slices.ContainsFunc([]rune(markup.Shorten(key, 4*maxKey)), unicode.IsControl) {
		f.add(at, "must not contain control characters")
	}
}

// hashInput returns SHA-256 over the operation's name, a NUL, the canonical input and, if there is
// an upload, the upload's SHA-256.
func (o *Operation) hashInput(input []byte, upload *body.File) [32]byte {
	b := make([]byte, 0, len(o.Name)+1+len(input)+32)
	b = append(append(append(b, o.Name...), 0), input...)
	if upload != nil {
		sum := upload.Sum()
		b = append(b, sum[:]...)
	}
	return sha256.Sum256(b)
}

// withUpload adds a file to an input, as base64.
func withUpload(body []byte, name string, data []byte) ([]byte, error) {
	n, err := parseJSON(body)
	if err != nil {
		return nil, err
	}
	n.kids = append(n.kids, member{name, node{kind: '"', text: base64.StdEncoding.EncodeToString(data)}})
	return appendCanonical(nil, &n), nil
}
