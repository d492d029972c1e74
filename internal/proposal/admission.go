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

// ledger is the state that a process keeps of a world's proposals. Both parts are derived from the
// records alone and are rebuilt if the store has other records than those that were read.
type ledger struct {
	stream canon.StreamID

	admitMu   sync.Mutex // guards admission; taken while the store's writer is held
	admission admission
	showMu    sync.Mutex // guards catalogue
	catalogue catalogue
}

// ledgerOf returns the world's ledger and creates it on first use.
func (s *Service) ledgerOf(w access.WorldID) *ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.ledgers[w]
	if l == nil {
		l = &ledger{stream: canon.LedgerStream(LedgerKind, w.String())}
		s.ledgers[w] = l
	}
	return l
}

// admission is the state that the gates compare and count with. It is read while the writer is held
// and so may be ahead of the durable records. It is never shown to callers.
type admission struct {
	head         canon.Head
	byID         map[uuid.UUID]*tracked
	byHash       map[canon.Hash][]*tracked // accepted or pending ones
	recent       map[string][]*tracked     // accepted ones by recentKey, oldest first
	recentLabels []string                  // the labels of the proposals in recent
	times        map[string][]time.Time    // when proposals passed the rate gate, within the last hour, by key
	tokens       map[string]int            // by tokenKey
	used         map[string]*usedKey       // idempotency keys, by account and key
	standings    standingApprovals
	swept        time.Time // when sweep last removed state
}

// tracked is a proposal as admission keeps it.
type tracked struct {
	id      uuid.UUID
	change  uuid.UUID // of the record that judged it
	kind    string    // without the version
	hash    canon.Hash
	author  author
	scope   string
	status  Status
	outcome access.Label
	at      time.Time
	sig     signature     // dropped when no gate compares with it any more
	decided *decidedEvent // the last decision; nil for none
}

type usedKey struct {
	id    uuid.UUID
	input canon.Hash
	at    time.Time
}

// keyLife is the time that an idempotency key is remembered, the same as in the canon.
const keyLife = 24 * time.Hour

// sync folds the ledger's records since the last call.
func (a *admission) sync(s *Service, t *canon.LedgerTx) error {
	if err := a.foldRecords(s, t); !canon.Moved(err) {
		return err
	}
	*a = admission{} // the records that were folded did not become durable
	return a.foldRecords(s, t)
}

func (a *admission) foldRecords(s *Service, t *canon.LedgerTx) error {
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
		a.foldEntry(s, e, now)
	}
	a.head = t.Head
	a.sweep(now)
	return nil
}

// sweep removes, once an hour, state that no gate uses any more: old idempotency keys, rate times
// and token counts. Proposals stay.
func (a *admission) sweep(now time.Time) {
	if now.Sub(a.swept) < time.Hour {
		return
	}
	a.swept = now
	maps.DeleteFunc(a.used, func(_ string, u *usedKey) bool { return now.Sub(u.at) >= keyLife })
	maps.DeleteFunc(a.times, func(_ string, list []time.Time) bool { return now.Sub(list[len(list)-1]) >= time.Hour })
	today := now.UTC().Format(time.DateOnly)
	maps.DeleteFunc(a.tokens, func(key string, _ int) bool { return key[len(key)-len(today):] < today })
}

func (a *admission) reset() {
	*a = admission{byID: map[uuid.UUID]*tracked{}, byHash: map[canon.Hash][]*tracked{}, recent: map[string][]*tracked{},
		times: map[string][]time.Time{}, tokens: map[string]int{}, used: map[string]*usedKey{}}
}

// foldEntry folds one record.
func (a *admission) foldEntry(s *Service, e ledgerEntry, now time.Time) {
	switch {
	case e.judged != nil:
		a.foldJudged(s, e, now)
	case e.decided != nil:
		a.foldDecided(s, e)
	}
	a.standings.foldEntry(e)
}

func (a *admission) foldJudged(s *Service, e ledgerEntry, now time.Time) {
	j := e.judged
	if j.Idempotency != "" && now.Sub(e.at) < keyLife {
		a.used[j.Author.Account+"\x00"+j.Idempotency] = &usedKey{j.ID, j.Input, e.at}
	}
	st := &tracked{id: j.ID, change: e.change, kind: kindName(j.Kind), hash: j.Hash, author: j.Author, scope: j.Scope,
		status: j.Status, outcome: j.Outcome, at: e.at}
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
		a.addRecent(s, st)
	}
}

