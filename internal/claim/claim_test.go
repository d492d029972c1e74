package claim

import (
	"fmt"
	"strings"
	"testing"
)

// village is a world for the tests: the hall, where the cook and the page are; the yard to the north behind a locked
// door, where the groom is; and the chapel to the east. The abbot is dead, and nobody knows where the pedlar is.
func village() *World {
	w := &World{At: map[int]int{}, Within: map[int]int{}, Holder: map[int]int{}, Speaker: None, Listener: None,
		Directions: strings.Fields("north south east west northeast northwest southeast southwest up down in out")}
	numbers := map[string]int{}
	add := func(class Class, name, text string, fields map[string]any, aliases ...string) {
		numbers[name] = len(w.Entities)
		w.Entities = append(w.Entities, Entity{Name: name, Class: class, Text: text, Fields: fields, Aliases: aliases})
	}
	add(Place, "Great Hall", "Six pillars carry the roof.", map[string]any{"pillars": 6.0})
	add(Place, "Stable Yard", "", nil)
	add(Place, "The Chapel", "", nil)
	add(Person, "Cook", "", map[string]any{"role": "cook of the hall"})
	add(Person, "Wat Pell", "", map[string]any{"role": "page"}, "the page")
	add(Person, "The Groom", "", nil)
	add(Person, "Pedlar", "", nil)
	add(Person, "Abbot Osric", "The abbot died of a fever in 1312.", map[string]any{"died": "in 1312"})
	add(Person, "Traveller", "", nil)
	add(Thing, "copper ladle", "", nil)
	add(Thing, "bridle", "", nil)
	add(Thing, "psalter", "", nil)
	add(Group, "The Household", "", map[string]any{"leader": "The Groom", "members": 9.0})
	add(Other, "The Fire", "In 1301 the chapel burned down, because a candle fell. Nobody died.",
		map[string]any{"year": 1301.0, "cause": "a candle fell"})
	at := func(who, place string) { w.At[numbers[who]] = numbers[place] }
	at("Cook", "Great Hall")
	at("Wat Pell", "Great Hall")
	at("The Groom", "Stable Yard")
	at("Traveller", "Great Hall")
	w.Holder[numbers["copper ladle"]], w.Holder[numbers["bridle"]] = numbers["Cook"], numbers["The Groom"]
	w.Exits = []Exit{{numbers["Great Hall"], numbers["Stable Yard"], "north", "locked"}, {numbers["Great Hall"],
		numbers["The Chapel"], "east", "unlocked"}}
	w.Relations = []Relation{{numbers["Wat Pell"], numbers["Cook"], "child of"}, {numbers["Cook"],
		numbers["The Groom"], "sibling of"}}
	w.Weather = []string{"Steady rain."}
	w.Place = numbers["Great Hall"]
	for _, near := range []string{"Great Hall", "Stable Yard", "The Chapel", "Cook", "Wat Pell"} {
		w.Entities[numbers[near]].Near = true
	}
	return w
}

// saidBy returns the world in which an entity says the text to the traveller.
func saidBy(name string) *World {
	w := village()
	for i, e := range w.Entities {
		switch e.Name {
		case name:
			w.Speaker = i
		case "Traveller":
			w.Listener = i
		}
	}
	return w
}

var truths = map[Truth]string{True: "goes live", Unsure: "waits", New: "is new", False: "is false"}

// Each row is a speaker, "" for a narrator, a text, and its verdict.
func TestVerdicts(t *testing.T) {
	for _, row := range strings.Split(strings.TrimSpace(verdictRows), "\n") {
		f := strings.SplitN(row, " | ", 3)
		who, want, text := strings.TrimSpace(f[0]), f[1], f[2]
		worst, _ := Worst(Check(text, saidBy(who)))
		if got := truths[worst.Truth]; got != want {
			t.Errorf("%q by %q %s (%s, %s), want: it %s", text, who, got, worst.Predicate, worst.Source, want)
		}
	}
}

