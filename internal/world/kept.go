package world

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// Kept is a text beside the canon that players still read at a place, or hear from somebody.
type Kept struct {
	Kind    KeptKind
	Card    Card          // the place, or the character
	Layer   canon.LayerID // of a layer
	Text    string
	Level   access.Level // of those who read it
	Written time.Time    // zero if unknown
	Offset  int          // of its card, in the order of their names
}

// KeptKind is a kind of kept texts.
type KeptKind string

// The kinds of kept texts.
const (
	KeptLayer KeptKind = "layer" // over a place
	KeptLine  KeptKind = "line"  // that a character says when it is asked
	KeptSaid  KeptKind = "said"  // that a character said to a player, who remembers it
)

// keptTypes are the types of the cards that kept texts belong to.
var keptTypes = []string{TypeLocation, "Character", "Creature", "NPC", "Person"}

// maxSaid bounds the said lines of a character that are listed.
const maxSaid = 5

// KeptTexts lists the texts that are kept at some places and characters, from an offset in the order of their names. It
// also returns the number of all these cards.
func (w *World) KeptTexts(ctx context.Context, snap *canon.Snapshot, offset, limit int) (list []Kept, total int, err error) {
	m := w.Current(snap)
	now, err := m.WorldTick(ctx)
	if err != nil {
		return nil, 0, err
	}
	cards, count, err := snap.Cards(ctx, canon.Filter{Types: keptTypes}, canon.Page{Offset: offset, Limit: limit})
	if err != nil {
		return nil, 0, err
	}
	for i, c := range cards {
		t := CardOf(c)
		var more []Kept
		if t.IsType(TypeLocation) {
			more, err = m.keptLayers(ctx, t, now)
		} else if !IsDead(t) {
			more, err = m.keptLines(ctx, t)
		}
		if err != nil {
			return nil, 0, err
		}
		for k := range more {
			more[k].Offset = offset + i
		}
		list = append(list, more...)
	}
	return list, count.Count, nil
}

// keptLayers lists the layers over a place that are active at a time or later.
func (m *AsOf) keptLayers(ctx context.Context, t Card, tick int64) (list []Kept, err error) {
	layers, err := m.Layers(ctx, canon.LayerQuery{Card: t.ID})
	for _, l := range layers {
		if l.ToTick == 0 || l.ToTick >= max(tick, l.FromTick) {
			list = append(list, Kept{Kind: KeptLayer, Card: t, Layer: l.ID, Text: markup.Clean(l.Text), Level: l.Label.Level,
				Written: l.At})
		}
	}
	return list, err
}

// keptLines lists the lines of a character, and the latest that it said to players.
func (m *AsOf) keptLines(ctx context.Context, t Card) (list []Kept, err error) {
	var f Speaker
	DecodeFields(t.Fields, &f)
	lines := slices.Clone(f.Says)
	for _, line := range sortedByKey(f.Topics) {
		lines = append(lines, line)
	}
	for _, line := range lines {
		list = append(list, Kept{Kind: KeptLine, Card: t, Text: markup.Clean(line), Level: t.Label.Level})
	}
	events, _, err := m.Events(ctx, canon.EventQuery{Types: []string{string(NPCDialogue)}, Actor: t.ID.String(),
		Page: canon.Page{Limit: maxSaid, Uncounted: true}})
	for _, e := range events {
		var said struct{ Text string }
		if json.Unmarshal(e.Payload, &said) == nil && said.Text != "" {
			list = append(list, Kept{Kind: KeptSaid, Card: t, Text: markup.Clean(said.Text), Level: t.Label.Level,
				Written: e.At})
		}
	}
	return list, err
}
