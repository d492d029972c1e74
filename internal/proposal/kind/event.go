package kind

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/proposal"
)

// event is the payload of enqueue-world-event.
type event struct {
	Type    string         `json:"type" pattern:"^[A-Z][A-Za-z]*(\\.[A-Z][A-Za-z]*){1,3}$" maxlen:"100" jsonschema:"Type of the event, such as NPC.Tick."`
	Payload map[string]any `json:"payload" jsonschema:"Details of the event."`
	About   string         `json:"scope,omitzero" default:"global:world" pattern:"^(global:world|(loc|player):[0-9A-Za-z._-]{1,100})$" jsonschema:"Subject of the event: loc:ID, player:ID or global:world. ID is an id or a codename."`

	cfg Config
}

func eventKind(c Config) *proposal.Kind {
	return proposal.DefineWith(proposal.Kind{
		Name: "world_event", Version: 1, Purpose: proposal.ForPlanning, Policy: proposal.Review, Event: true,
		Refs: []string{"scope", "payload.fromId", "payload.toId", "payload.locationId", "payload.playerId",
			"payload.npcId"},
		Tool: proposal.Tool{Name: "enqueue-world-event", ID: "WorldMutation-enqueueWorldEvent", Title: "Propose an event",
			Asked: []string{
				"let something happen in the world", "trigger a happening", "start an occurrence",
				"signal to the handlers", "suggest that something takes place", "make it happen, if allowed",
				"suggest a happening", "a storm should break out", "set off an occurrence",
				"report a happening to the world",
			},
			Doc: "Propose to record an event of a known type in the world, for its handlers to process. A person decides.",
			Examples: []op.Example{{Title: "Time passed for a character",
				Input: `{"type": "NPC.Tick", "payload": {"mood": "patient"}}`}}},
		Fallbacks: []string{"If anything has happened, word of it has not come this far.",
			"It was only talk, it seems.",
			"The moment passes without leaving a mark."},
	}, func(e event) proposal.Draft { e.cfg = c; return e })
}

func (e event) Scope() string {
	kind, id, _ := strings.Cut(e.About, ":")
	return kind + ":" + strings.ToLower(id)
}

func (e event) Player() string {
	if kind, id, _ := strings.Cut(e.Scope(), ":"); kind == "player" {
		return id
	}
	return ""
}

func (e event) Texts() []proposal.Text {
	b, err := json.Marshal(e.Payload)
	if err != nil {
		return nil
	}
	list := proposal.TextsOf("payload", b)
	return slices.DeleteFunc(list, func(t proposal.Text) bool { return uuid.Validate(t.Text) == nil })
}

func (e event) Check(ctx context.Context, s proposal.State) (proposal.Finding, error) {
	i := newInspection(ctx, s)
	minRole, ok := e.cfg.EventType(e.Type)
	switch {
	case !ok:
		i.add("type", "is not a known type of event")
	case minRole == access.RoleNone:
		i.add("type", "is recorded by the world itself and cannot be proposed")
	case s.View().Level < minRole.Level():
		i.add("type", "needs the role "+minRole.String()+" or higher")
	}
	switch kind, id, _ := strings.Cut(e.About, ":"); kind {
	case "loc":
		i.checkCard("scope", id, "place", typeLocation)
	case "player":
		i.checkCard("scope", id, "player", typePlayer)
	}
	e.checkReferences(i)
	if e.Type == e.cfg.ExitCreated {
		e.checkExit(i)
	}
	return i.finding()
}

// checkReferences looks up every id in the payload: the values of members whose names end in Id.
func (e event) checkReferences(i *inspection) {
	for _, name := range slices.Sorted(maps.Keys(e.Payload)) {
		if id, ok := e.Payload[name].(string); ok && strings.HasSuffix(name, "Id") {
			i.checkCard("payload."+name, id, "card")
		}
	}
}

// checkExit checks that a new exit has a canonical direction that is free.
func (e event) checkExit(i *inspection) {
	direction, _ := e.Payload["direction"].(string)
	if !slices.Contains(e.cfg.Directions, direction) {
		i.add("payload.direction", "is not a direction; use one of "+strings.Join(e.cfg.Directions, ", "))
		return
	}
	from, _ := e.Payload["fromId"].(string)
	if place, ok := i.checkCard("payload.fromId", from, "place", typeLocation); ok &&
		slices.Contains(i.exitDirections(place.ID), direction) {
		i.add("payload.direction", "is taken: the place has an exit "+direction+" already")
	}
}

// Plan records the event. Its handlers make all further changes.
func (e event) Plan(_ context.Context, p *canon.Plan, label access.Label) (canon.Event, error) {
	return eventOf(e.Type, e.Scope(), label, e.Payload)
}
