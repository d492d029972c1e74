package proposal

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// Surface is the surface of the operations on proposals.
const Surface = "world"

// Operations returns one operation to propose each kind, and the operations that manage proposals.
func (s *Service) Operations() []*op.Operation {
	var list []*op.Operation
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		list = append(list, s.toolOperation(s.kinds[name]))
	}
	list = append(append(list, s.proposalOps()...), s.renewOp())
	return append(list, s.standingOps()...)
}

// commonNames are the members of an input that belong to Common.
var commonNames = []string{"contextRef", "purpose", "provenance", "idempotencyKey", "correlationId"}

// toolOperation returns the operation that proposes a kind.
func (s *Service) toolOperation(k *Kind) *op.Operation {
	shape := op.ShapeOf[Common]()
	spec := op.Spec{
		Name: k.Tool.Name, Title: k.Tool.Title, Doc: k.Tool.Doc, Asked: k.Tool.Asked,
		Surfaces: k.Tool.Surfaces, Effect: access.Propose,
		MinRole: access.RoleUser,
		Route:   "POST /api/proposals/" + strings.ReplaceAll(k.Name, "_", "-"), Examples: k.Tool.Examples,
		Meta: map[string]any{"toolId": k.Tool.ID}, Envelope: []string{"purpose", "provenance", "idempotencyKey",
			"correlationId"},
	}
	return op.DefineLoose(spec, k.toolSchema,
		func(ctx context.Context, c *op.Call, input json.RawMessage) (Result, error) {
			payload, rest, err := splitInput(input)
			if err != nil {
				return Result{}, err
			}
			in := Submission{Kind: k.Name, Payload: payload, Transport: c.Transport}
			if in.beside = shape.Decode(rest, &in.Common); in.beside != nil {
				in.Common = Common{}
			}
			return s.Submit(ctx, c.Grant, in)
		})
}

// toolSchema returns the schema of a kind's payload extended by the members of Common.
func (k *Kind) toolSchema() (*jsonschema.Schema, error) {
	all, err := k.schema()
	if err != nil {
		return nil, err
	}
	common, err := op.InputOf[Common]()
	if err != nil {
		return nil, err
	}
	all.PropertyOrder = append(all.PropertyOrder, common.PropertyOrder...)
	maps.Copy(all.Properties, common.Properties)
	return all, nil
}

// splitInput separates the members of Common from an input.
func splitInput(input json.RawMessage) (payload, common json.RawMessage, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(input, &all); err != nil {
		return nil, nil, fault.New(fault.Invalid, "the input must be a JSON object")
	}
	beside := map[string]json.RawMessage{}
	for _, name := range commonNames {
		if v, ok := all[name]; ok {
			beside[name] = v
			delete(all, name)
		}
	}
	if payload, err = json.Marshal(all); err != nil {
		return nil, nil, err
	}
	common, err = json.Marshal(beside)
	return payload, common, err
}

