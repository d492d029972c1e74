package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// describeParse returns a parse as one line: verb, then direction (>), object, targets (@) and
// modifiers (~).
func describeParse(p Parsed) string {
	var acts []string
	for _, i := range p.Intents {
		s := string(i.Verb)
		if i.Direction != "" {
			s += " >" + string(i.Direction)
		}
		if i.DirectObject != "" {
			s += " " + i.DirectObject
		}
		for _, t := range i.Targets {
			s += " @" + t
		}
		for _, m := range i.Modifiers {
			s += " ~" + m
		}
		acts = append(acts, s)
	}
	for _, a := range p.Ambiguities {
		acts = append(acts, "?"+a.Kind)
	}
	return strings.Join(acts, " | ")
}

func TestParse(t *testing.T) {
	for _, row := range [][2]string{
		{"n", "move >north"}, {"NE", "move >northeast"}, {"u", "move >up"}, {"out", "move >out"}, {"in", "move >in"},
		{"go north", "move >north"}, {"walk to the south-east", "move >southeast"},
		{"please go up the stairs", "move >up stairs"},
		{"noth", "move >north"}, {"go soth", "move >south"}, {"wset", "move >west"},
		{"go to Toll Stairs", "move Toll Stairs"},
		{"enter the Church of the Low Door", "move Church of the Low Door"}, {"leave", "move >out"},
		{"go back", "move ~back"},
		{"return", "move ~back"}, {"go", "move | ?direction"}, {"run quickly east", "move >east ~quickly"},
		{"go north then look at the well", "move >north | look well"},
		{"n, e, s and then w", "move >north | move >east | move >south | move >west"},
		{"go north and east", "move >north | move >east"}, {"Go north. Look.", "move >north | look"},
		{"l", "look"}, {"look", "look"}, {"look around", "look"}, {"look north", "look >north"},
		{"look at the old bell", "look old bell"},
		{"x bell", "examine bell"}, {"examine the rent stone carefully", "examine rent stone ~carefully"},
		{"look in the box", "examine box ~in"},
		{"examine", "look"}, {"exmaine the bell", "examine bell"}, {"search the desk", "examine desk"},
		{"give the corn to the pig and the milk to the cat", "give corn @pig | give milk @cat"},
		{"put the corn in the box and the milk in the jug", "drop corn @box | drop milk @jug"},
		{"give the bread to the man and the woman", "give bread @man @woman"},
		{"put a spell on the door", "use spell @door"}, {"put the book on the table", "drop book @table"},
		{"take the coast road", "move coast road"}, {"take the street lamp", "take street lamp"},
		{"give Oda back her lamp", "give lamp @Oda"}, {"hand oda back the lamp", "give lamp @oda"},
		{"give my friend back his lamp", "give lamp @friend"}, {"give the lamp back to Oda", "give lamp @Oda"},
		{"hand the clerk back a coin", "give coin @clerk"},
		{"offer my help to Oda", "talk Oda ~is there something I can do for you"},
		{"offer to help Oda with the nets", "talk Oda ~is there something I can do for you"},
		{"offer Oda a hand", "talk Oda ~is there something I can do for you"},
		{"offer to carry the nets for Oda", "talk Oda ~shall I carry the nets for you"},
		{"I offer to sing for the crew", "talk crew ~shall I sing for you"}, {"offer to sing", "talk ~shall I sing"},
		{"offer Oda the lamp", "give lamp @Oda"}, {"offer a hand of bananas to Oda", "give hand of bananas @Oda"},
		{"lift the sheet and have a peek underneath", "use sheet | look sheet"},
		{"open the box and have a look inside", "use box | look box"},
		{"open the box and peek inside", "use box | look box"},
		{"press the button five times", "use button"}, {"knock four times at the gate", "use gate"},
		{"read the sign aloud", "examine sign ~aloud"},
		{"instead of fighting I flee", "flee"}, {"since the room is dark I light the lamp", "use lamp"},
		{"go west, but take the rope first", "take rope | move >west"},
		{"may I take a look at the portrait please?", "examine portrait"},
		{"explain the plan to the crew", "talk crew ~plan"}, {"tell Oda a tale", "talk Oda ~tale"},
		{"what am I lugging around?", "inventory"}, {"what am I doing?", "?verb"},
		{"wait, I think Tom is away", "?verb"}, {"wait, then go north", "rest | move >north"},
		{"my arm hurts from this chair", "?verb"}, {"the thief steals my purse", "take purse"},
		{"pick upp the coin", "take coin"}, {"can my ranger grab the torch", "take torch"},
		{"give the handle a good pull", "use handle"}, {"give the man a coin", "give coin @man"}, {"give the man a drink", "give drink @man"},
		{"upward, to the loft", "move >up loft"}, {"golem, attack the wall", "talk golem ~attack the wall"},
		{"eyes peeled, all round", "look"}, {"good evening, master smith", "talk evening ~master smith"},
		{"take the lamp", "take lamp"}, {"pick up the lamp", "take lamp"}, {"pick the lamp up", "take lamp"},
		{"get lamp", "take lamp"},
		{"take the lamp and the rope", "take lamp | take rope"},
		{"take lamp, rope and key", "take lamp | take rope | take key"},
		{"take the lamp and go north", "take lamp | move >north"}, {"take", "take | ?object"}, {"take all", "take all"},
		{"take the key from the box", "take key @box"}, {"tkae the lamp", "take lamp"},
		{"take the lamp and examine it", "take lamp | examine lamp"}, {"take it", "take | ?pronoun"},
		{"drop the lamp", "drop lamp"}, {"put the lamp down", "drop lamp"}, {"put the lamp on the table", "drop lamp @table"},
		{"give the lamp to Oda Tarn", "give lamp @Oda Tarn"}, {"give Oda the lamp", "give lamp @Oda"},
		{"give lamp", "give lamp | ?target"},
		{"give her the coin", "give coin @her"},
		{"use the key on the door", "use key @door"}, {"unlock the gate with the iron key", "use gate @iron key"},
		{"perform an inspection of the altar", "examine altar"}, {"launch an attack on the goblin", "attack goblin"},
		{"give the guard a warning", "talk guard"}, {"have a rummage through the drawer", "examine drawer"},
		{"make an escape", "flee"}, {"give the boy a present", "give present @boy"}, {"take a shield", "take shield"},
		{"light the candle", "use candle"},
		{"turn the lamp on", "use lamp"},
		{"talk to the widow", "talk widow"}, {"say \"good day\" to the widow", "talk widow ~good day"},
		{"say hello to Oda", "talk Oda ~hello"},
		{"ask the widow about the lease", "talk widow ~about lease"}, {"talk", "talk | ?target"},
		{"“Who goes there?”", "talk ~Who goes there?"},
		{"attack the salt hound with the oar", "attack salt hound @oar"}, {"atack hound", "attack hound"},
		{"defend", "defend"},
		{"throw the stone at the gull", "throw stone @gull"}, {"flee", "flee"}, {"run away", "flee"},
		{"flee west", "flee >west"},
		{"rest", "rest"}, {"sleep", "rest"}, {"lie down", "rest"}, {"i", "inventory"}, {"inv", "inventory"},
		{"what am i carrying", "inventory"},
		{"i want to take the lamp", "take lamp"}, {"let go of the lamp", "drop lamp"},
		{"cook the eel", "use eel"}, {"frobnicate", "?verb"}, {"", "?verb"}, {"!!!", "?verb"}, {"eat bread", "use bread"},
		{"nimm die Lampe", "?verb"}, {"GÉT the lamp", "take lamp"},
		{"n n n n n n n n n", strings.Repeat("move >north | ", 8) + "?overflow"},
		{strings.Repeat("n. ", 10), strings.Repeat("move >north | ", 8) + "?overflow"},
	} {
		if got := describeParse(Parse(row[0])); got != row[1] {
			t.Errorf("%q\n got %s\nwant %s", row[0], got, row[1])
		}
	}
}

