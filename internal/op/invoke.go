package op

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Invoke admits a call once, runs it, and shapes its answer. Every error is a
// *fault.Error, or becomes fault.Internal: internal detail is the log's.
//
// The order is fixed, so that a refusal never depends on what was looked up: the
// operation and its visibility, the world, the Guard (limits, allow-list, role), the
// input, the handler. Faulty input counts against the limits and is recorded.
func (l *Local) Invoke(ctx context.Context, c access.Caller, r Request) (answer *Answer, err error) {
	o, surface, name := l.pick(c, r)
	ctx, end := l.observe(ctx, r.Transport, surface, name)
	size := 0
	defer func() { end(err, size) }()
	if o == nil {
		return nil, l.refuse(ctx, c, r, surface, name)
	}
	in, badInput := o.read(r)
	world, badWorld := access.WorldID{}, error(nil)
	if !o.NoWorld {
		world, badWorld = l.world(ctx, c, in.world)
	}
	least := o.Least
	if badWorld != nil {
		least = access.RoleNone // counted and recorded, then refused
	}
	a, err := l.guard.Admit(ctx, c, o.admission(in, r, least, world, surface, diverted(o, c, in)))
	if err != nil {
		return nil, err
	}
	defer func() { a.Done(ctx, size, err) }()
	if err = cmp.Or(badInput, badWorld); err != nil {
		return nil, err
	}
	answer, err = l.run(ctx, o, a.Grant, r, in)
	if err == nil {
		size = len(answer.Output)
	}
	return answer, err
}

// pick finds the operation asked for, the surface it is counted on, and the name that
// records and metrics show; nil where it does not exist for this caller. Over REST and
// the command line one that exists and is not open answers with the role it needs, which
// the Guard says.
func (l *Local) pick(c access.Caller, r Request) (*Operation, string, string) {
	o := l.byName[r.Operation]
	if o == nil {
		return nil, r.Surface, "unknown"
	}
	surface := through(c, o.Surfaces, r.Surface, o.Name)
	if !offered(o.Surfaces, r.Surface) || r.Transport == "mcp" && (o.NoTool || !usable(c, o, surface)) {
		return nil, surface, o.Name
	}
	return o, surface, o.Name
}

// refuse answers for an operation that does not exist for the caller. Every reason reads
// the same; the call counts against the limits and is recorded.
func (l *Local) refuse(ctx context.Context, c access.Caller, r Request, surface, name string) error {
	err := fault.New(fault.NotFound, "there is no operation %q here; list the operations to see what there is", clip(r.Operation, 64))
	c.Surfaces, c.Operations = nil, nil
	a, limited := l.guard.Admit(ctx, c, access.Request{Operation: name, Surface: surface, Effect: access.Read,
		Class: access.ClassCall, Correlation: r.Correlation})
	if limited != nil {
		return limited
	}
	a.Done(ctx, 0, err)
	return err
}

// diverted reports whether a call becomes a proposal: any write of an advisory key that
// is not a rehearsal.
func diverted(o *Operation, c access.Caller, in input) bool {
	return c.Advisory && o.Writes() && !in.dry
}

func (o *Operation) admission(in input, r Request, least access.Role, w access.WorldID, surface string, divert bool) access.Request {
	a := access.Request{Operation: o.Name, Surface: surface, Effect: o.Effect, Class: o.Class, Least: least, Operator: o.Operator,
		World: w, Target: in.target, Correlation: r.Correlation, IdempotencyKey: in.key, InputHash: in.hash, DryRun: in.dry}
	if a.Class == "" {
		a.Class = access.ClassCall
	}
	if divert {
		a.Effect = access.Propose
	}
	return a
}

// run calls the handler and shapes its answer.
func (l *Local) run(ctx context.Context, o *Operation, g access.Grant, r Request, in input) (*Answer, error) {
	call := &Call{Grant: g, Progress: r.Progress, Transport: r.Transport, BaseURL: r.BaseURL}
	if call.Progress == nil {
		call.Progress = noProgress
	}
	if diverted(o, g.Caller(), in) {
		return l.divert(ctx, o, call, r, in)
	}
	ctx, cancel := o.deadline(ctx)
	defer cancel()
	out, err := o.safely(ctx, call, in.json, r.Upload)
	if err != nil {
		return nil, timely(ctx, err)
	}
	output, err := o.encode(out, r.MaxText, in)
	if err != nil {
		return nil, err
	}
	return &Answer{Output: output, Reply: call.Reply}, nil
}

func noProgress(float64, float64, string) {}

func (l *Local) divert(ctx context.Context, o *Operation, call *Call, r Request, in input) (a *Answer, err error) {
	if l.diverter == nil {
		return nil, fault.New(fault.Denied, "this key may only propose, and proposals are not set up here; ask for a key that writes")
	}
	body := in.json
	if r.Upload != nil {
		if body, err = withUpload(body, o.upload, r.Upload); err != nil {
			return nil, err
		}
	}
	defer recovered(&err)
	a, err = l.diverter.Divert(ctx, call, o, body)
	if err != nil {
		return nil, err
	}
	a.Reply.Diverted = true
	return a, nil
}

