package play

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/proposal"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// ActionKind returns the kind of proposals to act as a player. An accepted one is carried out as by
// send_command. If the proposer may not play that player, a person must consent.
func ActionKind() *proposal.Kind {
	return proposal.Define[proposedAct](proposal.Kind{
		Name: "player_action", Version: 1, Purpose: proposal.ForPlanning, Policy: proposal.Auto, Repeats: true,
		Refs: []string{"playerId"},
		Tool: proposal.Tool{Name: "propose-action", ID: "WorldMutation-proposeAction", Title: "Propose an act of a player",
			Asked: []string{
				"have a hero do something", "act on behalf of somebody's hero", "let the adventurer walk",
				"somebody's hero goes, takes or looks", "let a hero walk, take or open something",
				"have somebody go north", "move a player for them", "act in place of a player",
				"attempt an act for a hero", "move a hero somewhere", "let an adventurer walk",
				"hand in an act to be judged", "my figure does something",
			},
			Doc: "Have a player do one act, as parse-command returned it. The rules decide its result; an act that cannot be " +
				"done is refused. " +
				"If the player is not yours, a person decides.",
			Surfaces: onWorld,
			Examples: []op.Example{{Title: "One step north",
				Input: `{"playerId": "01900000-0000-7000-8000-000000000000", "actionEnvelope": {"rawText": "go north", "intents": [{"verb": "move", "direction": "north", "confidence": 1, "order": 0}], "ambiguities": [], "needsClarification": false, "parseVersion": "rules/3.3"}}`}}},
		Fallbacks: []string{"For a moment you meant to, and then the moment was gone.", "Your hand stops halfway.",
			"You think better of it."},
	})
}

// proposedAct is the payload of propose-action. Its envelope is the output of parse-command, or
// only the acts of it as frames.
type proposedAct struct {
	PlayerID string `json:"playerId" pattern:"^[0-9A-Za-z._-]{1,100}$" jsonschema:"Id or codename of the player that acts."`
	Envelope struct {
		RawText     string              `json:"rawText,omitzero" maxlen:"500"`
		Intents     []proposedFrame     `json:"intents,omitempty" maxitems:"8" jsonschema:"The act. Propose several one by one, since each depends on the result of the one before."`
		Frames      []proposedFrame     `json:"frames,omitempty" maxitems:"8" jsonschema:"The same as intents, for callers that leave out the rest of the answer of parse-command."`
		Ambiguities []command.Ambiguity `json:"ambiguities,omitempty" maxitems:"200"`
		Unclear     bool                `json:"needsClarification,omitzero"`
		Parser      string              `json:"parseVersion,omitzero" maxlen:"100"`
	} `json:"actionEnvelope" jsonschema:"The answer of parse-command, unchanged."`
}

// allFrames returns the acts, whether given as intents or as frames.
func (a proposedAct) allFrames() []proposedFrame {
	return slices.Concat(a.Envelope.Intents, a.Envelope.Frames)
}

// findIssues returns the reasons why an envelope cannot be proposed.
func (a proposedAct) findIssues() []proposal.Issue {
	switch n := len(a.allFrames()); {
	case a.Envelope.Unclear:
		return []proposal.Issue{{Field: "actionEnvelope.needsClarification",
			Error: "is true: ask the player, and propose the answer of parse-command to the player's reply"}}
	case n == 0:
		return []proposal.Issue{{Field: "actionEnvelope.intents", Error: "contains no act; send the answer of parse-command"}}
	case n > 1:
		return []proposal.Issue{{Field: "actionEnvelope.intents",
			Error: fmt.Sprintf(
				"contains %d acts; propose them one by one in their order, since each depends on the result of the one before",
				n,
			)}}
	}
	return nil
}

