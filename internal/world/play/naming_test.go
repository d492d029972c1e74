package play_test

import (
	"encoding/json"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// newCompany returns a scene whose quay has several people, some in its text only.
func newCompany(t *testing.T) *worldtest.Scene {
	s, _ := newDicey(t)
	s.Edit(
		"Quay",
		canon.Edit{Content: new("<p>Under the arch sits a letter-writer with a sign. Two clerks argue about ink. " +
			"A man holds a very old turbot. The ferryman's boy sleeps. There is no bell. The Bench's factor has the window. " +
			"The boats are called Did She and So He Left.</p>")},
	)
	for name, card := range map[string]canon.NewCard{
		"Anna Brack":   {Content: "<p>She keeps the bar. Her lamp is red. A jar stands by her.</p>", Fields: json.RawMessage(`{"role":"innkeeper","says":["Mind the ladder."]}`)},
		"Ulric Brack":  {Content: "<p>He is old, and his hat is new.</p>", Fields: json.RawMessage(`{"role":"tide-caller"}`)},
		"Pip Marrow":   {Content: "<p>He runs.</p>", Fields: json.RawMessage(`{"role":"copy boy","age":9}`)},
		"Out to Reach": {Content: "<p>A hermit.</p>"},
	} {
		card.Name, card.Type = name, "Character"
		s.Card(card)
		s.Link(world.LinkAt, name, "Quay", `{}`)
	}
	return s
}

func TestNamesOfPeople(t *testing.T) {
	s := newCompany(t)
	p := s.Joins("Mira")
	for text, want := range map[string]string{
		"talk to Anna":                          "Anna Brack",
		"talk to Mrs Anna Brack":                "Anna Brack",
		"talk to the innkeeper":                 "Anna Brack",
		"talk to the woman":                     "Anna Brack",
		"talk to the copy boy":                  "Pip Marrow",
		"talk to the child":                     "Pip Marrow",
		"ask the tide-caller about the tide":    "Ulric Brack",
		"talk to Out to Reach":                  "Out to Reach",
		"talk to the tired innkeeper":           "Anna Brack",
		"talk to the innkeper":                  "Anna Brack",
		"talk to the letter-writer":             "letter-writer",
		"ask the letter writer about the sign":  "letter-writer",
		"talk to the clerks":                    "clerks",
		"talk to one of the clerks":             "clerks",
		"talk to the man with the turbot":       "man",
		"talk to the ferryman's boy":            "ferryman's boy",
		"talk to the factor":                    "factor",
		"attack the clerks":                     "clerks",
		"persuade the letter-writer to sing":    "letter-writer",
		"tell the letter-writer about the boat": "letter-writer",
	} {
		got := p.Does(text)
		if name, _ := got.At("events.0.payload.target.name").(string); want != "" && name != want {
			t.Errorf("%s: %q, want %q: %v", text, name, want, got.At("narration"))
		}
	}
}

func TestPronounsRememberTheLatestActs(t *testing.T) {
	s := newCompany(t)
	p := s.Joins("Mira")
	p.Does("talk to Anna")
	p.Does("talk to Ulric")
	for text, want := range map[string]string{"talk to her": "Anna Brack", "ask him about the hat": "Ulric Brack"} {
		p.Does(text).Is("events.0.payload.target.name", want)
	}
	p.Does("examine the turbot")
	p.Does("take it").Is("results.0.outcome", "done", "events.0.payload.objects.0.name", "turbot")
	p.Does("give it to her").Is("events.0.payload.target.name", "Anna Brack", "events.0.payload.objects.0.name", "turbot")
	q := s.Joins("Tam")
	q.Does("take it").Is("results.0.outcome", "impossible", "results.0.reason", "no_target")
}

func TestRefusalsTellWhatIsThere(t *testing.T) {
	s := newCompany(t)
	p := s.Joins("Mira")
	for text, want := range map[string]string{
		"talk to Brack":          "Which do you mean: ",
		"talk to the judge":      "You see no judge here. Here: ",
		"talk to Maud":           "Maud is not here. Here: ",
		"attack everyone":        "One at a time. ",
		"attack myself":          "You think better of it",
		"examine the bell":       "There is no bell: “There is no bell.”",
		"take the bell":          "There is no bell: “There is no bell.”",
		"examine the brass sign": "You see no brass sign here. But: “Under the arch sits a letter-writer with a sign.”",
		"talk to the turbot":     "The turbot will not answer.",
		"take Anna's jar":        "Anna Brack would notice.",
		"look at So He Left":     "The boats are called Did She and So He Left.",
		"look at her lamp":       "Her lamp is red.",
		"look at the last night": "You see no last night here.",
		"look at the last clerk": "Two clerks argue about ink.",
	} {
		got := p.Does(text)
		if told, _ := got.At("narration").(string); !strings.HasPrefix(told, want) {
			t.Errorf("%s: %q, want %q", text, told, want)
		}
	}
	s.Joins("Tam")
	if told, _ := p.Does("look").At("narration").(string); !strings.Contains(told, "Tam (a traveller like you)") {
		t.Errorf("a player is not marked: %s", told)
	}
}

// A hidden namesake changes nothing for those who do not see it.
func TestHiddenNamesakesOfPeople(t *testing.T) {
	answers := []string{}
	for _, hidden := range []bool{false, true} {
		s := newCompany(t)
		p := s.Joins("Mira")
		label := access.NewLabel(access.LevelGM)
		for _, name := range []string{"Letter-Writer", "Clerk", "Carl Brack", "Judge"} {
			if !hidden {
				name += " Elsewhere"
			}
			s.Card(canon.NewCard{Name: name, Type: "Character", Label: &label, Content: "<p>She is secret.</p>",
				Fields: json.RawMessage(`{"role":"innkeeper"}`)})
			if hidden {
				s.Link(world.LinkAt, name, "Quay", `{}`)
			} else {
				s.Link(world.LinkAt, name, "Tower", `{}`)
			}
		}
		got := ""
		for _, text := range []string{"talk to the letter-writer", "talk to the innkeeper", "talk to her", "talk to the woman",
			"talk to the judge", "talk to the clerk", "ask Mr Brack about the tide", "attack everyone", "kick the judge"} {
			told, _ := p.Does(text).At("narration").(string)
			got += told + "\n"
		}
		answers = append(answers, got)
	}
	if answers[0] != answers[1] {
		t.Errorf("without them\n%s\nwith them\n%s", answers[0], answers[1])
	}
}

// Words to "you" mean nobody where nobody was spoken to and several people are.
func TestYouIsNobodyUntilSpokenTo(t *testing.T) {
	s := newCompany(t)
	s.Edit("Quay", canon.Edit{Content: new("<p>You see a lamp that you know.</p>")})
	s.Joins("Mira").
		Does("talk to you").
		Is("results.0.reason", "no_target", "results.0.text", "Whom do you mean? Name them.")
}

// Qualities that nobody wrote, words behind the noun and typing errors in it do not hide a thing that is there.
func TestLooseNamesOfThings(t *testing.T) {
	s := newCompany(t)
	p := s.Joins("Mira")
	for text, want := range map[string]string{
		"look at the lovely little sign":           "Under the arch sits a letter-writer with a sign.",
		"look at the sign like a clever man":       "Under the arch sits a letter-writer with a sign.",
		"look at the siiign":                       "Under the arch sits a letter-writer with a sign.",
		"look at the newest boat":                  "The boats are called Did She and So He Left.",
		"look at the boaat":                        "The boats are called Did She and So He Left.",
		"examine the wooden sign":                  "You see no wooden sign here. But: ",
		"look at the very old turbot of the clerk": "A man holds a very old turbot.",
	} {
		if told, _ := p.Does(text).At("narration").(string); !strings.HasPrefix(told, want) {
			t.Errorf("%s: %q, want %q", text, told, want)
		}
	}
}
