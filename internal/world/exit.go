package world

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// Availability is the state of a direction of a place.
type Availability string

// The availabilities. If a direction has several, the first in this list counts.
const (
	ExitHard      Availability = "hard"      // there is an exit
	ExitForbidden Availability = "forbidden" // there shall be none
	ExitPending   Availability = "pending"   // there will be one
)

// exit is an exit of a place, or a direction that is forbidden or pending.
type exit struct {
	Direction        Direction      `json:"direction"`
	To               *canon.CardID  `json:"toLocationId,omitempty" jsonschema:"Absent where there is no exit yet."`
	ToName           string         `json:"toLocationName,omitempty" jsonschema:"Where it leads."`
	Description      string         `json:"description,omitempty"`
	TravelDurationMs int64          `json:"travelDurationMs,omitempty"`
	LockState        string         `json:"lockState,omitempty"`
	Availability     Availability   `json:"availability" enum:"hard,forbidden,pending"`
	Reason           string         `json:"reason,omitempty" jsonschema:"Why a direction is forbidden or pending."`
	FieldTruncations map[string]int `json:"fieldTruncations,omitempty" jsonschema:"Fields that were cut, with their whole length in characters."`

	key  string     // name or codename of the item that unlocks it
	link canon.Link // set for a hard exit
}

// exitAttrs are the attributes of an exit's link.
type exitAttrs struct {
	Direction        Direction `json:"direction"`
	Description      string    `json:"description,omitempty"`
	TravelDurationMs int64     `json:"travelDurationMs,omitempty"`
	LockState        string    `json:"lockState,omitempty"`
	Key              string    `json:"key,omitempty"`
}

// availabilityField is the field exitAvailability of a place. A reason is a text or an object with
// the member reason.
type availabilityField struct {
	ExitAvailability struct {
		Pending   map[string]json.RawMessage `json:"pending"`
		Forbidden map[string]json.RawMessage `json:"forbidden"`
	} `json:"exitAvailability"`
}

// maxExits bounds the exit links that are read of one place. A place has twelve directions.
const maxExits = 100

// readExits returns the exits of a place in the order of Directions. If several visible exits have
// the same direction, the one written first counts.
func (m *asOf) readExits(ctx context.Context, t cardAt) ([]exit, error) {
	links, err := m.readLinks(ctx, canon.LinkQuery{From: t.ID, Kinds: []string{linkExit}}, maxExits)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(links, func(a, b canon.Link) int { return cmp.Compare(a.Since, b.Since) })
	out, taken := []exit{}, map[Direction]bool{}
	for _, l := range links {
		var a exitAttrs
		fieldsOf(l.Attrs, &a)
		if !a.Direction.Valid() || taken[a.Direction] {
			continue
		}
		taken[a.Direction] = true
		to := l.To
		e := exit{Direction: a.Direction, To: &to, TravelDurationMs: max(a.TravelDurationMs, 0), LockState: a.LockState,
			Availability: ExitHard, key: a.Key, link: l}
		e.Description = cutField(&e.FieldTruncations, "description", markup.Clean(a.Description), maxText)
		out = append(out, e)
	}
	var field availabilityField
	fieldsOf(t.Fields, &field)
	for _, kind := range []struct {
		is  Availability
		all map[string]json.RawMessage
	}{{ExitForbidden, field.ExitAvailability.Forbidden}, {ExitPending, field.ExitAvailability.Pending}} {
		for name, why := range kind.all {
			if d, ok := ParseDirection(name); ok && !taken[d] {
				taken[d] = true
				e := exit{Direction: d, Availability: kind.is}
				e.Reason = cutField(&e.FieldTruncations, "reason", reasonOf(why), maxText)
				out = append(out, e)
			}
		}
	}
	slices.SortStableFunc(out,
		func(a, b exit) int { return cmp.Compare(a.Direction.sortIndex(), b.Direction.sortIndex()) })
	return out, nil
}

// readNamedExits returns the exits of a place with the names of their destinations.
func (m *asOf) readNamedExits(ctx context.Context, t cardAt) ([]exit, error) {
	exits, err := m.readExits(ctx, t)
	if err != nil {
		return nil, err
	}
	var ids []canon.CardID
	for _, e := range exits {
		if e.To != nil {
			ids = append(ids, *e.To)
		}
	}
	ends, err := m.cardsByID(ctx, ids)
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
		fieldsOf(raw, &object)
		text = object.Reason
	}
	return markup.Clean(text)
}

// exitToward returns the exit in a direction.
func exitToward(exits []exit, d Direction) (exit, bool) {
	for _, e := range exits {
		if e.Direction == d {
			return e, true
		}
	}
	return exit{}, false
}
