package op

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/maypok86/otter/v2"

	"loregate/internal/access"
)

// Basis names the parts of a world that an answer was read from.
type Basis interface {
	// Rest gives a context whose reads count for the basis.
	Rest(ctx context.Context) context.Context
	// Lasts reports whether an answer on it may be kept.
	Lasts() bool
}

// Moment is a world as a call finds it.
type Moment interface {
	// Begin gives a basis for the reads from now on.
	Begin() Basis
	// Stands reports whether an answer on a basis is still the one that a view of a level
	// would get.
	Stands(b Basis, level access.Level) bool
}

// kept holds answers of operations that declare Kept. Each call asks how the world stands
// now: an answer is given again only while no commit has touched what it was read from.
type kept struct {
	moment  func(context.Context, access.WorldID) (Moment, error)
	answers *otter.Cache[question, keptAnswer]

	hits, asked atomic.Uint64
}

// question is all that an answer depends on besides the world's state: the call as it was
// asked for, and what the caller may see and is.
type question struct {
	input     [32]byte // with the operation's name
	maxText   int
	transport string
	baseURL   string

	world access.WorldID
	role  access.Role
	view  access.View

	subject                     access.Subject
	actor                       access.Actor
	home                        access.WorldID
	player                      uuid.UUID
	seat                        string
	operator, approve, advisory bool
	many                        bool // several worlds are open to the caller
}

type keptAnswer struct {
	answer Answer
	basis  Basis
}

// weight is about how many bytes a kept answer takes.
func (k keptAnswer) weight() int { return len(k.answer.Output) + len(k.answer.Older) + 2<<10 }

// maxKept bounds the bytes of one answer that is kept.
const maxKept = 64 << 10

func newKept(bytes int, moment func(context.Context, access.WorldID) (Moment, error)) (*kept, error) {
	answers, err := otter.New(&otter.Options[question, keptAnswer]{
		MaximumWeight: uint64(bytes),
		Weigher:       func(_ question, k keptAnswer) uint32 { return uint32(k.weight()) },
	})
	return &kept{moment: moment, answers: answers}, err
}

// answer gives the kept answer to a call where it stands, else that of run, which it keeps.
func (k *kept) answer(ctx context.Context, c *Call, r Request, in input, run func(context.Context) (*Answer, error)) (*Answer, error) {
	now, err := k.moment(ctx, c.Grant.World())
	if err != nil {
		return run(ctx) // which meets the same trouble, and says so
	}
	k.asked.Add(1)
	q := questionOf(c, r, in)
	if had, ok := k.answers.GetIfPresent(q); ok {
		if now.Stands(had.basis, q.view.Level) {
			k.hits.Add(1)
			a := had.answer
			return &a, nil
		}
		k.answers.Invalidate(q)
	}
	basis := now.Begin()
	a, err := run(basis.Rest(ctx))
	if err == nil && basis.Lasts() && a.lasts() {
		a.Output, a.Older = slices.Clip(a.Output), slices.Clip(a.Older)
		k.answers.Set(q, keptAnswer{*a, basis})
	}
	return a, err
}

// KeptHits is how many calls were asked of operations whose answers are kept, and how many
// of them were given a kept one.
func (l *Local) KeptHits() (hits, asked uint64) {
	if l.kept == nil {
		return 0, 0
	}
	return l.kept.hits.Load(), l.kept.asked.Load()
}

// lasts reports whether an answer can be given again: it is no question, and carries
// nothing beside its output but a tag and a note.
func (a *Answer) lasts() bool {
	r := a.Reply
	plain := r.Status == 0 && r.Location == "" && !r.Replayed && !r.NotModified && !r.Diverted && r.File == nil && r.Images == nil && r.Meta == nil
	return a.Asks == nil && plain && len(a.Output)+len(a.Older) <= maxKept
}

func questionOf(c *Call, r Request, in input) question {
	caller := c.Grant.Caller()
	return question{
		input: in.hash, maxText: r.MaxText, transport: r.Transport, baseURL: r.BaseURL,
		world: c.Grant.World(), role: c.Grant.Role(), view: c.Grant.View(),
		subject: caller.Subject, actor: caller.Actor, home: caller.Home, player: caller.Player, seat: caller.Seat,
		operator: caller.Operator, approve: caller.Approve, advisory: caller.Advisory,
		many: caller.SeveralWorlds(),
	}
}