// Words around an act change its place, its form or its thing, and not the act.
func TestParseFrames(t *testing.T) {
	for _, row := range [][2]string{
		// courtesies
		{"could you please open the gate", "use gate"}, {"would you be so kind as to take the lamp", "take lamp"},
		{"pretty please attack the hound", "attack hound"}, {"don't hesitate to take the key", "take key"},
		{"be a good fellow and open the door", "use door"}, {"I kneel and examine the footprints", "examine footprints"},
		{"without a sound I go north", "move >north"}, {"once more I try to open the door", "use door"},
		{"restart the game", "?verb"},
		{"I wonder if you could open the gate", "use gate"}, {"any chance you might open the gate?", "use gate"},
		{"do me the kindness of opening the gate", "use gate"}, {"I take the opportunity to open the gate", "use gate"},
		{"I find myself opening the gate", "use gate"}, {"the plan: open the gate", "use gate"},
		{"I don't have the courage to open the gate", "?verb"}, {"seeing no way out I open the gate", "use gate"},
		{"with the key in hand go to the tower", "move tower"}, {"I follow Vera, sword drawn", "move Vera"},
		// asides
		{"ooc: take the lamp", "?verb"}, {"(( open the gate ))", "?verb"}, {"brb, phone", "?verb"},
		{"want me to open the gate?", "?verb"},
		// words to somebody
		{"guard! open the gate", "talk guard ~open the gate"}, {"listen, Vera, open the gate", "talk Vera ~open the gate"},
		{"you in the hat, open the gate", "talk you in the hat ~open the gate"},
		{"horse, go east", "talk horse ~go east"}, {"okay robot, push the button", "talk robot ~push the button"},
		{"Kyle: go north", "talk Kyle ~go north"}, {"open the gate, Vera", "talk Vera ~open the gate"},
		{"Vera, dim the lights", "talk Vera ~dim the lights"}, {"take the lamp, Sword", "take lamp | take Sword"}, {"well, take the lamp", "take lamp"},
		{"please, take the lamp, go north", "take lamp | move >north"},
		{"if you please, go north", "move >north"}, {"thank you, now look at the well", "look well"},
		// typos
		{"opne the gate", "use gate"}, {"go nroth", "move >north"}, {"drpo the rope", "drop rope"},
		// ways
		{"take the path to the east", "move >east"}, {"follow the road north", "move >north"},
		{"go down the ladder", "move >down ladder"},
		// order words
		{"before you go north, take the lamp", "take lamp | move >north"},
		{"take the lamp after you open the chest", "use chest | take lamp"},
		{"first light the candle, then go down", "use candle | move >down"},
		// negation
		{"do not go north; go south", "move >south"}, {"don't take the lamp, take the rope", "take rope"},
		{"never open the gate", "?verb"}, {"instead of fighting, run away", "flee"},
		// pronouns
		{"take the lamp and light it", "take lamp | use lamp"},
		{"greet Oda and give her the coin", "talk Oda | give coin @Oda"},
		{"open the chest and look inside it", "use chest | examine chest ~inside"}, {"take them", "take | ?pronoun"},
		// idioms
		{"run the bandit through", "attack bandit"}, {"plunge the dagger into the hound", "attack hound @dagger"},
		{"give the guards the slip", "flee guards"}, {"toss the beggar a coin", "give coin @beggar"},
		{"set the lamp on the table", "use lamp @table"}, {"sic the dog on the bandit", "attack bandit @dog"},
		{"what does this room look like", "look"}, {"I'm going to bed", "rest"},
		{"raise the shield", "defend shield"}, {"leave the rope here", "drop rope"},
		{"go through my pockets", "inventory"}, {"scan the horizon", "look"},
		{"take the lamp and put my feet up", "take lamp | rest"}, {"do not run the bandit through", "?verb"},
		{"take the bus to the harbour", "move harbour"}, {"roll for initiative", "?verb"}, {"after the thief", "move thief"},
		{"lift the lid off the pot", "take lid @pot"}, {"wait for an hour", "rest ~for an hour"}, {"wait for the ferry", "rest ferry"},
		// particles and prepositions
		{"rinse the bowl, pick it back up", "use bowl | take bowl"}, {"look down at the mat", "look mat"},
		{"Vera steps out from the shadows", "move >out shadows"}, {"screw hook into wall", "use hook @wall"},
		{"take the cup and slice of bread", "take cup | take slice of bread"}, {"pour 1.5 cups of milk", "use 1.5 cups of milk"},
		{"I say \"hello\"", "talk ~hello"}, {"ask whether the widow is well", "talk ~whether the widow is well"},
		// kinds of things
		{"burn the letter", "use letter"}, {"burn the goblin", "attack goblin"}, {"burn the cobra", "attack cobra"}, {"scratch his face", "attack face"}, {"jump into the water", "move water"},
		{"open the drawer and put the knife in it", "use drawer | drop knife @drawer"}, {"exa lamp", "examine lamp"},
		{"what's in my bags", "inventory"},
		{"squeeze through the gap", "move gap"}, {"hit the button", "use button"}, {"hit the guard", "attack guard"},
		{"leave the lantern", "drop lantern"}, {"leave the town", "move >out town"},
		{"slip the doorman a coin", "give coin @doorman"}, {"throw the doorman out", "drop doorman"},
		{"persuade the guard to go north", "talk guard ~to go north"}, {"what's going on here?", "look"},
		{"where are the exits?", "look"}, {"who's playing the bard?", "?verb"},
		{"wizard, who are you?", "talk wizard ~who are you"},
		{"take the stairs down", "move >down stairs"}, {"put the coin in the slot", "drop coin @slot"},
	} {
		if got := describeParse(Parse(row[0])); got != row[1] {
			t.Errorf("%q\n got %s\nwant %s", row[0], got, row[1])
		}
	}
}

