package world

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/world/command"
)

// Availability is the state of a direction of a place.
type Availability string

// The availabilities. If a direction has several, the first in this list counts.
const (
	ExitHard      Availability = "hard"      // there is an exit
	ExitForbidden Availability = "forbidden" // there shall be none
	ExitPending   Availability = "pending"   // there will be one
)

// Exit is an exit of a place, or a direction that is forbidden or pending.
type Exit struct {
	Direction        command.Direction `json:"direction"`
	To               *canon.CardID     `json:"toLocationId,omitempty" jsonschema:"Absent if there is no exit yet."`
	ToName           string            `json:"toLocationName,omitempty" jsonschema:"Name of the destination."`
	Description      string            `json:"description,omitempty"`
	TravelDurationMs int64             `json:"travelDurationMs,omitempty"`
	LockState        string            `json:"lockState,omitempty"`
	Availability     Availability      `json:"availability" enum:"hard,forbidden,pending"`
	Reason           string            `json:"reason,omitempty" jsonschema:"Reason for which a direction is forbidden or pending."`
	FieldTruncations map[string]int    `json:"fieldTruncations,omitempty" jsonschema:"Fields that were cut, with their full length in characters."`

	Key  string     `json:"-"` // name or codename of the item that unlocks it
	Link canon.Link `json:"-"` // set for a hard exit
}

// exitAttrs are the attributes of an exit's link.
type exitAttrs struct {
	Direction        command.Direction `json:"direction"`
	Description      string            `json:"description,omitempty"`
	TravelDurationMs int64             `json:"travelDurationMs,omitempty"`
	LockState        string            `json:"lockState,omitempty"`
	Key              string            `json:"key,omitempty"`
}

// availabilityField is the field exitAvailability of a place. A reason is a text or an object with
// the member reason.
type availabilityField struct {
	ExitAvailability struct {
		Pending   map[string]json.RawMessage `json:"pending"`
		Forbidden map[string]json.RawMessage `json:"forbidden"`
	} `json:"exitAvailability"`
}

// MaxExits bounds the exit links that are read of one place. A place has twelve directions.
const MaxExits = 100

// Exits returns the exits of a place in the order of Directions. If several visible exits have
// the same direction, the one written first counts.
func (m *AsOf) Exits(ctx context.Context, t Card) ([]Exit, error) {
	links, err := m.ReadLinks(ctx, canon.LinkQuery{From: t.ID, Kinds: []string{LinkExit}}, MaxExits)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(links, func(a, b canon.Link) int { return cmp.Compare(a.Since, b.Since) })
	out, taken := []Exit{}, map[command.Direction]bool{}
	for _, l := range links {
		var a exitAttrs
		DecodeFields(l.Attrs, &a)
		if !a.Direction.Valid() || taken[a.Direction] {
			continue
		}
		taken[a.Direction] = true
		to := l.To
		e := Exit{Direction: a.Direction, To: &to, TravelDurationMs: max(a.TravelDurationMs, 0), LockState: a.LockState,
			Availability: ExitHard, Key: a.Key, Link: l}
		e.Description = cutField(&e.FieldTruncations, "description", markup.Clean(a.Description), MaxText)
		out = append(out, e)
	}
	var field availabilityField
	DecodeFields(t.Fields, &field)
	for _, kind := range []struct {
		is  Availability
		all map[string]json.RawMessage
	}{{ExitForbidden, field.ExitAvailability.Forbidden}, {ExitPending, field.ExitAvailability.Pending}} {
		for name, why := range kind.all {
			if d, ok := command.ParseDirection(name); ok && !taken[d] {
				taken[d] = true
				e := Exit{Direction: d, Availability: kind.is}
				e.Reason = cutField(&e.FieldTruncations, "reason", reasonOf(why), MaxText)
				out = append(out, e)
			}
		}
	}
	slices.SortStableFunc(out,
		func(a, b Exit) int { return cmp.Compare(a.Direction.Index(), b.Direction.Index()) })
	return out, nil
}

