package proposal

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Replayed is the result of judging a proposal again: identical, or the first difference.
type Replayed struct {
	ProposalID string      `json:"proposalId"`
	Identical  bool        `json:"identical"`
	Prompt     string      `json:"prompt,omitempty" jsonschema:"The prompt, rendered again from its template and context."`
	PromptHash string      `json:"promptHash,omitempty"`
	Difference *Difference `json:"difference,omitempty"`
}

// Difference is the first point where a replay differs from the record.
type Difference struct {
	At  string `json:"at" jsonschema:"Name of the gate, or promptHash."`
	Was string `json:"was"`
	Now string `json:"now"`
}

// Replay judges a proposal again by the gates up to lastReplayed, on the world and the ledger as they
// were when it was judged, through a view of its author's level. It stores nothing.
func (s *Service) Replay(ctx context.Context, g access.Grant, id string) (Replayed, error) {
	e, err := s.findVisible(ctx, g, id)
	if err != nil {
		return Replayed{}, err
	}
	if string(e.judged.Payload) == "null" {
		return Replayed{},
			fault.New(fault.Conflict,
				"the payload was not stored, because it contained secrets or personal data; it cannot be judged again")
	}
	k := s.kinds[kindName(e.judged.Kind)]
	if k == nil || k.Schema() != e.judged.Kind {
		return Replayed{}, fault.New(fault.Conflict, "proposals of the form %s are no longer judged here", e.judged.Kind)
	}
	c := &candidate{kind: k, grant: g.As(e.judged.Author.Level), recorded: e, asOf: e.judged.World,
		common: Common{Purpose: e.judged.Purpose, Provenance: e.judged.Provenance}, rec: *e.judged}
	c.view = c.grant.View()
	c.rec.Verdicts, c.rec.Prompt, c.rec.Refused, c.rec.Status = nil, "", nil, ""
	if err := s.rejudge(ctx, c); err != nil {
		return Replayed{}, err
	}
	out := Replayed{ProposalID: e.judged.ID.String(), PromptHash: e.judged.Prompt,
		Difference: firstDifference(e.judged, &c.rec)}
	if out.Identical = out.Difference == nil; out.Identical {
		out.Prompt = c.sources.prompt
	}
	return out, nil
}

// rejudge takes a recorded proposal through the gates again, up to lastReplayed.
func (s *Service) rejudge(ctx context.Context, c *candidate) error {
	err := s.openCandidate(ctx, c)
	if err == nil {
		err = s.walk(ctx, c)
	}
	if err != nil || c.rec.Status == Rejected {
		return err
	}
	if c.ledger, err = s.admissionBefore(ctx, c.grant, c.recorded); err != nil {
		return err
	}
	c.now = c.recorded.at
	return s.walk(ctx, c)
}

// admissionBefore returns the state of the ledger as it was before a proposal.
func (s *Service) admissionBefore(ctx context.Context, g access.Grant, e *ledgerEntry) (*admission, error) {
	a := &admission{}
	a.reset()
	for rec, err := range s.cfg.Canon.Records(ctx, g, s.ledgerOf(g.World()).stream, 1) {
		if err != nil {
			return nil, err
		}
		if rec.Seq >= e.seq {
			break
		}
		before, err := entryOf(rec)
		if err != nil {
			return nil, err
		}
		a.foldEntry(s, before, e.at)
	}
	return a, nil
}

// firstDifference returns the first gate whose verdicts differ, among the gates that are replayed,
// or the difference of the prompt hashes. It returns nil if there is none.
func firstDifference(was, now *judgedEvent) *Difference {
	for i, v := range was.Verdicts[:min(len(was.Verdicts), lastReplayed)] {
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
