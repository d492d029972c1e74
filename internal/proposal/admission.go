package proposal

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// ledger is what a process keeps in mind of a world's proposals. Both parts follow from
// the records alone, and are made anew where the store has others than were read.
type ledger struct {
	stream canon.StreamID

	admit     sync.Mutex // guards admission; taken with the store's writer held
	admission admission
	show      sync.Mutex // guards catalogue
	catalogue catalogue
}

// ledger is the world's, made when first needed.
func (s *Service) ledger(w access.WorldID) *ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.ledgers[w]
	if l == nil {
		l = &ledger{stream: canon.LedgerStream(LedgerKind, w.String())}
		s.ledgers[w] = l
	}
	return l
}

// admission is what the gates compare with and count by. It may be ahead of what is
// durable, since it is read with the writer held; nothing is ever shown of it.
type admission struct {
	head      canon.Head
	byID      map[uuid.UUID]*standing
	byHash    map[canon.Hash][]*standing // those accepted or waiting
	recent    map[string][]*standing     // accepted ones by recentKey, oldest first
	marks     []string                   // the labels of those in recent
	times     map[string][]time.Time     // of those that passed the rate gate, within the hour
	tokens    map[string]int             // by tokenKey
	used      map[string]*used           // idempotency keys, by account and key
	standings standings
	swept     time.Time // when what no gate asks for was last forgotten
}

// standing is a proposal as the admission keeps it.
type standing struct {
	id      uuid.UUID
	change  uuid.UUID // of the record that judged it
	kind    string    // without the version
	hash    canon.Hash
	author  author
	scope   string
	status  Status
	outcome access.Label
	at      time.Time
	sig     signature // dropped once it is compared with no more
	decided *decided  // the last decision; nil for none
}

type used struct {
	id    uuid.UUID
	input canon.Hash
	at    time.Time
}

// keyLife is how long an idempotency key is remembered, as by the canon.
const keyLife = 24 * time.Hour

// sync folds what the ledger holds since the last time.
func (a *admission) sync(s *Service, t *canon.LedgerTx) error {
	if err := a.fold(s, t); !canon.Moved(err) {
		return err
	}
	*a = admission{} // what was read did not become durable
	return a.fold(s, t)
}

func (a *admission) fold(s *Service, t *canon.LedgerTx) error {
	if a.byID == nil {
		a.reset()
	}
	now := s.cfg.Now()
	for rec, err := range t.Since(a.head) {
		if err != nil {
			return err
		}
		e, err := entryOf(rec)
		if err != nil {
			return err
		}
		a.take(s, e, now)
	}
	a.head = t.Head
	a.sweep(now)
	return nil
}

// sweep forgets, once an hour, what no gate asks for any more: what was proposed stays,
// and who proposed it, with which key and how often, does not.
func (a *admission) sweep(now time.Time) {
	if now.Sub(a.swept) < time.Hour {
		return
	}
	a.swept = now
	maps.DeleteFunc(a.used, func(_ string, u *used) bool { return now.Sub(u.at) >= keyLife })
	maps.DeleteFunc(a.times, func(_ string, list []time.Time) bool { return now.Sub(list[len(list)-1]) >= time.Hour })
	today := now.UTC().Format(time.DateOnly)
	maps.DeleteFunc(a.tokens, func(key string, _ int) bool { return key[len(key)-len(today):] < today })
}

func (a *admission) reset() {
	*a = admission{byID: map[uuid.UUID]*standing{}, byHash: map[canon.Hash][]*standing{}, recent: map[string][]*standing{},
		times: map[string][]time.Time{}, tokens: map[string]int{}, used: map[string]*used{}}
}

// take folds one record.
func (a *admission) take(s *Service, e entry, now time.Time) {
	switch {
	case e.judged != nil:
		a.judged(s, e, now)
	case e.decided != nil:
		a.decided(s, e)
	}
	a.standings.fold(e)
}

