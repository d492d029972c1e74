package world

import (
	"context"
	"fmt"
	"iter"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/slicesx"
)

// Bounds of a map.
const (
	maxPins       = 1000
	maxMapPlayers = 200
)

func (w *World) mapOperation() *op.Operation {
	return op.Define(op.Spec{
		Name: "get-map", Title: "Players and pins on a map",
		Asked: []string{
			"where is everybody", "positions of all participants", "pins of a picture", "markers on the chart",
			"which spots are marked on the picture", "who is where at the moment", "chart with markers",
			"where have all the heroes gone", "spots that are pinned on an image",
		},
		Doc: "Read where the players are and, with pictureId, the pins of a picture: the cards that its field pins puts at points " +
			"of it, in its pixels. picture is null if there is no such picture.",
		Surfaces: onWorld, Effect: access.Read, MinRole: access.RoleUser, Target: "pictureId", Route: "GET /api/world/map",
		Examples: []op.Example{{Title: "Where the players are", Input: `{}`},
			{Title: "The pins of a picture", Input: `{"pictureId": "0190a8e0-0000-7000-8000-000000000000"}`}},
	}, func(ctx context.Context, c *op.Call, in mapIn) (out mapOut, err error) {
		err = w.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) (err error) {
			m := w.Current(snap)
			if out, err = m.readPins(ctx, in.PictureID); err == nil {
				err = m.addPlayers(ctx, &out)
			}
			return err
		})
		return out, err
	})
}

// mapFeed follows the places of players. It reads them as get-map does.
func (w *World) mapFeed() *op.Feed {
	return &op.Feed{
		Name: "follow_map", Title: "Players on the map",
		Doc: "Follow where the players are, as far as you see them: all of them first, and again whenever one comes, goes or " +
			"walks. The id of a message resumes the stream with the next change.",
		Surfaces: onWorld, MinRole: access.RoleUser, Route: "GET /api/world/map/stream",
		Kinds: []op.FeedKind{{Event: "players", Doc: "the players and their places, as in the answer of get-map"}},
		Open: func(ctx context.Context, c *op.Call, _ map[string]string, after string) (iter.Seq2[op.Message, error], error) {
			return op.FollowValue(ctx, "players", after, w.canon.Changed, func(ctx context.Context) (out followedPlayers, err error) {
				err = w.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
					all := mapOut{Players: []mapPlayer{}}
					err := w.Current(snap).addPlayers(ctx, &all)
					out.Players = all.Players
					return err
				})
				return out, err
			}), nil
		},
	}
}

type followedPlayers struct {
	Players []mapPlayer `json:"players"`
}

type mapIn struct {
	PictureID string `json:"pictureId,omitzero" maxlen:"100" jsonschema:"Id or codename of a card with a picture."`
}

type mapOut struct {
	Picture  *namedCard  `json:"picture"`
	Pins     []pin       `json:"pins"`
	Players  []mapPlayer `json:"players"`
	Warnings []string    `json:"warnings"`
}

type namedCard struct {
	ID   canon.CardID `json:"id"`
	Name string       `json:"name"`
}

type pin struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	namedCard
	Type string `json:"type"`
}

type mapPlayer struct {
	namedCard
	LocationID   canon.CardID `json:"locationId"`
	LocationName string       `json:"locationName"`
}

// readPins reads the pins of a picture, without those of cards that the caller does not see.
func (m *AsOf) readPins(ctx context.Context, picture string) (mapOut, error) {
	out := mapOut{Pins: []pin{}, Players: []mapPlayer{}, Warnings: []string{}}
	if picture == "" {
		return out, nil
	}
	t, ok, err := m.FindCard(ctx, picture)
	if err != nil || !ok || !t.IsType(canon.TypeImage) {
		return out, err
	}
	out.Picture = &namedCard{t.ID, markup.Clean(t.Name)}
	var f struct {
		Pins []struct {
			X    float64 `json:"x"`
			Y    float64 `json:"y"`
			Card string  `json:"card"`
		} `json:"pins"`
	}
	DecodeFields(t.Fields, &f)
	var ids []canon.CardID
	for _, p := range f.Pins[:min(len(f.Pins), maxPins)] {
		if id, ok := idOf(p.Card); ok {
			ids = append(ids, id)
		}
	}
	cards, err := m.mapByID(ctx, ids)
	if err != nil {
		return out, err
	}
	for _, p := range f.Pins[:min(len(f.Pins), maxPins)] {
		if id, ok := idOf(p.Card); ok && cards[id].Name != "" {
			out.Pins = append(out.Pins, pin{p.X, p.Y, namedCard{id, markup.Clean(cards[id].Name)}, cards[id].Type})
		}
	}
	return out, nil
}

// addPlayers adds the players, with their places.
func (m *AsOf) addPlayers(ctx context.Context, out *mapOut) error {
	players, _, err := m.Cards(ctx, canon.Filter{Types: []string{TypePlayer}},
		canon.Page{Limit: maxMapPlayers + 1, Uncounted: true})
	if err != nil || len(players) == 0 {
		return err
	}
	if len(players) > maxMapPlayers {
		players = players[:maxMapPlayers]
		out.Warnings = append(out.Warnings, fmt.Sprintf("only %d players are listed", maxMapPlayers))
	}
	ids := slicesx.Map(players, func(p canon.Card) canon.CardID { return p.ID })
	links, err := m.ReadLinks(ctx, canon.LinkQuery{Froms: ids, Kinds: []string{LinkAt}}, 2*maxMapPlayers)
	if err != nil {
		return err
	}
	at := map[canon.CardID]canon.CardID{}
	var places []canon.CardID
	for _, l := range links {
		at[l.From] = l.To
		places = append(places, l.To)
	}
	cards, err := m.mapByID(ctx, places)
	if err != nil {
		return err
	}
	for _, p := range players {
		if place := cards[at[p.ID]]; place.Name != "" {
			out.Players = append(out.Players,
				mapPlayer{namedCard{p.ID, markup.Clean(p.Name)}, place.ID, markup.Clean(place.Name)})
		}
	}
	return nil
}

// mapByID returns cards by their ids, without those that the caller does not see.
func (m *AsOf) mapByID(ctx context.Context, ids []canon.CardID) (map[canon.CardID]Card, error) {
	list, err := m.CardsByID(ctx, ids)
	cards := make(map[canon.CardID]Card, len(list))
	for _, c := range list {
		cards[c.ID] = c
	}
	return cards, err
}
