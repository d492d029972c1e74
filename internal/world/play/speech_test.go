package play_test

import (
	"strings"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/world"
)

// Words for somebody reach whom they are meant for, whole, whatever the command is called.
func TestSpeechReachesItsListener(t *testing.T) {
	s, _ := newDicey(t)
	p := s.Joins("Mira")
	p.Does("go north")
	for _, row := range [][3]string{ // the command, to whom, and the words
		{"ask Oda who she works for", "Oda Tarn", "who she works for"},
		{"ask her about the well", "Oda Tarn", "about the well"},
		{"say \"I will come along with anything\" to Oda", "Oda Tarn", "I will come along with anything"},
		{"say I will come along with anything to Oda", "Oda Tarn", "I will come along with anything"},
		{"tell Mrs Tarn a story", "Oda Tarn", "a story"},
		{"tell her that the well is dry", "Oda Tarn", "the well is dry"},
		{"tell Oda she looks like a fool", "Oda Tarn", "You look like a fool."},
		{"tell Oda that she is kind", "Oda Tarn", "You are kind."},
		{"tell Oda that he is kind to her", "Oda Tarn", "he is kind to her"},
		{"who are you?", "Oda Tarn", "who are you?"},
		{"do you have any work for me?", "Oda Tarn", "do you have any work for me?"},
		{"Oda, what do you sell?", "Oda Tarn", "what do you sell?"},
		{"what do you sell, Oda?", "Oda Tarn", "what do you sell?"},
		{"thank her for her time", "Oda Tarn", "thank you for her time"},
		{"thanks", "Oda Tarn", "thanks"},
		{"could I have some cake?", "Oda Tarn", "could I have some cake?"},
		{"tell me about the sea", "Oda Tarn", "about the sea"},
		{"\"Good day. What news?\"", "Oda Tarn", "Good day. What news?"},
		{"ask the woman if it rains", "Oda Tarn", "if it rains"},
		{"see you later Oda", "Oda Tarn", "see you later"},
		{"I am sorry if I was rude.", "Oda Tarn", "I am sorry if I was rude."},
		{"i lied to you, Oda, i am not a founder", "Oda Tarn", "i lied to you, i am not a founder"},
		{"I'll take it on, Oda. Out to the stone", "Oda Tarn", "I'll take it on, Out to the stone"},
		{"I have been at the Stone, Oda", "Oda Tarn", "I have been at the Stone"},
		{"hello Oda, could I have a pint please?", "Oda Tarn", "could I have a pint please?"},
		{"yes please, I'd love some cake", "Oda Tarn", "yes please, I'd love some cake"},
		{"oi Oda, got any money?", "Oda Tarn", "got any money?"},
		{"psst Oda, do you sing?", "Oda Tarn", "do you sing?"},
		{"hey you, walker, have you work for me?", "Oda Tarn", "walker, have you work for me?"},
		{"excuse me, sir, have you seen a cat?", "Oda Tarn", "have you seen a cat?"},
		{"well, Oda, are you married?", "Oda Tarn", "are you married?"},
		{"nice puppets", "Oda Tarn", "nice puppets"},
		{"what a lovely bell!", "Oda Tarn", "what a lovely bell!"},
		{"is there somthing I can do for you?", "Oda Tarn", "is there something I can do for you?"},
		{"Could you tell me why talk drops when you call?", "Oda Tarn", "why talk drops when you call"},
		{"hello everyone", "", "hello"},
		{"say goodbye to everybody", "", "goodbye"},
		{"tell everyone that I am back", "", "I am back"},
	} {
		got := p.Does(row[0])
		got.Is("results.0.outcome", "done", "results.0.verb", "talk", "events.0.payload.detail", row[2])
		if to, _ := got.At("events.0.payload.target.name").(string); to != row[1] {
			t.Errorf("%s: to %q, want %q", row[0], to, row[1])
		}
	}
}

// Every sentence of a line is carried out or answered, in order.
func TestSentencesAreReadOneByOne(t *testing.T) {
	s, _ := newDicey(t)
	p := s.Joins("Mira")
	for text, want := range map[string][2]string{
		"what a fine rope! Where am I?":         {"talk", "ask"},
		"feel the rope, is it wet?":             {"examine", "ask"},
		"nice rope. What time is it?":           {"talk", "ask"},
		"hello. Who is here?":                   {"talk", "ask"},
		"look at the hound. Who is it?":         {"look", "ask"},
		"lovely weather. Is there a rope here?": {"talk", "ask"},
		"take the moon. Who is here?":           {"take", "ask"},
	} {
		p.Does(text).Is("results.0.verb", want[0], "results.1.verb", want[1], "results.1.outcome", "done",
			"results.1.order", 1)
	}
	p.Does("take the moon. Who is here? go north").
		Is("results.#", 3, "results.1.outcome", "done", "results.2.outcome", "skipped")
}

