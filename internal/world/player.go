package world

import (
	"context"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/world/command"
)

type playerIn struct {
	PlayerID string `json:"playerId" minlen:"1" maxlen:"100" jsonschema:"Id or codename of the player."`
	timeInput
	lengthInput
}

type playerView struct {
	ID      canon.CardID      `json:"id"`
	Name    string            `json:"name"`
	Clock   int64             `json:"clock" jsonschema:"The player's clock, in milliseconds of world time."`
	Heading command.Direction `json:"heading,omitempty"`
}

type playerContext struct {
	Citation
	Tick      int64       `json:"tick"`
	Player    playerView  `json:"player"`
	Location  *location   `json:"location"`
	Inventory []Held      `json:"inventory"`
	Quests    []questView `json:"quests" jsonschema:"Quests that the player has accepted, with their steps."`
	company
	RecentEvents []eventSummary `json:"recentEvents"`
	Warnings     []string       `json:"warnings"`
}

func playerContextOf(ctx context.Context, m *AsOf, in playerIn) (out Item[playerContext], err error) {
	t, ok, err := m.FindCard(ctx, in.PlayerID)
	if err != nil || !ok || !t.IsType(TypePlayer) {
		return out, err
	}
	c := playerContext{Player: playerView{ID: t.ID, Name: markup.Clean(t.Name)}, Warnings: []string{},
		company: company{NPCs: []inhabitant{}, Items: []Held{}}}
	at, stands, err := m.FindAtLink(ctx, t.ID)
	if err != nil {
		return out, err
	}
	var where *Card
	if stands {
		p := PresenceOf(at)
		c.Player.Clock, c.Player.Heading = p.Clock, p.Heading
		if where, err = m.placeByID(ctx, at.To); err != nil {
			return out, err
		}
	}
	if where != nil {
		if err := m.PrefetchPlace(ctx, where.ID); err != nil {
			return out, err
		}
	}
	if err := m.settleTick(ctx, where); err != nil {
		return out, err
	}
	c.Tick = m.Tick
	if where == nil {
		c.Warnings = append(c.Warnings, "the player stands nowhere")
	} else {
		l, err := m.toLocation(ctx, *where, in.maxChars())
		if err != nil {
			return out, err
		}
		c.Location = &l
		here, err := m.CardsHere(ctx, where.ID)
		if err != nil {
			return out, err
		}
		if c.company, err = m.companyOf(ctx, here, where.ID); err != nil {
			return out, err
		}
	}
	if c.Inventory, err = m.HeldItems(ctx, t.ID); err != nil {
		return out, err
	}
	if c.Quests, err = m.questViews(ctx, t.ID); err != nil {
		return out, err
	}
	c.RecentEvents, err = m.recentPlayerEvents(ctx, t.ID, maxRecent)
	return Item[playerContext]{&c}, err
}

// PlayerState is a player as shown to the person who plays it.
type PlayerState struct {
	playerView
	Location  *location   `json:"location"`
	Inventory []Held      `json:"inventory"`
	Quests    []questView `json:"quests" jsonschema:"Quests that the player has accepted, with their steps."`
}

// PlayerState returns the state of a player. It returns false if the reader sees no card with the id.
func (m *AsOf) PlayerState(ctx context.Context, id canon.CardID) (s PlayerState, ok bool, err error) {
	t, ok, err := m.CardByID(ctx, id)
	if err != nil || !ok {
		return s, false, err
	}
	s.ID, s.Name = t.ID, markup.Clean(t.Name)
	at, stands, err := m.FindAtLink(ctx, id)
	if err != nil {
		return s, false, err
	}
	if stands {
		p := PresenceOf(at)
		s.Clock, s.Heading = p.Clock, p.Heading
		where, err := m.placeByID(ctx, at.To)
		if err != nil {
			return s, false, err
		}
		if where != nil {
			l, err := m.toLocation(ctx, *where, MaxText)
			if err != nil {
				return s, false, err
			}
			s.Location = &l
		}
	}
	if s.Inventory, err = m.HeldItems(ctx, id); err != nil {
		return s, false, err
	}
	s.Quests, err = m.questViews(ctx, id)
	return s, true, err
}
