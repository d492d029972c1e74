package play_test

import (
	"encoding/json"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// followMap opens the feed of the places of players.
func followMap(t *testing.T, who worldtest.Actor, after string) stream {
	t.Helper()
	feeds := who.Scene.Ops.Feeds()
	return followFeed(t, who, feeds[len(feeds)-2], nil, after)
}

// wantPlayers reads a message, which must name the players with their places.
func (s stream) wantPlayers(want map[string]string) op.Message {
	s.t.Helper()
	m := s.next()
	var got struct {
		Players []struct {
			Name  string
			Place string `json:"locationName"`
		}
	}
	if err := json.Unmarshal(m.Data, &got); err != nil {
		s.t.Fatal(err)
	}
	for _, p := range got.Players {
		if want[p.Name] != p.Place {
			s.t.Errorf("%s is at %s: %s", p.Name, p.Place, m.Data)
		}
	}
	if len(got.Players) != len(want) {
		s.t.Errorf("%s, want %v", m.Data, want)
	}
	return m
}

// TestMapFeedTellsOfVisiblePlayers follows the places of players as a player, while players walk whom players see, and
// one whom they do not see.
func TestMapFeedTellsOfVisiblePlayers(t *testing.T) {
	s := worldtest.New(t)
	mira := s.Joins("Mira")
	hidden := access.NewLabel(access.LevelGM)
	s.Card(canon.NewCard{Name: "Shade", Type: world.TypePlayer, Label: &hidden})
	user, gm := followMap(t, s.As("user"), ""), followMap(t, s.As("gm"), "")
	first := user.wantPlayers(map[string]string{"Mira": "Quay"})
	gm.wantPlayers(map[string]string{"Mira": "Quay"})
	s.Link(world.LinkAt, "Shade", "Quay", `{}`)
	gm.wantPlayers(map[string]string{"Mira": "Quay", "Shade": "Quay"})
	mira.Does("n")
	user.wantPlayers(map[string]string{"Mira": "Square"})
	gm.wantPlayers(map[string]string{"Mira": "Square", "Shade": "Quay"})
	followMap(t, s.As("user"), first.ID).wantPlayers(map[string]string{"Mira": "Square"})
	if len(user.c) > 0 {
		t.Errorf("a player is told of something hidden: %s", user.next().Data)
	}
}