func (s *Service) proposalOps() []*op.Operation {
	spec := func(e access.Effect, o op.Spec) op.Spec {
		o.Surfaces, o.Effect, o.MinRole = []string{Surface}, e, access.RoleUser
		return o
	}
	const example = `{"proposalId": "01900000-0000-7000-8000-000000000000"`
	return []*op.Operation{
		op.Define(spec(access.Read, op.Spec{
			Name: "get-proposal", Title: "Read a proposal", Route: "GET /api/proposals/{proposalId}", Target: "proposalId",
			Asked: []string{
				"why was my suggestion refused", "became of I handed in", "verdict on my text",
				"details of a waiting suggestion", "how was my suggestion judged", "which checks did it pass",
				"happened to the text that I offered", "has my wish been granted", "outcome of my suggestion",
				"was it accepted", "fate of my suggestion", "look at one submission", "decision on my entry",
			},
			Doc:      "Read a proposal: the verdict of every gate, the exact change that it would make while it waits, and the decision. You see your own proposals and those that you may decide on.",
			Examples: []op.Example{{Title: "By id", Input: example + "}"}},
		}), s.getProposal),
		op.Define(spec(access.Read, op.Spec{
			Name: "list-proposals", Title: "List proposals", Route: "GET /api/proposals",
			Asked: []string{
				"waits for a decision", "my suggestions and how they fared", "offers still to be judged",
				"everything handed in", "review queue", "still to be decided", "has anybody handed something in",
				"how do my offers stand", "have I offered so far", "which suggestions are open",
				"there for me to decide on", "pending wishes", "suggestions waiting for a verdict",
				"all that I handed in", "open submissions", "who suggested something", "queue for review",
			},
			Doc:      "List the proposals that you may see, latest first: your own, and those that you may decide on.",
			Examples: []op.Example{{Title: "What waits", Input: `{"status": "pending_review"}`}},
		}), s.listProposals),
		op.Define(spec(access.Read, op.Spec{
			Name: "replay-proposal", Title: "Judge a proposal again", Route: "GET /api/proposals/{proposalId}/replay",
			Asked: []string{
				"judge a suggestion once more", "would it be decided alike again", "check an old verdict",
				"repeat the verdict", "was the decision right", "judge an old suggestion anew",
				"check an earlier decision", "same verdict again",
			},
			Target:   "proposalId",
			Doc:      "Render a proposal's prompt again, and judge it again on the world as it was then. The answer is that all is identical, or the first difference.",
			Examples: []op.Example{{Title: "By id", Input: example + "}"}},
		}), func(ctx context.Context, c *op.Call, in proposalIn) (Replayed, error) {
			return s.Replay(ctx, c.Grant, in.ProposalID)
		}),
		op.Define(spec(access.Propose, op.Spec{
			Name: "approve-proposal", Title: "Approve a proposal", Route: "POST /api/proposals/{proposalId}/approve",
			Asked: []string{
				"accept a suggestion", "say yes to handed in", "let it through", "agree to an offer",
				"grant a wish", "wave it through", "I agree with was offered", "say yes to a submission",
				"let it in",
			},
			Target: "proposalId", Approver: true,
			Doc: "Apply a waiting proposal, exactly as get-proposal shows it. Send the expectedHash of that answer. Needs a key that may approve and is not its author's. The change is made with its author's rights.",
			Examples: []op.Example{{Title: "As it was shown", Input: example +
				`, "expectedHash": "aa00000000000000000000000000000000000000000000000000000000000000"}`}},
		}), func(ctx context.Context, c *op.Call, in approveIn) (Result, error) {
			return s.Approve(ctx, c.Grant, in.ProposalID, in.ExpectedHash, in.Note)
		}),
		op.Define(spec(access.Propose, op.Spec{
			Name: "reject-proposal", Title: "Reject a proposal", Route: "POST /api/proposals/{proposalId}/reject",
			Asked: []string{
				"turn a suggestion down", "say no to handed in", "decline an offer", "refuse a wish",
				"do not let it in", "that suggestion is no good", "refuse a suggestion",
				"say no to a submission", "turn it down", "decline an offer with a reason",
			},
			Target: "proposalId", Approver: true,
			Doc: "Refuse a waiting proposal for good. Needs a key that may approve and is not its author's.",
			Examples: []op.Example{{Title: "With a reason", Input: example +
				`, "note": "The tower burned in the last session."}`}},
		}), func(ctx context.Context, c *op.Call, in rejectIn) (proposalOut, error) {
			if err := s.Reject(ctx, c.Grant, in.ProposalID, in.Note); err != nil {
				return proposalOut{}, err
			}
			return s.getProposal(ctx, c, in.proposalIn)
		}),
		op.Define(spec(access.Propose, op.Spec{
			Name: "withdraw-proposal", Title: "Withdraw a proposal", Route: "POST /api/proposals/{proposalId}/withdraw",
			Asked: []string{
				"take back my suggestion", "I changed my mind about I handed in", "cancel my offer",
				"I no longer want I offered", "drop my suggestion, nobody needs to decide",
				"I take my wish back", "never mind I offered", "retract my text", "cancel my submission",
				"I changed my mind about my offer", "recall it before it is decided",
			},
			Target:   "proposalId",
			Doc:      "Take back your own proposal while it waits.",
			Examples: []op.Example{{Title: "By id", Input: example + "}"}},
		}), func(ctx context.Context, c *op.Call, in proposalIn) (proposalOut, error) {
			if err := s.Withdraw(ctx, c.Grant, in.ProposalID); err != nil {
				return proposalOut{}, err
			}
			return s.getProposal(ctx, c, in)
		}),
	}
}

