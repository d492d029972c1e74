package app

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/identity"
	"loregate/internal/slicesx"
)

// PlayToken is a listed play token, without its secret.
type PlayToken struct {
	identity.Key
	World string `json:"world_slug"`
	Plays string `json:"plays"` // the player card's name, or the seat
}

// PlayTokens lists the tokens of players and seats, by creation.
func (a *App) PlayTokens(ctx context.Context) ([]PlayToken, error) {
	keys, err := a.Identity.PlayTokens(ctx)
	if err != nil {
		return nil, err
	}
	worlds, err := a.Canon.Worlds(ctx)
	if err != nil {
		return nil, err
	}
	list := slicesx.Map(keys, func(k identity.Key) PlayToken { return PlayToken{Key: k, Plays: k.Seat} })
	for _, w := range worlds {
		names, err := a.playerNames(ctx, w.ID, keys)
		if err != nil && !canon.IsLost(err) {
			return nil, err
		}
		for i := range list {
			if _, opens := list[i].Worlds[w.ID]; opens {
				list[i].World = w.Slug
				if name, ok := names[list[i].Player]; ok {
					list[i].Plays = name
				}
			}
		}
	}
	return list, nil
}

// playerNames returns the names of a world's player cards that tokens are bound to.
func (a *App) playerNames(ctx context.Context, w access.WorldID, keys []identity.Key) (map[uuid.UUID]string, error) {
	var ids []canon.CardID
	for _, k := range keys {
		if _, opens := k.Worlds[w]; opens && k.Player != uuid.Nil {
			ids = append(ids, canon.CardID(k.Player))
		}
	}
	names := map[uuid.UUID]string{}
	err := a.runAsOperator(ctx, w, "list_play_tokens", access.Read, func(g access.Grant) error {
		return a.Canon.Read(ctx, g, func(s *canon.Snapshot) error {
			for batch := range slices.Chunk(ids, 500) {
				cards, err := s.ByIDs(ctx, batch)
				if err != nil {
					return err
				}
				for _, c := range cards {
					names[uuid.UUID(c.ID)] = c.Name
				}
			}
			return nil
		})
	})
	return names, err
}
