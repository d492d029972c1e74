package op

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/body"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// Invoke admits a call once, runs it and shapes its answer. Every error is a *fault.Error or
// becomes fault.Internal; internal detail goes to the log only.
//
// The order is fixed, so that a refusal never depends on what was looked up: the operation and its
// visibility, the world, the Guard (limits, allow-list, role), the input, the handler. Faulty input
// counts against the limits and is recorded.
func (l *Local) Invoke(ctx context.Context, c access.Caller, r Request) (answer *Answer, err error) {
	if r.whole.Valid() {
		c = withReach(c, r.whole)
		defer func() { err = errorOfPart(r.Operation, err) }()
	}
	o, surface, name := l.pickOperation(c, r)
	ctx, end := l.observeCall(ctx, r.Transport, surface, name)
	size := 0
	defer func() { end(err, size) }()
	if o == nil {
		return nil, l.refuseUnknown(ctx, c, r, surface, name)
	}
	var failed error
	if o.needsCampaign() {
		r.sole, failed = l.soleCampaign(ctx, c, r.World)
	}
	in, badInput := o.readInput(r)
	world, badWorld := access.WorldID{}, error(nil)
	if !o.NoWorld {
		world, badWorld = l.selectWorld(ctx, c, in.world)
	}
	minRole := l.LeastRole(o, world)
	if badWorld != nil {
		minRole = access.RoleNone // counted and recorded, then refused
	}
	a, err := l.guard.Admit(ctx, c, o.admissionRequest(in, r, minRole, world, surface, isDiverted(o, c, world, in)))
	if err != nil {
		return nil, err
	}
	defer func() {
		a.PassShown(r.whole)
		a.Done(ctx, size, err)
	}()
	if err = cmp.Or(failed, badInput, badWorld); err != nil {
		return nil, err
	}
	if l.refuse != nil && !r.whole.Valid() {
		if err = l.refuse(ctx, c, world); err != nil {
			return nil, err
		}
	}
	answer, err = l.run(ctx, o, a.Grant, r, in)
	if err == nil {
		size = len(answer.Output)
	}
	return answer, err
}

// pickOperation finds the requested operation, the surface that the call counts for, and the name
// for records and metrics. The operation is nil if it does not exist for this caller. Over REST and
// the command line an operation that exists but is not open to the caller is returned; the Guard
// then refuses it, naming the role it needs.
func (l *Local) pickOperation(c access.Caller, r Request) (*Operation, string, string) {
	o := l.byName[r.Operation]
	if o == nil {
		return nil, r.Surface, "unknown"
	}
	surface := pickSurface(c, o.Surfaces, r.Surface, o.Name)
	noTool := o.NoTool && !(o.ByDoor && r.whole.Valid())
	if !isOffered(o.Surfaces, r.Surface) || r.Transport == "mcp" && (noTool || !l.canUse(c, o, surface)) {
		return nil, surface, o.Name
	}
	return o, surface, o.Name
}

// refuseUnknown answers a call of an operation that does not exist for the caller. The error is the
// same for every reason; the call counts against the limits and is recorded.
func (l *Local) refuseUnknown(ctx context.Context, c access.Caller, r Request, surface, name string) error {
	err := fault.New(fault.NotFound, "there is no operation %q here; list the operations to find one",
		markup.Shorten(r.Operation, 64))
	c.Surfaces, c.Operations = nil, nil
	a, limited := l.guard.Admit(ctx, c, access.Request{Operation: name, Surface: surface, Effect: access.Read,
		Class: access.ClassCall, Correlation: r.Correlation})
	if limited != nil {
		return limited
	}
	a.Done(ctx, 0, err)
	return err
}

// isDiverted reports whether a call becomes a proposal: any write by an advisory key or by a member who may only
// propose, except a dry run.
func isDiverted(o *Operation, c access.Caller, w access.WorldID, in input) bool {
	return o.Writes() && !o.Delegates && !in.dry && c.IsDiverted(w, o.Plays)
}

// LeastRole returns the lowest role that may call an operation in a world.
func (l *Local) LeastRole(o *Operation, w access.WorldID) access.Role {
	if o.Manages && l.gmManages != nil && l.gmManages(w) {
		return access.RoleGM
	}
	return o.MinRole
}