// Feed follows the proposals that its reader may see.
func (s *Service) Feed() *op.Feed {
	return &op.Feed{
		Name: "follow_proposals", Title: "Follow the proposals",
		Doc: "Follow the proposals that you may see: the status of the latest ones first, and again whenever one is made or " +
			"decided. The id of a message resumes the stream with the next change.",
		Surfaces: []string{Surface}, MinRole: access.RoleUser, Route: "GET /api/world/proposals/stream",
		Kinds: []op.FeedKind{{Event: "proposals", Doc: "the latest 50 proposals: proposalId and status"}},
		Open: func(ctx context.Context, c *op.Call, _ map[string]string, after string) (iter.Seq2[op.Message, error], error) {
			return op.FollowValue(ctx, "proposals", after, s.cfg.Canon.Changed, func(ctx context.Context) (followedProposals, error) {
				return s.readStatuses(ctx, c.Grant)
			}), nil
		},
	}
}

type followedProposals struct {
	Proposals []proposalStatus `json:"proposals"`
}

type proposalStatus struct {
	ProposalID string `json:"proposalId"`
	Status     Status `json:"status"`
}

// followedStatuses is the number of proposals that a feed follows.
const followedStatuses = 50

func (s *Service) readStatuses(ctx context.Context, g access.Grant) (followedProposals, error) {
	out := followedProposals{[]proposalStatus{}}
	list, _, err := s.listVisible(ctx, g, listIn{Limit: followedStatuses})
	for _, l := range list {
		out.Proposals = append(out.Proposals, proposalStatus{l.id.String(), l.statusAt(s.cfg.Now())})
	}
	return out, err
}

type proposalIn struct {
	ProposalID string `json:"proposalId" minlen:"1" maxlen:"64" jsonschema:"Id of the proposal."`
}

type approveIn struct {
	proposalIn
	ExpectedHash string `json:"expectedHash" minlen:"1" maxlen:"64" jsonschema:"The expectedHash that get-proposal returns with the change."`
	Note         string `json:"note,omitzero" maxlen:"1000" jsonschema:"A message to the author."`
}

type rejectIn struct {
	proposalIn
	Note string `json:"note,omitzero" maxlen:"1000" jsonschema:"The reason, for the author."`
}

// summary is a proposal as a listing shows it.
type summary struct {
	ProposalID string         `json:"proposalId"`
	Kind       string         `json:"kind"`
	Status     Status         `json:"status"`
	Author     access.Subject `json:"author"`
	Actor      access.Actor   `json:"actor,omitempty"`
	Created    time.Time      `json:"createdUtc"`
	What       string         `json:"what,omitempty" jsonschema:"Subject of the proposal: a card's name."`
	Change     string         `json:"change,omitempty" jsonschema:"The change, in a few words."`
}

// summaryOf returns the summary of a proposal as its reader may read it.
func (s *Service) summaryOf(e *ledgerEntry, shown *judgedEvent, kind string, status Status) summary {
	what, change := s.describeProposal(shown)
	a := shown.Author
	return summary{shown.ID.String(), kind, status, a.Subject, a.Actor, e.at, what, change}
}

// proposalOut is a proposal as get-proposal shows it.
type proposalOut struct {
	summary
	Expires      *time.Time      `json:"expiresUtc,omitempty" jsonschema:"Time at which a waiting proposal expires."`
	Purpose      Purpose         `json:"purpose"`
	Payload      json.RawMessage `json:"payload"`
	Provenance   *Provenance     `json:"provenance,omitempty"`
	Issues       []Issue         `json:"issues,omitempty"`
	Rejection    *Rejection      `json:"rejection,omitempty"`
	Verdicts     []verdictOut    `json:"verdicts"`
	Preview      []PreviewItem   `json:"preview,omitempty" jsonschema:"The change that it would make."`
	ExpectedHash string          `json:"expectedHash,omitempty" jsonschema:"The hash that an approval sends."`
	Conflicts    []Issue         `json:"conflicts,omitempty" jsonschema:"For readers who see more than those of the result: claims that hidden canon denies now."`
	MayRepeat    []repeat        `json:"mayRepeat,omitempty" jsonschema:"While it waits: texts that it may repeat in other words, nearest first. Only a hint: they may also say the opposite."`
	Decision     *decisionOut    `json:"decision,omitempty"`
	EventID      string          `json:"eventId,omitempty"`
}