// proposedFrame is an Intent as an agent returns it.
type proposedFrame struct {
	Verb         command.Verb      `json:"verb" enum:"move,look,examine,take,drop,give,use,talk,attack,defend,throw,flee,rest,inventory"`
	DirectObject string            `json:"directObject,omitzero" maxlen:"500"`
	Direction    command.Direction `json:"direction,omitzero" enum:"north,south,east,west,northeast,northwest,southeast,southwest,up,down,in,out"`
	Targets      []string          `json:"targets,omitempty" maxitems:"100" maxlen:"500"`
	Modifiers    []string          `json:"modifiers,omitempty" maxitems:"100" maxlen:"500"`
	Confidence   float64           `json:"confidence,omitzero" min:"0" max:"1"`
	Order        int               `json:"order,omitzero" min:"0" max:"7"`
}

func (f proposedFrame) toIntent() command.Intent {
	return command.Intent{Verb: f.Verb, DirectObject: f.DirectObject, Direction: f.Direction, Targets: f.Targets,
		Modifiers: f.Modifiers, Confidence: f.Confidence}
}

func (a proposedAct) playerID() canon.CardID {
	u, err := uuid.Parse(a.PlayerID)
	if err != nil {
		return canon.CardID{}
	}
	return canon.CardID(u)
}

// Scope returns the scope of the player: proposals for a player are compared with its earlier ones.
func (a proposedAct) Scope() string { return string(world.PlayerScope(a.playerID())) }

// Player returns the id of the player whose budget the act uses.
func (a proposedAct) Player() string { return a.playerID().String() }

// Texts returns the words of the act that others may come to see.
func (a proposedAct) Texts() []proposal.Text {
	var all []proposal.Text
	for _, f := range a.allFrames() {
		for _, text := range append(append([]string{f.DirectObject}, f.Targets...), f.Modifiers...) {
			if text != "" {
				all = append(all, proposal.Text{Field: "actionEnvelope.intents", Text: text, Max: 500})
			}
		}
	}
	return all
}

// Check requires a visible player that is at a place. Acts that the story does not allow are found
// when they are planned.
func (a proposedAct) Check(ctx context.Context, s proposal.State) (f proposal.Finding, err error) {
	f.Label = access.NewLabel(access.LevelUser)
	if f.Issues = a.findIssues(); len(f.Issues) > 0 {
		return f, nil
	}
	absent := []proposal.Issue{{Field: "playerId", Error: "there is no such player; check the id or codename"}}
	t, ok, err := s.Card(ctx, a.playerID())
	if err != nil {
		return f, err
	}
	if !ok || !(world.Card{Type: t.Type}).IsType(world.TypePlayer) {
		f.Issues = absent
		return f, nil
	}
	at, err := s.Links(ctx, canon.LinkQuery{From: t.ID, Kinds: []string{world.LinkAt}})
	if err != nil {
		return f, err
	}
	if len(at) == 0 {
		f.Issues = absent
		return f, nil
	}
	f.Label = t.Label
	mine, err := canPlay(ctx, s.Snapshot, t.ID)
	if err == nil && !mine {
		f.Review = "it acts for a player of somebody else"
	}
	return f, err
}

// canPlay reports whether the caller of the snapshot may play a player without a person's consent.
func canPlay(ctx context.Context, snap *canon.Snapshot, player canon.CardID) (bool, error) {
	c := snap.Grant().Caller()
	if c.Player != uuid.Nil || snap.Grant().Role() >= access.RoleGM {
		return c.Player == uuid.UUID(player) || c.Player == uuid.Nil, nil
	}
	card, ok, err := snap.ByID(ctx, player)
	return ok && card.CreatedBy == c.Subject, err
}

// Plan plans the act. Its event is at least as hidden as label, the label of the data by which the
// proposal was judged.
func (a proposedAct) Plan(ctx context.Context, p *canon.Plan, label access.Label) (canon.Event, error) {
	s, err := newTurn(ctx, nil, p, a.playerID(), a.allFrames()[0].toIntent())
	if err == nil {
		s.tried = true // one commit makes no card of a noun besides
		err = s.planAction()
	}
	if no, ok := errors.AsType[*impossible](err); ok {
		e := fault.BadField("actionEnvelope", "%s", no.text)
		e.Kind = fault.Rule
		return canon.Event{}, e
	}
	if err != nil {
		return canon.Event{}, err
	}
	s.event.Label = s.event.Label.Meet(label)
	return s.event, nil
}
