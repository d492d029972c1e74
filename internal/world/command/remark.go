package command

import (
	"slices"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/meaning"
)

// interjection matches words before a comma that only call for attention.
var interjection = lazyregexp.New(`(?i)^(?:(?:oi|oy|hey|ho|yo|psst|ahoy|ah|oh|aha|um|uh|hm+|er|well|so|now|` +
	`now then|` +
	`look|listen|look here|see here|i say|say|excuse me|pardon(?: me)?|beg(?:ging your)? pardon|right|okay|ok|` +
	`my word|what ho|` +
	`goodness|great|wonderful|lovely|fine|excellent|brilliant|marvellous|perfect|wow|alas|behold|lo|pray tell|pray|` +
	`prithee|verily|forsooth|please|` +
	`(?:hey|oi|ho|you|hey there|oh) (?:you|there)|(?:oh|ah) (?:\w+ful|great|lovely|fine|brilliant)|hey you there|` +
	`good sirs|sir|madam|monsieur|madame|mademoiselle|miss|mister|good (?:sir|woman|man)|(?:my )?` +
	`(?:friend|dear))[,!]+ +)+`)

// CutInterjections returns a text without the interjections before it: "well, …", "hey you, …". A text of nothing else
// stays as it is.
func CutInterjections(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[len(interjection.FindString(text)):])
}

// exclaims matches exclamations that have the form of a question: what a lovely bell.
var exclaims = lazyregexp.New(`(?i)^(?:oh |ah |my )*(?:what (?:an?|such|lovely|nice|fine|beautiful|awful|` +
	`terrible|ugly|strange|` +
	`splendid|pretty) .*[^?]|how \w+[^?]*!|how (?:lovely|nice|beautiful|awful|sad|strange|wonderful|charming|` +
	`pretty|ugly|splendid|` +
	`dreadful|terrible|kind)(?: (?:of|it|they|he|she|this|that|the|these|those|your|his|her) ?[^?]*)?)$`)

// praising are first words of remarks without a verb.
var praising = strings.Fields(
	"nice such so very too quite how poor good great bad my that this these those the your his her their no another more",
)

// IsRemark reports whether a text only remarks on something: an exclamation, or words without a verb such as "nice
// puppets". Words that no dictionary has are none.
func IsRemark(text string) bool {
	text = strings.TrimSpace(text)
	if exclaims.MatchString(strings.TrimRight(text, ".")) {
		return true
	}
	words := BareWords(text)
	if _, asks := ReadQuestion(text); len(words) < 2 || asks || strings.HasSuffix(text, "?") {
		return false
	}
	first := words[0]
	if len(words) == 2 && slices.Contains(praises, first) && meaning.Lemma(words[1], meaning.Noun) != "" &&
		!slices.Contains([]string{"look", "rest", "sleep", "search", "listen"}, words[1]) {
		return true // nice fire
	}
	if HasCommand(text) {
		return false
	}
	if strings.HasSuffix(text, "!") && lex(text)[0].is(articleClass) {
		return true // a turbot of great age!
	}
	isAdjective := !lex(text)[0].is(grammarClasses|prepositionClass|whClass) &&
		meaning.Lemma(first, meaning.Adjective) != "" &&
		meaning.Lemma(first, meaning.Verb) == ""
	if !isAdjective && !slices.Contains(praising, first) {
		return false
	}
	return slices.ContainsFunc(words[1:], func(w string) bool {
		return meaning.Lemma(w, meaning.Noun) != "" || meaning.Lemma(w, meaning.Adjective) != ""
	})
}

// praises are adjectives that one praises or blames a thing with.
var praises = strings.Fields(
	"nice lovely great beautiful ugly pretty terrible awful wonderful charming splendid impressive interesting " +
		"amazing sweet horrible magnificent gorgeous delightful hideous dreadful nasty fine poor good bad cool clever cute tiny strange " +
		"odd weird funny lucky silly",
)

// HasCommand reports whether the grammar finds an act in a text.
func HasCommand(text string) bool { return len(Parse(text).Intents) > 0 }

// Sentence is a sentence of a command, and its first character.
type Sentence struct {
	Text  string
	Start int
}

// actAndQuestion matches an act, and a question about it behind a comma: feel the nets, are they wet?
var actAndQuestion = lazyregexp.New(`(?i)^([^,?]+),( +(?:and )?(?:is|are|was|were|does|do|did|has|have|had|` +
	`can|will|what|who|whose|` +
	`why|where|when|how)\b[^,]*\?)$`)

// titled matches a title and a name at the beginning: Master Wilkin, when does the tide turn?
var titled = lazyregexp.New(`^(?:Master|Captain|Mistress|Mother|Father|Old|Dear|Good) \p{Lu}\p{Ll}+,`)

// twoQuestions matches two questions in one: where am I and how do I get out?
var twoQuestions = lazyregexp.New(`(?i)^((?:what|who|where|when|why|how|which)\b[^,?.!]*),? and ` +
	`((?:what|who|where|when|why|how|which)\b[^?.!]*\?)$`)

// ReadSentences splits a command that somebody is spoken to in, or a question is asked in, beside something else. It
// returns nil for any other command: those the grammar reads as a whole.
func ReadSentences(text string) []Sentence {
	if strings.ContainsAny(text, `"“«:(`) {
		return nil
	}
	if m := actAndQuestion.FindStringSubmatchIndex(text); m != nil && !titled.MatchString(text) && HasCommand(text[:m[3]]) && !isTalk(text[:m[3]]) {
		return []Sentence{sentenceAt(text, m[2], m[3]), sentenceAt(text, m[4], m[5])}
	}
	if m := twoQuestions.FindStringSubmatchIndex(text); m != nil {
		one, two := sentenceAt(text, m[2], m[3]), sentenceAt(text, m[4], m[5])
		_, first := ReadQuestion(one.Text + "?")
		if _, second := ReadQuestion(two.Text); first && second {
			one.Text += "?"
			return []Sentence{one, two}
		}
	}
	var list []Sentence
	from, talks := 0, false
	for part := range meaning.Sentences(text) {
		at := from + strings.Index(text[from:], part)
		from = at + len(part)
		s := sentenceAt(text, at, from)
		if strings.Trim(s.Text, ".!? ") == "" {
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
	return speaks || strings.HasSuffix(text, "?") || AddressesYou(text) || IsRemark(text) || IsStatement(text) ||
		IsCourtesy(text)
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
