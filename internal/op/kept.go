package op

import (
	"context"
	"hash/maphash"
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

// MomentFunc gives a function how a world stands now. What the function reads on a Basis of
// the Moment may be read as the world stood then.
type MomentFunc func(context.Context, access.WorldID, func(Moment)) error

// kept holds answers of operations that declare Kept. Each call asks how the world stands
// now: an answer is given again only while no commit has touched what it was read from.
// It is kept from the second time that its question is asked: most are asked once, and
// keeping an answer costs a tenth of computing it.
type kept struct {
	moment  MomentFunc
	answers *otter.Cache[question, keptAnswer]
	door    doorkeeper

	hits, asked atomic.Uint64
}

// doorkeeper remembers the questions that were asked lately by a hash of each. Two that share a
// slot forget each other, so that an answer is kept later; two of one hash make an answer be
// kept sooner. Neither changes an answer.
type doorkeeper struct {
	seed  maphash.Seed
	slots [doorSlots]atomic.Uint32
}

// doorSlots are some times as many as answers fit in the memory of a small server, in 128 KiB.
const doorSlots = 1 << 15

// knows reports whether a question was asked before, and remembers it.
func (d *doorkeeper) knows(q question) bool {
	h := maphash.Comparable(d.seed, q)
	hash := uint32(h>>32) | 1 // 0 is an empty slot
	return d.slots[h%doorSlots].Swap(hash) == hash
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

func newKept(bytes int, moment MomentFunc) (*kept, error) {
	answers, err := otter.New(&otter.Options[question, keptAnswer]{
		MaximumWeight: uint64(bytes),
		Weigher:       func(_ question, k keptAnswer) uint32 { return uint32(k.weight()) },
	})
	return &kept{moment: moment, answers: answers, door: doorkeeper{seed: maphash.MakeSeed()}}, err
}

// answer gives the kept answer to a call where it stands, else that of run, which it keeps.
func (k *kept) answer(ctx context.Context, c *Call, r Request, in input, run func(context.Context) (*Answer, error)) (a *Answer, err error) {
	q, answered := questionOf(c, r, in), false
	if merr := k.moment(ctx, c.Grant.World(), func(now Moment) {
		answered = true
		k.asked.Add(1)
		var again bool
		if a, again = k.standing(q, now); a == nil {
			a, err = k.compute(ctx, q, now, again, run)
		}
	}); merr != nil && !answered {
		return run(ctx) // which meets the same trouble, and says so
	}
	return a, err
}

// standing gives the kept answer to a question where it stands, and whether it was kept before;
// nil where there is none.
func (k *kept) standing(q question, now Moment) (a *Answer, again bool) {
	had, again := k.answers.GetIfPresent(q)
	switch {
	case !again:
		return nil, k.door.knows(q)
	case !now.Stands(had.basis, q.view.Level):
		k.answers.Invalidate(q)
		return nil, true
	}
	k.hits.Add(1)
	answer := had.answer
	return &answer, true
}

// compute answers a question, and keeps the answer where it was asked before and may be kept.
func (k *kept) compute(ctx context.Context, q question, now Moment, again bool, run func(context.Context) (*Answer, error)) (*Answer, error) {
	basis := now.Begin()
	a, err := run(basis.Rest(ctx))
	if again && err == nil && basis.Lasts() && a.lasts() {
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
