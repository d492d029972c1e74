package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/proposal"
)

// Bounds of an arc of events.
const (
	maxBeats     = 5
	defaultBeats = 3
)

type eventArcIn struct {
	Seed        int64          `json:"seed" min:"0" numeric:"string" jsonschema:"The same seed gives the same arc as long as the canon is the same."`
	Constraints arcConstraints `json:"constraints,omitzero" jsonschema:"Where and how long the arc is."`
}

type arcConstraints struct {
	LocationID string `json:"locationId,omitzero" maxlen:"100" jsonschema:"Place of the first beat; by default where players begin."`
	Beats      int    `json:"beats,omitzero" min:"1" max:"5" default:"3" numeric:"string" jsonschema:"Number of beats."`
	Reward     string `json:"reward,omitzero" maxlen:"100" jsonschema:"Reward of each beat, such as 2 Sound Penny; by default thanks."`
}

type eventArcOut struct {
	Seed  int64  `json:"seed"`
	Hash  string `json:"hash" jsonschema:"SHA-256 of the beats. adopt-event-arc takes it as expectedHash."`
	Beats []beat `json:"beats"`
	Ended string `json:"ended,omitempty" jsonschema:"Reason why there are fewer beats than asked for."`
}

// beat is a part of an arc of events.
type beat struct {
	N      int         `json:"n" jsonschema:"Number of the beat, from 1."`
	Title  string      `json:"title"`
	Cause  string      `json:"cause" jsonschema:"The want, or the beat before, that leads to this one."`
	Places []beatCard  `json:"places"`
	People []beatCard  `json:"people"`
	Quest  arc         `json:"seedSpec" jsonschema:"The beat as a quest, in the form of propose-quest."`
	Checks []beatCheck `json:"checks" jsonschema:"Judgements of the beat, by canonicality and safety."`
	Sound  bool        `json:"sound" jsonschema:"All checks passed."`
}

type beatCard struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type beatCheck struct {
	By     string `json:"by" enum:"canonicality,safety"`
	Passed bool   `json:"passed"`
	Risk   int    `json:"risk" jsonschema:"Points that a person should check."`
	Why    string `json:"why,omitempty"`
}

type adoptIn struct {
	eventArcIn
	ExpectedHash string `json:"expectedHash" minlen:"64" maxlen:"64" jsonschema:"hash of the arc."`
	Adopt        []int  `json:"adopt,omitzero" maxitems:"5" min:"1" max:"5" jsonschema:"Numbers of the beats to propose; by default all that are sound."`
}

type adoptOut struct {
	CorrelationID string    `json:"correlationId"`
	Proposals     []adopted `json:"proposals"`
}

type adopted struct {
	N          int    `json:"n"`
	Status     string `json:"status" jsonschema:"Status of the proposal; skipped if a check failed."`
	ProposalID string `json:"proposalId,omitempty"`
	Why        string `json:"why,omitempty"`
}

// PlannerOperations returns the operations of the planner. It works without a model, and proposes at most.
func (a *Agents) PlannerOperations(surfaces ...string) []*op.Operation {
	return []*op.Operation{
		op.Define(op.Spec{
			Name: "generate-event-arc", Title: "Draft a chain of events", Surfaces: surfaces, Effect: access.Read,
			MinRole: access.RoleGM, Route: "POST /api/world/event-arc",
			Asked: []string{
				"plan a story in several parts", "string of adventures that follow from each other", "outline of a plot",
				"ideas for the next evenings", "a plot over several places", "sequence of errands",
				"one thing leads to another", "draft the next chapters",
			},
			Doc: "Draft an arc of up to five beats from people, wants and places of the canon. Each beat has a cause, places, " +
				"people, a quest and the judgements on it. The same seed gives the same arc. Advice: it changes nothing; " +
				"adopt-event-arc proposes beats.",
			Examples: []op.Example{{Title: "Two beats", Input: `{"seed": 7, "constraints": {"beats": 2}}`}},
		}, func(ctx context.Context, c *op.Call, in eventArcIn) (eventArcOut, error) {
			out, _, err := a.generateArc(ctx, c, in)
			return out, err
		}),
		op.Define(op.Spec{
			Name: "adopt-event-arc", Title: "Propose beats of an arc", Surfaces: surfaces, Effect: access.Propose,
			MinRole: access.RoleGM, Route: "POST /api/world/event-arc/adopt",
			Asked: []string{
				"take over the drafted plot", "turn the outline into errands", "use these parts of the story",
				"make the planned events real", "accept the drafted chapters",
			},
			Doc: "Propose beats of an arc that generate-event-arc drafted, each as a quest. Give the same seed and " +
				"constraints, and its hash. Nothing becomes a fact by this: a person decides on each proposal.",
			Examples: []op.Example{{Title: "The first beat", Input: `{"seed": 7, "constraints": {"beats": 2}, ` +
				`"expectedHash": "` + strings.Repeat("0", 64) + `", "adopt": [1]}`}},
		}, a.adoptArc),
	}
}

// drafted is a judged beat with its provenance.
type drafted struct {
	Deliberated
	task *task
}

