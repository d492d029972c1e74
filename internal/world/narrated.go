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
	By       string       `json:"by"`      // ByRules or the name of a model
	Template string       `json:"template,omitempty"`
	NPCID    canon.CardID `json:"npcId,omitzero"`   // of the character that the act was about
	Content  canon.Hash   `json:"content,omitzero"` // of the NarrationText; zero in older events
	NarrationText
}

// NarrationText has the words of a narration. They are kept beside its event, so that they can be erased.
type NarrationText struct {
	Text string `json:"text,omitempty"`
	Hint string `json:"hint,omitempty"` // shown once: it is no part of what is remembered
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
	if err != nil || len(events) == 0 {
		return n, false, err
	}
	e, err := m.Perceive(ctx, events[0])
	DecodeFields(e.Payload, &n)
	return n, n.Text != "", err
}

// NarrationKey returns the key of the event that narrates an act.
func NarrationKey(act uuid.UUID) string { return "narrated:" + act.String() }

// CharacterIn returns the living character that an act of a player is about; zero if there is none.
func (m *AsOf) CharacterIn(ctx context.Context, act uuid.UUID) (id canon.CardID, err error) {
	events, _, err := m.Events(ctx, canon.EventQuery{ID: act, Page: canon.Page{Limit: 1, Uncounted: true}})
	if err != nil || len(events) == 0 {
		return id, err
	}
	var d Action
	if DecodeFields(events[0].Payload, &d); d.Target == nil {
		return id, nil
	}
	t, ok, err := m.CardByID(ctx, d.Target.ID)
	if ok && IsAlive(t) && !t.IsType(TypePlayer) {
		id = t.ID
	}
	return id, err
}

// NarrationEntries returns the entries of the narration context of a player, and of a character that it deals with unless
// npc is zero, as JSON without ids.
func (w *World) NarrationEntries(
	ctx context.Context,
	snap *canon.Snapshot,
	player, npc canon.CardID,
	maxTokens int,
) (json.RawMessage, error) {
	in := narrationIn{PlayerID: player.String(), Purpose: "result", MaxTokens: maxTokens}
	if !npc.IsZero() {
		in.NPCID = npc.String()
	}
	got, err := narrationContextOf(ctx, w.Current(snap), in)
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
