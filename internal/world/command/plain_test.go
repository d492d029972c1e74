package command

import "testing"

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"hast thou seen the thief?":        "have you seen the thief?",
		"im new here":                      "I'm new here",
		"thx gil ur the best":              "thanks gil your the best",
		"hallo, where i am":                "hello, where am i",
		"lucien why you not pay haha":      "lucien why you not pay",
		"why you not pay":                  "why do you not pay",
		"what i have in pocket":            "what do i have in pocket",
		"how much cost eel":                "how much does eel cost",
		"sugar name where is?":             "where is sugar name?",
		"crab is asleep??":                 "is crab asleep?",
		"who are you, sir?":                "who are you?",
		"talk to the miss":                 "talk to the miss",
		"look at the art":                  "look at the art",
		"the ill man":                      "the ill man",
		"say “hast thou” to Oda":           "say “hast thou” to Oda",
		"take the lamp; who is here?":      "take the lamp. who is here?",
		"where is the well?":               "where is the well?",
		"look at Oda. go north":            "look at Oda. go north",
		"crab is sleeping?? lol he is odd": "is crab sleeping? he is odd",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestIsStatement(t *testing.T) {
	for _, text := range []string{"you look tired", "that's not much", "I have walked all day", "your bucket is stupid", "this market stinks",
		"I am from the north", "I'm starving", "nobody tells me anything", "I promise to bring the loaf", "my lamp is broken"} {
		if !IsStatement(text) {
			t.Errorf("%q is no statement", text)
		}
	}
	for _, text := range []string{"I go north", "I want to go north", "take the lamp", "that one", "the lamp", "I'm going north", "you take the lamp",
		"is he here?", "I have a look at the well", "go to the woman who is old"} {
		if IsStatement(text) {
			t.Errorf("%q is a statement", text)
		}
	}
}

func TestIsCourtesy(t *testing.T) {
	for _, text := range []string{"good evening all", "thanks a lot", "not now", "thanks, goodbye everyone", "goodnight all, sleep well", "why?", "yes",
		"maybe later", "no thank you", "really?", "how are you?"} {
		if !IsCourtesy(text) {
			t.Errorf("%q is no courtesy", text)
		}
	}
	for _, text := range []string{"what is this?", "help me lift the stone", "no, go north", "the well", "why is the rope wet?", "so take it", "and look"} {
		if IsCourtesy(text) {
			t.Errorf("%q is a courtesy", text)
		}
	}
}
