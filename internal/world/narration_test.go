package world_test

import (
	"fmt"
	"strings"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/ruleset"
	"loregate/internal/world/worldtest"
)

func settleWell(canon.Settings, string, *int, string, ruleset.Mode) (ruleset.Outcome, string) {
	return ruleset.Outcome{Success: true}, ""
}

// entriesOf returns the entries of an answer as lines "kind name: text".
func entriesOf(a worldtest.Answer) (lines []string) {
	for i := 0; a.At(fmt.Sprintf("item.entries.%d.kind", i)) != nil; i++ {
		at := func(f string) any { return a.At(fmt.Sprintf("item.entries.%d.%s", i, f)) }
		lines = append(lines, fmt.Sprintf("%v %v: %v", at("kind"), at("name"), at("text")))
	}
	return lines
}

func hasLine(lines []string, start, part string) bool {
	for _, l := range lines {
		if strings.HasPrefix(l, start) && strings.Contains(l, part) {
			return true
		}
	}
	return false
}

func TestNarrationContext(t *testing.T) {
	s := worldtest.New(t, func(set *worldtest.Setup) { set.Settle = settleWell })
	p := s.Joins("Mira")
	p.Does("go north")
	p.Does("take a coin")
	p.Does(`say "why does it hum" to Oda`)
	p.Does("flatter Oda Tarn")
	ask := fmt.Sprintf(`{"playerId":%q,"npcId":%q,"purpose":"dialogue"}`, p.ID, s.IDOf("Oda Tarn"))
	got := s.As("gm").Call("get-narration-context", ask)
	lines := entriesOf(got)
	for _, want := range [][2]string{{"npc Oda Tarn", "Mira: trusts a little"}, {"npc Oda Tarn", "counts everything twice"},
		{"place Square", "an old well"}, {"memory", "why does it hum"}, {"memory", "flatter"}, {"forbidden", "locked"},
		{"player Mira", "Carries Copper Coin"}, {"here Anvil", "Heavy"}, {"exit south", "Quay"}, {"air", "It is "},
		{"event", "takes Copper Coin"}} {
		if !hasLine(lines, want[0], want[1]) {
			t.Errorf("no entry %q with %q in\n%s", want[0], want[1], strings.Join(lines, "\n"))
		}
	}
	if again := s.As("gm").Call("get-narration-context", ask); worldtest.Uncited(again.Raw) != worldtest.Uncited(got.Raw) {
		t.Errorf("not deterministic:\n%s\n%s", got.Raw, again.Raw)
	}
	if got.At("item.contextRef") == nil {
		t.Error("no contextRef in the result")
	}
}

// The context of a small budget is within it, begins with the most important entries, and lists the
// others.
func TestNarrationContextFits(t *testing.T) {
	s := worldtest.New(t)
	for _, n := range []int{100, 150, 300} {
		got := s.As("user").Call("get-narration-context", fmt.Sprintf(`{"locationId":%q,"maxTokens":%d}`, s.IDOf("Square"), n))
		if tokens := got.At("item.tokens").(float64); int(tokens) > n {
			t.Errorf("%v tokens of %d", tokens, n)
		}
		got.Is("item.entries.0.kind", "place")
	}
	s.Place("Long Hall", "<p>"+strings.Repeat("A pillar, and one more. ", 400)+"</p>", `{}`)
	got := s.As("user").Call("get-narration-context", fmt.Sprintf(`{"locationId":%q,"maxTokens":200}`, s.IDOf("Long Hall")))
	text := got.At("item.entries.0.text").(string)
	if len(text) > 400 || !strings.HasSuffix(text, ".") {
		t.Errorf("%d bytes: %q", len(text), text)
	}
	got.Is("item.cut.0.kind", "place")
}

// A player's context shows no card that only game masters see, and what one player told a
// character is in no other player's context.
func TestNarrationContextKeepsSecrets(t *testing.T) {
	s := worldtest.New(t)
	a, b := s.Joins("Mira"), s.Joins("Ben")
	a.Does("go north")
	a.Does(`say "the vault is empty" to Oda`)
	b.Does("go north")
	for _, ask := range []string{fmt.Sprintf(`{"playerId":%q,"npcId":%q}`, b.ID, s.IDOf("Oda Tarn"))} {
		got := s.As("user").Call("get-narration-context", ask)
		for _, secret := range []string{"secretghost", "secretcellar", "secrettag"} {
			if strings.Contains(got.Raw, secret) {
				t.Errorf("%s in %s", secret, got.Raw)
			}
		}
		if hasLine(entriesOf(got), "memory", "vault") {
			t.Errorf("told by another player: %s", got.Raw)
		}
	}
	quay := s.As("user").Call("get-narration-context", `{}`)
	if strings.Contains(quay.Raw, "secret") || strings.Contains(quay.Raw, "Ghost") || strings.Contains(quay.Raw, "Cellar") {
		t.Errorf("%s", quay.Raw)
	}
	s.As("user").Call("get-narration-context", fmt.Sprintf(`{"npcId":%q}`, s.IDOf("Ghost"))).Is("item", nil)
	s.As("user").Call("get-narration-context", `{"playerId":"nobody"}`).Is("item", nil)
}