type verdictOut struct {
	Gate    Gate     `json:"gate"`
	Version string   `json:"version"`
	Input   string   `json:"inputHash"`
	Passed  bool     `json:"passed"`
	Code    string   `json:"code,omitempty"`
	Flags   []string `json:"flags,omitempty"`
}

type decisionOut struct {
	Status Status         `json:"status"`
	By     access.Subject `json:"by"`
	At     time.Time      `json:"atUtc"`
	Note   string         `json:"note,omitempty"`
}

func (s *Service) getProposal(ctx context.Context, c *op.Call, in proposalIn) (proposalOut, error) {
	e, err := s.findVisible(ctx, c.Grant, in.ProposalID)
	if err != nil {
		return proposalOut{}, err
	}
	j, err := s.withoutHidden(ctx, c.Grant, e.judged)
	if err != nil {
		return proposalOut{}, err
	}
	out := proposalOut{Purpose: j.Purpose, Payload: j.Payload, Provenance: j.Provenance, Issues: j.Issues,
		Rejection: j.Refused, Preview: j.Preview, summary: s.summaryOf(e, j, j.Kind, e.status())}
	err = s.cfg.Canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) (err error) {
		out.Conflicts, err = s.findConflicts(ctx, snap, j)
		return err
	})
	if err != nil {
		return out, err
	}
	for _, v := range j.Verdicts {
		out.Verdicts = append(out.Verdicts, verdictOut{v.Gate, v.Version, hex.EncodeToString(v.Input[:]), v.Passed, v.Code,
			v.Flags})
	}
	if out.Status == Pending {
		until := e.at.Add(s.cfg.Limits.Life)
		out.Expires, out.ExpectedHash = &until, hex.EncodeToString(j.Expected[:])
		if !s.cfg.Now().Before(until) {
			out.Status, out.ExpectedHash = Expired, ""
		}
		if out.MayRepeat, err = s.hintRepeats(ctx, c.Grant, j); err != nil {
			return out, err
		}
	}
	if d := e.decided; d != nil {
		out.Decision = &decisionOut{d.Status, d.By, e.decidedAt, d.Note}
	}
	if out.Status == Accepted {
		event, err := s.finishAccepted(ctx, c.Grant, e)
		if err != nil && isFinal(err) {
			err = nil // its author has lost the right to do it: Resume records that
		}
		if err != nil {
			return out, err
		}
		if event != uuid.Nil {
			out.EventID = event.String()
		}
	}
	return out, nil
}

type listIn struct {
	Status Status `json:"status,omitzero" enum:"accepted,pending_review,rejected,withdrawn,outdated,expired" jsonschema:"Only proposals with this status."`
	Kind   string `json:"kind,omitzero" maxlen:"64" jsonschema:"Only proposals of this kind, such as ambience."`
	Mine   bool   `json:"mine,omitzero" jsonschema:"Only your own proposals."`
	Before string `json:"before,omitzero" maxlen:"64" jsonschema:"The next of an earlier listing, to continue after it."`
	Limit  int    `json:"limit,omitzero" default:"50" min:"1" max:"100" numeric:"string" jsonschema:"Maximum number of proposals to list."`
}

type listOut struct {
	Proposals []summary `json:"proposals"`
	Next      string    `json:"next,omitempty" jsonschema:"Value to send as before, if there are more proposals."`
}

func (s *Service) listProposals(ctx context.Context, c *op.Call, in listIn) (listOut, error) {
	found, more, err := s.listVisible(ctx, c.Grant, in)
	if err != nil {
		return listOut{}, err
	}
	out, now := listOut{}, s.cfg.Now()
	for _, l := range found {
		e, err := s.readRecord(ctx, c.Grant, s.ledgerOf(c.Grant.World()), l.seq)
		if err != nil {
			return listOut{}, err
		}
		shown, err := s.withoutHidden(ctx, c.Grant, e.judged)
		if err != nil {
			return listOut{}, err
		}
		out.Proposals = append(out.Proposals, s.summaryOf(&e, shown, l.kind, l.statusAt(now)))
	}
	if more {
		out.Next = found[len(found)-1].id.String()
	}
	return out, nil
}
