package world

import (
	"context"
	"time"

	"loregate/internal/canon"
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

// LayerKinds lists all kinds of layers.
var LayerKinds = []string{LayerBase, LayerAmbient, LayerDynamic, LayerWeather, LayerLighting}

// slot is one part of an atmosphere: the effective layer of a kind, or the default value if there
// is no layer.
type slot struct {
	Present           bool          `json:"present" jsonschema:"A layer is in force."`
	Defaulted         bool          `json:"defaulted" jsonschema:"The value is what holds without a layer."`
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
func (m *asOf) findActiveLayers(ctx context.Context, t cardAt, around []realm) (map[string]canon.Layer, error) {
	found := map[string]canon.Layer{}
	cards := []canon.CardID{t.ID}
	for _, r := range around {
		cards = append(cards, r.ID)
	}
	layers, err := m.Layers(ctx, canon.LayerQuery{Cards: cards, Active: true, Tick: m.tick, AsOf: m.seq})
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

// slotOf returns the layer of a kind as a slot, or the default.
func slotOf(found map[string]canon.Layer, kind string) slot {
	l, ok := found[kind]
	if !ok {
		return slot{Defaulted: layerDefaults[kind] != "", Value: layerDefaults[kind]}
	}
	value, whole := shortenText(markup.Clean(l.Text), maxText)
	at, card, from := l.At, l.Card, l.FromTick
	s := slot{Present: true, Value: value, ValueTruncated: whole > 0, ScopeID: &card, AuthoredAt: &at,
		EffectiveFromTick: &from}
	if l.ToTick != 0 {
		to := l.ToTick
		s.EffectiveToTick = &to
	}
	return s
}

const (
	hour = int64(time.Hour / time.Millisecond)
	day  = 24 * hour
)

// TimeOfDay returns the time of day at a tick. Tick 0 is midnight.
func TimeOfDay(tick int64) string {
	switch h := (tick % day) / hour; {
	case h < 5:
		return "night"
	case h < 8:
		return "dawn"
	case h < 12:
		return "morning"
	case h < 17:
		return "afternoon"
	case h < 20:
		return "dusk"
	}
	return "night"
}
