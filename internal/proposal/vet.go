package proposal

import (
	"context"
	"encoding/json"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// Vet judges a text that is no proposal, such as the narration of a committed act, by the gates for texts: schema,
// safety and the check of its kind. Nothing is recorded and nobody is asked. The refusal is nil if all let it through.
func (s *Service) Vet(ctx context.Context, g access.Grant, k *Kind, payload json.RawMessage) (*Rejection, error) {
	c := s.newCandidate(g, k, Submission{Kind: k.Name, Payload: payload})
	if err := s.openCandidate(ctx, c); err != nil {
		return nil, err
	}
	for _, gate := range s.textGates(k) {
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

// textGates returns the gates for texts, as they judge a text that is not proposed: by the caller's view alone.
func (s *Service) textGates(k *Kind) []gate {
	list := s.gates(k)[:3]
	for n := range list {
		if list[n].name == GateInvariant {
			list[n].check = func(ctx context.Context, c *candidate) (o outcome, err error) {
				err = s.cfg.Canon.Read(ctx, c.grant, func(snap *canon.Snapshot) (err error) {
					o, err = s.checkDraft(ctx, c, State{Snapshot: snap})
					return err
				})
				return o, err
			}
		}
	}
	return list
}

// Assessment is the result of a gate for texts on a draft.
type Assessment struct {
	Gate   Gate
	Passed bool
	Risk   int    // number of points that a person should check
	Why    string // of a refusal
}

// Assess judges a draft as Vet does, but by each of the gates for texts, as far as the draft can be read. All that an
// assessment tells is in the caller's view.
func (s *Service) Assess(ctx context.Context, g access.Grant, kind string, payload json.RawMessage) (list []Assessment,
	err error) {
	k := s.kinds[kind]
	if k == nil {
		return nil, fault.New(fault.Internal, "there is no kind of proposal %q", kind)
	}
	c := s.newCandidate(g, k, Submission{Kind: k.Name, Payload: payload})
	if err := s.openCandidate(ctx, c); err != nil {
		return nil, err
	}
	for _, gate := range s.textGates(k) {
		o, err := gate.check(ctx, c)
		if err != nil {
			return list, err
		}
		a := Assessment{Gate: gate.name, Passed: o.refused == nil, Risk: len(o.flags)}
		if gate.name == GateInvariant && (c.finding.Review != "" || c.finding.doubt() != nil) {
			a.Risk++
		}
		if o.refused != nil {
			a.Why = o.refused.Message
		}
		list = append(list, a)
		if gate.name == GateSchema && o.refused != nil {
			break
		}
	}
	return list, nil
}
