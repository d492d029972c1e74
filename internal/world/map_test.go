package world_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// A map has the pins and the players that its reader may see, and no more than its bounds.
func TestMapHasPinsAndPlayers(t *testing.T) {
	s := worldtest.New(t)
	pins := fmt.Sprintf(
		`{"x": 10.5, "y": 20, "card": %q}, {"x": 1, "y": 2, "card": %q}, {"x": 3, "y": 4, "card": "no id"}`,
		s.IDOf("Quay"),
		s.IDOf("Cellar"),
	)
	s.Card(canon.NewCard{Name: "Chart", Type: canon.TypeImage, Codename: "chart",
		Fields: json.RawMessage(`{"pins": [` + pins + `]}`)})
	p := s.Joins("Mira")
	hidden := access.NewLabel(access.LevelGM)
	s.Card(canon.NewCard{Name: "Shade", Type: world.TypePlayer, Label: &hidden})
	s.Link(world.LinkAt, "Shade", "Quay", `{}`)
	u := s.As("user")
	got := u.Call("get-map", `{"pictureId": "chart"}`)
	got.Is("picture.name", "Chart", "pins.#", 1, "pins.0.name", "Quay", "pins.0.x", 10.5, "pins.0.y", 20, "players.#", 1,
		"players.0.name", "Mira", "players.0.locationName", "Quay")
	if strings.Contains(got.Raw, "Cellar") || strings.Contains(got.Raw, "Shade") || strings.Contains(got.Raw,
		s.IDOf("Cellar").String()) {
		t.Errorf("what is hidden is named: %s", got.Raw)
	}
	s.As("gm").Call("get-map", `{"pictureId": "chart"}`).Is("pins.#", 2, "players.#", 2)
	p.Does("n")
	u.Call("get-map", `{}`).Is("picture", nil, "players.0.locationName", "Square")
	u.Call("get-map", `{"pictureId": "loc-square"}`).Is("picture", nil, "pins.#", 0)
	s.Card(canon.NewCard{Name: "Crowded", Type: canon.TypeImage, Codename: "crowded",
		Fields: json.RawMessage(`{"pins": [` + strings.TrimSuffix(strings.Repeat(strings.Split(pins, ", {")[0]+",", 1001),
			",") + `]}`)})
	u.Call("get-map", `{"pictureId": "crowded"}`).Is("pins.#", 1000)
	for i := range 201 {
		name := fmt.Sprintf("Crew %03d", i)
		s.Card(canon.NewCard{Name: name, Type: world.TypePlayer})
		s.Link(world.LinkAt, name, "Quay", `{}`)
	}
	u.Call("get-map", `{}`).Is("players.#", 200, "warnings.#", 1)
}
