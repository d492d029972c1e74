package play

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/world"
)

type forgetIn struct {
	ID    string `json:"id"             maxlen:"100" jsonschema:"The player's id or codename."`
	NPCID string `json:"npcId,omitzero" maxlen:"100" jsonschema:"Id or codename of the character that forgets; by default all do."`
}

type forgetOut struct {
	Texts int `json:"texts" jsonschema:"Texts that were erased: words, summaries and narrations."`
}

func (h *Host) forgetOperation() *op.Operation {
	return op.Define(op.Spec{
		Name: "forget", Title: "Have characters forget a player",
		Doc: "Erase what a player and the characters said and did to each other, the summaries of it, and the narrations to the " +
			"player. Attitudes stay. It cannot be undone. A token to play with forgets only for its own player.",
		Surfaces: onWorld, Effect: access.Write, MinRole: access.RoleUser, NoTool: true, Audience: audiencePlay,
		Route: "POST /api/players/{id}/forget", Target: "id",
		Examples: []op.Example{{Title: "All characters", Input: `{"id": "0190a8e0-0000-7000-8000-000000000000"}`}},
	}, h.forget)
}

func (h *Host) forget(ctx context.Context, c *op.Call, in forgetIn) (out forgetOut, err error) {
	player, err := h.findOwnPlayer(ctx, c.Grant, in.ID)
	if err != nil {
		return out, err
	}
	var npc canon.CardID
	if in.NPCID != "" {
		err = h.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
			card, ok, err := world.FindCard(ctx, snap, in.NPCID)
			if npc = card.ID; err == nil && !ok {
				err = fault.BadField("npcId", "is no character; leave it out to have all characters forget")
			}
			return err
		})
		if err != nil {
			return out, err
		}
	}
	receipt, err := h.canon.Update(ctx, c.Grant, func(p *canon.Plan) (err error) {
		out.Texts, err = world.Forget(ctx, p, player, npc)
		return err
	})
	if c.Reply.Replayed = receipt.Replayed; err != nil || !receipt.Replayed {
		return out, err
	}
	err = h.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		events, _, err := snap.Events(ctx, canon.EventQuery{ID: receipt.Change, Page: canon.Page{Limit: 1, Uncounted: true}})
		for _, e := range events {
			var f world.Forgotten
			world.DecodeFields(e.Payload, &f)
			out.Texts = f.Texts
		}
		return err
	})
	return out, err
}
