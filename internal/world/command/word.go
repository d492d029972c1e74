package command

import (
	"strings"
)

// verbMatch is the verb that a word or phrase at the beginning of a clause means.
type verbMatch struct {
	verb  Verb
	sure  float64 // confidence: 1 for the verb itself
	words int     // number of words of the phrase
}

// phrases lists the folded words and phrases for each verb. The verb's own name comes first.
var phrases = map[Verb][]string{
	Move: {"move", "go", "walk", "run", "head", "travel", "enter", "climb", "proceed", "march", "step", "leave",
		"exit", "return", "follow", "cross", "sneak", "crawl", "swim", "hurry", "wander", "stroll",
		"go back", "walk back", "head back", "turn back", "go to", "walk to", "head to", "head for", "run to", "go into",
		"get out", "get in", "go through"},
	Look: {"look", "l", "look around", "look about", "look round", "gaze", "glance", "watch", "peer", "listen",
		"smell", "see", "look at", "gaze at", "glance at", "peer at"},
	Examine: {"examine", "x", "inspect", "study", "read", "search", "investigate", "check", "observe", "look in",
		"look inside", "look under", "look behind", "look into", "look through", "look closely at"},
	Take: {"take", "get", "grab", "collect", "gather", "steal", "fetch", "acquire", "seize", "pick up", "pick",
		"take up", "pocket"},
	Drop: {"drop", "discard", "put down", "set down", "lay down", "put", "place", "leave behind", "throw away",
		"let go of"},
	Give: {"give", "hand", "offer", "pay", "lend", "pass", "hand over", "give back"},
	Use: {"use", "unlock", "open", "light", "activate", "apply", "pull", "push", "turn", "press", "turn on",
		"switch on", "wear", "drink", "eat", "ring", "close", "lock"},
	Talk: {"talk", "say", "speak", "ask", "tell", "greet", "whisper", "shout", "chat", "answer", "converse", "hail",
		"talk to", "talk with", "speak to", "speak with", "say to", "chat with", "call to", "shout at", "whisper to"},
	Attack: {"attack", "hit", "fight", "strike", "kill", "stab", "kick", "punch", "slash", "shoot", "smash", "slay"},
	Defend: {"defend", "block", "parry", "guard", "dodge", "shield", "protect"},
	Throw:  {"throw", "hurl", "toss", "fling", "lob", "chuck"},
	Flee:   {"flee", "escape", "retreat", "run away", "run off", "get away"},
	Rest: {"rest", "sleep", "nap", "camp", "sit down", "lie down", "make camp", "take a rest", "have a rest",
		"take a nap"},
	Inventory: {"inventory", "i", "inv", "items", "belongings", "check inventory", "open inventory", "show inventory",
		"check pockets", "check bag", "what do i have", "what am i carrying", "look at inventory"},
}

// directionWords maps the folded words for directions.
var directionWords = map[string]Direction{
	"n": "north", "s": "south", "e": "east", "w": "west", "ne": "northeast", "nw": "northwest", "se": "southeast",
	"sw": "southwest",
	"u":  "up", "d": "down", "north": "north", "south": "south", "east": "east", "west": "west", "northeast": "northeast",
	"north-east": "northeast",
	"northwest":  "northwest", "north-west": "northwest", "southeast": "southeast", "south-east": "southeast",
	"southwest":  "southwest",
	"south-west": "southwest", "up": "up", "down": "down", "in": "in", "out": "out", "inside": "in", "outside": "out",
	"upwards": "up", "downwards": "down",
	"upstairs": "up", "downstairs": "down", "northward": "north", "northwards": "north", "southward": "south",
	"southwards": "south",
	"eastward":   "east", "eastwards": "east", "westward": "west", "westwards": "west",
}

// fillerWords are words before a verb that are ignored.
var fillerWords = newWordSet("please", "i", "we", "you", "now", "just", "try", "to", "want", "would", "like", "lets",
	"let's", "let", "me", "us", "can", "could", "should",
	"i'd", "i'll", "i'm", "will", "also", "so", "kindly", "attempt", "going", "gonna")

// mannerWords lists the adverbs that become modifiers.
var mannerWords = newWordSet("quietly", "quickly", "slowly", "carefully", "silently", "stealthily", "boldly", "angrily",
	"gently", "loudly", "softly", "closely", "cautiously", "politely", "fast", "again", "hastily", "nervously")

// articles are words before a name that are ignored.
var articles = newWordSet("the", "a", "an", "my", "your", "his", "her", "its", "their", "our", "some", "this", "that",
	"these", "those")

// pronouns refer to the last named object.
var pronouns = newWordSet("it", "them", "him", "this", "that", "one")

// prepositions introduce the target, the instrument or the topic of an act.
var prepositions = newWordSet("to", "at", "with", "on", "onto", "in", "into", "inside", "from", "under", "behind",
	"about", "toward", "towards", "through", "using", "against", "off", "over", "for", "by")

// otherVerbs are everyday English verbs that no rule knows. None of them is taken for a typo of a
// verb that a rule knows.
var otherVerbs = newWordSet("cook", "make", "wake", "bake", "sell", "book", "hook", "sing", "ride", "buy", "bite",
	"hide", "wait", "dig", "jump", "dance", "write", "break",
	"burn", "build", "pray", "play", "cast", "fish", "hunt", "trade", "steer", "sail", "swap", "wash", "wave", "work",
	"fix", "fill", "tie", "cut", "feed", "kiss", "hold", "call",
	"cover", "count", "learn", "live", "love", "mark", "name", "reach", "rise", "roll", "save", "seem", "send", "shake",
	"shine", "show", "sign", "smile", "spit", "stay",
	"stop", "stand", "stare", "tear", "think", "touch", "train", "treat", "trust", "twist", "visit", "want", "warn",
	"wish", "yell", "rob", "row", "grow", "wink", "sink", "tease", "sleet")

// phrasesByHead lists phrases by their first word, longest first.
var phrasesByHead = func() map[string][]verbPhrase {
	all := map[string][]verbPhrase{}
	for _, v := range Verbs {
		for i, text := range phrases[v] {
			words := strings.Fields(text)
			sure := 0.95
			if i == 0 || len(text) == 1 {
				sure = 1
			}
			h := verbPhrase{words, verbMatch{v, sure, len(words)}}
			list := all[words[0]]
			at := 0
			for at < len(list) && len(list[at].words) >= len(words) {
				at++
			}
			all[words[0]] = append(list[:at:at], append([]verbPhrase{h}, list[at:]...)...)
		}
	}
	return all
}()

type verbPhrase struct {
	words []string
	match verbMatch
}

// findVerb returns the match of the longest phrase at the beginning of a clause.
func findVerb(words []word) (verbMatch, bool) {
	for _, h := range phrasesByHead[words[0].fold] {
		if hasPhrase(words, h.words) {
			return h.match, true
		}
	}
	return verbMatch{}, false
}

func hasPhrase(words []word, phrase []string) bool {
	if len(words) < len(phrase) {
		return false
	}
	for i, p := range phrase {
		if words[i].kind != plainWord || words[i].fold != p {
			return false
		}
	}
	return true
}

func newWordSet(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}
