package proposal

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// Replayed is the result of judging a proposal again: identical, or the first difference.
type Replayed struct {
	ProposalID string      `json:"proposalId"`
	Identical  bool        `json:"identical"`
	Prompt     string      `json:"prompt,omitempty" jsonschema:"The prompt, made again from its template and context."`
	PromptHash string      `json:"promptHash,omitempty"`
	Difference *Difference `json:"difference,omitempty"`
}

// Difference is the first point where a replay differs from the record.
type Difference struct {
	At  string `json:"at" jsonschema:"The gate, or promptHash."`
	Was string `json:"was"`
	Now string `json:"now"`
}

// Replay judges a proposal again by the gates up to replay, on the world and the ledger as they
// were when it was judged, through a view of its author's level. It stores nothing.
func (s *Service) Replay(ctx context.Context, g access.Grant, id string) (Replayed, error) {
	e, err := s.findVisible(ctx, g, id)
	if err != nil {
		return Replayed{}, err
	}
	if string(e.judged.Payload) == "null" {
		return Replayed{},
			fault.New(fault.Conflict,
				"the payload was not kept, since it held what nobody should read; there is nothing to judge again")
	}
	k := s.kinds[kindName(e.judged.Kind)]
	if k == nil || k.Schema() != e.judged.Kind {
		return Replayed{}, fault.New(fault.Conflict, "%s is not judged here any more", e.judged.Kind)
	}
	c := &candidate{kind: k, grant: g.As(e.judged.Author.Level),
		common: Common{Purpose: e.judged.Purpose, Provenance: e.judged.Provenance}, rec: *e.judged}
	c.rec.Verdicts, c.rec.Prompt, c.rec.Refused = nil, "", nil
	if err := s.rejudgeRecorded(ctx, c, e); err != nil {
		return Replayed{}, err
	}
	out := Replayed{ProposalID: e.judged.ID.String(), PromptHash: e.judged.Prompt,
		Difference: firstDifference(e.judged, &c.rec)}
	if out.Identical = out.Difference == nil; out.Identical {
		out.Prompt = c.prompt
	}
	return out, nil
}

// rejudgeRecorded runs the gates again for a recorded proposal, up to the first refusal.
func (s *Service) rejudgeRecorded(ctx context.Context, c *candidate, e *ledgerEntry) error {
	if !c.addVerdict(GateSchema, c.kind.Schema(), s.checkSchema(c)) {
		return nil
	}
	c.texts = c.draft.Texts()
	c.sig = signatureOf(c.texts)
	var held outcome
	profile := ""
	err := s.cfg.Canon.Read(ctx, c.grant, func(l *canon.Snapshot) (err error) {
		profile = l.World().Settings.Extra[ProfileSetting]
		held, err = s.checkInvariant(ctx, c, State{Snapshot: l, At: e.judged.World})
		return err
	})
	if err != nil {
		return err
	}
	judged, err := s.checkSafety(ctx, c, profile)
	if err != nil || !c.addVerdict(GateSafety, s.cfg.Policy.Version, judged) {
		return err
	}
	if c.replay, err = s.checkReplay(ctx, c); err != nil {
		return err
	}
	if !c.addVerdict(GateInvariant, "invariant/1", held) {
		return nil
	}
	near, err := s.recheckDuplicates(ctx, c, e)
	if err != nil || !c.addVerdict(GateDuplication, "duplication/1", near) {
		return err
	}
	c.addVerdict(GateReplay, replayRules, c.replay)
	return nil
}

// recheckDuplicates is the duplication gate on the ledger as it was before the proposal.
func (s *Service) recheckDuplicates(ctx context.Context, c *candidate, e *ledgerEntry) (outcome, error) {
	var a admission
	a.reset()
	for rec, err := range s.cfg.Canon.Records(ctx, c.grant, s.ledgerOf(c.grant.World()).stream, 1) {
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
		a.foldEntry(s, before, e.at)
	}
	if !c.kind.Repeats && a.hasNearDuplicate(s, c, e.at) {
		return outcome{refused: &Rejection{}}, nil
	}
	return outcome{}, nil
}

// firstDifference returns the first gate whose verdicts differ, among the gates that are replayed,
// or the difference of the prompt hashes. It returns nil if there is none.
func firstDifference(was, now *judgedEvent) *Difference {
	for i, v := range was.Verdicts {
		if v.Gate == GateRate || v.Gate == GateAudit {
			break
		}
		if i >= len(now.Verdicts) {
			return &Difference{string(v.Gate), verdictText(v), "not reached"}
		}
		if n := now.Verdicts[i]; n.Gate != v.Gate || n.Passed != v.Passed || n.Code != v.Code || n.Version != v.Version {
			return &Difference{string(v.Gate), verdictText(v), verdictText(n)}
		}
	}
	if was.Prompt != now.Prompt {
		return &Difference{"promptHash", was.Prompt, now.Prompt}
	}
	return nil
}

func verdictText(v Verdict) string {
	if v.Passed {
		return v.Version + ": passed"
	}
	return v.Version + ": " + v.Code
}