func (a *admission) judged(s *Service, e entry, now time.Time) {
	j := e.judged
	if j.Idempotency != "" && now.Sub(e.at) < keyLife {
		a.used[j.Author.Account+"\x00"+j.Idempotency] = &used{j.ID, j.Input, e.at}
	}
	st := &standing{id: j.ID, change: e.change, kind: kindName(j.Kind), hash: j.Hash, author: j.Author, scope: j.Scope, status: j.Status, outcome: j.Outcome, at: e.at}
	a.byID[j.ID] = st
	if j.Status == Rejected {
		return
	}
	a.byHash[j.Hash] = append(a.byHash[j.Hash], st)
	if now.Sub(e.at) < time.Hour {
		for _, key := range rateKeys(j) {
			a.times[key] = append(a.times[key], e.at)
		}
		if j.Standing != uuid.Nil {
			a.times[standingKey(j.Standing)] = append(a.times[standingKey(j.Standing)], e.at)
		}
	}
	a.tokens[tokenKey(j.Author.Level, j.Purpose, e.at)] += j.Tokens
	if now.Sub(e.at) < s.cfg.Limits.Within {
		if k := s.kinds[st.kind]; k != nil && !k.Repeats {
			if draft, err := k.decode(j.Payload); err == nil {
				st.sig = signatureOf(draft.Texts())
			}
		}
	}
	if j.Status == Accepted {
		a.compare(s, st)
	}
}

// compare puts an accepted proposal among those that others are compared with.
func (a *admission) compare(s *Service, st *standing) {
	if len(st.sig.shingles) == 0 {
		return
	}
	key := recentKey(st.kind, st.scope, st.outcome)
	if label := st.outcome.String(); !slices.Contains(a.marks, label) {
		a.marks = append(a.marks, label)
	}
	list := append(a.recent[key], st)
	if over := len(list) - s.cfg.Limits.Compared; over > 0 {
		for _, old := range list[:over] {
			old.sig = signature{}
		}
		list = list[over:] // append moves it to a new array now and then
	}
	a.recent[key] = list
}

func (a *admission) decided(s *Service, e entry) {
	st := a.byID[e.decided.ID]
	if st == nil {
		return
	}
	st.status, st.decided = e.decided.Status, e.decided
	if st.status == Accepted {
		a.compare(s, st)
		return
	}
	st.sig = signature{}
	a.byHash[st.hash] = slices.DeleteFunc(a.byHash[st.hash], func(x *standing) bool { return x == st })
	for key, list := range a.recent { // one that was accepted and could not be carried out
		a.recent[key] = slices.DeleteFunc(list, func(x *standing) bool { return x == st })
	}
}

// recentKey keeps apart what different viewers may see, so that what is hidden from one
// pushes nothing out that is not.
func recentKey(kind, scope string, l access.Label) string {
	return recentPrefix(kind, scope) + l.String()
}

func recentPrefix(kind, scope string) string { return kind + "\x00" + scope + "\x00" }

// same finds the one that a payload repeats, of those that the author may know of: their
// own while they wait, and accepted ones whose outcome they see.
func (a *admission) same(s *Service, c *candidate, now time.Time) *standing {
	view := c.grant.View()
	for _, st := range a.byHash[c.rec.Hash] {
		switch st.status {
		case Pending:
			if st.author.is(c.grant.Caller()) && view.Level >= st.author.Level && now.Sub(st.at) < s.cfg.Limits.Life {
				return st
			}
		case Accepted:
			if !c.kind.Repeats && view.Sees(st.outcome) {
				return st
			}
		}
	}
	return nil
}

// near reports whether an accepted proposal in sight is near the same.
func (a *admission) near(s *Service, c *candidate, now time.Time) bool {
	if len(c.sig.shingles) == 0 {
		return false
	}
	view := c.grant.View()
	for _, key := range a.labels(recentPrefix(c.kind.Name, c.rec.Scope)) {
		list := a.recent[key]
		if len(list) == 0 || !view.Sees(list[0].outcome) {
			continue
		}
		for _, st := range slices.Backward(list) {
			if now.Sub(st.at) > s.cfg.Limits.Within {
				break // all before are older
			}
			if c.sig.like(st.sig, s.cfg.Limits) {
				return true
			}
		}
	}
	return false
}

// labels are the keys of what is recent under a prefix, by label. There are few labels in a
// world.
func (a *admission) labels(prefix string) []string {
	list := make([]string, len(a.marks))
	for i, l := range a.marks {
		list[i] = prefix + l
	}
	return list
}

