package access

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// SeenWeek is the time for which the index of the access records by card has one count. Weeks begin with 1970.
const SeenWeek = 7 * 24 * time.Hour

// SeenCount counts the answers of an operation to a subject with a role that held a card, in one week.
type SeenCount struct {
	SeenReader
	Card        CardHash // AnyCard for answers with more cards than a record names
	Times       int
	First, Last time.Time // when these answers were given, to the millisecond; UTC
}

// SeenReader is the part of a SeenCount that says who was answered, and by which operation.
type SeenReader struct {
	World     WorldID
	Subject   Subject
	Role      Role
	Operation string
}

// SeenStep is an addition to the index of the access records by card: the counts of a process's records in the
// segments after From, up to To. Done says that no more segments of the process are expected.
type SeenStep struct {
	Process  string
	From, To uint64
	Done     bool
	Counts   []SeenCount
}

// SeenProgress is the part of a process's records that the index covers: up to the segment with the number To.
type SeenProgress struct {
	To   uint64
	Done bool
}

// SeenStore stores the index of the access records by card. It follows from the records alone. It is safe for
// concurrent use by several processes.
type SeenStore interface {
	// AddSeen takes a step. It does nothing and returns false if the index does not cover the process's segments
	// exactly up to step.From; no segment counts twice.
	AddSeen(ctx context.Context, step SeenStep) (bool, error)
	// SeenProgress returns the progress of all processes that a step was taken for.
	SeenProgress(ctx context.Context) (map[string]SeenProgress, error)
	// Seen returns the sums of the counts with a Last of at least since, by reader and card, for some cards of a world.
	Seen(ctx context.Context, w WorldID, cards []CardHash, since time.Time) ([]SeenCount, error)
	// ForgetSeen removes counts with a Last before a time, and may keep those of a week before it.
	ForgetSeen(ctx context.Context, before time.Time) error
}

// Seen says that a subject was shown a card.
type Seen struct {
	Card    [16]byte
	Subject Subject
	Role    Role // of the calls; subjects have several entries if they called with several roles
	Times   int  // number of answers
	// Whole is the number of those answers that may have held the card: exports and other answers with more cards than a
	// record names.
	Whole       int
	First, Last time.Time
	Operations  []string // sorted
}

// seenWho identifies a Seen.
type seenWho struct {
	card    [16]byte
	subject Subject
	role    Role
}

// groupSeen sums the counts of a world by card, subject and role: the latest first for each card, in the order of ids.
func groupSeen(ids [][16]byte, counts []SeenCount, since time.Time) (list []Seen) {
	at, byCard := map[seenWho]int{}, map[CardHash][]SeenCount{}
	for _, c := range counts {
		byCard[c.Card] = append(byCard[c.Card], c)
	}
	for _, id := range ids {
		first := len(list)
		for _, c := range slices.Concat(byCard[HashCard(id)], byCard[AnyCard]) {
			who := seenWho{id, c.Subject, c.Role}
			i, known := at[who]
			if !known {
				i, at[who] = len(list), len(list)
				list = append(list, Seen{Card: id, Subject: c.Subject, Role: c.Role, First: c.First})
			}
			list[i].add(c, since)
		}
		slices.SortStableFunc(list[first:], func(a, b Seen) int {
			return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Role, b.Role))
		})
	}
	return list
}

func (s *Seen) add(c SeenCount, since time.Time) {
	s.Times += c.Times
	if c.Card == AnyCard {
		s.Whole += c.Times
	}
	if c.First.Before(s.First) {
		s.First = c.First
	}
	if s.First.Before(since) {
		s.First = since
	}
	if c.Last.After(s.Last) {
		s.Last = c.Last
	}
	if at, found := slices.BinarySearch(s.Operations, c.Operation); !found {
		s.Operations = slices.Insert(s.Operations, at, c.Operation)
	}
}

// seenTally counts the cards of records. The zero seenTally is empty and ready to use.
type seenTally struct {
	readers map[SeenReader]int // position in list
	list    []SeenReader
	counts  map[tallyKey]*tallyCount
}

type tallyKey struct {
	reader int
	card   CardHash
	week   int64
}

type tallyCount struct {
	times       int
	first, last int64 // milliseconds since 1970
}

// add counts the cards of a record, at the time when its call ended.
func (t *seenTally) add(r *Record) {
	if r.Cards == "" || r.World.IsZero() {
		return
	}
	if t.readers == nil {
		t.readers, t.counts = map[SeenReader]int{}, map[tallyKey]*tallyCount{}
	}
	who := SeenReader{r.World, r.Subject, r.Role, r.Operation}
	reader, known := t.readers[who]
	if !known {
		reader = len(t.list)
		t.readers[who], t.list = reader, append(t.list, who)
	}
	at := r.At.Add(r.Duration).UnixMilli()
	for card := range r.Cards.Hashes() {
		key := tallyKey{reader, card, at / SeenWeek.Milliseconds()}
		n := t.counts[key]
		if n == nil {
			n = &tallyCount{first: at, last: at}
			t.counts[key] = n
		}
		n.times++
		n.first, n.last = min(n.first, at), max(n.last, at)
	}
}

// sums returns the counts, ordered by card.
func (t *seenTally) sums() []SeenCount {
	out := make([]SeenCount, 0, len(t.counts))
	for k, n := range t.counts {
		out = append(out, SeenCount{t.list[k.reader], k.card, n.times, time.UnixMilli(n.first).UTC(),
			time.UnixMilli(n.last).UTC()})
	}
	slices.SortFunc(out, func(a, b SeenCount) int {
		return cmp.Or(cmp.Compare(a.Card, b.Card), a.First.Compare(b.First))
	})
	return out
}
