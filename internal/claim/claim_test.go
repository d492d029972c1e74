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
	w.Weather = "Steady rain."
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
func TestVerdicts(t *testing.T) { checkVerdicts(t, verdictRows) }

func checkVerdicts(t *testing.T, rows string) {
	t.Helper()
	for _, row := range strings.Split(strings.TrimSpace(rows), "\n") {
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
Cook | is false | The page has got hold of the copper ladle.
Cook | is false | That ladle hangs from the groom's belt.
 | is false | Wat Pell clutches the bridle to his chest.
Cook | is false | The page wears the bridle on his belt.
Cook | is false | I hand you the bridle.
Cook | is false | The bridle is yours.
Cook | is false | The groom has been dead for a week.
Cook | is false | The groom was found dead in the straw.
Cook | is false | The abbot still lives.
Cook | is false | The abbot came by just now.
Cook | is false | I had supper with the abbot yesterday.
 | is false | The abbot nods from his chair.
 | is false | By the window stands the groom.
Cook | is false | You will find the groom here.
Cook | is false | Wat is out in the stable yard.
Cook | is false | The page has gone to the chapel.
 | is false | In walks the groom, soaked to the skin.
Cook | is false | The groom has just come back.
Cook | is false | The chapel lies north of here.
Cook | is false | East of the hall is the stable yard.
Cook | is false | Go east for the stable yard.
 | is false | The north door is ajar.
Cook | is false | Nothing bars the way north.
Cook | is false | The chapel door has been bolted since Easter.
Cook | is false | You won't get through the east door, it's barred.
 | is false | Bright sunshine floods the hall.
Cook | is false | It hasn't rained for weeks, and it is not raining now.
Cook | is false | The hall has eight pillars.
Cook | is false | There are only two pillars in this hall.
Wat Pell | is false | The cook is my wife.
Cook | is false | I am the groom's mother.
Wat Pell | is false | I am the cook of the hall.
Cook | is false | The household is led by Wat.
Cook | is false | The chapel burned in 1340.
Cook | is false | Twelve people died in the fire.
Cook | goes live | I have the copper ladle, and nobody else may touch it.
 | goes live | The cook bangs the copper ladle on the table.
Cook | goes live | Abbot Osric died of a fever, poor man.
Cook | goes live | Wat is over there, by the fire.
Cook | goes live | The chapel is to the east.
Cook | goes live | The north door is locked.
 | goes live | Rain drums on the roof.
Cook | goes live | Six pillars hold up this roof.
Cook | goes live | The groom is my brother.
Cook | goes live | The groom leads the household.
Cook | goes live | A candle fell, and the chapel burned.
Cook | goes live | Sit down, and mind the pot, it is hot.
Cook | goes live | I have worked here all my life.
 | goes live | The fire crackles, and shadows move along the wall.
 | goes live | A chair scrapes; somebody coughs.
Cook | goes live | God keep the abbot's soul.
Cook | goes live | We remember the abbot in our prayers.
Cook | goes live | Who has the bridle?
Cook | goes live | The abbot was a good man.
Cook | goes live | They told me the groom was dead; nonsense.
 | goes live | The hall smells of onions and wet wool.
Cook | goes live | The groom and I were children together.
Cook | is false | You want the copper ladle? The page keeps it in his pocket.
Cook | is false | The copper ladle is in the possession of the groom.
Wat Pell | is false | Look, I am holding the bridle.
 | is false | The cook sets the bridle down in front of her.
Cook | is false | Take this bridle from my hands.
Cook | is false | The groom was murdered in his bed.
Cook | is false | Wat is no longer among the living.
Cook | is false | They hanged the groom at dawn.
Cook | is false | Osric is not dead at all.
Cook | is false | Abbot Osric is waiting for you in the chapel.
Cook | is false | Abbot Osric says mass every morning.
Cook | is false | I saw the abbot at market yesterday.
 | is false | The groom and the cook whisper together.
Cook | is false | The groom stands in this very hall.
Cook | is false | Wat isn't here.
Cook | is false | You'll find Wat in the chapel.
 | is false | The groom appears in the doorway.
Cook | is false | Ah, there comes the groom.
Cook | is false | Through the north door is the chapel.
Cook | is false | The chapel? Just north of here.
Cook | is false | The stable yard is to the east.
Cook | is false | From here the chapel is straight north.
 | is false | To the east you see the stable yard.
Cook | is false | The door to the yard is never locked.
 | is false | The chapel door is firmly shut and bolted.
Cook | is false | The way east is barred.
Cook | is false | It is a bright, sunny day.
Cook | is false | It's dry as dust outside.
Cook | is false | The sky is clear tonight, you can count the stars.
Cook | is false | No rain today.
 | is false | A dozen pillars line the hall.
Cook | is false | The household numbers thirty members.
Cook | is false | The groom is no brother of mine.
Cook | is false | The page is the leader of the household.
Wat Pell | is false | I am the leader of the household.
Cook | is false | Abbot Osric died in the spring of 1350.
Cook | goes live | The groom is at work in the yard.
Cook | goes live | Wat doesn't carry the bridle.
Cook | goes live | Osric is buried behind the chapel.
Cook | goes live | You cannot go north, the door is locked.
Cook | goes live | The chapel is just through the east door.
Cook | goes live | Wat and I live here.
Cook | goes live | The groom is my own brother, you know.
Cook | goes live | It is wet out there.
Cook | goes live | The chapel burned when a candle fell over.
 | goes live | Wat hums under his breath and the cook frowns.
 | goes live | The pillars throw long shadows.
Cook | goes live | I never liked the abbot.
Cook | goes live | I was born in this house, and I will die in it.
Cook | goes live | People say the abbot walks at night.
Cook | is false | Wat has the bridle in his bag, I packed it for him.
 | is false | Wat Pell is gripping the copper ladle so hard that his knuckles are white.
 | is false | Somewhere near the fire the groom coughs.
Cook | is false | The groom came in a moment ago, he is warming himself.
Cook | is false | The page is off praying in the chapel.
Cook | is false | The page has drowned in the millpond.
Cook | is false | I can tell you that Osric is very much alive.
 | is false | Abbot Osric smiles thinly and pours the wine.
Cook | is false | Turn north and you are at the chapel in a minute.
 | is false | Beyond the northern door lies the chapel.
Cook | is false | Just push the north door, it's unlocked.
Cook | is false | They always leave the yard door unlocked.
Cook | is false | Fine dry weather we have today.
Cook | is false | Three pillars. That is all that holds the roof.
Cook | is false | Wat commands the household.
Cook | is false | It was an earthquake that burned the chapel down.
Cook | is false | A dozen souls perished in the fire.
Cook | is false | The gate to the yard is unlocked.
Cook | is false | The north door has no lock at all, just go in.
 | is false | The north door yields to a push.
Cook | is false | I have left the north door unlocked for you.
Cook | is false | You need a key for the chapel door.
 | is false | A heavy padlock hangs on the east door.
Cook | is false | The chapel is locked at this hour.
Cook | is false | The east door won't open.
Cook | is false | Try the north door, it opens easily.
Cook | is false | No lock on the north door, friend.
 | is false | To the north, a door stands wide open.
Cook | is false | Follow the north passage to the chapel.
Cook | is false | You'll find the chapel through the north door.
Cook | is false | The eastern door is the one to the stable yard.
Cook | is false | Northwards is the chapel.
 | is false | Through the east door you can see the stable yard.
Cook | is false | The north way ends at the chapel.
Cook | is false | Who has the ladle? The groom does, he keeps the copper ladle by him.
Cook | is false | I've the bridle with me.
 | is false | In her hand the cook holds the bridle.
Cook | is false | The bridle is safe with me.
Cook | is false | Dry again, not a cloud anywhere.
 | is false | Sunlight pours in, and there is not a cloud to be seen.
Cook | is false | Look at that snow come down!
Cook | is false | A dry spell, this; my herbs wither.
Cook | is false | It stopped raining, the sun is out.
Cook | goes live | The north door is locked, and the key is lost.
Cook | goes live | The chapel is never locked.
Cook | goes live | The copper ladle hangs at my belt.
 | goes live | Rain streams down the glass.
Cook | goes live | It rains, as ever.
Cook | is false | The groom lies in his grave.
Cook | is false | We lost Wat to the fever last week, he is dead and buried.
Cook | is false | The abbot is in good health.
Cook | is false | Abbot Osric is asking for you.
 | is false | Abbot Osric raises his hand in blessing.
Cook | is false | The groom sits next to me as we speak.
Cook | is false | That man by the fire is the groom.
 | is false | The groom pushes through the crowd and comes to a halt.
Cook | is false | The groom walks in as if nothing had happened.
Cook | is false | Wat is not in the hall tonight.
Cook | is false | There were always seven pillars in this hall.
Cook | is false | The chapel burned forty years later, in 1341.
Cook | is false | The chapel was set on fire by drunken soldiers, because they were not paid.
Cook | is false | I am the master of the groom's household, its leader.
Cook | is false | Wat Pell is the cook of this hall.
Cook | is false | My son is the groom.
Cook | is false | The groom is Wat's father.
Cook | is false | The groom and I are married.
Cook | is false | The bridle? Wat has it, under lock and key.
Cook | is false | Wat showed me the bridle this morning, he wears it on a string.
Cook | is false | Wat has the bridle on him.
 | is false | Wat shows you the bridle.
Cook | is false | I am handing you the bridle.
 | is false | Abbot Osric waves from the window.
Cook | is false | Abbot Osric will sing for us tonight.
Cook | is false | The abbot is upstairs.
Cook | is false | Wat is dead; a horse kicked him.
Cook | is false | I am talking to the groom right now.
 | is false | The groom warms his hands at the fire.
 | is false | The groom is among the guests.
Cook | is false | The groom has just stepped in.
Cook | is false | The chapel is north of us.
Cook | is false | Past the north door begins the chapel.
Cook | is false | The path north leads to the chapel.
 | is false | The east door is fastened with a chain.
Cook | is false | Nobody gets out to the east, it is locked.
 | is false | The door north stands unlocked.
Cook | is false | It is bolted, the east door.
Cook | is false | Not a cloud in sight.
Cook | is false | Such heat, and no rain for a month.
Cook | is false | The roof rests on two pillars.
Cook | is false | The groom is my father.
Cook | is false | The chapel burned in the year 1320.
Cook | is false | The chapel burned down; three nuns died.
Cook | goes live | The copper ladle is mine, hands off.
Cook | goes live | Wat wants the bridle, but the groom keeps it.
 | goes live | The cook lifts the copper ladle and tastes.
 | goes live | Wat dreams of the bridle.
Cook | goes live | Abbot Osric lies in the chapel.
Cook | goes live | Since the abbot died we say our own prayers.
 | goes live | The abbot's chair stands empty.
Cook | goes live | The groom works in the stable yard all day.
Cook | goes live | The groom sleeps in the yard, near his horses.
 | goes live | Wat stands by the door and waits for the groom.
 | goes live | A draught creeps in under the door.
Cook | goes live | Go north, but you need the key.
Cook | goes live | East takes you to the chapel.
Cook | goes live | To the north is the stable yard, behind a locked door.
Cook | goes live | This rain will never end.
Cook | goes live | Nine of us eat here every day.
Cook | goes live | Wat calls me mother.
Cook | goes live | The groom has charge of the household.
Cook | goes live | In 1301 we lost the chapel to a fire.
Cook | goes live | I am cook of the hall.
Cook | goes live | Take a seat, take some soup, take your time.
Cook | goes live | My feet are killing me.
Cook | goes live | I would kill for a warm bed.
Cook | goes live | You look half dead, sit.
Cook | goes live | Nobody was killed when the chapel burned.
Cook | goes live | Wat will carry the bridle to the yard later.
Cook | goes live | Keep the ladle out of the fire, Wat!
Cook | goes live | The groom is never here at this hour.
Cook | goes live | You won't get into the yard without a key.
Cook | goes live | Lock the east door when you leave.
Cook | waits | We had a guest once who paid in oil.
Cook | waits | My uncle built the chapel.
Cook | waits | I have been made bishop of this place.
Cook | waits | The pedlar is my cousin.
 | waits | A silver harp stands by the hearth.
Cook | waits | There are seven cellars under this hall.
 | waits | Thunder shakes the windows.
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