// rateKeys are the accounts that a proposal counts on. They are kept apart by level, so
// that nobody is held back by what they cannot see.
func rateKeys(j *judged) []string {
	return []string{
		fmt.Sprintf("player:%d:%s:%s", j.Author.Level, playerOf(j), j.Purpose),
		"key:" + j.Author.Account,
		fmt.Sprintf("world:%d", j.Author.Level),
	}
}

// playerOf is whose budget a proposal counts on; its author's where it is about no player.
func playerOf(j *judged) string {
	if j.Player != "" {
		return j.Player
	}
	return j.Author.Account
}

func tokenKey(l access.Level, p Purpose, at time.Time) string {
	return fmt.Sprintf("%d:%s:%s", l, p, at.UTC().Format(time.DateOnly))
}

// window counts what passed under keys within a time, and where that is n or more, how
// long it is until the n-th last of them leaves it.
func (a *admission) window(keys []string, within time.Duration, n int, now time.Time) (count int, wait time.Duration) {
	recent := make([][]time.Time, len(keys))
	for i, key := range keys {
		recent[i] = a.since(key, now.Add(-within), now)
		count += len(recent[i])
	}
	if count < n {
		return count, 0
	}
	all := slices.Concat(recent...)
	slices.SortFunc(all, func(x, y time.Time) int { return y.Compare(x) })
	return count, all[n-1].Add(within).Sub(now)
}

// since gives the times under a key after a time, and forgets those that no window reaches.
func (a *admission) since(key string, after, now time.Time) []time.Time {
	list := a.times[key]
	first := func(t time.Time) int {
		return sort.Search(len(list), func(i int) bool { return list[i].After(t) })
	}
	if old := first(now.Add(-time.Hour)); old > len(list)/2 {
		list = slices.Clone(list[old:])
		if a.times[key] = list; len(list) == 0 {
			delete(a.times, key)
		}
	}
	return list[first(after):]
}

// levels gives a key for each level up to a view's.
func levels(upTo access.Level, format string, args ...any) []string {
	var keys []string
	for l := access.LevelUser; l <= upTo; l++ {
		keys = append(keys, fmt.Sprintf(format, append([]any{l}, args...)...))
	}
	return keys
}

// rate is the sixth gate.
func (a *admission) rate(s *Service, c *candidate, now time.Time) outcome {
	l, level := s.cfg.Limits, c.rec.Author.Level
	for _, limit := range []struct {
		name   string
		keys   []string
		within time.Duration
		most   int
	}{
		{"player_minute", levels(level, "player:%d:%s:%s", playerOf(&c.rec), c.rec.Purpose), time.Minute, l.PlayerMinute},
		{"player_hour", levels(level, "player:%d:%s:%s", playerOf(&c.rec), c.rec.Purpose), time.Hour, l.PlayerHour},
		{"key_minute", []string{"key:" + c.rec.Author.Account}, time.Minute, l.KeyMinute},
		{"world_minute", levels(level, "world:%d"), time.Minute, l.WorldMinute},
	} {
		if n, wait := a.window(limit.keys, limit.within, limit.most, now); n >= limit.most {
			return tooMany(limit.name, limit.most, wait)
		}
	}
	spent := 0
	for i := access.LevelUser; i <= level; i++ {
		spent += a.tokens[tokenKey(i, c.rec.Purpose, now)]
	}
	if spent+c.rec.Tokens > l.TokensDay {
		tomorrow := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		return tooMany("tokens_day", l.TokensDay, tomorrow.Sub(now))
	}
	return outcome{input: hashOf([]byte(playerOf(&c.rec)), []byte(c.rec.Purpose))}
}

func tooMany(limit string, most int, wait time.Duration) outcome {
	seconds := max(1, int((wait+time.Second-1)/time.Second))
	return outcome{input: hashOf([]byte(limit)), refused: &Rejection{
		Message: fmt.Sprintf("the limit %s of %d is reached; propose again in %d s", limit, most, seconds),
		Details: map[string]any{"limit": limit, "most": most}, Retryable: true, RetryAfterSeconds: seconds,
	}}
}
