package proposal

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// CanonChange is the name of the kind that proposes a write operation of a surface.
const CanonChange = "canon_change"

// canonChangeIn is the payload of that kind.
type canonChangeIn struct {
	Op     operationIn `json:"op" jsonschema:"The write operation with its arguments."`
	Reason string      `json:"reason" minlen:"1" maxlen:"1000" jsonschema:"The reason, for the person who decides."`
}

type operationIn struct {
	Name      string          `json:"name" minlen:"1" maxlen:"64" jsonschema:"Name of the operation, such as update_card."`
	Arguments json.RawMessage `json:"arguments" jsonschema:"Its arguments."`
}

// canonChange returns the kind whose drafts are carried out by an operation.
func (s *Service) canonChange() *Kind {
	return define(Kind{
		Name: CanonChange, Version: 1, Purpose: ForPlanning, Policy: Review, Repeats: true,
		Tool: Tool{Name: "propose-canon-change", ID: "WorldMutation-proposeCanonChange",
			Asked: []string{
				"ask for an edit that I may not make", "suggest a correction to the owner",
				"please change this page", "hand in an alteration for review",
				"somebody in charge should decide on my edit", "I would like a page to say something",
				"addition to a page, for review", "I suggest to alter a page", "somebody must approve my change",
				"request an edit", "my wish for a page, for those in charge",
				"put my correction before the owner", "suggest an edit of a page", "hand in a correction",
				"a wish for the text of an article", "ask that a page be changed",
				"submit an addition for review",
			},
			Title: "Propose a change to the canon", Surfaces: []string{"world"},
			Doc: "Propose a write of the archive or the campaign instead of making it, for example because your key may not write. " +
				"A person sees the exact change and decides; get-proposal shows the result.",
			Examples: []op.Example{{Title: "A wiki card",
				Input: `{"op": {"name": "update_card", "arguments": {"name": "Rent Quay", "patch": {"mode": "append", "content": "<p>Wet.</p>"}}}, "reason": "It rained."}`}}},
		Fallbacks: []string{"The archivist nods, and puts the note with the others.",
			"It is written down, in pencil."},
	}, s.draftChange)
}

// changeDraft is a canon change whose operation is known and whose input is checked.
type changeDraft struct {
	operation *op.Operation
	input     json.RawMessage
	reason    string
}

func (s *Service) draftChange(in canonChangeIn) (Draft, error) {
	var o *op.Operation
	if s.cfg.Operation != nil {
		o, _ = s.cfg.Operation(in.Op.Name)
	}
	if o == nil || !o.Writes() || o.Delegates || o.NoWorld || o.Operator {
		return nil, fault.BadField("op.name",
			"is not a write operation on a world that can be proposed; list the operations to see which exist")
	}
	input, err := o.Check(in.Op.Arguments)
	if err != nil {
		return nil, nestFaultFields("op.arguments", err)
	}
	return changeDraft{o, input, in.Reason}, nil
}

// nestFaultFields prefixes the fields of a fault with a field.
func nestFaultFields(field string, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	c := *f
	c.Fields = slices.Clone(f.Fields)
	for i := range c.Fields {
		c.Fields[i].Field = field + "." + c.Fields[i].Field
	}
	if len(c.Fields) == 0 {
		c.Fields = []fault.Field{{Field: field, Error: f.Message}}
	}
	return &c
}

// Scope returns the operation's name and the value of its target.
func (d changeDraft) Scope() string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(d.input, &fields) // an object: operation.Check returned it
	var target string
	_ = json.Unmarshal(fields[d.operation.Target], &target)
	return "canon:" + d.operation.Name + ":" + target
}

func (d changeDraft) Player() string { return "" }

// Texts returns all strings of the arguments, and the reason.
func (d changeDraft) Texts() []Text {
	return append(TextsOf("op.arguments", d.input), Text{Field: "reason", Text: d.reason})
}

// Check does not check the world. The operation's dry run does, which always follows because every
// proposal of this kind waits for a person.
func (d changeDraft) Check(_ context.Context, s State) (Finding, error) {
	return Finding{Label: access.NewLabel(s.View().Level)}, nil
}

// Plan is never called: the operation makes the change.
func (d changeDraft) Plan(context.Context, *canon.Plan, access.Label) (canon.Event, error) {
	return canon.Event{}, fault.New(fault.Internal, "a %s is made by its operation", CanonChange)
}

// TextsOf returns every string of a JSON value with its path.
func TextsOf(field string, value json.RawMessage) []Text {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return nil
	}
	var list []Text
	gatherTexts(field, v, &list)
	return list
}

func gatherTexts(field string, v any, into *[]Text) {
	switch v := v.(type) {
	case string:
		*into = append(*into, Text{Field: field, Text: v})
	case []any:
		for _, x := range v {
			gatherTexts(field+"[]", x, into)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			gatherTexts(field+"."+name, v[name], into)
		}
	}
}

var _ op.Diverter = (*Service)(nil)

// Divert turns a write of an advisory key, or of a member who may only propose, into a proposal.
func (s *Service) Divert(ctx context.Context, c *op.Call, o *op.Operation, input json.RawMessage) (*op.Answer, error) {
	reason := "a suggestion"
	if c.Grant.Caller().Advisory {
		reason = "a write of an advisory key"
	}
	payload, err := json.Marshal(canonChangeIn{Op: operationIn{o.Name, input}, Reason: reason})
	if err != nil {
		return nil, err
	}
	result, err := s.Submit(ctx, c.Grant, Submission{Kind: CanonChange, Payload: payload, Diverted: true,
		Transport: c.Transport})
	if err == nil && result.Rejection != nil {
		err = rejectedFault(result)
	}
	if err != nil {
		return nil, err
	}
	out, err := json.Marshal(result)
	return &op.Answer{Output: out, Reply: op.Reply{Status: 202, Replayed: result.repeated}}, err
}

// rejectedFault returns the error for a write whose proposal was rejected: that of the write itself where it failed in
// its dry run.
func rejectedFault(r Result) error {
	e := fault.New(fault.Rule, "%s", r.Rejection.Message)
	switch status := r.Rejection.Details[detailStatus].(type) {
	case int:
		e.Kind = fault.KindOfStatus(status)
	case float64: // of a record
		e.Kind = fault.KindOfStatus(int(status))
	default:
		e.RetryAfter = time.Duration(r.Rejection.RetryAfterSeconds) * time.Second
		if r.Rejection.Gate == GateRate {
			e.Kind = fault.RateLimited
		} else if r.Rejection.Retryable {
			e.Kind = fault.Unavailable
		}
	}
	for _, i := range r.Issues {
		if i.Field != "" {
			e.Fields = append(e.Fields, fault.Field(i))
		}
	}
	return e.With("code", r.Rejection.Code).With("gate", string(r.Rejection.Gate)).With("proposalId", r.ProposalID)
}
