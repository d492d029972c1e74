package proposal

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// Replayed is what judging a proposal again gave: the same, or the first difference.
type Replayed struct {
	ProposalID string      `json:"proposalId"`
	Identical  bool        `json:"identical"`
	Prompt     string      `json:"prompt,omitempty" jsonschema:"The prompt, made again from its template and context."`
	PromptHash string      `json:"promptHash,omitempty"`
	Difference *Difference `json:"difference,omitempty"`
}

// Difference is where a replay departs from what is recorded.
type Difference struct {
	At  string `json:"at" jsonschema:"The gate, or promptHash."`
	Was string `json:"was"`
	Now string `json:"now"`
}

// Replay judges a proposal again by the gates up to replay, on the world and the ledger as
// they were when it was judged, through a view of its author's level. Nothing is stored.
func (s *Service) Replay(ctx context.Context, g access.Grant, id string) (Replayed, error) {
	e, err := s.find(ctx, g, id)
	if err != nil {
		return Replayed{}, err
	}
	if string(e.judged.Payload) == "null" {
		return Replayed{}, fault.New(fault.Conflict, "the payload was not kept, since it held what nobody should read; there is nothing to judge again")
	}
	k := s.kinds[kindName(e.judged.Kind)]
	if k == nil || k.Schema() != e.judged.Kind {
		return Replayed{}, fault.New(fault.Conflict, "%s is not judged here any more", e.judged.Kind)
	}
	c := &candidate{kind: k, grant: g.As(e.judged.Author.Level), common: Common{Purpose: e.judged.Purpose, Provenance: e.judged.Provenance}, rec: *e.judged}
	c.rec.Verdicts, c.rec.Prompt, c.rec.Refused = nil, "", nil
	if err := s.rejudge(ctx, c, e); err != nil {
		return Replayed{}, err
	}
	out := Replayed{ProposalID: e.judged.ID.String(), PromptHash: e.judged.Prompt, Difference: difference(e.judged, &c.rec)}
	if out.Identical = out.Difference == nil; out.Identical {
		out.Prompt = c.prompt
	}
	return out, nil
}

// rejudge takes a recorded proposal through the gates again, as far as it came.
func (s *Service) rejudge(ctx context.Context, c *candidate, e *entry) error {
	if !c.note(GateSchema, c.kind.Schema(), s.schema(c)) {
		return nil
	}
	c.texts = c.draft.Texts()
	c.sig = signatureOf(c.texts)
	var held outcome
	profile := ""
	err := s.cfg.Canon.Read(ctx, c.grant, func(l *canon.Snapshot) (err error) {
		profile = l.World().Settings.Extra[ProfileSetting]
		held, err = s.invariant(ctx, c, State{Snapshot: l, At: e.judged.World})
		return err
	})
	if err != nil {
		return err
	}
	judged, err := s.safety(ctx, c, profile)
	if err != nil || !c.note(GateSafety, s.cfg.Policy.Version, judged) {
		return err
	}
	if c.replay, err = s.replayable(ctx, c); err != nil {
		return err
	}
	if !c.note(GateInvariant, "invariant/1", held) {
		return nil
	}
	near, err := s.compared(ctx, c, e)
	if err != nil || !c.note(GateDuplication, "duplication/1", near) {
		return err
	}
	c.note(GateReplay, replayRules, c.replay)
	return nil
}

// compared is the duplication gate on the ledger as it stood before the proposal.
func (s *Service) compared(ctx context.Context, c *candidate, e *entry) (outcome, error) {
	var a admission
	a.reset()
	for rec, err := range s.cfg.Canon.Records(ctx, c.grant, s.ledger(c.grant.World()).stream, 1) {
		if err != nil {
			return outcome{}, err
		}
		if rec.Seq >= e.seq {
			break
		}
		before, err := entryOf(rec)
		if err != nil {
			return outcome{}, err
		}
		a.take(s, before, e.at)
	}
	if !c.kind.Repeats && a.near(s, c, e.at) {
		return outcome{refused: &Rejection{}}, nil
	}
	return outcome{}, nil
}

// difference is the first gate of which the two say something else, of those that both
// came to and that are replayed.
func difference(was, now *judged) *Difference {
	for i, v := range was.Verdicts {
		if v.Gate == GateRate || v.Gate == GateAudit {
			break
		}
		if i >= len(now.Verdicts) {
			return &Difference{string(v.Gate), said(v), "not reached"}
		}
		if n := now.Verdicts[i]; n.Gate != v.Gate || n.Passed != v.Passed || n.Code != v.Code || n.Version != v.Version {
			return &Difference{string(v.Gate), said(v), said(n)}
		}
	}
	if was.Prompt != now.Prompt {
		return &Difference{"promptHash", was.Prompt, now.Prompt}
	}
	return nil
}

func said(v Verdict) string {
	if v.Passed {
		return v.Version + ": passed"
	}
	return v.Version + ": " + v.Code
}
