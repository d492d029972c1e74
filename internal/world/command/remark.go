package command

import (
	"regexp"
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// interjection matches words before a comma that only call for attention.
var interjection = regexp.MustCompile(`(?i)^(?:(?:oi|oy|hey|ho|yo|psst|ahoy|ah|oh|aha|um|uh|hm+|er|well|so|now|now then|` +
	`look|listen|look here|see here|i say|say|excuse me|pardon(?: me)?|beg(?:ging your)? pardon|right|okay|ok|my word|` +
	`goodness|(?:hey|oi|ho|you|hey there|oh) (?:you|there)|hey you there|sir|madam|miss|mister|good (?:sir|woman|man)|(?:my )?` +
	`(?:friend|dear))[,!]+ +)+`)

// CutInterjections returns a text without the interjections before it: "well, …", "hey you, …". A text of nothing else
// stays as it is.
func CutInterjections(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[len(interjection.FindString(text)):])
}

// exclaims matches exclamations that have the form of a question: what a lovely bell.
var exclaims = regexp.MustCompile(`(?i)^(?:oh |ah |my )*(?:what (?:an?|such|lovely|nice|fine|beautiful|awful|terrible|ugly|strange|` +
	`splendid|pretty) .*[^?]|how \w+[^?]*!|how (?:lovely|nice|beautiful|awful|sad|strange|wonderful|charming|pretty|ugly|splendid|` +
	`dreadful|terrible|kind)(?: (?:of|it|they|he|she|this|that|the|these|those|your|his|her) ?[^?]*)?)$`)

// praising are first words of remarks without a verb.
var praising = strings.Fields("nice such so very too quite how poor good great bad my that this these those the your his her their no")

// IsRemark reports whether a text only remarks on something: an exclamation, or words without a verb such as "nice
// puppets". Words that no dictionary has are none.
func IsRemark(text string) bool {
	text = strings.TrimSpace(text)
	if exclaims.MatchString(strings.TrimRight(text, ".")) {
		return true
	}
	words := BareWords(text)
	if len(words) < 2 || strings.HasSuffix(text, "?") || hasCommand(text) {
		return false
	}
	first := words[0]
	isAdjective := !lex(text)[0].is(grammarClasses|prepositionClass|whClass) && meaning.Lemma(first, meaning.Adjective) != "" && meaning.Lemma(first, meaning.Verb) == ""
	if !isAdjective && !slices.Contains(praising, first) {
		return false
	}
	return slices.ContainsFunc(words[1:], func(w string) bool {
		return meaning.Lemma(w, meaning.Noun) != "" || meaning.Lemma(w, meaning.Adjective) != ""
	})
}

// hasCommand reports whether the grammar finds an act in a text.
func hasCommand(text string) bool { return len(Parse(text).Intents) > 0 }

// Sentence is a sentence of a command, and its first character.
type Sentence struct {
	Text  string
	Start int
}

// actAndQuestion matches an act, and a question about it behind a comma: feel the nets, are they wet?
var actAndQuestion = regexp.MustCompile(`(?i)^([^,?]+),( +(?:and )?(?:is|are|was|were|does|do|did|has|have|had|can|will|what|who|whose|` +
	`why|where|when|how)\b[^,]*\?)$`)

// ReadSentences splits a command that somebody is spoken to in, or a question is asked in, beside something else. It
// returns nil for any other command: those the grammar reads as a whole.
func ReadSentences(text string) []Sentence {
	if strings.ContainsAny(text, `"“«:(`) {
		return nil
	}
	if m := actAndQuestion.FindStringSubmatchIndex(text); m != nil && hasCommand(text[:m[3]]) && !isTalk(text[:m[3]]) {
		return []Sentence{sentenceAt(text, m[2], m[3]), sentenceAt(text, m[4], m[5])}
	}
	var list []Sentence
	from, talks := 0, false
	for at := 0; at < len(text); at++ {
		last := at+1 == len(text)
		if !last && !(strings.IndexByte(".!?\n", text[at]) >= 0 && (text[at+1] == ' ' || text[at] == '\n')) ||
			initials.MatchString(text[max(0, strings.LastIndexByte(text[:at], ' ')+1):at+1]) && !last {
			continue
		}
		s := sentenceAt(text, from, at+1)
		if from = at + 1; strings.Trim(s.Text, ".!? ") == "" {
			continue
		}
		if len(list) > 0 && isFragment(s.Text) {
			return nil // I'll take it on, Wilkin. Out to the stone
		}
		talks = talks || isTalk(s.Text)
		list = append(list, s)
	}
	if len(list) < 2 || !talks {
		return nil
	}
	return list
}

// isTalk reports whether a sentence is a question, is meant for somebody, or only remarks on something.
func isTalk(text string) bool {
	if _, ok := ReadQuestion(text); ok {
		return true
	}
	_, speaks := ReadSpeech(text)
	return speaks || strings.HasSuffix(text, "?") || AddressesYou(text) || IsRemark(text)
}

// isFragment reports whether words are a part of a sentence that begins with a preposition.
func isFragment(text string) bool {
	words := lex(text)
	return len(words) > 2 && words[0].is(prepositionClass) && !isTalk(text)
}

func sentenceAt(text string, from, to int) Sentence {
	part := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text[from:to]), "."))
	return Sentence{part, len([]rune(text[:from+strings.Index(text[from:to], part)]))}
}
