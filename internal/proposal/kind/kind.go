// Package kind holds the kinds of proposal that narrators make about a world: a line of
// dialogue, the ambience of a place, a quest, an event.
//
// Its invariant: a draft that passes its check fits the world as its author sees it, and
// what is hidden from them is found wrong in the very words that absent things are. How
// drafts pass the other gates, and what is kept of them, is proposal's matter.
package kind

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/proposal"
	"loregate/internal/safety"
)

// Config is what the kinds ask of the surface whose world they are about.
type Config struct {
	// Surface offers the tools.
	Surface string
	// Directions are the canonical ones, in their order.
	Directions []string
	// EventType tells whether there is a type of event, and the lowest role that may ask for
	// one; RoleNone for a type that is never asked for.
	EventType func(name string) (least access.Role, ok bool)
	// The types of the events that drafts become.
	Dialogue, Ambience, Quest string
	// ExitCreated is the type whose payload names a new exit, as fromId and direction.
	ExitCreated string
}

// Kinds are all kinds of this package.
func Kinds(c Config) []*proposal.Kind {
	list := []*proposal.Kind{
		dialogueKind(c), ambienceKind(c), questKind(c), eventKind(c),
	}
	for _, k := range list {
		k.Tool.Surfaces = []string{c.Surface}
	}
	return list
}

// The types of cards that drafts speak of.
const (
	typeLocation = "Location"
	typePlayer   = "Player"
	typeFaction  = "Faction"
)

// speakers are the types of those who can be made to say something.
var speakers = []string{"Character", "Creature", "NPC", "Person"}

// inspection collects what is wrong with a draft.
type inspection struct {
	ctx    context.Context
	world  proposal.State
	issues []proposal.Issue
	label  access.Label
	err    error
}

func inspect(ctx context.Context, s proposal.State) *inspection {
	return &inspection{ctx: ctx, world: s, label: access.NewLabel(access.LevelUser)}
}

func (i *inspection) add(field, why string) {
	i.issues = append(i.issues, proposal.Issue{Field: field, Error: why})
}

// finding is what came of it.
func (i *inspection) finding() (proposal.Finding, error) {
	return proposal.Finding{Issues: i.issues, Label: i.label}, i.err
}

// card looks up a reference. One of another type, one that is hidden and one that is not
// there are the same issue.
func (i *inspection) card(field, id, what string, types ...string) (proposal.Thing, bool) {
	u, err := uuid.Parse(id)
	var found proposal.Thing
	ok := false
	if err == nil && i.err == nil {
		found, ok, i.err = i.world.Card(i.ctx, canon.CardID(u))
	}
	if !ok || len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return strings.EqualFold(t, found.Type) }) {
		i.add(field, "there is no "+what+" with this id here; look it up and use the id as it is given")
		return proposal.Thing{}, false
	}
	i.label = i.label.Meet(found.Label)
	return found, true
}

// faction looks up a faction by id or codename.
func (i *inspection) faction(field, ref string) {
	if _, err := uuid.Parse(ref); err == nil {
		i.card(field, ref, "faction", typeFaction)
		return
	}
	found, ok, err := i.world.Coded(i.ctx, ref)
	if i.err == nil {
		i.err = err
	}
	if !ok || !strings.EqualFold(found.Type, typeFaction) {
		i.add(field, "there is no faction of this id here; get-canonical-fact and search-lore give the ids")
		return
	}
	i.label = i.label.Meet(found.Label)
}

// exits are the directions that lead out of a place.
func (i *inspection) exits(place canon.CardID) []string {
	links := i.links(canon.LinkQuery{From: place, Kinds: []string{"exit"}})
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

func (i *inspection) links(q canon.LinkQuery) []canon.Link {
	if i.err != nil {
		return nil
	}
	var list []canon.Link
	list, i.err = i.world.Links(i.ctx, q)
	return list
}

// placeOf is where somebody is.
func (i *inspection) placeOf(who canon.CardID) (canon.CardID, bool) {
	for _, l := range i.links(canon.LinkQuery{From: who, Kinds: []string{"at", "within"}}) {
		if found, ok, err := i.world.Card(i.ctx, l.To); err == nil && ok && strings.EqualFold(found.Type, typeLocation) {
			return found.ID, true
		}
	}
	return canon.CardID{}, false
}

// clean is a text as it is kept: without what no reader sees, blanks at its ends, and
// several blanks in a row.
func clean(s string) string { return strings.Join(strings.Fields(safety.Visible(s)), " ") }

// cardID reads an id, which the schema has held to its form.
func cardID(id string) (canon.CardID, error) {
	u, err := uuid.Parse(id)
	if err != nil {
		return canon.CardID{}, fault.BadField("id", "is no id")
	}
	return canon.CardID(u), nil
}

// eventOf makes an event with a payload.
func eventOf(typ, scope string, label access.Label, payload any) (canon.Event, error) {
	b, err := json.Marshal(payload)
	return canon.Event{Type: typ, Scope: scope, Label: label, Payload: b}, err
}