// A pronoun stands for the last that the player named and that fits, and for nothing that is not there.
func TestPronounsNameTheLast(t *testing.T) {
	s, _ := newDicey(t)
	s.Change(func(plan *canon.Plan) error {
		square, err := plan.Card("Square")
		if err != nil {
			return err
		}
		ben, err := plan.Create(canon.NewCard{Name: "Ben Dow", Type: "Character",
			Content: "<p>He mends nets, and his hands show it.</p>"})
		if err != nil {
			return err
		}
		_, err = plan.Link(canon.Link{ID: canon.LinkIDOf(world.LinkAt, ben.ID.String(), square.ID.String()),
			Kind: world.LinkAt, From: ben.ID, To: square.ID})
		return err
	})
	p := s.Joins("Mira")
	if told, _ := p.Does("thank her").At("narration").(string); strings.Contains(told, "Oda") {
		t.Errorf("somebody elsewhere is thanked: %q", told)
	}
	p.Does("go north")
	p.Does("look at Oda")
	p.Does("look at Ben")
	for _, row := range [][2]string{{"thank her", "Oda Tarn"}, {"thank him", "Ben Dow"}, {"give her a coin",
		"Oda Tarn"},
		{"ask him about the well", "Ben Dow"}, {"greet her", "Oda Tarn"}, {"hug him", "Ben Dow"}} {
		if row[0] == "give her a coin" {
			p.Does("take a coin")
		}
		got := p.Does(row[0])
		if to := got.At("events.0.payload.target.name"); to != row[1] {
			t.Errorf("%s: to %v, want %s", row[0], to, row[1])
		}
	}
	p.Does("who is he?").Is("narration", "He mends nets, and his hands show it.")
	p.Does("take the key")
	p.Does("look at it").Is("narration", "Rust and hope.")
	p.Does("drop it").Is("results.0.outcome", "done")
	p.Does("take the coin then examine it").Is("results.1.text", "Worn.")
}

// Somebody answers courtesies in kind, tells who it is, and knows what anybody sees.
func TestRepliesFitTheWords(t *testing.T) {
	s, _ := newDicey(t)
	p := s.Joins("Mira")
	p.Does("go north")
	for text, want := range map[string]string{"who are you?": "I am Oda Tarn.",
		"ask Oda what time it is":        "It is night.",
		"ask Oda the way to the tower":   "",
		"ask Oda how to get to the quay": "To reach Quay, go south.", "ask Oda about the anvil": "Anvil? Heavy."} {
		if told, _ := p.Does(text).At("narration").(string); !strings.Contains(told, want) {
			t.Errorf("%s: %q, want %q", text, told, want)
		}
	}
	for _, text := range []string{"hello everyone", "say goodbye to everybody"} {
		if told, _ := p.Does(text).At("narration").(string); !strings.HasPrefix(told, "Oda Tarn says: “") {
			t.Errorf("%s: %q", text, told)
		}
	}
	hidden := p.Does("ask Oda about the ghost").At("narration")
	if told, _ := hidden.(string); strings.Contains(told, "secret") {
		t.Errorf("a secret is told: %s", told)
	}
}

// A question that no topic of somebody fits is answered from the texts before the player, by the wares, or with a line
// that names its subject, and never with a line about something else.
func TestAnswersKeepToTheSubject(t *testing.T) {
	s, _ := newDicey(t)
	p := s.Joins("Mira")
	p.Does("go north")
	for _, row := range [][2]string{
		{"ask Oda about the market stalls", "“Market stalls."},
		{"ask Oda about the old well", "an old well, and it hums"},
		{"ask Oda why the old well hums", "hy"}, {"Oda, why does an old well stand here?", "hy"},
		{"Oda, what stands in the middle?", "In the middle stands an old well"},
		{"ask Oda what she counts twice", "“I count everything twice.”"},
		{"ask Oda about the letters", "the letters"},
		{"ask Oda if she carries letters for anybody", "the letters"},
		{"Oda, would you read me one of your verses?", ""},
		{"ask Oda what Rentday is for", "Rentday"},
		{"ask Oda why he owes so much", "hy"},
		{"ask Oda about the twelfth well", "an old well, and it hums"},
		{"could I have some cake?", "cake"},
		{"Oda, do you have something for the middle well?", "an old well, and it hums"},
		{"ask Oda if she is married", ""},
		{"Oda, do you have children?", ""},
		{"ask Oda if she sells pie", "pie"},
		{"ask Oda for the puppet back", "puppet"},
		{"hello Oda, could I have a pint please?", "pint"},
	} {
		told, _ := p.Does(row[0]).At("narration").(string)
		if !strings.Contains(told, row[1]) || strings.Contains(told, "third step") || strings.Contains(told, "is owed") {
			t.Errorf("%s: %q, want %q", row[0], told, row[1])
		}
	}
	if told, _ := p.Does("tell Oda that the sea is green").At("narration").(string); strings.Contains(told, "step") ||
		strings.Contains(told, "is owed") || !strings.HasPrefix(told, "Oda Tarn says: “") {
		t.Errorf("words that ask nothing: %q is beside the point", told)
	}
	for _, pair := range [][2]string{{"ghost", "goose"}, {"cellar", "collar"}} {
		hidden, _ := p.Does("ask Oda why the " + pair[0] + " waits").At("narration").(string)
		if !strings.Contains(hidden, "hy") {
			t.Errorf("%s: %q", pair[0], hidden)
		}
	}
}

// The sentences of a command share its limit of acts, and the rest is told.
func TestSentencesAreLimited(t *testing.T) {
	s, _ := newDicey(t)
	got := s.Joins("Mira").Does(strings.Repeat("Look, look, look. What is this? ", 12))
	got.Is("results.#", 9, "ambiguities.#", 1, "ambiguities.0.kind", "overflow")
	if told, _ := got.At("narration").(string); !strings.Contains(told, "too much at once") {
		t.Errorf("told %q", told)
	}
}
