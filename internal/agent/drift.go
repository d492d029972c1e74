package agent

import (
	"context"
	"encoding/json"
	"time"

	"loregate/internal/access"
	"loregate/internal/op"
	"loregate/internal/proposal"
)

// Kept is a text that players still read at a place or hear from somebody.
type Kept struct {
	Kind    string    `json:"kind" enum:"layer,line,said" jsonschema:"A layer over a place, a line that a character says when it is asked, or one that it said to a player."`
	CardID  string    `json:"cardId" jsonschema:"The place, or the character."`
	Name    string    `json:"name"`
	LayerID string    `json:"layerId,omitempty"`
	Text    string    `json:"text"`
	Level   string    `json:"level" enum:"user,gm,admin" jsonschema:"Lowest role of its readers."`
	Written time.Time `json:"written,omitzero"`
	Offset  int       `json:"-"` // of its card
}

// Drift is a kept text that a gate would refuse today.
type Drift struct {
	Kept
	Gate string `json:"gate" enum:"schema,safety,invariant"`
	Why  string `json:"why"`
}

type auditIn struct {
	Offset int `json:"offset,omitzero" min:"0" max:"10000000" numeric:"string" jsonschema:"Number of places and characters to skip, in the order of their names."`
	Limit  int `json:"limit,omitzero" min:"1" max:"200" default:"100" numeric:"string" jsonschema:"Most places and characters to audit."`
}

type auditOut struct {
	Cards  int     `json:"cards" jsonschema:"Places and characters in the world."`
	Judged int     `json:"judged" jsonschema:"Texts that were judged."`
	Clean  float64 `json:"cleanShare" jsonschema:"Share of them that the gates still let through; 1 if there are none."`
	Next   int     `json:"nextOffset,omitzero" jsonschema:"Offset of the rest, also if a call ends early for its time; absent at the end."`
	Drifts []Drift `json:"drifts"`
}

// Bounds of one call. An audit that reaches one ends before the next card, and tells its offset.
const (
	maxAudited  = 1000 // texts
	maxAuditing = 2 * time.Second
)

// AuditOperation returns the operation that judges the texts kept beside the canon.
func (a *Agents) AuditOperation(surfaces ...string) *op.Operation {
	return op.Define(op.Spec{
		Name: "audit-drift", Title: "Find kept texts that the canon denies", Surfaces: surfaces, Effect: access.Read,
		MinRole: access.RoleGM, Route: "GET /api/world/drift",
		Asked: []string{
			"texts that are no longer true", "moods that contradict the canon", "lines that became wrong",
			"find outdated descriptions", "check old ambience against the facts", "contradictions between lines and facts",
			"audit of drift", "does anybody still say something false",
		},
		Doc: "Judge the layers over places and the lines of characters by the gates for safety and claims, against the canon " +
			"of now as their readers see it. Lists those that a gate would refuse. Nothing is changed; to end a layer, use " +
			"propose-layer-end.",
		Examples: []op.Example{{Title: "The first places and characters", Input: `{"limit": 50}`}},
	}, a.auditDrift)
}

func (a *Agents) auditDrift(ctx context.Context, c *op.Call, in auditIn) (out auditOut, err error) {
	limit := in.Limit
	if limit == 0 {
		limit = 100
	}
	out.Drifts = []Drift{}
	list, total, err := a.cfg.Kept(ctx, c.Grant, in.Offset, limit)
	if err != nil {
		return out, err
	}
	out.Cards = total
	if in.Offset+limit < total {
		out.Next = in.Offset + limit
	}
	began := time.Now()
	for i, k := range list {
		if i > 0 && k.Offset > list[i-1].Offset && (out.Judged >= maxAudited || time.Since(began) > maxAuditing) {
			out.Next = k.Offset
			break
		}
		refused, err := a.cfg.VetKept(ctx, c.Grant, k)
		if err != nil {
			return out, err
		}
		out.Judged++
		if refused != nil {
			out.Drifts = append(out.Drifts, Drift{k, string(refused.Gate), reasonOf(refused)})
		}
	}
	out.Clean = shareOf(out.Judged-len(out.Drifts), out.Judged)
	if a.cfg.Audited != nil {
		a.cfg.Audited(out.Judged, len(out.Drifts))
	}
	return out, nil
}

// reasonOf returns the first issue of a refusal, or its message.
func reasonOf(r *proposal.Rejection) string {
	if issues, ok := r.Details["issues"].([]proposal.Issue); ok && len(issues) > 0 {
		return issues[0].Error
	}
	return r.Message
}

func shareOf(part, all int) float64 {
	if all == 0 {
		return 1
	}
	return float64(part) / float64(all)
}

// Numbers of an audit by an agent.
const (
	auditPage    = 200
	maxEndLayers = 10 // layers that one run proposes to end
)

// audit is the result of a run over the kept texts.
type audit struct {
	Judged int     `json:"judged"`
	Clean  float64 `json:"cleanShare"`
	Drifts []Drift `json:"drifts"`
}

// runAudit judges the kept texts of the world. The role canonicality proposes to end layers that the canon denies; the role
// safety only reports. In a world with more cards than a run may read, each day has a part of its own.
func runAudit(ctx context.Context, t *task, _ Order) (out Report, err error) {
	sum := audit{Drifts: []Drift{}}
	page, err := t.readDrift(ctx, 0)
	if err != nil {
		return out, err
	}
	sum.add(page, t.role)
	for next := t.auditStart(page); next > 0 && t.calls < MaxToolCalls; next = page.Next {
		if page, err = t.readDrift(ctx, next); err != nil {
			return out, err
		}
		sum.add(page, t.role)
	}
	sum.Clean = shareOf(sum.Judged-len(sum.Drifts), sum.Judged)
	out = Report{Status: Done, Result: sum}
	if t.role != "canonicality" {
		return out, nil
	}
	for _, d := range sum.Drifts {
		if d.LayerID == "" || len(t.proposed) == maxEndLayers {
			continue
		}
		r, err := t.submitDraft(ctx, draft{"layer_end", "propose-layer-end",
			map[string]any{"locationId": d.CardID, "layerId": d.LayerID, "reason": d.Why},
			proposal.Provenance{Model: "rules"}})
		if err != nil {
			return out, err
		}
		out.Status = string(r.Status)
	}
	return out, nil
}

// auditStart returns the offset after the first page: in a small world the next page, in a large one the part of the day.
// The parts begin where the first page ended, which may have been early.
func (t *task) auditStart(first auditOut) int {
	const perRun = auditPage * (MaxToolCalls - 1)
	if first.Next == 0 || first.Cards <= perRun+auditPage {
		return first.Next
	}
	day := int(t.agents.cfg.Now().Unix() / int64((24 * time.Hour).Seconds()))
	parts := (first.Cards - first.Next + perRun - 1) / perRun
	return first.Next + day%parts*perRun
}

func (t *task) readDrift(ctx context.Context, offset int) (out auditOut, err error) {
	answer, err := t.readOutput(ctx, "audit-drift", auditIn{Offset: offset, Limit: auditPage})
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(answer, &out)
}

// add adds a page, as far as it is for the eyes of a role: safety looks at its own gate.
func (s *audit) add(page auditOut, role string) {
	s.Judged += page.Judged
	for _, d := range page.Drifts {
		if (d.Gate == string(proposal.GateSafety)) == (role == "safety") {
			s.Drifts = append(s.Drifts, d)
		}
	}
}
