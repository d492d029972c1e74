package proposal

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// checkDuplication is the fourth gate: it refuses texts that are nearly the same as accepted ones.
// A repetition of the same payload is no refusal; findRepeated detects it before.
func (s *Service) checkDuplication(_ context.Context, c *candidate) (outcome, error) {
	// The record's position in the ledger identifies the ledger's state. A hash of that state here
	// would reveal to the author that others had proposed.
	o := outcome{input: hashOf(c.rec.Hash[:])}
	if !c.kind.Repeats && c.ledger.hasNearDuplicate(s, c) {
		o.refused = &Rejection{Message: "nearly the same text was accepted before; propose something new, or keep the accepted text"}
	}
	return o, nil
}

// findRepeated returns the earlier proposal that a candidate repeats: one with the same idempotency
// key, or, unless the candidate is refused already, one with the same payload. It returns nil if
// there is none.
func (a *admission) findRepeated(s *Service, c *candidate) (*tracked, error) {
	u := a.used[c.rec.Author.Account+"\x00"+c.rec.Idempotency]
	if c.rec.Idempotency != "" && u != nil && c.now.Sub(u.at) < keyLife {
		if u.input != c.rec.Input {
			return nil, fault.New(fault.Conflict, "this idempotency key was used for another request; use a new key")
		}
		same := *a.byID[u.id]
		return &same, nil
	}
	if c.rec.Status == Rejected {
		return nil, nil
	}
	for _, st := range a.byHash[c.rec.Hash] {
		if c.mayRepeat(st, s.cfg.Limits.Life) {
			same := *st
			return &same, nil
		}
	}
	return nil, nil
}

// mayRepeat reports whether a candidate repeats an earlier proposal of the same payload, and its
// author may know of it: one of their own that still waits, or an accepted one whose outcome they
// can see. One that waits because it cites no context is not repeated by one that does.
func (c *candidate) mayRepeat(st *tracked, life time.Duration) bool {
	switch st.status {
	case Pending:
		return st.author.isCaller(c.grant.Caller()) && c.view.Level >= st.author.Level && c.now.Sub(st.at) < life &&
			!(st.bare && c.common.Provenance.citesContext())
	case Accepted:
		return !c.kind.Repeats && c.view.Sees(st.outcome)
	}
	return false
}

// hasNearDuplicate reports whether an accepted proposal visible to the author is nearly the same.
func (a *admission) hasNearDuplicate(s *Service, c *candidate) bool {
	if len(c.sig.shingles) == 0 {
		return false
	}
	prefix := recentPrefix(c.kind.Name, c.rec.Scope)
	for _, label := range a.recentLabels { // a world has few labels
		list := a.recent[prefix+label]
		if len(list) == 0 || !c.view.Sees(list[0].outcome) {
			continue
		}
		for _, st := range slices.Backward(list) {
			if c.now.Sub(st.at) > s.cfg.Limits.Within {
				break // all earlier ones are older
			}
			if c.sig.isLike(st.sig, s.cfg.Limits) {
				return true
			}
		}
	}
	return false
}

// checkStillNew runs the gate again for a waiting proposal that is about to be approved.
func (s *Service) checkStillNew(w authoredChange, a *admission) error {
	if w.kind.Repeats {
		return nil
	}
	c := &candidate{kind: w.kind, sig: signatureOf(w.draft.Texts()), now: s.cfg.Now(), rec: *w.rec,
		view: access.View{Level: w.author.Role(w.world).Level(), Subject: w.author.Subject}}
	for _, other := range a.byHash[w.rec.Hash] {
		if other.id != w.rec.ID && other.status == Accepted && c.view.Sees(other.outcome) {
			return fault.New(fault.Conflict, "the same proposal was accepted in the meantime; reject or withdraw this one").With("code",
				codeDuplicate)
		}
	}
	if a.hasNearDuplicate(s, c) {
		return fault.New(fault.Conflict, "nearly the same text was accepted in the meantime; reject or withdraw this one").With("code",
			codeDuplicate)
	}
	return nil
}

// recentKey separates proposals by the label of their outcome, so that hidden proposals do not push
// visible ones out of the list.
func recentKey(kind, scope string, l access.Label) string {
	return recentPrefix(kind, scope) + l.String()
}

func recentPrefix(kind, scope string) string { return kind + "\x00" + scope + "\x00" }

// payloadHash identifies a payload of a kind: SHA-256 over the schema's name and the canonical
// JSON.
func payloadHash(k *Kind, payload json.RawMessage) canon.Hash {
	if b, err := op.Canonical(payload); err == nil {
		payload = b
	}
	return hashOf([]byte(k.Schema()), payload)
}