// generateArc drafts an arc. Each beat is a task of its own, whose place is the one that the beat before led to. The
// tasks read the world as players do, who will read the quests.
func (a *Agents) generateArc(ctx context.Context, c *op.Call, in eventArcIn) (out eventArcOut, list []drafted,
	err error) {
	out = eventArcOut{Seed: in.Seed, Beats: []beat{}}
	at, used := in.Constraints.LocationID, []string{}
	want := in.Constraints.Beats
	if want == 0 {
		want = defaultBeats
	}
	for n := 1; n <= min(want, maxBeats); n++ {
		t := &task{agents: a, caller: c.Grant.Caller().Lower(access.RoleUser), world: c.Grant.World(),
			id: c.Grant.Request().Correlation, call: c}
		seed := uint64(in.Seed)*maxBeats + uint64(n)
		parts, err := t.readCast(ctx, QuestWish{Location: at, Seed: seed, Reward: in.Constraints.Reward})
		if err != nil {
			return out, nil, err
		}
		if parts.Giver.ID == "" {
			out.Ended = "nobody at " + parts.Here.Name + " could give a quest"
			break
		}
		arcs := slices.DeleteFunc(composeArcs(parts, seed, len(productions)),
			func(a arc) bool { return slices.Contains(used, a.Title) })
		if len(arcs) == 0 {
			out.Ended = "the grammar has no further beat at " + parts.Here.Name
			break
		}
		judged, err := t.judgeDraft(ctx, arcs[0], grammarModel, n)
		if err != nil {
			return out, nil, err
		}
		out.Beats, list = append(out.Beats, newBeat(n, parts, arcs[0], judged, used)), append(list, drafted{judged, t})
		used = append(used, arcs[0].Title)
		if at = parts.There.ID; at == "" {
			at = parts.Here.ID
		}
	}
	b, err := json.Marshal(out.Beats)
	sum := sha256.Sum256(b)
	out.Hash = hex.EncodeToString(sum[:])
	return out, list, err
}

func newBeat(n int, parts cast, a arc, judged Deliberated, before []string) beat {
	b := beat{N: n, Title: a.Title, Quest: a, Sound: judged.valid, Places: beatCards(parts.Here, parts.There),
		People: beatCards(parts.Giver, parts.Other)}
	switch {
	case len(before) > 0:
		b.Cause = fmt.Sprintf("After “%s”, the way leads to %s, where %s is.", before[len(before)-1], parts.Here.Name,
			parts.Giver.Name)
	case parts.Wants != "":
		b.Cause = parts.Giver.Name + " wants " + strings.TrimRight(parts.Wants, ". ") + "."
	default:
		b.Cause = parts.Giver.Name + " at " + parts.Here.Name + " asks."
	}
	for _, o := range judged.Opinions {
		b.Checks = append(b.Checks, beatCheck{o.By, o.Passed, o.Risk, o.Why})
	}
	return b
}

func beatCards(list ...named) []beatCard {
	out := []beatCard{}
	for _, n := range list {
		if n.ID != "" {
			out = append(out, beatCard(n))
		}
	}
	return out
}

// adoptArc drafts an arc again and proposes beats of it.
func (a *Agents) adoptArc(ctx context.Context, c *op.Call, in adoptIn) (out adoptOut, err error) {
	got, list, err := a.generateArc(ctx, c, in.eventArcIn)
	if err != nil {
		return out, err
	}
	if got.Hash != in.ExpectedHash {
		return out, fault.New(fault.Conflict, "the seed and the constraints give another arc, or the canon has changed; "+
			"call generate-event-arc again and give its hash")
	}
	for _, n := range in.Adopt {
		if n > len(list) {
			return out, fault.BadField("adopt", "has the number %d, and the arc has %d beats", n, len(list))
		}
	}
	out = adoptOut{CorrelationID: c.Grant.Request().Correlation, Proposals: []adopted{}}
	for i, d := range list {
		one := adopted{N: i + 1, Status: "skipped"}
		switch {
		case len(in.Adopt) > 0 && !slices.Contains(in.Adopt, i+1):
			continue
		case !d.valid:
			one.Why = "a check failed"
		default:
			d.task.caller = c.Grant.Caller() // the author, whose proposal players do not see before it is decided
			if one, err = d.propose(ctx, one); err != nil {
				return out, err
			}
		}
		out.Proposals = append(out.Proposals, one)
	}
	return out, nil
}

// propose proposes a beat. The gate for duplicates refuses a beat that was proposed before.
func (d drafted) propose(ctx context.Context, one adopted) (adopted, error) {
	input := map[string]any{}
	if err := json.Unmarshal(d.payload, &input); err != nil {
		return one, err
	}
	input["provenance"] = proposal.Provenance{Model: d.By, ContextRefs: d.task.refs, Opinions: d.Opinions}
	input["correlationId"] = d.task.id
	r, err := d.task.submitProposal(ctx, "propose-quest", input)
	one.Status, one.ProposalID = string(r.Status), r.ProposalID
	if r.Rejection != nil {
		one.Why = r.Rejection.Message
	}
	return one, err
}
