package app

import (
	"context"
	"crypto/rand"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/identity"
	"loregate/internal/op"
	"loregate/internal/rules"
	"loregate/internal/world"
	"loregate/internal/world/faction"
	"loregate/internal/world/lore"
	"loregate/internal/world/market"
	"loregate/internal/world/play"
)

// refSecret names the key that seals context references. All processes on the store share it.
const refSecret = "context references"

// openWorld creates the surfaces world and lore.
func (a *App) openWorld(ctx context.Context) error {
	if err := a.openEvents(); err != nil {
		return err
	}
	c := world.Config{Canon: a.Canon, Handled: a.Events, Now: a.now}
	key, err := a.sharedSecret(ctx, refSecret, len(c.Key))
	if err != nil {
		return err
	}
	copy(c.Key[:], key)
	if a.places, err = world.New(c); err != nil {
		return err
	}
	if a.host, err = play.New(play.Config{World: a.places, Canon: a.Canon, Tokens: playTokens{a},
		Reader: a.commandReader(), Settle: a.rules.Settle, Narrator: a.turnNarrator(),
		Patience: a.Config.Narration.Patience, Told: a.countTurn, Now: a.now}); err != nil {
		return err
	}
	facts, err := a.openLore()
	if err != nil {
		return err
	}
	trade, err := market.New(market.Config{World: a.places, Canon: a.Canon, Now: a.now})
	if err != nil {
		return err
	}
	powers, err := faction.New(faction.Config{World: a.places, Canon: a.Canon})
	if err != nil {
		return err
	}
	a.Surfaces = append(a.Surfaces, a.places.Surface(a.host.Surface(), trade.Surface(), powers.Surface(), facts), facts)
	return nil
}

// diceSecret names the key that the seeds of encounters follow from.
const diceSecret = "dice"

// openRules creates the service of the rules.
func (a *App) openRules(ctx context.Context, o Options) error {
	c := rules.Config{Canon: a.Canon, Random: o.Random}
	if c.Random == nil {
		c.Random = func(b []byte) { _, _ = rand.Read(b) } // it never fails
	}
	key, err := a.sharedSecret(ctx, diceSecret, len(c.Key))
	if err != nil {
		return err
	}
	copy(c.Key[:], key)
	a.rules, err = rules.New(c)
	return err
}

// openLore creates the surface lore.
func (a *App) openLore() (op.Surface, error) {
	c, err := a.Config.Lore.toConfig()
	if err != nil {
		return op.Surface{}, err
	}
	c.World, c.Canon = a.places, a.Canon
	facts, err := lore.New(c)
	if err != nil {
		return op.Surface{}, err
	}
	return facts.Surface(), nil
}

// playTokens issues the tokens of players. Each player is a subject of its own, so cards shared by
// name with the subject who made the token are not visible to the player.
type playTokens struct{ app *App }

func (p playTokens) IssuePlayer(ctx context.Context, by access.Grant, player canon.CardID) (string, error) {
	token, _, err := p.app.Identity.IssuePlay(ctx, identity.PlaySpec{World: by.World(), MadeWith: by.Caller().Key,
		Subject: world.SubjectOf(player), Player: uuid.UUID(player)})
	return token, err
}