func TestParseConfidence(t *testing.T) {
	for text, want := range map[string]float64{"go north": 0.95, "move north": 1, "n": 1, "noth": 0.75, "grab lamp": 0.95,
		"take lamp": 1, "tkae lamp": 0.75, "take": 0.4} {
		p := Parse(text)
		if len(p.Intents) != 1 || p.Intents[0].Confidence != want {
			t.Errorf("%q: %+v, want confidence %v", text, p.Intents, want)
		}
		if p.NeedsClarification != (want < minConfidence) {
			t.Errorf("%q: needs clarification %v", text, p.NeedsClarification)
		}
	}
	if p := Parse("frob the lamp"); !p.NeedsClarification || !p.Ambiguities[0].Critical ||
		p.Ambiguities[0].Span != (Span{0, 4}) {
		t.Errorf("%+v", p)
	}
	if p := Parse(strings.Repeat("n. ", 9)); p.NeedsClarification || len(p.Intents) != MaxIntents {
		t.Errorf("too many acts: the first eight are done: %+v", p.Ambiguities)
	}
}

// TestVerbTypos replaces each letter of every verb of four letters or more, and checks how many of
// these typos are recognised.
func TestVerbTypos(t *testing.T) {
	read, all := 0, 0
	for _, v := range Verbs {
		name := string(v)
		if len(name) < 4 {
			continue
		}
		for i := range name {
			all++
			p := Parse(name[:i] + "q" + name[i+1:] + " lamp")
			if len(p.Intents) > 0 && p.Intents[0].Verb == v {
				read++
			}
		}
	}
	if read < all*9/10 {
		t.Errorf("only %d of %d slips were read", read, all)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"go north then look at the well", "give Oda the lamp", "say \"x", "take it", "n, and, then",
		"\x00\xff", "\u0339", "pick up", strings.Repeat("and ", 200)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, again := Parse(text), Parse(text)
		if fmt.Sprint(p) != fmt.Sprint(again) {
			t.Fatal("two parses of one text differ")
		}
		if len(p.Intents) > MaxIntents || utf8.RuneCountInString(p.RawText) > MaxLength {
			t.Fatalf("beyond the bounds: %+v", p)
		}
		n := utf8.RuneCountInString(p.RawText)
		for i, in := range p.Intents {
			if in.Order != i || !slices.Contains(Verbs, in.Verb) || in.Confidence <= 0 || in.Confidence > 1 ||
				in.Direction != "" && !in.Direction.Valid() {
				t.Fatalf("intent %+v", in)
			}
		}
		for _, a := range p.Ambiguities {
			if a.Span.Start < 0 || a.Span.End < a.Span.Start || a.Span.End > n || a.Options == nil {
				t.Fatalf("ambiguity %+v of %d characters", a, n)
			}
			if a.Critical && !p.NeedsClarification {
				t.Fatal("a critical doubt needs clarification")
			}
		}
		if len(p.Intents) == 0 && !p.NeedsClarification {
			t.Fatal("nothing understood, and no question")
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{
		"short": "n", "usual": "go north then look at the well", "typos": "atack the hound with teh oar then flee wset",
		"long": strings.Repeat("take the lamp and the rope, ", 17)[:MaxLength-30],
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Parse(text)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commands/s")
		})
	}
}