const verdictRows = `
Cook | goes live | I have the copper ladle right here.
Wat Pell | is false | I've got the copper ladle in my belt.
Cook | is false | The groom keeps the copper ladle these days.
Cook | goes live | The groom carries the bridle everywhere.
Cook | waits | The pedlar owns the psalter.
Cook | is false | Your bridle? It is with Wat, he never puts it down.
Cook | goes live | I do not have the bridle.
Cook | is false | I do not have the ladle, and never had.
Wat Pell | is false | Here, take the copper ladle, it is yours.
 | is false | Wat Pell polishes the bridle.
 | is new | A silver coin lies there, yours for the taking.
Cook | is new | You find a golden cup.
Cook | goes live | You find the silence heavy.
Cook | goes live | Abbot Osric is dead, God rest him.
Cook | is false | The abbot is alive and well.
Cook | is false | I talked to Osric this very morning.
Cook | is false | Somebody murdered the groom.
Cook | waits | The pedlar is dead.
Cook | goes live | The groom is not dead.
 | is new | The king is dead.
 | goes live | The wind is dead.
 | is false | The corpse of the cook lies under the table.
 | is false | Abbot Osric strolls by.
Wat Pell | goes live | The cook is here, stirring.
Wat Pell | is false | The groom is standing right behind you.
 | goes live | Wat yawns.
 | is false | The groom yawns.
Cook | waits | The pedlar was here an hour ago.
Cook | is false | The groom is in the chapel.
Cook | goes live | The groom is out in the stable yard.
 | is false | The groom strides in.
 | is new | A knight in black armour bursts in.
 | is new | Veil arrives.
 | goes live | The tide arrives.
 | goes live | Rain has come.
 | goes live | It arrives.
Cook | goes live | The door to the north leads to the stable yard.
Cook | is false | Go north and you will come to the chapel.
Cook | is false | North of here lies the chapel.
 | is new | A passage leads west.
 | is new | A new door opens behind the bar.
 | goes live | The door opens.
 | goes live | No passage leads west.
Cook | goes live | They say a passage leads west.
Cook | goes live | Does a passage lead west?
Cook | goes live | My heart is an open door.
Cook | is false | You can go north, the door is open.
Cook | goes live | The door to the yard is locked.
Cook | is false | The east door is bolted.
Cook | goes live | Nobody has locked the east door.
Abbot Osric | is false | Peace be with you.
The Groom | is false | Good day to you.
Pedlar | waits | Good day to you.
Cook | goes live | Is the groom dead?
Cook | goes live | If the groom were dead, I would know.
Cook | goes live | I fear that the groom may be dead.
Cook | goes live | He wrote: “The groom is dead.”
Cook | goes live | You look as if the abbot had just walked in.
Cook | goes live | I wish the abbot were alive.
Cook | goes live | Find the groom and bring him to me.
`

// Claims about pronouns mean whom the last sentence names.
func TestPronouns(t *testing.T) {
	for text, want := range map[string]string{
		"The groom? He is dead.":                          "dead 5",
		"Wat is a good boy. He has the bridle.":           "holds 4 10",
		"The bridle is old. I have it here.":              "holds 3 10",
		"The cook's boy sings. The groom is in the yard.": "here 5 1",
	} {
		var got []string
		for _, c := range Read(text, saidBy("Cook")) {
			s := fmt.Sprintf("%s %d %d", c.Predicate, c.Subject, c.Object)
			got = append(got, strings.TrimSuffix(s, " -1"))
		}
		if !strings.Contains(strings.Join(got, ", "), want) {
			t.Errorf("%q has the claims %v, want %s among them", text, got, want)
		}
	}
}

// Any text has a verdict, without a panic, and the time grows with its length alone.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{"", "\xff'’s “", "A. B! c?", strings.Repeat("the cook has the ladle and ", 200),
		strings.Repeat("“", 300), strings.Repeat("is ", 500)} {
		f.Add(s)
	}
	worlds := []*World{village(), saidBy("Cook"), {Place: None, Speaker: None, Listener: None}}
	f.Fuzz(func(t *testing.T, s string) {
		for _, w := range worlds {
			one, _ := Worst(Check(s, w))
			two, _ := Worst(Check(s, w))
			if one != two {
				t.Errorf("%q has the verdicts %v and %v", s, one, two)
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	w := saidBy("Cook")
	b.ReportAllocs()
	for b.Loop() {
		Check("The groom? He is in the yard, and he has the bridle. The door to the north is locked.", w)
	}
}

func Example() {
	worst, ok := Worst(Check("I've got the copper ladle in my belt.", saidBy("Wat Pell")))
	fmt.Println(worst.Predicate, worst.Source, ok)
	// Output: holds Cook has copper ladle true
}
