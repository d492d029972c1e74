package world

import (
	"context"
	"time"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// Kinds of layers.
const (
	LayerBase     = "base"
	LayerAmbient  = "ambient"
	LayerDynamic  = "dynamic"
	LayerWeather  = "weather"
	LayerLighting = "lighting"
)

// slot is one part of an atmosphere: the effective layer of a kind, or the default value if there
// is no layer.
type slot struct {
	Present           bool          `json:"present" jsonschema:"There is an active layer."`
	Defaulted         bool          `json:"defaulted" jsonschema:"There is no layer; the value is the default."`
	Value             string        `json:"value,omitempty"`
	ValueTruncated    bool          `json:"valueTruncated"`
	ScopeID           *canon.CardID `json:"scopeId,omitempty" jsonschema:"The place or realm that the layer lies on."`
	AuthoredAt        *time.Time    `json:"authoredAt,omitempty"`
	EffectiveFromTick *int64        `json:"effectiveFromTick,omitempty"`
	EffectiveToTick   *int64        `json:"effectiveToTick,omitempty"`
}

// layerDefaults holds the value of each kind that applies without a layer.
var layerDefaults = map[string]string{LayerWeather: "clear", LayerLighting: "daylight", LayerAmbient: "calm"}

// findActiveLayers returns the effective layer of each kind at a place. The place's layers take
// precedence over those of its realms, and a small realm's over those of a large one; of several
// layers on one card the latest authored wins.
func (m *AsOf) findActiveLayers(ctx context.Context, t Card, around []realm) (map[string]canon.Layer, error) {
	found := map[string]canon.Layer{}
	cards := []canon.CardID{t.ID}
	for _, r := range around {
		cards = append(cards, r.ID)
	}
	layers, err := m.Layers(ctx, canon.LayerQuery{Cards: cards, Active: true, Tick: m.Tick, AsOf: m.Seq})
	if err != nil {
		return nil, err
	}
	for _, id := range cards {
		for _, l := range layers { // latest first
			if _, ok := found[l.Kind]; !ok && l.Card == id {
				found[l.Kind] = l
			}
		}
	}
	return found, nil
}

// LayersAt returns the effective layer of each kind at a place.
func (m *AsOf) LayersAt(ctx context.Context, t Card) (map[string]canon.Layer, error) {
	around, err := m.realmsOf(ctx, t)
	if err != nil {
		return nil, err
	}
	return m.findActiveLayers(ctx, t, around)
}

// slotOf returns the layer of a kind as a slot, or the default.
func slotOf(found map[string]canon.Layer, kind string) slot {
	l, ok := found[kind]
	if !ok {
		return slot{Defaulted: layerDefaults[kind] != "", Value: layerDefaults[kind]}
	}
	value, whole := CutText(markup.Clean(l.Text), MaxText)
	at, card, from := l.At, l.Card, l.FromTick
	s := slot{Present: true, Value: value, ValueTruncated: whole > 0, ScopeID: &card, AuthoredAt: &at,
		EffectiveFromTick: &from}
	if l.ToTick != 0 {
		to := l.ToTick
		s.EffectiveToTick = &to
	}
	return s
}

type atmosphere struct {
	Citation
	Tick       int64         `json:"tick"`
	LocationID *canon.CardID `json:"locationId"`
	TimeOfDay  string        `json:"timeOfDay" enum:"dawn,morning,afternoon,dusk,night"`
	Weather    slot          `json:"weather"`
	Lighting   slot          `json:"lighting"`
	Ambient    slot          `json:"ambient"`
}

// atmosphereOf returns the default atmosphere if the world has no starting place.
func atmosphereOf(ctx context.Context, m *AsOf, in atPlace) (a atmosphere, err error) {
	layers := map[string]canon.Layer{}
	t, ok, err := m.FindPlace(ctx, in.LocationID)
	if err != nil {
		return a, err
	}
	where := &t
	switch {
	case !ok && in.LocationID != "":
		return a, fault.New(fault.NotFound,
			"there is no place %q; list-exits and get-spatial-context give ids of places",
			markup.Clean(in.LocationID))
	case !ok:
		where = nil
	}
	if err := m.settleTick(ctx, where); err != nil {
		return a, err
	}
	a.Tick, a.TimeOfDay = m.Tick, TimeOfDay(m.Tick)
	if ok {
		a.LocationID = &t.ID
		if layers, err = m.LayersAt(ctx, t); err != nil {
			return a, err
		}
	}
	a.Weather, a.Lighting, a.Ambient = slotOf(layers, LayerWeather), slotOf(layers, LayerLighting),
		slotOf(layers, LayerAmbient)
	return a, nil
}
