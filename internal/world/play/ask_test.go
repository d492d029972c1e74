package play_test

import (
	"strings"
	"testing"

	"loregate/internal/world/worldtest"
)

// Plain questions are answered from what the player sees, and not with the whole place.
func TestPlainQuestions(t *testing.T) {
	s, _ := newDicey(t)
	p := s.Joins("Mira")
	for _, row := range [][2]string{
		{"who is here?", "Here: the Salt Hound."},
		{"who is that?", "Here: the Salt Hound."},
		{"what is the Salt Hound?", "All ribs."},
		{"who is Oda Tarn?", "She counts everything twice."},
		{"where am I?", "This is Quay. Black stone and wet rope."},
		{"what time is it?", "It is night."},
		{"where can I go?", "Ways out: north to Square."},
		{"what is to the north?", "A way leads to the north, to Square. Up wet steps."},
		{"what's to the west?", "The mist has not lifted yet."},
		{"how do I get to the square?", "To reach Square, go north."},
		{"how do I get to the tower?", "To reach Tower, go north, then east, then up."},
		{"where is Oda Tarn?", "Oda Tarn is not here. You might look in Square: go north."},
		{"where is Oda?", "Oda Tarn is not here. You might look in Square: go north."},
		{"where is the hound?", "Salt Hound is here."},
		{"is there a rope here?", "Black stone and wet rope."},
		{"is there a dragon here?", "You see no dragon here."},
		{"do I have a coin?", "You have no coin."},
		{"what do I have?", "You carry nothing."},
		{"what does the tariff board say?", "A tariff board leans here."},
		{"why is the rope wet?", "Black stone and wet rope."},
		{"why is the sky green?", "Nothing here tells you why the sky is green."},
		{"who rules the moon?", "Nothing here tells you who rules the moon."},
		{"can I take the hound?", "Salt Hound stays where it is."},
		{"can I climb the tariff board?", "You could try to climb the tariff board."},
		{"can I sit here?", "Yes, you can sit here."},
		{"can I kneel here?", "Yes, you can kneel here."},
		{"could you tell me the way to the tower?", "To reach Tower, go north, then east, then up."},
		{"what do they sell here?", "Nobody here has anything to sell."},
		{"can I go north?", "A way leads to the north, to Square. Up wet steps."},
		{"what should I do?", "Nothing asks to be done, here and now."},
		{"how am I?", "You are Mira. You are unhurt. It is night."},
		{"where did I come from?", "Your way begins here, as far as you know."},
	} {
		got := p.Does(row[0])
		got.Is("results.0.outcome", "done", "narration", row[1])
	}
	p.Does("go north")
	p.Does("where did I come from?").Is("narration", "You came from Quay. To go back, go south.")
	p.Does("who's here").Is("narration", "Here: Oda Tarn.")
	p.Does("what lies here?").Is("results.0.outcome", "done")
	p.Does("what did Oda say?").Is("narration", "Oda Tarn has told you nothing yet.")
	p.Does("say good day to Oda")
	if told, _ := p.Does("what did she say?").At("narration").(string); !strings.Contains(told, "Oda Tarn said: “") {
		t.Errorf("what she said: %q", told)
	}
	p.Does("take a coin")
	p.Does("do I have a coin?").Is("narration", "You carry Copper Coin.")
}

// A question about a hidden card is answered like one about no card, a repeated question with the same words, and
// nobody
// else learns of either.
func TestQuestionsKeepSecrets(t *testing.T) {
	s, _ := newDicey(t)
	p := s.Joins("Mira")
	for _, form := range []string{"who is the X?", "where is the X?", "is there a X here?", "how do I get to the X?",
		"what does the X say?", "why is the X here?", "what is the X for?", "can I take the X?", "who sells the X?"} {
		for _, pair := range [][2]string{{"ghost", "goose"}, {"cellar", "collar"}} {
			hidden, _ := p.Does(strings.ReplaceAll(form, "X", pair[0])).At("narration").(string)
			none, _ := p.Does(strings.ReplaceAll(form, "X", pair[1])).At("narration").(string)
			if strings.ReplaceAll(hidden, pair[0], pair[1]) != none || hidden == "" {
				t.Errorf("%s: %q and %q", form, hidden, none)
			}
		}
	}
	first := p.Does("where is the hound?", worldtest.Keyed("k")).At("narration")
	p.Does("attack the hound")
	p.Does("where is the hound?", worldtest.Keyed("k")).Is("narration", first)
	seen := s.As("user").Call("get-recent-events", `{"scope":"location","scopeId":"loc-quay","limit":50}`).Raw
	if strings.Contains(seen, "ghost") || strings.Contains(seen, "goose") || strings.Contains(seen, `"ask"`) {
		t.Errorf("another player sees %s", seen)
	}
}
