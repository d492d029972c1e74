package play

import (
	"slices"
	"testing"

	"loregate/internal/meaning"
	"loregate/internal/world"
)

func TestInFirstPerson(t *testing.T) {
	for _, row := range [][3]string{ // the sentence, who says it, and how; "" is not at all
		{"Quince Amory has herbs for grief, gout and barnacles.", "Quince Amory", "I have herbs for grief, gout and barnacles."},
		{"She counts everything twice.", "Oda Tarn", "I count everything twice."},
		{"He never carries his own hammer.", "Ben Dow", "I never carry my own hammer."},
		{"Ben mends nets, and his hands show it.", "Ben Dow", "I mend nets, and my hands show it."},
		{"He was a sailor once.", "Ben Dow", "I was a sailor once."},
		{"She worked for the Registry and knows every clerk.", "Oda Tarn", ""},
		{"Piers Tolliver works at the bottom, by feel, with his cheek against whatever he is filing.", "Piers Tolliver",
			"I work at the bottom, by feel, with my cheek against whatever I am filing."},
		{"Lucien has run up a bill which Fenella keeps, since it is, she says, a novel.", "Lucien Brel",
			"I have run up a bill which Fenella keeps, since it is, she says, a novel."},
		{"She worked on boats and knows every clerk.", "Oda Tarn", ""},
		{"Lights a lamp each evening, and when asked says that the room is damp.", "Oda Tarn",
			"I light a lamp each evening, and when asked say that the room is damp."},
		{"She told him to wait.", "Oda Tarn", ""}, {"Made the rubbing herself.", "Oda Tarn", ""},
		{"Somebody has taken the iron.", "Oda Tarn", ""}, {"The well hums.", "Oda Tarn", ""},
	} {
		if got, ok := inFirstPerson(row[0], row[1], true); ok != (row[2] != "") || got != row[2] {
			t.Errorf("%q of %s is %q, want %q", row[0], row[1], got, row[2])
		}
	}
}

func TestInSecondPerson(t *testing.T) {
	for said, want := range map[string]string{
		"he looks like a fool": "You look like a fool.", "she is late!": "You are late!", "they are loud": "You are loud.",
		"he was asleep in his chair": "You were asleep in your chair.", "he's a liar": "You are a liar.",
		"she has beautiful eyes": "You have beautiful eyes.", "he hit her": "", "the well is dry": "", "a story": "",
		"she lost her hat": "", "is she late": "",
	} {
		if got, ok := inSecondPerson(said); ok != (want != "") || got != want {
			t.Errorf("%q is %q, want %q", said, got, want)
		}
	}
}

func TestGroupsSayWe(t *testing.T) {
	for line, want := range map[string]string{
		"Of the moon I know nothing. I am sorry.": "Of the moon we know nothing. We are sorry.",
		"I have no pie.": "We have no pie.", "Ask me. My door is open.": "Ask us. Our door is open.",
		"Good day to you.": "Good day to you.", "Nobody ever told me why, I'm afraid.": "Nobody ever told us why, we're afraid.",
	} {
		if got := inPlural(line); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

// An answer goes on to the sentence that has the question word.
func TestGoOn(t *testing.T) {
	const text = "Cable is laid here: nine strands and one of hair. Nobody is asked whose. The walkers sing."
	const hair = "Cable is laid here: nine strands and one of hair."
	for said, want := range map[string]string{"whose hair it is": "Nobody is asked whose.", "about the hair": hair,
		"why the hair is there": hair} {
		if got := goOn(slices.Collect(meaning.Sentences(text)), 0, said, nil); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// A sentence without a subject that does not turn is not said as it stands.
func TestNobodySaysASentenceWithoutItself(t *testing.T) {
	who := world.Card{Name: "Oda Tarn"}
	if line, ok := sayOfOneself(who, "Keeps the bar with her sleeves rolled and his opinions down.", true); ok {
		t.Errorf("she says: %s", line)
	}
}

func TestSeveralDoWhatSeveralDo(t *testing.T) {
	for number, want := range map[int]string{0: "the swans let you.", 5: "the swans look up at you, and stay.",
		15: "the swans put up with it."} {
		if got := heeding.tell(number, "the swans"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := heeding.tell(5, "Odile Rivers"); got != "Odile Rivers looks up at you, and stays." {
		t.Error(got)
	}
}