func (o *Operation) admissionRequest(in input, r Request, minRole access.Role, w access.WorldID, surface string,
	divert bool) access.Request {
	a := access.Request{Operation: o.Name, Surface: surface, Effect: o.Effect, Class: o.Class, MinRole: minRole,
		Operator: o.Operator, People: o.People, Audience: o.Audience,
		World: w, Target: in.target, Player: in.player, Correlation: r.Correlation, IdempotencyKey: in.key, InputHash: in.hash, DryRun: in.dry,
		Unsure: in.unsure, TakesAnswer: o.declaresField(asWritten)}
	a.Class = cmp.Or(a.Class, access.ClassCall)
	if divert {
		a.Effect = access.Propose
	}
	a.Plays = o.Plays
	a.Waits = o.Waits || o.Delegates
	if a.Part = r.whole.Valid(); o.Delegates {
		a.Effect = access.Read // its parts are admitted by themselves
	}
	return a
}

// run calls the handler and shapes its answer.
func (l *Local) run(ctx context.Context, o *Operation, g access.Grant, r Request, in input) (*Answer, error) {
	call := &Call{Grant: g, Progress: r.Progress, Asker: r.Asker, Transport: r.Transport, BaseURL: r.BaseURL,
		KeepsList: r.KeepsList, MaxText: r.MaxText, Hold: r.Hold}
	if call.Progress == nil || !o.Interactive {
		call.Progress = noProgress
	}
	if !o.Interactive {
		call.Asker = nil
	}
	r.Upload = in.upload
	if isDiverted(o, g.Caller(), g.World(), in) {
		return l.divertWrite(ctx, o, call, r, in)
	}
	if o.LoadsFile {
		if err := r.Hold.BeginLoad(ctx); err != nil {
			return nil, err
		}
	}
	ctx, cancel := o.withDeadline(ctx)
	defer cancel()
	if l.kept != nil && o.Cacheable && r.Upload == nil {
		return l.kept.answerCall(ctx, call, r, in,
			func(ctx context.Context) (*Answer, error) { return l.computeAnswer(ctx, o, call, r, in) })
	}
	return l.computeAnswer(ctx, o, call, r, in)
}

// computeAnswer calls the handler of an operation that is not diverted.
func (l *Local) computeAnswer(ctx context.Context, o *Operation, call *Call, r Request, in input) (*Answer, error) {
	upload, err := o.loadUpload(ctx, call, r.Upload)
	if err != nil {
		return nil, err
	}
	out, err := o.callHandler(ctx, call, in.json, upload)
	if out, err = o.askUnsure(ctx, call, r.Asker, in.json, upload, out, err); err != nil {
		err = o.withAnswers(err)
	}
	if asking, ok := errors.AsType[*Asking](err); ok {
		return &Answer{Asks: &asking.Form}, nil
	}
	if err != nil {
		return nil, withEffect(call.Grant, toTimeoutFault(ctx, err))
	}
	output, err := o.encodeOutput(out, r.MaxText, in)
	if err != nil {
		return nil, withEffect(call.Grant, err)
	}
	a := &Answer{Output: output, Reply: call.Reply}
	if o.Unwrap != "" && a.Reply.Note == "" && string(o.Shown(a)) == "null" {
		a.Reply.Note = l.notFoundNote(ctx, call.Grant, o, in.target)
	}
	if older, ok := out.(Older); ok && r.Transport == "rest" {
		a.Older, err = o.withOlder(o.Shown(a), older)
	}
	return a, err
}

// weightOfFile is the number of bytes of memory that each byte of a file takes while a handler has it: its bytes, and
// copies of the store.
const weightOfFile = 3

// loadUpload returns the bytes of an uploaded file, or passes the file to a handler that reads it itself.
func (o *Operation) loadUpload(ctx context.Context, c *Call, f *body.File) ([]byte, error) {
	switch {
	case f == nil:
		return nil, nil
	case o.Spooled:
		c.Upload = f
		return nil, nil
	}
	data, err := c.Hold.Load(ctx, f, weightOfFile)
	if data == nil && err == nil {
		data = []byte{} // an empty file is a file
	}
	return data, err
}

