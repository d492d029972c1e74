package command

import (
	"strings"
	"testing"
)

func TestTradeIsReadFromWords(t *testing.T) {
	for text, want := range map[string]string{
		"how much is the loaf?":                 "price loaf",
		"How much does the rye bread cost":      "price rye bread",
		"what's the price of an eel":            "price eel",
		"what does the lantern cost?":           "price lantern",
		"what do you sell?":                     "price ",
		"wares":                                 "price ",
		"haggle":                                "haggle ",
		"haggle with Gil Thrupp over the loaf":  "haggle loaf @gil thrupp",
		"bargain for the eel with the fishwife": "haggle eel @fishwife",
		"haggle with gil":                       "haggle  @gil",
		"what does the sign say":                "",
		"how do I get out of here":              "",
		"look at the price":                     "",
	} {
		got := ""
		if i, ok := ReadTrade(text); ok {
			got = string(i.Verb) + " " + i.DirectObject
			if len(i.Targets) > 0 {
				got += " @" + strings.Join(i.Targets, ",")
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestActsOfTradeKeepTheirReading(t *testing.T) {
	for text, want := range map[string]string{
		"buy a loaf":                     "buy loaf",
		"buy 3 loaves from gil":          "buy 3 loaves @gil",
		"go north and purchase two eels": "move  | buy two eels",
		"buy a pound of salt":            "buy salt",
		"sell the key to gil":            "sell key @gil",
		"take the loaf":                  "take loaf",
		"give the key to gil":            "give key @gil",
		"buy the loaf then take the key": "buy loaf | take key",
	} {
		var parts []string
		for _, i := range Parse(text).Intents {
			if i.AsTrade().trade != "" && (i.Verb != Take && i.Verb != Give) {
				t.Errorf("%q: the grammar reads %s", text, i.Verb)
			}
			i = i.AsTrade()
			part := string(i.Verb) + " " + i.DirectObject
			if len(i.Targets) > 0 {
				part += " @" + strings.Join(i.Targets, ",")
			}
			parts = append(parts, part)
		}
		if got := strings.Join(parts, " | "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
