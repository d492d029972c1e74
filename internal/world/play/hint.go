package play

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// hint records that a player wanted to go where an exit is pending.
type hint struct {
	PlayerID   canon.CardID      `json:"playerId"`
	LocationID canon.CardID      `json:"locationId"`
	Direction  command.Direction `json:"direction"`
	Reason     string            `json:"reason,omitempty"`
}

// hintPause is the time for which a recorded hint suppresses others like it.
const hintPause = time.Minute

// recordHint records that a player wanted to go where an exit is pending, at most once a minute for
// each player, place and direction.
func (h *Host) recordHint(ctx context.Context, g access.Grant, wish hint) (canon.Receipt, error) {
	return h.canon.Update(ctx, g, func(p *canon.Plan) error {
		now := p.Clock()
		events, _, err := p.Events(ctx, canon.EventQuery{Scopes: []string{string(world.LocationScope(wish.LocationID))},
			Types: []string{string(world.GenerationHint)},
			Actor: wish.PlayerID.String(), Page: canon.Page{Limit: 12}})
		if err != nil {
			return err
		}
		for _, e := range events {
			var earlier hint
			world.DecodeFields(e.Payload, &earlier)
			if earlier.Direction == wish.Direction && now.Sub(e.At) < hintPause {
				return nil
			}
		}
		place, ok, err := p.ByID(ctx, wish.LocationID)
		if err != nil || !ok {
			return err
		}
		payload, err := json.Marshal(wish)
		if err != nil {
			return err
		}
		_, _, err = p.EventOnce(canon.Event{Type: string(world.GenerationHint), Scope: string(world.LocationScope(wish.LocationID)),
			Payload: payload, Label: place.Label, Version: 1,
			Actor: canon.EventActor{Kind: "player", ID: wish.PlayerID.String()},
			Key: fmt.Sprintf("hint:%s:%s:%s:%d", wish.PlayerID, wish.LocationID, wish.Direction,
				now.Unix()/int64(hintPause/time.Second))})
		return err
	})
}
