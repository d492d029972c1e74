package command

import (
	"testing"
)

// A reader may understand a command, but may not add to it.
func TestReadAs(t *testing.T) {
	text := "could you fetch the old lamp for Mara"
	for _, tc := range []struct {
		name    string
		acts    []Act
		unclear string
		fine    bool
	}{
		{"an act", []Act{{Verb: Take, Object: "the old lamp", Targets: []string{"Mara"}}}, "", true},
		{"part of a name", []Act{{Verb: Take, Object: "lamp"}}, "", true},
		{"a direction", []Act{{Verb: Move, Direction: "north"}}, "", true},
		{"something unclear", nil, "verb", true},
		{"an act and something unclear", []Act{{Verb: Take}}, "object", true},
		{"a thing that is not named", []Act{{Verb: Take, Object: "silver lamp"}}, "", false},
		{"a person who is not named", []Act{{Verb: Give, Object: "lamp", Targets: []string{"Oda"}}}, "", false},
		{"no such verb", []Act{{Verb: "delete"}}, "", false},
		{"no such direction", []Act{{Verb: Move, Direction: "home"}}, "", false},
		{"nothing", nil, "", true},
		{"no such ambiguity", nil, "everything", false},
		{"too many", make([]Act, MaxIntents+1), "", false},
	} {
		p, err := ReadAs(text, tc.acts, tc.unclear, "model:x")
		if (err == nil) != tc.fine {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if err != nil {
			continue
		}
		if len(p.Intents) != len(tc.acts) || p.NeedsClarification != (tc.unclear != "" || len(tc.acts) == 0) || p.ParseVersion != "model:x" {
			t.Errorf("%s: %+v", tc.name, p)
		}
		if p.NeedsClarification && p.Question() == "" {
			t.Errorf("%s: no question", tc.name)
		}
	}
}

func TestIsUnsure(t *testing.T) {
	for text, want := range map[string]bool{
		"go north": false, "take the lamp": false, "give the old brass lamp to Mara": false,
		"take":                false, // that something is missing is certain
		"frobnicate the lamp": true, "take the lamp that is shining": true,
		"take the crystal appears": true, // a name with a verb in it
		"tie the rope to":          true, // it breaks off
		"take the lamp, then give it to the old man at the gate": true,
		"I would take the lamp, then attack it":                  true, // many signs, each a weak one
		"take the lamp and drop it":                              false,
		"is the chest locked?":                                   false,
		"qwertz":                                                 false,
	} {
		if got := Parse(text).IsUnsure(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// The first act is sure where the signs of a wrong reading are few or weak.
func TestFirst(t *testing.T) {
	for _, row := range []struct {
		text   string
		verb   Verb
		unsure bool
	}{
		{"take the lamp", Take, false},
		{"yoink the keycard", Take, false},
		{"yeet the skull into the pit", Throw, false},
		{"the crown is mine", Take, false},
		{"the torch can stay here", Drop, false},
		{"this is for you", Give, false},
		{"whet my blade on the stone", Use, true},
		{"tip the vat over", Use, true},
		{"fill the outlaw full of lead", Attack, false},
		{"vamoose", Flee, false},
		{"forty winks", Rest, false},
		{"feast my eyes on the view", Look, true},
		{"Brannoc greets everyone at the table", Talk, false},
		{"I'm not dying for this: I run", Flee, false},
		{"take the lamp, my friend", Take, false},
		{"lay a curse on the baron", Use, false},
		{"lay a sword on the wall", Drop, false},
		{"go over to the old man by the well in the yard now", Move, true},
		{"the moon is full tonight", "", false},
		{"qwertz", "", false},
		{"qwertz the blorb", "", true},
		{"two coins for the beggar", Give, true},
		{"a stone through the window", Throw, true},
		{"five apples off that tree please", Take, true},
		{"my sword on the ground", Drop, false},
		{"a sip of the wine", Use, true},
		{"over the side with the barrels", Throw, true},
		{"after that thief", Move, true},
		{"is the chest locked?", Examine, false},
		{"which way can I go?", Look, false},
		{"what can I make out in the gloom?", Look, false},
		{"does the duke like wine?", "", false},
		{"perambulate round the old cloister garden", Examine, false},
		{"lay the geas on him, they say", Drop, true},
	} {
		if verb, _, unsure := Parse(row.text).First(); verb != row.verb || unsure != row.unsure {
			t.Errorf("%q: got %q, unsure %v", row.text, verb, unsure)
		}
	}
}
