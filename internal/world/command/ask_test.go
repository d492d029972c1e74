package command

import "testing"

func TestReadQuestion(t *testing.T) {
	for _, row := range [][3]string{
		{"who is here?", "people", ""}, {"who's here", "people", ""}, {"is anybody here?", "people", ""},
		{"anyone else around?", "people", ""}, {"am I alone?", "people", ""}, {"which people are in here?",
			"people", ""},
		{"who can I talk to", "people", ""}, {"please tell me who is here", "people", ""},
		{"where am I?", "where", ""}, {"what is this place", "where", ""}, {"what is this place called?", "where", ""},
		{"what time is it?", "time", ""}, {"what is the time?", "time", ""}, {"do you know what time it is?",
			"time", ""},
		{"is it night already?", "time", ""}, {"Can you tell me what day it is?", "day", ""}, {"is it raining?",
			"weather", ""},
		{"how am I?", "me", ""}, {"am I hurt?", "me", ""}, {"who am I", "me", ""},
		{"what did he say about the Registry?", "says", "he"}, {"what does Wilkin say?", "says", "Wilkin"},
		{"where did I come from?", "past", ""}, {"how far am I?", "quests", ""}, {"how far am I with the bell?",
			"quest", "bell"},
		{"what's the Salt quest about?", "quest", "Salt"}, {"what is the quest Out to the Stone about?", "quest",
			"Out to the Stone"},
		{"what can I do here?", "do", ""}, {"what now?", "do", ""}, {"what do I carry?", "bag", ""},
		{"how much money do I have?", "money", ""}, {"where can I go?", "exits", ""}, {"what are the exits?",
			"exits", ""},
		{"how do I get out of here?", "exits", ""}, {"where does this door lead?", "leads", "door"},
		{"what is to the north?", "leads", ""}, {"what's upstairs?", "leads", ""}, {"how do I get to the market?",
			"way", "market"},
		{"which way to the Dry Anchor?", "way", "Dry Anchor"}, {"is it far to the well?", "way", "well"},
		{"where is the Registry?", "locate", "Registry"}, {"Where's Wren gone?", "locate", "Wren"},
		{"do you know where the Registry is?", "locate", "Registry"}, {"where can I find Oda?", "locate", "Oda"},
		{"what are they selling here?", "prices", ""}, {"who sells here?", "prices", ""},
		{"what does a loaf cost?", "cost", "loaf"},
		{"can I buy a loaf?", "cost", "loaf"}, {"do I have a coin?", "have", "coin"}, {"have I got the key?",
			"have", "key"},
		{"what does the sign say?", "says", "sign"}, {"what is written on the board?", "says", "board"},
		{"what is in the bucket?", "inside", "bucket"}, {"what's under the bollard?", "inside", "bollard"},
		{"what's the tariff board for?", "use", "tariff board"}, {"what is the ninth tankard used for?", "use",
			"ninth tankard"},
		{"what does the lever do?", "use", "lever"}, {"what can I do with the net?", "use", "net"},
		{"what is her name?", "name", "her"}, {"does the man with the turbot have a name?", "name",
			"man with the turbot"},
		{"what is she doing?", "state", "she"}, {"what does she want?", "state", "she"},
		{"who is Mr Brack?", "who", "Mr Brack"}, {"who is she", "who", "she"}, {"who's Lucien?", "who", "Lucien"},
		{"who is the man with the bucket?", "who", "man with the bucket"}, {"what is that?", "who", "that"},
		{"what is Out to the Stone?", "who", "Out to the Stone"}, {"can I sit here?", "able", "sit here"},
		{"can I sit by the fire?", "able", "sit by the fire"}, {"is there a well here?", "there", "well"},
		{"are there any guards?", "there", "guards"}, {"is Wilkin here?", "there", "Wilkin"},
		{"how many rooms are there?", "count", "rooms"}, {"why is it asleep?", "why", ""}, {"why", "", ""},
		{"why?", "why", ""},
		{"when does the tide turn?", "when", ""}, {"who runs this place?", "whose", ""},
		{"which one is Room Nine?", "locate", "Room Nine"},
		{"what happened to room seven?", "which", ""}, {"is the door open?", "whether", ""},
		{"how old is the bell?", "how", ""},
		{"what does the captain look like?", "who", "captain"}, {"who gave me the quest?", "quest", "quest"},
		{"what's for dinner?", "which", ""}, {"what is that noise?", "sense", ""}, {"how do I get back?", "way",
			"back"},
		{"anybody know about the lease?", "who", "lease"}, {"is there a way down?", "leads", ""},
		{"where do I find the coil?", "locate", "coil"}, {"what do they sell here?", "prices", ""},
		{"does anyone have work for me?", "quests", ""}, {"could you tell me the way to the theatre?", "way", "theatre"},
		{"who is Master J. Blott?", "who", "Master J Blott"}, {"can I see Bell Three Hundred?", "who", "Bell Three Hundred"},
		// no plain questions
		{"go north", "", ""}, {"who are you?", "", ""}, {"could you open the door?", "", ""},
		{"may I open the door?", "", ""},
		{"do the dishes", "", ""}, {"have a drink", "", ""}, {"when I enter, look at the well", "", ""},
		{"what a day", "", ""}, {"what a lovely bell!", "", ""}, {"how strange this place is", "", ""},
		{"waht is the stone?", "who", "stone"}, {"whre is the inn?", "locate", "inn"},
		{"is there anyhting here?", "look", ""}, {"whne does the tide turn?", "when", ""},
		{"Oda, who runs this place", "", ""}, {"ask Oda who she is", "", ""}, {"say \"who is here?\"", "", ""},
		{"can of beans", "", ""}, {"may pole", "", ""}, {"do it", "", ""}, {"would you mind opening the gate?", "",
			""}, {"", "", ""},
	} {
		q, ok := ReadQuestion(row[0])
		if ok != (row[1] != "") || string(q.Kind) != row[1] || q.Subject != row[2] {
			t.Errorf("%q is read as %q about %q, want %q about %q", row[0], q.Kind, q.Subject, row[1], row[2])
		}
	}
}

func BenchmarkReadQuestion(b *testing.B) {
	for b.Loop() {
		ReadQuestion("why is the ninth tankard used for flowers?")
	}
}
