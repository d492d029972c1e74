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

// ReadSet collects the parts of a world that an answer was read from.
type ReadSet interface {
	// Record returns a context whose reads are recorded in the basis.
	Record(ctx context.Context) context.Context
	// IsCacheable reports whether an answer read on it may be kept.
	IsCacheable() bool
}

// WorldState is the state of a world at the time of a call.
type WorldState interface {
	// Begin returns a basis for the reads from now on.
	Begin() ReadSet
	// IsCurrent reports whether an answer on a basis is still the answer that a view of this level
	// would get.
	IsCurrent(b ReadSet, level access.Level) bool
}

// WorldStateFunc passes the present state of a world to a function. Reads that the function makes on a
// ReadSet of the WorldState may return the world's state at that time.
type WorldStateFunc func(context.Context, access.WorldID, func(WorldState)) error

// answerCache caches answers of operations that declare Kept. Each call checks the present state of
// the world: a cached answer is used only while no commit has touched the parts it was read from.
// An answer is stored from the second time that its question is asked: most are asked once, and
// storing an answer costs a tenth of computing it.
type answerCache struct {
	moment  WorldStateFunc
	answers *otter.Cache[question, cachedAnswer]
	door    doorkeeper
}

// doorkeeper remembers a hash of each question asked lately. Two questions that share a slot
// overwrite each other, which delays caching; two with the same hash are cached earlier. Neither
// changes an answer.
type doorkeeper struct {
	seed  maphash.Seed
	slots [doorSlots]atomic.Uint32
}

// doorSlots is a few times the number of answers that fit in the memory of a small server. It takes
// 128 KiB.
const doorSlots = 1 << 15

// hasSeen reports whether a question was asked before, and remembers it.
func (d *doorkeeper) hasSeen(q question) bool {
	h := maphash.Comparable(d.seed, q)
	hash := uint32(h>>32) | 1 // 0 is an empty slot
	return d.slots[h%doorSlots].Swap(hash) == hash
}

// question holds everything that an answer depends on apart from the world's state: the call's
// input, the caller's rights and the caller's identity.
type question struct {
	input     [32]byte // hash that includes the operation's name
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
	may                         access.May
	many                        bool // the caller can use several worlds
}

type cachedAnswer struct {
	answer Answer
	basis  ReadSet
	shown  access.CardList // cards that the answer holds
}

// weight returns about how many bytes a cached answer takes.
func (k cachedAnswer) weight() int {
	return len(k.answer.Output) + len(k.answer.Older) + len(k.shown) + 2<<10
}

// maxCachedAnswer bounds the bytes of one cached answer.
const maxCachedAnswer = 64 << 10

func newAnswerCache(bytes int, moment WorldStateFunc) (*answerCache, error) {
	answers, err := otter.New(&otter.Options[question, cachedAnswer]{
		MaximumWeight: uint64(bytes),
		Weigher:       func(_ question, k cachedAnswer) uint32 { return uint32(k.weight()) },
	})
	return &answerCache{moment: moment, answers: answers, door: doorkeeper{seed: maphash.MakeSeed()}}, err
}

// answerCall returns the cached answer to a call if it is still current; otherwise it calls run and
// caches the result.
func (k *answerCache) answerCall(ctx context.Context, c *Call, r Request, in input,
	run func(context.Context) (*Answer, error)) (a *Answer, err error) {
	q, answered := questionOf(c, r, in), false
	if momentErr := k.moment(ctx, c.Grant.World(), func(now WorldState) {
		answered = true
		var again bool
		if a, again = k.findCurrent(c.Grant, q, now); a == nil {
			a, err = k.computeAnswer(ctx, c.Grant, q, now, again, run)
		}
	}); momentErr != nil && !answered {
		return run(ctx) // which meets the same error and returns it
	}
	return a, err
}

// findCurrent returns the cached answer to a question if it is still current, else nil. The call with the grant then
// shows the cards of the answer. again reports whether the question was asked before.
func (k *answerCache) findCurrent(g access.Grant, q question, now WorldState) (a *Answer, again bool) {
	had, again := k.answers.GetIfPresent(q)
	switch {
	case !again:
		return nil, k.door.hasSeen(q)
	case !now.IsCurrent(had.basis, q.view.Level):
		k.answers.Invalidate(q)
		return nil, true
	}
	g.NoteShownList(had.shown)
	answer := had.answer
	return &answer, true
}

// computeAnswer calls run, and caches the answer if the question was asked before and the answer
// may be cached.
func (k *answerCache) computeAnswer(ctx context.Context, g access.Grant, q question, now WorldState, again bool,
	run func(context.Context) (*Answer, error)) (*Answer, error) {
	basis := now.Begin()
	a, err := run(basis.Record(ctx))
	if again && err == nil && basis.IsCacheable() && a.isCacheable() {
		a.Output, a.Older = slices.Clip(a.Output), slices.Clip(a.Older)
		k.answers.Set(q, cachedAnswer{*a, basis, g.AllShown()})
	}
	return a, err
}

// isCacheable reports whether an answer can be given again: it is not a question, and its reply
// holds nothing but an ETag and a note.
func (a *Answer) isCacheable() bool {
	r := a.Reply
	plain := r.Status == 0 && r.Location == "" && !r.Replayed && !r.Diverted && r.File == nil &&
		r.Images == nil && r.Meta == nil
	return a.Asks == nil && plain && len(a.Output)+len(a.Older) <= maxCachedAnswer
}

func questionOf(c *Call, r Request, in input) question {
	caller := c.Grant.Caller()
	return question{
		input: in.hash, maxText: r.MaxText, transport: r.Transport, baseURL: r.BaseURL,
		world: c.Grant.World(), role: c.Grant.Role(), view: c.Grant.View(),
		subject: caller.Subject, actor: caller.Actor, home: caller.Home, player: caller.Player, seat: caller.Seat,
		operator: caller.Operator, approve: caller.Approve, advisory: caller.Advisory,
		may:  caller.MayIn(c.Grant.World()),
		many: caller.SeveralWorlds(),
	}
}