// addRecent adds an accepted proposal to those that others are compared with.
func (a *admission) addRecent(s *Service, st *tracked) {
	if len(st.sig.shingles) == 0 {
		return
	}
	key := recentKey(st.kind, st.scope, st.outcome)
	if label := st.outcome.String(); !slices.Contains(a.recentLabels, label) {
		a.recentLabels = append(a.recentLabels, label)
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

func (a *admission) foldDecided(s *Service, e ledgerEntry) {
	st := a.byID[e.decided.ID]
	if st == nil {
		return
	}
	st.status, st.decided = e.decided.Status, e.decided
	if st.status == Accepted {
		a.addRecent(s, st)
		return
	}
	st.sig = signature{}
	a.byHash[st.hash] = slices.DeleteFunc(a.byHash[st.hash], func(x *tracked) bool { return x == st })
	for key, list := range a.recent { // if it was accepted and could not be applied
		a.recent[key] = slices.DeleteFunc(list, func(x *tracked) bool { return x == st })
	}
}

// recentKey separates proposals by the label of their outcome, so that hidden proposals do not push
// visible ones out of the list.
func recentKey(kind, scope string, l access.Label) string {
	return recentPrefix(kind, scope) + l.String()
}

func recentPrefix(kind, scope string) string { return kind + "\x00" + scope + "\x00" }

// findRepeated returns the earlier proposal with the same payload, if the author may know of it:
// one of their own that still waits, or an accepted one whose outcome they can see.
func (a *admission) findRepeated(s *Service, c *candidate, now time.Time) *tracked {
	view := c.grant.View()
	for _, st := range a.byHash[c.rec.Hash] {
		switch st.status {
		case Pending:
			if st.author.isCaller(c.grant.Caller()) && view.Level >= st.author.Level && now.Sub(st.at) < s.cfg.Limits.Life {
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

// hasNearDuplicate reports whether an accepted proposal visible to the caller is nearly the same.
func (a *admission) hasNearDuplicate(s *Service, c *candidate, now time.Time) bool {
	if len(c.sig.shingles) == 0 {
		return false
	}
	view := c.grant.View()
	for _, key := range a.recentKeysUnder(recentPrefix(c.kind.Name, c.rec.Scope)) {
		list := a.recent[key]
		if len(list) == 0 || !view.Sees(list[0].outcome) {
			continue
		}
		for _, st := range slices.Backward(list) {
			if now.Sub(st.at) > s.cfg.Limits.Within {
				break // all earlier ones are older
			}
			if c.sig.isLike(st.sig, s.cfg.Limits) {
				return true
			}
		}
	}
	return false
}

// recentKeysUnder returns the keys of recent that start with prefix, one per label. A world has few
// labels.
func (a *admission) recentKeysUnder(prefix string) []string {
	list := make([]string, len(a.recentLabels))
	for i, l := range a.recentLabels {
		list[i] = prefix + l
	}
	return list
}

// rateKeys returns the keys that a proposal counts under. Keys are separated by level, so that
// hidden proposals do not use up anyone's limit.
func rateKeys(j *judgedEvent) []string {
	return []string{
		fmt.Sprintf("player:%d:%s:%s", j.Author.Level, rateAccountOf(j), j.Purpose),
		"key:" + j.Author.Account,
		fmt.Sprintf("world:%d", j.Author.Level),
	}
}

// rateAccountOf returns the account whose budget a proposal counts against: its player, or its
// author if it has no player.
func rateAccountOf(j *judgedEvent) string {
	if j.Player != "" {
		return j.Player
	}
	return j.Author.Account
}

func tokenKey(l access.Level, p Purpose, at time.Time) string {
	return fmt.Sprintf("%d:%s:%s", l, p, at.UTC().Format(time.DateOnly))
}

// countWindow counts the proposals that passed under keys within a time. If there are n or more, it
// also returns the time until the n-th last of them leaves the window.
func (a *admission) countWindow(keys []string, within time.Duration, n int,
	now time.Time) (count int, wait time.Duration) {
	recent := make([][]time.Time, len(keys))
	for i, key := range keys {
		recent[i] = a.timesSince(key, now.Add(-within), now)
		count += len(recent[i])
	}
	if count < n {
		return count, 0
	}
	all := slices.Concat(recent...)
	slices.SortFunc(all, func(x, y time.Time) int { return y.Compare(x) })
	return count, all[n-1].Add(within).Sub(now)
}

// timesSince returns the times under a key after a time. It removes times that are out of reach of
// every window.
func (a *admission) timesSince(key string, after, now time.Time) []time.Time {
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

// levelKeys returns one key for each level up to upTo.
func levelKeys(upTo access.Level, format string, args ...any) []string {
	var keys []string
	for l := access.LevelUser; l <= upTo; l++ {
		keys = append(keys, fmt.Sprintf(format, append([]any{l}, args...)...))
	}
	return keys
}

// checkRate is the sixth gate.
func (a *admission) checkRate(s *Service, c *candidate, now time.Time) outcome {
	l, level := s.cfg.Limits, c.rec.Author.Level
	for _, limit := range []struct {
		name   string
		keys   []string
		within time.Duration
		most   int
	}{
		{"player_minute", levelKeys(level, "player:%d:%s:%s", rateAccountOf(&c.rec), c.rec.Purpose), time.Minute,
			l.PlayerMinute},
		{"player_hour", levelKeys(level, "player:%d:%s:%s", rateAccountOf(&c.rec), c.rec.Purpose), time.Hour, l.PlayerHour},
		{"key_minute", []string{"key:" + c.rec.Author.Account}, time.Minute, l.KeyMinute},
		{"world_minute", levelKeys(level, "world:%d"), time.Minute, l.WorldMinute},
	} {
		if n, wait := a.countWindow(limit.keys, limit.within, limit.most, now); n >= limit.most {
			return rateRefusal(limit.name, limit.most, wait)
		}
	}
	spent := 0
	for i := access.LevelUser; i <= level; i++ {
		spent += a.tokens[tokenKey(i, c.rec.Purpose, now)]
	}
	if spent+c.rec.Tokens > l.TokensDay {
		tomorrow := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		return rateRefusal("tokens_day", l.TokensDay, tomorrow.Sub(now))
	}
	return outcome{input: hashOf([]byte(rateAccountOf(&c.rec)), []byte(c.rec.Purpose))}
}

func rateRefusal(limit string, most int, wait time.Duration) outcome {
	seconds := max(1, int((wait+time.Second-1)/time.Second))
	return outcome{input: hashOf([]byte(limit)), refused: &Rejection{
		Message: fmt.Sprintf("the limit %s of %d is reached; propose again in %d s", limit, most, seconds),
		Details: map[string]any{"limit": limit, "most": most}, Retryable: true, RetryAfterSeconds: seconds,
	}}
}
