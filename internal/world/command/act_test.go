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
		if len(p.Intents) != len(tc.acts) || p.NeedsClarification != (tc.unclear != "" || len(tc.acts) == 0) ||
			p.ParseVersion != "model:x" {
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

// The verb of the first act is empty if nothing is to be done.
func TestFirst(t *testing.T) {
	for _, row := range []struct {
		text string
		verb Verb
	}{
		{"take the lamp", Take},
		{"yoink the keycard", Take},
		{"yeet the skull into the pit", Throw},
		{"the crown is mine", Take},
		{"the torch can stay here", Drop},
		{"this is for you", Give},
		{"whet my blade on the stone", Use},
		{"tip the vat over", Use},
		{"fill the outlaw full of lead", Attack},
		{"vamoose", Flee},
		{"forty winks", Rest},
		{"feast my eyes on the view", Look},
		{"Brannoc greets everyone at the table", Talk},
		{"I'm not dying for this: I run", Flee},
		{"take the lamp, my friend", Take},
		{"lay a curse on the baron", Use},
		{"lay a sword on the wall", Drop},
		{"go over to the old man by the well in the yard now", Move},
		{"the moon is full tonight", ""},
		{"qwertz", ""},
		{"qwertz the blorb", ""},
		{"my sword on the ground", Drop},
		{"is the chest locked?", Examine},
		{"which way can I go?", Look},
		{"what can I make out in the gloom?", Look},
		{"does the duke like wine?", ""},
		{"perambulate round the old cloister garden", Examine},
		{"lay the geas on him, they say", Drop},
	} {
		if verb, _ := Parse(row.text).First(); verb != row.verb {
			t.Errorf("%q: got %q", row.text, verb)
		}
	}
}