// notFoundNote explains a null output and names similar cards.
func (l *Local) notFoundNote(ctx context.Context, g access.Grant, o *Operation, target string) string {
	if target == "" {
		return "null: nothing was found"
	}
	said := fmt.Sprintf("null: nothing was found for %s %q", o.Target, markup.Clean(target))
	if l.near == nil || o.NoWorld {
		return said
	}
	// Ids of places and the like are often made of a kind and a name.
	if _, name, ok := strings.Cut(target, "-"); ok && uuid.Validate(target) != nil {
		target = strings.ReplaceAll(name, "-", " ")
	}
	if near := l.near(ctx, g, target); len(near) > 0 {
		said += "; near it are " + strings.Join(near, ", ")
	}
	return said + "; search for the name, or use a list, to get an id"
}

func noProgress(float64, float64, string) {}

func (l *Local) divertWrite(ctx context.Context, o *Operation, call *Call, r Request, in input) (a *Answer, err error) {
	if l.diverter == nil {
		return nil, fault.New(fault.Denied,
			"this key can only propose, and this server takes no proposals; use a key that can write")
	}
	input := in.json
	if r.Upload != nil {
		data, err := call.Hold.Load(ctx, r.Upload, weightOfFile)
		if err == nil {
			input, err = withUpload(input, o.UploadField(), data)
		}
		if err != nil {
			return nil, err
		}
	}
	defer recoverPanic(&err)
	a, err = l.diverter.Divert(ctx, call, o, input)
	if err != nil {
		return nil, err
	}
	a.Reply.Diverted = true
	return a, nil
}

func (o *Operation) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	d := o.Timeout
	if d == 0 && o.Effect == access.Read {
		d = readTimeout
	}
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

// toTimeoutFault turns the error of a call that hit its deadline or was cancelled into a fault that
// tells the caller how to react. Other errors are returned as they are.
func toTimeoutFault(ctx context.Context, err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind != fault.Internal {
		return err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		e := fault.New(fault.Unavailable, "the call took too long and was stopped; ask for less, or try again")
		e.RetryAfter = time.Second
		return e.Because(err)
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return fault.New(fault.Unavailable, "the call was cancelled").Because(err)
	}
	return err
}

// withEffect tells the caller of a call that was interrupted after a commit that something was written.
func withEffect(g access.Grant, err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Kind != fault.Unavailable || !g.HasCommitted() {
		return err
	}
	e = e.Because(err)
	e.Message += "; what the call had written is kept: repeat it with the same idempotency key, or look first"
	return e
}

// callHandler runs the handler and turns a panic into an internal error.
func (o *Operation) callHandler(ctx context.Context, c *Call, input, upload []byte) (out any, err error) {
	defer recoverPanic(&err)
	return o.handle(ctx, c, input, upload)
}

// recoverPanic turns a panic into an internal error; only the log sees its trace.
func recoverPanic(errp *error) {
	if p := recover(); p != nil {
		*errp = fault.Panicked("a handler", p)
	}
}

// Foresee returns the error with which Invoke would refuse a call for the rights or limits of its caller, before
// the call's body is read, and the world as far as the address or the key tells it. The caller of Foresee passes
// the error to Refused.
func (l *Local) Foresee(ctx context.Context, c access.Caller, r Request) (access.WorldID, error) {
	o, surface, _ := l.pickOperation(c, r)
	if o == nil {
		return access.WorldID{}, nil // Invoke refuses it
	}
	role := max(c.EveryRole, maxRole(c.Roles))
	var world access.WorldID
	if !o.NoWorld {
		found, err := l.selectWorld(ctx, c, r.World)
		if err != nil && r.World != "" {
			return world, err
		}
		if world = found; err == nil {
			role = c.Role(world)
		}
	}
	in := input{key: r.IdempotencyKey}
	return world, l.guard.Foresee(c, o.admissionRequest(in, r, l.LeastRole(o, world), world, surface,
		isDiverted(o, c, world, in)), role)
}

func maxRole(roles map[access.WorldID]access.Role) (best access.Role) {
	for _, r := range roles {
		best = max(best, r)
	}
	return best
}

// Refused counts and records a call that its transport could not turn into an input, for example
// because the body was too large. If the Guard refuses the call, for example by a limit, it returns
// the Guard's error; otherwise nil.
func (l *Local) Refused(ctx context.Context, c access.Caller, o *Operation, correlation string, err error) error {
	a, limited := l.guard.Admit(ctx, c, access.Request{Operation: o.Name, Surface: pickSurface(c, o.Surfaces, "", o.Name),
		Effect: access.Read, Class: access.ClassCall, Correlation: correlation})
	if limited != nil {
		return limited
	}
	a.Done(ctx, 0, err)
	return nil
}