func withUpload(body []byte, name string, data []byte) ([]byte, error) {
	n, err := parse(body)
	if err != nil {
		return nil, err
	}
	n.kids = append(n.kids, member{name, node{kind: '"', text: base64.StdEncoding.EncodeToString(data)}})
	return appendCanonical(nil, &n), nil
}

func (o *Operation) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	d := o.Timeout
	if d == 0 && o.Effect == access.Read {
		d = readTimeout
	}
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

// timely makes a fault that can be acted on of an error that ran into the deadline or a
// cancelled call.
func timely(ctx context.Context, err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Kind != fault.Internal {
		return err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		e := fault.New(fault.Unavailable, "this took too long and was stopped; ask for less, or try again")
		e.RetryAfter = time.Second
		return e.Because(err)
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return fault.New(fault.Unavailable, "the call was cancelled").Because(err)
	}
	return err
}

// safely runs the handler; a panic becomes an internal error.
func (o *Operation) safely(ctx context.Context, c *Call, input, upload []byte) (out any, err error) {
	defer recovered(&err)
	return o.handle(ctx, c, input, upload)
}

// recovered turns a panic into an internal error, whose trace only the log sees.
func recovered(errp *error) {
	if p := recover(); p != nil {
		*errp = fault.New(fault.Internal, "a handler panicked").Because(fmt.Errorf("panic: %s\n%s", PanicText(p), debug.Stack()))
	}
}

// PanicText is what a log may say of a panic: what the runtime says, or the type of the
// value alone, since its text may quote stored content.
func PanicText(p any) string {
	if r, ok := p.(runtime.Error); ok {
		return clip(r.Error(), 200)
	}
	return fmt.Sprintf("a value of type %T", p)
}

// encoding of outputs: compact, deterministic, empty lists instead of null, text as it
// is stored, and omitempty with the meaning that encoding/json gives it.
var outputOptions = jsonv2.JoinOptions(jsonv2.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsonv1.OmitEmptyWithLegacySemantics(true))

func (o *Operation) encode(out any, maxText int, in input) (json.RawMessage, error) {
	b, err := jsonv2.Marshal(out, outputOptions)
	if err != nil {
		return nil, fault.New(fault.Internal, "output of %s", o.Name).Because(err)
	}
	c, ok := out.(Cuttable)
	if maxText <= 0 || len(b) <= maxText || !ok {
		return b, nil
	}
	// What is left for the output after the call that continues it, which repeats the
	// input; a long input must not starve the output.
	budget := max(maxText-len(in.json)-256, maxText/2)
	shorter, next, ok := c.Cut(budget)
	if !ok {
		return b, nil
	}
	return o.cut(shorter, next, in)
}

// cut encodes a shortened output with truncated and next, where the output does not
// carry them itself.
func (o *Operation) cut(shorter any, next map[string]any, in input) (json.RawMessage, error) {
	b, err := jsonv2.Marshal(shorter, outputOptions)
	if err != nil {
		return nil, fault.New(fault.Internal, "shortened output of %s", o.Name).Because(err)
	}
	if o.Out.Properties["truncated"] == nil {
		b = appendMember(b, "truncated", []byte("true"))
	}
	if o.Out.Properties["next"] == nil {
		call, err := o.continuation(next, in)
		if err != nil {
			return nil, err
		}
		b = appendMember(b, "next", call)
	}
	return b, nil
}

// continuation is the call that goes on: this call's input with some fields changed.
func (o *Operation) continuation(next map[string]any, in input) ([]byte, error) {
	var args map[string]any
	if err := jsonv2.Unmarshal(in.json, &args); err != nil {
		return nil, fault.New(fault.Internal, "input of %s", o.Name).Because(err)
	}
	for k, v := range next {
		args[k] = v
	}
	if in.worldArg && !o.declares("world") && !o.declares("campaign_id") {
		args["world"] = in.world
	}
	return jsonv2.Marshal(map[string]any{"tool": o.Name, "arguments": args}, outputOptions)
}

// appendMember adds a member to an encoded object.
func appendMember(b []byte, name string, value []byte) []byte {
	b = b[:len(b)-1]
	if len(b) > 1 {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, `":`...)
	return append(append(b, value...), '}')
}

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
	o.shape.check(&n, nil, &f)
	if r.Upload != nil && o.upload != "" {
		n.take(o.upload)
	}
	o.note(&n, &in)
	checkKey(in.key, &f)
	if err := f.err(); err != nil {
		return in, err
	}
	if err := o.fits(&n, r.Upload); err != nil {
		return in, err
	}
	in.json = appendCanonical(make([]byte, 0, len(raw)+64), &n)
	in.hash = o.hash(in.json, r.Upload)
	return in, nil
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
		if v := n.member(o.Target); v != nil && v.kind == '"' {
			in.target = clip(v.text, 255)
		}
	}
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

// Refused counts and records a call that its transport could not make an input of, for
// a body too large, say. It returns what the Guard says against it instead, if anything.
func (l *Local) Refused(ctx context.Context, c access.Caller, o *Operation, correlation string, err error) error {
	a, limited := l.guard.Admit(ctx, c, access.Request{Operation: o.Name, Surface: through(c, o.Surfaces, "", o.Name),
		Effect: access.Read, Class: access.ClassCall, Correlation: correlation})
	if limited != nil {
		return limited
	}
	a.Done(ctx, 0, err)
	return nil
}
