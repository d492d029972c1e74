package world

import (
	"context"
	"encoding/json"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// Bounds of what is forgotten at once.
const (
	maxForgotten = 20_000 // texts
	maxForgetful = 2000   // characters
)

// Forgotten is the payload of Player.Forgotten. Without NPCID, all that all characters knew is forgotten.
type Forgotten struct {
	PlayerID canon.CardID `json:"playerId"`
	NPCID    canon.CardID `json:"npcId,omitzero"`
	Texts    int          `json:"texts"`
}

// Forget plans that what a player and a character said to each other is erased, with its summary and the
// narrations of it; with the zero npc, all characters forget, and all narrations to the player are erased.
// Attitudes stay.
func Forget(ctx context.Context, p *canon.Plan, player, npc canon.CardID) (n int, err error) {
	links, texts, err := rememberedTexts(ctx, p.Snapshot, player, npc)
	if err != nil || len(texts) == 0 {
		return 0, err
	}
	label := access.NewLabel(access.LevelUser)
	for _, t := range texts {
		if err := p.EraseText(t); err != nil {
			return 0, err
		}
		label = label.Meet(t.Label)
	}
	for _, l := range links {
		var r Regard
		DecodeFields(l.Attrs, &r)
		p.DependOnLink(l)
		if l.Attrs, err = json.Marshal(Regard{Attitude: r.Attitude}); err != nil {
			return 0, err
		}
		if _, err := p.Link(l); err != nil {
			return 0, err
		}
	}
	payload, err := json.Marshal(Forgotten{player, npc, len(texts)})
	if err != nil {
		return 0, err
	}
	return len(texts), p.Event(canon.Event{Type: string(PlayerForgotten), Payload: payload, Label: label, Version: 1,
		Scope: string(PlayerScope(player)), Actor: canon.EventActor{Kind: "system"}})
}

// TextsOfPlayer returns the texts that are erased with the card of a player. It is a [canon.Config] TextsOf.
func TextsOfPlayer(ctx context.Context, snap *canon.Snapshot, c canon.Card) ([]canon.TextRef, error) {
	if !CardOf(c).IsType(TypePlayer) {
		return nil, nil
	}
	_, texts, err := rememberedTexts(ctx, snap, c.ID, canon.CardID{})
	return texts, err
}

// rememberedTexts returns the texts about a player and a character, or all characters, that are not erased, and
// the links regards that name some of them.
func rememberedTexts(ctx context.Context, snap *canon.Snapshot, player, npc canon.CardID) (links []canon.Link,
	texts []canon.TextRef, err error) {
	add := func(l access.Label, list ...canon.Hash) (some bool, err error) {
		for _, h := range list {
			text, err := snap.StoredText(ctx, h)
			if err != nil {
				return some, err
			}
			if text != "" {
				texts, some = append(texts, canon.TextRef{Content: h, Label: l}), true
			}
		}
		if len(texts) > maxForgotten {
			err = fault.New(fault.TooLarge, "more than %d texts would be erased at once; have one character after the other "+
				"forget, with npcId", maxForgotten)
		}
		return some, err
	}
	all, _, err := snap.Links(ctx, canon.LinkQuery{From: npc, To: player, Kinds: []string{LinkRegards},
		Page: canon.Page{Limit: maxForgetful, Uncounted: true}})
	if err != nil {
		return nil, nil, err
	}
	for _, l := range all {
		var r Regard
		DecodeFields(l.Attrs, &r)
		some, err := add(l.Label, r.Contents()...)
		if err != nil {
			return nil, nil, err
		}
		if some {
			links = append(links, l)
		}
	}
	q := canon.EventQuery{Scopes: []string{string(PlayerScope(player))}, Types: []string{string(PlayerNarrated)},
		Oldest: true, Page: canon.Page{Limit: 500, Uncounted: true}}
	for {
		events, _, err := snap.Events(ctx, q)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range events {
			var n Narration
			if DecodeFields(e.Payload, &n); npc.IsZero() || n.NPCID == npc {
				if _, err := add(e.Label, n.Content); err != nil {
					return nil, nil, err
				}
			}
		}
		if len(events) < q.Page.Limit {
			return links, texts, nil
		}
		q.After = events[len(events)-1].Seq
	}
}
