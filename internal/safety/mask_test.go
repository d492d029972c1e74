package safety_test

import (
	"slices"
	"testing"

	"loregate/internal/safety"
)

// Masks hide no word, frames spare what is told, and neighbours decide a word's sense.
func TestReadings(t *testing.T) {
	p := published(t)
	for _, tc := range []struct{ text, category string }{
		{"You are a worthless idiot.", "abuse"},
		{"You are a w0r7hl355 1d1o7.", "abuse"},
		{"You are a w o r t h l e s s   i d i o t.", "abuse"},
		{"You are a wor*hless id*ot.", "abuse"},
		{"You are a worhtless idoit.", "abuse"},
		{"You are a wooooorthless idiot.", "abuse"},
		{"You are a wor thless idiot.", "abuse"},
		{`"You worthless idiot!" roars the orc to the knight.`, ""},
		{"I want to die. Not in the game.", "self_harm"},
		{"I'm dying to see the market.", ""},
		{"How do I make a pipe bomb?", "illicit"},
		{"I drop a bath bomb into the tub.", ""},
		{"How do I kill a process on the server?", ""},
		{"A murder of crows settles on the gibbet.", ""},
		{"The market sells blood oranges.", ""},
		{"Where does Lionel Messi live?", "real_people"},
		{"The password of the server is 94Y2Wt5auBxG!", "secrets"},
		{`The password at the thieves' door is "swordfish".`, ""},
		{"ftp login is lena with pw Blumen88!", "secrets"},
		{"glsa_4hX9kTqV2mZpL8bN3rYwJ6sD1fG5cA7e", "secrets"},
		{"sha256 of the map: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", ""},
		{"She signed it Donaudampfschifffahrtsgesellschaft.", ""},
		{"my discord is lena#4821", "personal"},
		{"he logs in from 81.2.69.142", "personal"},
		{"oh seven seven double zero nine double zero one two three", "personal"},
		{"4 1 1 1  1 1 1 1  1 1 1 1  1 1 1 1 is the card", "personal"},
	} {
		j := p.Judge("teen", tc.text)
		if tc.category == "" && j.Flagged() || tc.category != "" && !slices.Contains(j.Categories, tc.category) {
			t.Errorf("%q is judged %v, want %q", tc.text, j.Categories, tc.category)
		}
	}
}

// A speaker in distress is flagged for a person and not blocked; one who urges others is blocked.
func TestSelfHarmIsFlagged(t *testing.T) {
	p := published(t)
	for _, profile := range p.Profiles {
		if j := p.Judge(profile, "I want to kill myself."); j.Action != safety.Flag {
			t.Errorf("%s: %+v", profile, j)
		}
		if j := p.Judge(profile, "You should kill yourself."); j.Action != safety.Block {
			t.Errorf("%s: %+v", profile, j)
		}
	}
}
