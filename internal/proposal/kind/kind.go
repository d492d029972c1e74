package kind

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/proposal"
	"loregate/internal/safety"
)

// Config is the data that the kinds need from the surface of their world.
type Config struct {
	// Surface offers the tools.
	Surface string
	// Directions are the canonical directions, in order.
	Directions []string
	// EventType reports whether an event type exists, and the lowest role that may propose such an
	// event. The role is RoleNone for types that cannot be proposed.
	EventType func(name string) (minRole access.Role, ok bool)
	// The types of the events that drafts become.
	Dialogue, Ambience, Quest, LayerEnded string
	// Private returns the label of what a character says to a player.
	Private func(player canon.Card) access.Label
	// ExitCreated is the event type whose payload describes a new exit by fromId and direction.
	ExitCreated string
}

// Kinds returns all kinds of this package.
func Kinds(c Config) []*proposal.Kind {
	list := []*proposal.Kind{
		dialogueKind(c), ambienceKind(c), questKind(c), eventKind(c), placeKind(c), layerEndKind(c),
	}
	for _, k := range list {
		k.Tool.Surfaces = []string{c.Surface}
	}
	return list
}

// The types of cards that drafts refer to.
const (
	typeLocation = "Location"
	typePlayer   = "Player"
	typeFaction  = "Faction"
)

// speakers are the types of cards that can speak.
var speakers = []string{"Character", "Creature", "NPC", "Person"}

// inspection collects the issues of a draft.
type inspection struct {
	ctx    context.Context
	world  proposal.State
	issues []proposal.Issue
	review string         // why a person must look at it; "" for no reason
	basis  []canon.CardID // cards that were found by search
	doubt  func() *proposal.Doubt
	label  access.Label
	err    error
}

func newInspection(ctx context.Context, s proposal.State) *inspection {
	return &inspection{ctx: ctx, world: s, label: access.NewLabel(access.LevelUser)}
}

func (i *inspection) add(field, why string) {
	i.issues = append(i.issues, proposal.Issue{Field: field, Error: why})
}

// finding returns the collected result.
func (i *inspection) finding() (proposal.Finding, error) {
	return proposal.Finding{Issues: i.issues, Label: i.label, Review: i.review, Basis: i.basis, Doubt: i.doubt}, i.err
}

// checkCard looks up a reference. A card of another type, a hidden card and a missing card give the
// same issue.
func (i *inspection) checkCard(field, id, what string, types ...string) (proposal.Card, bool) {
	u, err := uuid.Parse(id)
	var found proposal.Card
	ok := false
	if err == nil && i.err == nil {
		found, ok, i.err = i.world.Card(i.ctx, canon.CardID(u))
	}
	if !ok || len(types) > 0 && !slices.ContainsFunc(types,
		func(t string) bool { return strings.EqualFold(t, found.Type) }) {
		i.add(field, "there is no "+what+" with this id here; look it up and copy its id unchanged")
		return proposal.Card{}, false
	}
	i.label = i.label.Meet(found.Label)
	return found, true
}

// checkFaction looks up a faction by id or codename.
func (i *inspection) checkFaction(field, ref string) {
	if _, err := uuid.Parse(ref); err == nil {
		i.checkCard(field, ref, "faction", typeFaction)
		return
	}
	found, ok, err := i.world.CardByCodename(i.ctx, ref)
	if i.err == nil {
		i.err = err
	}
	if !ok || !strings.EqualFold(found.Type, typeFaction) {
		i.add(field, "there is no faction with this id here; get-canonical-fact and search-lore return the ids")
		return
	}
	i.label = i.label.Meet(found.Label)
}

// exitDirections returns the directions of a place's exits.
func (i *inspection) exitDirections(place canon.CardID) []string {
	links := i.listLinks(canon.LinkQuery{From: place, Kinds: []string{"exit"}})
	var list []string
	for _, l := range links {
		var attrs struct {
			Direction string `json:"direction"`
		}
		if json.Unmarshal(l.Attrs, &attrs) == nil && attrs.Direction != "" {
			list = append(list, attrs.Direction)
		}
	}
	return list
}

func (i *inspection) listLinks(q canon.LinkQuery) []canon.Link {
	if i.err != nil {
		return nil
	}
	var list []canon.Link
	list, i.err = i.world.Links(i.ctx, q)
	return list
}

// cleanText returns a text in its stored form: without invisible characters, and with runs of white
// space reduced to one blank.
func cleanText(s string) string { return strings.Join(strings.Fields(safety.Visible(s)), " ") }

// eventOf returns an event with a payload.
func eventOf(typ, scope string, label access.Label, payload any) (canon.Event, error) {
	b, err := json.Marshal(payload)
	return canon.Event{Type: typ, Scope: scope, Label: label, Payload: b}, err
}
