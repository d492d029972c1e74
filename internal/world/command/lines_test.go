package command

import (
	"fmt"
	"strings"
	"testing"
)

// TestLinesOfPlayers reads lines that players typed, and that were misread once.
func TestLinesOfPlayers(t *testing.T) {
	for text, want := range map[string]string{
		"give old cod his boathook back":                        "give boathook old cod",
		"give the miller her lamp":                              "give lamp miller",
		"have a good look around":                               "look",
		"rest a bit by the water":                               "rest water",
		"take the boathook and yawn":                            "take boathook; ?verb",
		"look at the tariff board and yawn":                     "look tariff board; ?verb",
		"take the sword and bow":                                "take sword; take bow",
		"sit on a bollard and look up":                          "use bollard; examine up",
		"explore the stalls":                                    "examine stalls",
		"explore north":                                         "move north",
		"explore":                                               "move",
		"back down the stairs and down again to the cellar":     "move stairs down; move cellar down",
		"I walk over to the window and look out":                "move window; look out",
		"ok lets leave, I go back up and out onto the quay":     "move up; move quay out",
		"leave, go north":                                       "move north",
		"go out, then north":                                    "move out; move north",
		"Captain Vane, when does the tide turn?":                "talk Captain Vane “when does the tide turn”",
		"I walk over to Wilkin at the southern end":             "move Wilkin",
		"look around me":                                        "look",
		"dig in the sand":                                       "use sand",
		"dig in":                                                "defend",
		"take everything that isn't nailed down":                "take everything",
		"look out":                                              "defend",
		"play a tune on the piano, including the two dead keys": "use tune piano",
		"open up the piano and see why the keys are dead":       "use piano",
		"lift the lid of a box and see what's in there":         "use lid of a box; examine lid of a box",
		"throw the net over the crab":                           "throw net crab",
		"set the piano alight with the fire":                    "use piano fire",
		"set fire to the barn":                                  "use barn",
		"set the lamp on fire":                                  "use lamp",
		"walk all the way round the stone":                      "use stone",
		"prise up a floorboard with the boathook":               "use floorboard boathook",
		"look around the room, what's in here?":                 "look room here",
		"ask Lucien wether he'd lend me a shilling":             "talk Lucien “wether he'd lend me a shilling”",
		"ask the man with the turbot why he won't sell it":      "talk man turbot “why he won't sell it”",
		"ask the man who sells eels about the price":            "talk man “who sells eels about price”",
		"Cheers everyone, a toast to Rentday!":                  "talk everyone “Cheers everyone a toast to Rentday”",
	} {
		p := Parse(text)
		var got []string
		for _, i := range p.Intents {
			act := strings.Join(strings.Fields(fmt.Sprint(i.Verb, " ", i.DirectObject, " ", i.Direction, " ", strings.Join(i.Targets, " "))), " ")
			if i.Verb == Talk && len(i.Modifiers) > 0 {
				act += " “" + strings.Join(i.Modifiers, " ") + "”"
			}
			got = append(got, act)
		}
		for _, a := range p.Ambiguities {
			got = append(got, "?"+a.Kind)
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s: %q, want %q", text, s, want)
		}
	}
}
