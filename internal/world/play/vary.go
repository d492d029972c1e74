package play

import (
	"cmp"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/meaning"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// The texts of acts that are told by a template are made of a beginning and an end, so that none comes twice within
// freshWindow acts of a player.
const (
	freshWindow = 20
	variants    = 25 // of a phrasing; more than freshWindow
)

// phrasing has five beginnings and five ends of a text; %s in a beginning is a name or a phrase.
type phrasing struct{ beginnings, ends [5]string }

// The phrasings of talks without a line of the card, and of free acts.
var (
	listening = phrasing{
		[5]string{"%s hears you out", "%s listens", "%s lets you finish", "%s looks at you while you speak",
			"%s waits until you have done"},
		[5]string{", and keeps an answer for another day.", ", and says nothing.", ", and looks away.",
			", and shrugs.", ", and is lost in thought."},
	}
	unheard = phrasing{[5]string{"You say: “%s”", "“%s” you say.", "You say it aloud: “%s”", "You let it be heard: “%s”",
		"“%s” you tell the air."}, [5]string{" Nobody answers.", " There is no answer.", " It hangs in the air.", " Nobody takes it up.",
		" The words are gone again."}}
	calling = phrasing{
		[5]string{
			"You raise your voice.",
			"You call out.",
			"You speak up.",
			"You clear your throat.",
			"You say a word or two.",
		},
		unheard.ends,
	}
	managed = phrasing{
		[5]string{"You manage to %s.", "It takes a moment, and then you %s.", "You %s, more easily than you had feared.",
			"With some care you %s.", "You set your mind to it, and %s."},
		[5]string{"", " Nobody stops you.", " So far, so good.",
			" It was not so hard.", " Nobody makes anything of it."},
	}
	failed = phrasing{[5]string{"You try to %s, and do not manage it.", "You set out to %s, and it comes to nothing.",
		"Try as you may, you do not %s this time.", "You mean to %s, and it will not work.", "You come close, and yet you do not %s."},
		[5]string{
			"",
			" It costs you a few minutes.",
			" Perhaps another way would do.",
			" You let it be.",
			" You catch your breath.",
		}}
	moved = phrasing{
		[5]string{
			"%s hears you out, and comes round a little.",
			"%s gives you a long look, and then a nod.",
			"It tells on %s.",
			"%s gives way a little.",
			"%s is impressed, if only for a moment.",
		},
		[5]string{"", " You leave it at that.", " The moment passes.",
			" It was worth the breath.", " You let it sink in."},
	}
	unmoved = phrasing{
		[5]string{"%s is not moved.", "%s looks past you.", "%s will have none of it.", "%s shakes you off with a look.",
			"You might as well talk to the wind: %s does not stir."},
		[5]string{"", " You leave it at that.", " The moment passes.",
			" Perhaps another time.", " It was breath for nothing."},
	}
	heeding = phrasing{
		[5]string{"%s lets you.", "%s looks up at you, and stays.", "%s comes a little closer.", "%s puts up with it.",
			"%s seems to like it."},
		[5]string{"", " You leave it at that.", " The moment passes.", " You take your time.", " All is well."},
	}
	unheeding = phrasing{
		[5]string{"%s draws back from you.", "%s turns away.", "%s will have none of it.", "%s looks at you askance.",
			"%s moves out of your reach."},
		[5]string{"", " You leave it at that.", " The moment passes.", " Perhaps another time.", " You give it room."},
	}
	recallingPromise = phrasing{
		[5]string{"You gave me your word: ‘%s’.", "Have you done it? ‘%s’, you said.", "I count on it: ‘%s’.",
			"‘%s’. I heard you.", "You promised: ‘%s’."},
		[5]string{"", " I have not forgotten.", " I am waiting.", " Well?",
			" A word is a word."},
	}
	recallingWords = phrasing{
		[5]string{"You told me: ‘%s’.", "‘%s’. Those were your words.", "I have not forgotten: ‘%s’.",
			"You once said: ‘%s’.", "It was you who said: ‘%s’."},
		[5]string{"", " I have thought about it.", " I wonder.", " And now?",
			" Well, well."},
	}
	unknowing = phrasing{
		[5]string{"Of %s I know nothing", "I can tell you nothing of %s", "I have heard nothing of %s",
			"You ask the wrong one about %s", "Nobody ever told me of %s"},
		[5]string{".", ", I am afraid.", ". Ask somebody else.", ", and that is the truth.", ". I am sorry."},
	}
	lacking = phrasing{
		[5]string{"I have no %s", "You will find no %s with me", "You will get no %s from me",
			"Look elsewhere for %s", "No %s here"},
		[5]string{".", ", I am afraid.", ". Ask somebody else.", ", and that is the truth.", ". I am sorry."},
	}
	unsure = phrasing{
		[5]string{"Why that is, I do not know", "Nobody ever told me why", "I could not tell you why",
			"I have asked myself why, too", "It has always been so, and I do not know why"},
		[5]string{".", ", I am afraid.", ". Ask somebody else.", ", and that is the truth.", ". I am sorry."},
	}
	ignorant = phrasing{
		[5]string{"That I do not know", "I could not tell you", "I have no answer to that", "Nobody ever told me",
			"There you ask more than I know"},
		[5]string{".", ", I am afraid.", ". Ask somebody else.", ", and that is the truth.", ". I am sorry."},
	}
	withholding = phrasing{
		[5]string{"That I keep to myself", "Of that I say nothing", "That is for me to know", "I do not speak of it",
			"I had rather not say"},
		[5]string{".", ", if you do not mind.", ". Ask me something else.", ", for the present.", ". No offence."},
	}
	opining = phrasing{
		[5]string{"Of %s I would rather not judge", "I have my own thoughts of %s, and keep them", "I say nothing against %s",
			"About %s everybody must judge for himself", "I have nothing to say of %s"},
		[5]string{".", ", if you do not mind.", ". And you?", ", and that is the truth.", ". Ask somebody else."},
	}
	refusing = phrasing{
		[5]string{"No, that I cannot do", "I would rather not", "No, not today", "You must manage without me there",
			"I have my own affairs to see to"},
		[5]string{".", ", I am afraid.", ". Do not take it ill.", ", and that is the truth.", ". I am sorry."},
	}
	serving = phrasing{
		[5]string{"here is your %s", "%s it is", "there you are: %s", "%s for you, then", "%s, as you wish"},
		[5]string{". Nothing to pay.", ". I name no price for it today.", ". Much good may it do you; it costs you nothing.",
			". Take it, and never mind the price.", ". There is no price on it today."},
	}
	unpriced = phrasing{
		[5]string{"Nothing for %s", "There is no price on %s today", "I name no price for %s", "For %s I take no money",
			"I have put no price on %s"},
		[5]string{
			". Ask, and you shall have it.",
			". Just ask for it.",
			". Say the word.",
			", and that is the truth.",
			". Will you have it?",
		},
	}
	heeded = phrasing{
		[5]string{"So you say", "Is that so", "I had not heard that", "You may be right", "That may well be"},
		[5]string{".", ". I will think about it.", ". Well, well.", ". Let us leave it at that.", ". It takes all sorts."},
	}
	praised = phrasing{
		[5]string{
			"You are kind to say so",
			"I am glad that you think so",
			"That is a kind word",
			"It does one good to hear that",
			"You know how to please",
		},
		[5]string{".", ". Thank you.", ". I will not argue.", ", stranger.", ". Few say so."},
	}
	blamed = phrasing{
		[5]string{
			"I have heard worse",
			"You need not stay",
			"That is one way to see it",
			"Others like it",
			"I will try to bear it",
		},
		[5]string{".", ", stranger.", ". And from better people.", ". Was there anything else?", ". Good day."},
	}
	trusting = phrasing{
		[5]string{"I will hold you to that", "Good, I will wait for it", "A word is a word", "Then we understand each other",
			"I shall remember that you said so"},
		[5]string{".", ", stranger.", ". Do not be too long about it.", ", and gladly.", ". We shall see."},
	}
	unsold = phrasing{
		[5]string{"%s, yes, but none that I sell today", "%s we have, and none of it has a price today",
			"You see %s here, but not to be bought today", "I do not sell %s by the piece",
			"You may look at %s, but I sell none today"},
		[5]string{".", ", I am afraid.", ". Ask again another day.", ", and that is the truth.", ". I am sorry."},
	}
	gesturing = phrasing{
		[5]string{
			"You %s.",
			"Without haste, you %s.",
			"For a while you %s.",
			"You take your time, and %s.",
			"Here and now, you %s.",
		},
		[5]string{"", " Nobody minds.", " It does no harm.", " The moment passes.", " Then you go on as before."},
	}
)

// tell returns the text of a number from 0 to variants-1.
func (p phrasing) tell(number int, part string) string {
	number = max(number, 0) % variants
	beginning := p.beginnings[number/5]
	if name, ok := strings.CutPrefix(strings.ToLower(part), "the "); ok && command.IsPlural(name) {
		beginning = ofSeveral(beginning)
	}
	return strings.Replace(beginning, "%s", part, 1) + p.ends[number%5]
}

// ofSeveral returns a sentence about %s with its verbs in the plural.
func ofSeveral(sentence string) string {
	words := strings.Fields(sentence)
	for i := 1; i < len(words); i++ {
		core := strings.TrimRight(words[i], ".,")
		if words[i-1] != "%s" && words[i-1] != "and" || !isThirdPerson(core) {
			continue
		}
		base := cmp.Or(map[string]string{"is": "are", "has": "have", "does": "do"}[core], meaning.Lemma(core, meaning.Verb))
		words[i] = base + words[i][len(core):]
	}
	return strings.Join(words, " ")
}

// freshNumber returns the number of a text that none of the latest acts of the player has.
func (s *turn) freshNumber() (int, error) {
	events, _, err := s.Events(
		s.ctx,
		canon.EventQuery{Actor: s.player.ID.String(), Types: []string{string(world.PlayerAct)},
			Page: canon.Page{Limit: 2 * freshWindow, Uncounted: true}},
	)
	used := map[int]bool{}
	for _, e := range events { // the latest first
		var d world.Action
		world.DecodeFields(e.Payload, &d)
		if (d.Verb == command.Talk || d.Verb == command.Attempt) && len(used) < variants-1 {
			used[d.Line] = true
		}
	}
	number := int(s.presence.Clock/world.Minute) % variants
	for used[number] {
		number = (number + 1) % variants
	}
	return number, err
}
