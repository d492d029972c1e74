package proposal

import (
	"context"
	"crypto/sha256"
	"fmt"

	"loregate/internal/canon"
	"loregate/internal/claim"
	"loregate/internal/safety"
)

// Gate is the name of a gate.
type Gate string

// The gates, in the order in which a proposal passes them.
const (
	GateSchema      Gate = "schema"
	GateSafety      Gate = "safety"
	GateInvariant   Gate = "invariant"
	GateDuplication Gate = "duplication"
	GateReplay      Gate = "replay"
	GateRate        Gate = "rate"
	GateAudit       Gate = "audit"
)

// Codes of refusals that decisions on proposals use as well.
const (
	codeDuplicate   = "NEAR_DUPLICATE"
	codeUnavailable = "AUDIT_UNAVAILABLE"
)

// need is the data that a gate needs beside the proposal itself.
type need int

const (
	needsNothing need = iota
	needsWorld        // a snapshot of the world, as the author sees it
	needsLedger       // the ledger of proposals, while the store's writer is held
)

// gate is one of the checks that a proposal has to pass.
type gate struct {
	number  int
	name    Gate
	code    string // of its refusals
	version string // of its rules
	needs   need
	check   func(context.Context, *candidate) (outcome, error)
}

// gates returns the gates in the order in which proposals of a kind pass them. The verdicts of a
// proposal are recorded in this order, so they belong to the first gates of the list.
func (s *Service) gates(k *Kind) []gate {
	return []gate{
		{1, GateSchema, "SCHEMA_INVALID", k.Schema(), needsNothing, s.checkSchema},
		{2, GateSafety, "SAFETY_BLOCKED", safety.Current, needsNothing, s.checkSafety},
		{3, GateInvariant, "INVARIANT_BROKEN", "invariant/2+" + claim.Version, needsWorld, s.checkInvariant},
		{4, GateDuplication, codeDuplicate, "duplication/1", needsLedger, s.checkDuplication},
		{5, GateReplay, "REPLAY_MISMATCH", "replay/2", needsNothing, s.checkReplay},
		{6, GateRate, "RATE_EXCEEDED", "rate/1", needsLedger, s.checkRate},
		{7, GateAudit, codeUnavailable, "audit/1", needsLedger, s.checkAudit},
	}
}

// lastReplayed is the number of the last gate whose verdict can be reproduced later.
const lastReplayed = 5

// outcome is the result of a gate.
type outcome struct {
	input   canon.Hash // hash of the gate's input
	flags   []string   // categories that the safety gate found
	refused *Rejection // nil if the gate lets the proposal through
	issues  []Issue
	opinion *Opinion // of the claims that the invariant gate could not settle; nil for none
}

// walk takes a candidate through the gates that it has not reached, in order, and adds their
// verdicts. It stops at the first refusal, and at a gate that needs the ledger while the candidate
// has none: the caller then opens the ledger and walks on. A recorded proposal is not taken beyond
// lastReplayed. An error is a failure, never a refusal.
func (s *Service) walk(ctx context.Context, c *candidate) error {
	for _, g := range s.gates(c.kind)[len(c.rec.Verdicts):] {
		switch {
		case c.rec.Status == Rejected, g.needs == needsLedger && c.ledger == nil,
			c.recorded != nil && g.number > lastReplayed:
			return nil
		}
		o, err := g.check(ctx, c)
		if err != nil {
			return err
		}
		c.addVerdict(g, o)
	}
	return nil
}

// addVerdict adds a gate's verdict. A refusal rejects the candidate.
func (c *candidate) addVerdict(g gate, o outcome) {
	v := Verdict{Gate: g.name, Version: g.version, Input: o.input, Passed: o.refused == nil, Flags: o.flags,
		Opinion: o.opinion}
	c.flagged = c.flagged || len(o.flags) > 0
	if o.refused != nil {
		o.refused.Gate, o.refused.Code = g.name, g.code
		o.refused.Fallback.Text = c.kind.pickFallback(g.name, c.texts)
		if o.refused.Details == nil {
			o.refused.Details = map[string]any{}
		}
		v.Code = o.refused.Code
		c.rec.Status, c.rec.Refused, c.rec.Issues = Rejected, o.refused, o.issues
	}
	c.rec.Verdicts = append(c.rec.Verdicts, v)
}

// refuse rejects a candidate in a gate's name after its turn.
func (s *Service) refuse(c *candidate, name Gate, o outcome) {
	for _, g := range s.gates(c.kind) {
		if g.name == name {
			c.addVerdict(g, o)
		}
	}
}

// pickFallback picks a fallback sentence for readers. The choice depends only on the kind, the gate
// and the texts, so it reveals nothing hidden.
func (k *Kind) pickFallback(g Gate, texts []Text) string {
	if len(k.Fallbacks) == 0 {
		return "For a moment something seemed about to change; then it was as before."
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\x00%s", k.Name, g)
	for _, t := range texts {
		_, _ = fmt.Fprintf(h, "\x00%s", t.Text)
	}
	return k.Fallbacks[int(h.Sum(nil)[0])%len(k.Fallbacks)]
}

func hashOf(parts ...[]byte) canon.Hash {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:", len(p))
		h.Write(p)
	}
	return canon.Hash(h.Sum(nil))
}
