package world_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"loregate/internal/canon"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// Contexts list the characters and things at a place and the names of the places where its exits
// lead, as far as the reader may see them.
func TestContextsListCompanyAndExitNames(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	p.Does("n")
	u := s.As("user")
	for _, path := range [][3]string{{"get-location-context", `{"locationId":"loc-square"}`, "item"},
		{"get-player-context", `{"playerId":"` + p.ID.String() + `"}`, "item"}} {
		u.Call(path[0], path[1]).Is("item.npcs.#", 1, "item.npcs.0.name", "Oda Tarn", "item.npcs.0.id",
			s.IDOf("Oda Tarn").String(), "item.npcs.0.type", "Character",
			"item.items.#", 3, "item.items.0.name", "Anvil", "item.items.0.quantity", 1, "item.items.1.name", "Copper Coin",
			"item.items.1.quantity", 5, "item.items.2.id", s.IDOf("Iron Key").String())
	}
	here := u.Call("get-location-context", `{}`)
	here.Is("item.npcs.#", 1, "item.npcs.0.name", "Salt Hound", "item.items.#", 0, "item.exits.0.toLocationName", "Square",
		"item.exits.1.toLocationName", nil)
	if strings.Contains(here.Raw, "Ghost") || strings.Contains(here.Raw, "Cellar") {
		t.Errorf("what is hidden is named: %s", here.Raw)
	}
	s.As("gm").Call("get-location-context", `{}`).Is("item.npcs.#", 2, "item.npcs.0.name", "Ghost",
		"item.exits.3.toLocationName", "Cellar")
	u.Call("list-exits", `{}`).Is("exits.0.toLocationName", "Square")
	for i := range world.MaxListed + 3 {
		s.Card(canon.NewCard{Name: fmt.Sprintf("Rat %02d", i), Type: "Creature"})
		s.Link(world.LinkAt, fmt.Sprintf("Rat %02d", i), "Tower", `{}`)
	}
	u.Call("get-location-context", `{"locationId":"loc-tower"}`).Is("item.npcs.#", world.MaxListed, "item.listTruncations.npcs",
		world.MaxListed+3)
}

func TestDescriptionsAreCutAtSentences(t *testing.T) {
	s := worldtest.New(t)
	long := strings.Repeat("The rope is wet here. ", 60)
	s.Edit("Quay", canon.Edit{Content: new("<p>" + long + "</p>")})
	u := s.As("user")
	got := u.Call("get-location-context", `{}`)
	d := got.At("item.location.description").(string)
	if !strings.HasSuffix(d, "wet here.") || len(d) > 512 || len(d) < 480 ||
		got.At("item.location.fieldTruncations.description") != float64(len(long)-1) {
		t.Errorf("%d %q", len(d), d)
	}
	for _, tool := range []string{"get-location-context", "get-location"} {
		u.Call(tool, `{"maxChars":"16000"}`).Is("item.location.description",
			map[string]any{"get-location-context": strings.TrimSpace(long)}[tool], "item.description",
			map[string]any{"get-location": strings.TrimSpace(long)}[tool])
		for _, bad := range []string{`{"maxChars":0}`, `{"maxChars":-1}`, `{"maxChars":16001}`, `{"maxChars":"all"}`} {
			u.Fails("validation_error", tool, bad)
		}
	}
	for text, want := range map[string]string{
		"One. Two is longer than that.":                                                 "One.",
		"Is it? \"Yes.\" And so on for a while":                                         "Is it? \"Yes.\"",
		"A sentence that does not end in time at all":                                   "A sentence that…",
		"Донаудампфшиффахртсгезельшафт":                                                 "Донаудампфшиффахртс"[:2*20-2],
		"第一句。第二句很长很长很长很长很长很长很长很长":                                                       "第一句。",
		"3.5 metres of it, and more of the same":                                        "3.5 metres of it,…",
		"Line one\nand line two goes on":                                                "Line one",
		"e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301": strings.Repeat("e\u0301", 10),
		"ab": "ab",
	} {
		short, whole := world.CutText(text, 20)
		if utf8.RuneCountInString(short) > 20 || !utf8.ValidString(short) ||
			!strings.HasPrefix(text, strings.TrimSuffix(short, "…")) {
			t.Errorf("%q: %q", text, short)
		}
		if !strings.Contains(text, "Донау") && short != want {
			t.Errorf("%q: %q, want %q", text, short, want)
		}
		if (whole != 0) != (short != text) {
			t.Errorf("%q: whole %d", text, whole)
		}
	}
	for _, text := range []string{"", "…", strings.Repeat("\u0301", 40), strings.Repeat(".", 40),
		strings.Repeat(" ", 40),
		strings.Repeat("\n", 40)} {
		for max := range 6 {
			if short, _ := world.CutText(text, max+1); utf8.RuneCountInString(short) > max+1 {
				t.Errorf("%q to %d: %q", text, max+1, short)
			}
		}
	}
}
