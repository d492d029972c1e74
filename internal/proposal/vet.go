package proposal

import (
	"context"
	"encoding/json"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// Vet judges a text that is no proposal, such as the narration of a committed act, by the gates for texts: schema,
// safety and the check of its kind. Nothing is recorded and nobody is asked. The refusal is nil if all let it through.
func (s *Service) Vet(ctx context.Context, g access.Grant, k *Kind, payload json.RawMessage) (*Rejection, error) {
	c := s.newCandidate(g, k, Submission{Kind: k.Name, Payload: payload})
	if err := s.openCandidate(ctx, c); err != nil {
		return nil, err
	}
	checkWorld := func(ctx context.Context, c *candidate) (o outcome, err error) {
		err = s.cfg.Canon.Read(ctx, g, func(snap *canon.Snapshot) (err error) {
			o, err = s.checkDraft(ctx, c, State{Snapshot: snap})
			return err
		})
		return o, err
	}
	for _, gate := range s.gates(k)[:3] {
		if gate.name == GateInvariant {
			gate.check = checkWorld
		}
		o, err := gate.check(ctx, c)
		if err != nil {
			return nil, err
		}
		if c.addVerdict(gate, o); c.rec.Refused != nil {
			break
		}
	}
	return c.rec.Refused, nil
}
