package command

import (
	"slices"
	"strings"
)

// longestMatrix is the most words before an act that only tell how it is asked for or gone about.
const longestMatrix = 8

// cutRequest cuts off the words before what somebody is asked to do: I wonder if you could, any chance you might. It
// returns the words unchanged if they are no request.
func cutRequest(words []word) []word {
	hoped := false
	for i := 0; i < min(longestMatrix, len(words)-2); i++ {
		w := words[i]
		if w.kind != plainWord || w.is(negationClass) {
			return words
		}
		if hoped && w.oneOf("you", "ye", "u") && words[i+1].oneOf("could", "would", "can", "might", "will", "may") {
			return words[i+2:]
		}
		hoped = hoped || w.oneOf("wonder", "wondering", "chance", "hope", "hoping", "hoped", "possible", "think", "suppose",
			"believe", "way", "thinking", "wish")
	}
	return words
}

// cutUndertaking cuts off the words before an act that tell that it is begun, dared or thought of: I take the
// opportunity to, do me the kindness of opening, I find myself grabbing. It returns the words unchanged if there are
// none.
func cutUndertaking(words []word) []word {
	undertaken := false
	for i := 0; i < min(longestMatrix, len(words)-1); i++ {
		w, rest := words[i], words[i+1:]
		switch {
		case w.kind != plainWord || w.is(negationClass|quitClass|subordinateClass):
			return words
		case undertaken && w.fold == "to" && startsBase(rest) && rest[0].raw == rest[0].fold:
			return rest
		case (undertaken && w.oneOf("of", "by", "in", "about", "at", "on", "with", "is", "was") || w.oneOf("myself", "ourselves")) &&
			startsGerund(rest):
			return rest
		}
		undertaken = undertaken || i > 0 && idiomSets()["undertaking"][w.fold]
	}
	return words
}

// startsGerund reports whether words begin with the -ing form of a verb of an act, and what it is done to.
func startsGerund(words []word) bool {
	e, f := readVerbForm(words[0].fold, words[0].known)
	return e != nil && f == ingForm && e.verb != nil && e.verb.isAct() && (len(words) == 1 || startsArgument(words[1:]))
}

// cutPlan cuts off the name of a plan and its colon: the plan: grab the rope.
func cutPlan(words []word) []word {
	at := slices.IndexFunc(words, func(w word) bool { return w.kind == colon })
	if at < 1 || at > 3 || at+1 == len(words) || !idiomSets()["undertaking"][words[at-1].fold] {
		return words
	}
	return words[at+1:]
}

// moveAdjunct puts a thing that is told in front of an order behind it: with the potato in hand go to the stove.
func moveAdjunct(words []word) []word {
	if len(words) < 5 || words[0].fold != "with" {
		return words
	}
	for i := 2; i+1 < len(words); i++ {
		w, last := words[i], words[i-1]
		if w.kind != plainWord || w.is(jointClass|subjectClass) {
			return words
		}
		u, _ := findUsage(words[i:])
		if u == nil || !u.core || u.noun || last.is(articleClass|prepositionClass) || !startsArgument(words[i+1:]) {
			continue
		}
		if joinsList(words[i:]) {
			return words
		}
		if u.acts[alone] == Move {
			return words[i:]
		}
		return slices.Concat(words[i:], words[:i])
	}
	return words
}

// joinsList reports whether words have another clause or a list.
func joinsList(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.kind != plainWord || w.is(jointClass) })
}

// cutAttention cuts off the words that only catch somebody's ear: listen, Marta, …
func cutAttention(words []word) []word {
	if len(words) < 5 || !words[0].oneOf("listen", "look", "oi", "psst", "ahem", "yo", "ahoy", "say", "hey", "see") ||
		words[1].kind != comma {
		return words
	}
	at := slices.IndexFunc(words[2:], func(w word) bool { return w.kind == comma })
	if at < 1 || at > 2 || !isAddressee(words[2:2+at]) {
		return words
	}
	return words[2:]
}

// addressesYou returns the number of words before the comma that address somebody as you: you there, you in the hat.
func addressesYou(words []word) int {
	at := slices.IndexFunc(words, func(w word) bool { return w.kind == comma })
	if at < 2 || at > 5 || at+1 == len(words) || words[0].fold != "you" {
		return 0
	}
	if next := words[1]; next.is(prepositionClass) || next.oneOf("there", "lot") || idiomSets()["being"][next.fold] {
		return at
	}
	return 0
}

// isAbsolute reports whether words tell only how somebody stands there: axe at the ready, sword drawn.
func isAbsolute(words []word) bool {
	n := len(words)
	if n < 2 || n > 5 || joinsList(words) || startsWithArgumentVerb(words) {
		return false
	}
	return words[n-1].oneOf("drawn", "raised", "ready", "unsheathed", "high", "aloft", "poised", "nocked", "clenched", "held",
		"bared", "outstretched") ||
		n > 2 && words[n-2].fold == "in" && words[n-1].oneOf("hand", "hands", "tow")
}

// startsWithArgumentVerb reports whether words begin with a verb in front of an article: raise the axe high.
func startsWithArgumentVerb(words []word) bool {
	u, n := findUsage(words)
	return u != nil && n < len(words) && (words[n].is(articleClass|pronounClass) || !u.noun)
}

// isAside reports whether a text is told out of character as a whole: OOC: …, (( … )), // …
func isAside(text string, words []word) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "((") || strings.HasPrefix(text, "//") ||
		len(words) > 0 && words[0].oneOf("ooc", "irl", "brb", "afk", "bbl", "gtg")
}

// expandVerb returns the verb of which a word is the beginning, as in games that read three letters: exa, inven.
func expandVerb(w word) string {
	if len(w.fold) < 3 || w.known != unknown {
		return ""
	}
	for _, v := range []string{"examine", "inventory", "attack", "search", "inspect", "unlock", "throw"} {
		if strings.HasPrefix(v, w.fold) {
			return v
		}
	}
	return ""
}