// readNamedExits returns the exits of a place with the names of their destinations.
func (m *AsOf) readNamedExits(ctx context.Context, t Card) ([]Exit, error) {
	exits, err := m.Exits(ctx, t)
	if err != nil {
		return nil, err
	}
	var ids []canon.CardID
	for _, e := range exits {
		if e.To != nil {
			ids = append(ids, *e.To)
		}
	}
	ends, err := m.CardsByID(ctx, ids)
	for i, e := range exits {
		for _, end := range ends {
			if e.To != nil && end.ID == *e.To {
				exits[i].ToName = markup.Clean(end.Name)
			}
		}
	}
	return exits, err
}

func reasonOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		var object struct {
			Reason string `json:"reason"`
		}
		DecodeFields(raw, &object)
		text = object.Reason
	}
	return markup.Clean(text)
}

// ExitToward returns the exit in a direction.
func ExitToward(exits []Exit, d command.Direction) (Exit, bool) {
	for _, e := range exits {
		if e.Direction == d {
			return e, true
		}
	}
	return Exit{}, false
}

type exitsOut struct {
	Citation
	Exits []Exit `json:"exits"`
}

func exitsOf(ctx context.Context, m *AsOf, in atPlace) (exitsOut, error) {
	t, ok, err := m.FindPlace(ctx, in.LocationID)
	if err != nil || !ok {
		return exitsOut{Exits: []Exit{}}, err
	}
	exits, err := m.readNamedExits(ctx, t)
	return exitsOut{Exits: exits}, err
}

// exitPayload is the payload of World.Exit.Created.
type exitPayload struct {
	FromID string `json:"fromId"`
	ToID   string `json:"toId"`
	exitAttrs
}

// ExitHandler returns the handler that makes the exit of an accepted World.Exit.Created event, if
// the event names both places and a direction that has no exit yet. An event that does not name the
// destination has no effect.
func ExitHandler(c *canon.Canon) event.Handler {
	return event.Handler{Name: "exits", Types: []event.Type{ExitCreated},
		Handle: func(ctx context.Context, g access.Grant, e canon.StoredEvent) error {
			var x exitPayload
			DecodeFields(e.Payload, &x)
			from, badFrom := uuid.Parse(x.FromID)
			to, badTo := uuid.Parse(x.ToID)
			if badFrom != nil || badTo != nil || !x.Direction.Valid() {
				return nil
			}
			_, err := c.Update(ctx, g,
				func(p *canon.Plan) error { return planExit(ctx, p, canon.CardID(from), canon.CardID(to), x, e) })
			return err
		}}
}

func planExit(ctx context.Context, p *canon.Plan, from, to canon.CardID, x exitPayload, e canon.StoredEvent) error {
	m := (*World)(nil).Current(p.Snapshot)
	label := e.Label
	for _, id := range []canon.CardID{from, to} {
		t, ok, err := m.CardByID(ctx, id)
		if err != nil {
			return err
		}
		if !ok || !t.IsType(TypeLocation) {
			return fault.New(fault.Rule, "the exit leads from or to a place that does not exist: %s", id)
		}
		label = label.Meet(t.Label)
	}
	place, _, err := m.CardByID(ctx, from)
	if err != nil {
		return err
	}
	exits, err := m.Exits(ctx, place)
	if err != nil {
		return err
	}
	if way, ok := ExitToward(exits, x.Direction); ok && way.Availability == ExitHard {
		return nil
	}
	attrs, err := json.Marshal(x.exitAttrs)
	if err != nil {
		return err
	}
	own := canon.Link{ID: canon.LinkIDOf(LinkExit, from.String(), string(x.Direction)), Kind: LinkExit, From: from, To: to,
		Attrs: attrs, Label: label}
	p.DependOnLink(own)
	p.Cause(e.ID)
	p.Composes() // of the event
	_, err = p.Link(own)
	return err
}
