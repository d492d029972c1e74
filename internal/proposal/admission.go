package proposal

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
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
		l = &ledger{stream: canon.LedgerStream(LedgerKind, w.String()), catalogue: newCatalogue()}
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
	bare    bool // it cites no context
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

// updateLedger adds the event whose payload decide returns to the ledger of a grant's world, or
// none for nil. The store's writer is held while decide runs, and the admission contains all earlier
// records. decide may run again.
func (s *Service) updateLedger(ctx context.Context, g access.Grant, typ string,
	decide func(*admission) (payload any, err error)) (canon.Receipt, error) {
	led := s.ledgerOf(g.World())
	return s.cfg.Canon.UpdateLedger(ctx, g, led.stream, func(t *canon.LedgerTx) ([]canon.Event, error) {
		led.admitMu.Lock()
		defer led.admitMu.Unlock()
		if err := led.admission.sync(s, t); err != nil {
			return nil, err
		}
		payload, err := decide(&led.admission)
		if err != nil || payload == nil {
			return nil, err
		}
		b, err := json.Marshal(payload)
		return []canon.Event{{Type: typ, Payload: b, Version: 1}}, err
	})
}

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
		status: j.Status, outcome: j.Outcome, bare: !j.Provenance.citesContext(), at: e.at}
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
