package app

import (
	"context"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/identity"
	"loregate/internal/world"
)

// refSecret names the key that seals context references. All processes on the store share it.
const refSecret = "context references"

// openWorld creates the surfaces world and lore.
func (a *App) openWorld(ctx context.Context) error {
	if err := a.openEvents(); err != nil {
		return err
	}
	c := world.Config{Canon: a.Canon, Tokens: playTokens{a}, Handled: a.Events, Now: a.now}
	var err error
	if c.Lore, err = a.Config.Lore.toWorldConfig(); err != nil {
		return err
	}
	c.Lore.Logger = a.logger
	key, err := a.sharedSecret(ctx, refSecret, len(c.Key))
	if err != nil {
		return err
	}
	copy(c.Key[:], key)
	if a.places, err = world.New(c); err != nil {
		return err
	}
	a.Surfaces = append(a.Surfaces, a.places.Surfaces()...)
	return nil
}

// playTokens issues the tokens of players. Each player is a subject of its own, so cards shared by
// name with the subject who made the token are not visible to the player.
type playTokens struct{ app *App }

func (p playTokens) IssuePlayer(ctx context.Context, by access.Grant, player canon.CardID) (string, error) {
	token, _, err := p.app.Identity.IssuePlay(ctx, identity.PlaySpec{World: by.World(), MadeWith: by.Caller().Key,
		Subject: access.Subject("player-" + player.String()), Player: uuid.UUID(player)})
	return token, err
}
