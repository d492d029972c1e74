package world

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// Narration is the payload of Player.Narrated: the text in which an act was narrated to its player.
type Narration struct {
	PlayerID canon.CardID `json:"playerId"`
	EventID  uuid.UUID    `json:"eventId"` // of the act
	Text     string       `json:"text"`
	Hint     string       `json:"hint,omitempty"` // shown once: it is no part of what is remembered
	By       string       `json:"by"`             // ByRules or the name of a model
	Template string       `json:"template,omitempty"`
}

// ByRules is the author of narrations by templates.
const ByRules = "rules"

// NarrationLabel returns the label of a narration that was made for a view: only its reader and game masters see it,
// since the text may rest on anything that the reader sees.
func NarrationLabel(v access.View) access.Label {
	return access.NewLabel(max(access.LevelGM, v.Level), v.Subject)
}

// NarrationOf returns the narration of an act, if one was kept for the reader.
func (m *AsOf) NarrationOf(
	ctx context.Context,
	player canon.CardID,
	act uuid.UUID,
) (n Narration, ok bool, err error) {
	events, _, err := m.Events(ctx, canon.EventQuery{Scopes: []string{string(PlayerScope(player))},
		Key: NarrationKey(act), Page: canon.Page{Limit: 1, Uncounted: true}})
	if len(events) > 0 {
		DecodeFields(events[0].Payload, &n)
	}
	return n, len(events) > 0, err
}

// NarrationKey returns the key of the event that narrates an act.
func NarrationKey(act uuid.UUID) string { return "narrated:" + act.String() }

// NarrationEntries returns the entries of the narration context of a player, as JSON without ids.
func (w *World) NarrationEntries(
	ctx context.Context,
	snap *canon.Snapshot,
	player canon.CardID,
	maxTokens int,
) (json.RawMessage, error) {
	got, err := narrationContextOf(ctx, w.Current(snap), narrationIn{PlayerID: player.String(), Purpose: "result",
		MaxTokens: maxTokens})
	if err != nil || got.Item == nil {
		return nil, err
	}
	type entry struct {
		Kind string `json:"kind"`
		Name string `json:"name,omitempty"`
		Text string `json:"text"`
	}
	list := make([]entry, len(got.Item.Entries))
	for i, e := range got.Item.Entries {
		list[i] = entry{e.Kind, e.Name, e.Text}
	}
	return json.Marshal(list)
}
