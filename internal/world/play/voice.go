package play

import (
	"slices"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/meaning"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// firstPersons are the forms of verbs and auxiliaries that change with the subject.
var firstPersons = map[string]string{"is": "am", "has": "have", "does": "do", "isn't": "am not", "hasn't": "have not",
	"doesn't": "do not"}

// sameForms are auxiliaries that are alike in both persons.
var sameForms = strings.Fields("was had did will would can could may might must shall should never always often " +
	"still also once only now wasn't didn't hadn't won't can't")

// adverbs between a subject and its verb.
var verbAdverbs = strings.Fields("never always often still also once only now sometimes seldom usually just even")

// turnVerb returns a verb of the third person in the first; "" if it is none that is known.
func turnVerb(w string) string {
	if first := firstPersons[w]; first != "" {
		return first
	}
	if slices.Contains(sameForms, w) {
		return w
	}
	base := meaning.Lemma(w, meaning.Verb)
	switch {
	case base == "" || base == w:
		return ""
	case w == base+"s" || w == base+"es" || strings.HasSuffix(w, "ies") && base == strings.TrimSuffix(w, "ies")+"y":
		return base
	case strings.HasSuffix(w, "ed"), meaning.Lemma(w, meaning.Noun) == "" && !strings.HasSuffix(w, "ing"):
		return w // the past
	}
	return ""
}

// subjectPronouns, with the words that belong to them, by the gender of spokenGender.
var subjectPronouns = map[string]map[string]string{
	"he": {"he": "I", "him": "me", "his": "my", "himself": "myself", "he's": "I'm", "he'd": "I'd", "he'll": "I'll"},
	"she": {
		"she":     "I",
		"her":     "me",
		"hers":    "mine",
		"herself": "myself",
		"she's":   "I'm",
		"she'd":   "I'd",
		"she'll":  "I'll",
	},
}

// inFirstPerson returns a sentence about somebody as it tells it itself. ok is false if the sentence is not of a
// simple form: its subject, at its begin, is the name or a pronoun.
func inFirstPerson(sentence, title string, own bool) (turned string, ok bool) {
	words := strings.Fields(sentence)
	if len(words) < 2 {
		return "", false
	}
	pronoun, at := strings.ToLower(words[0]), 1
	switch {
	case own && (pronoun == "his" || pronoun == "her") && isNounAhead(words[1]):
		return turnRest(append([]string{"My"}, words[1:]...), map[string]string{"his": "he", "her": "she"}[pronoun])
	case own && subjectPronouns[pronoun] == nil && strings.HasSuffix(pronoun, "s") && isThirdPerson(pronoun) && words[1] != "are":
		words = append([]string{"", pronoun}, words[1:]...)
		pronoun = ""
	case subjectPronouns[pronoun] == nil:
		pronoun = ""
		name := strings.Fields(title)
		switch {
		case len(words) > len(name) && slices.Equal(words[:len(name)], name):
			at = len(name)
		case len(name) > 1 && (words[0] == name[0] || words[0] == name[len(name)-1]):
		default:
			return "", false
		}
	}
	out, verb := []string{"I"}, false
	for _, w := range words[at:] {
		core := strings.TrimRight(w, ".,;:!?")
		tail := w[len(core):]
		switch first := turnVerb(core); {
		case verb:
			out = append(out, w)
		case slices.Contains(verbAdverbs, core):
			out = append(out, w)
		case first == "":
			return "", false
		default:
			out, verb = append(out, first+tail), true
		}
	}
	if !verb {
		return "", false
	}
	return turnRest(out, pronoun)
}

// turnRest turns the pronouns behind the verb, and the verbs that go on after "and". The words after another name are
// about that one. ok is false if it is not clear whom a pronoun means.
func turnRest(words []string, pronoun string) (string, bool) {
	others, subject := false, false
	for i := 2; i < len(words); i++ {
		core := strings.TrimRight(words[i], ".,;:!?—'’")
		tail := words[i][len(core):]
		lower := strings.ToLower(core)
		for gender, forms := range subjectPronouns {
			first := forms[lower]
			if lower == "her" && i+1 < len(words) && tail == "" && isNounAhead(words[i+1]) {
				first = "my"
			}
			if first == "" || others {
				continue
			}
			if pronoun != "" && pronoun != gender {
				return "", false
			}
			pronoun = gender
			words[i], subject = first+tail, first == "I"
		}
		switch previous := words[i-1]; {
		case strings.HasSuffix(previous, ",") && isThirdPerson(lower) && i+1 < len(words) && !others && slices.Contains(determinersAndNumbers, words[i+1]):
			words[i] = turnVerb(lower) + tail
		case core != "" && core != lower && !strings.HasPrefix(core, "I"):
			others = true
		case subject && previous == "I", slices.Contains([]string{"and", "but", "or"}, previous) && isThirdPerson(lower),
			slices.Contains(verbAdverbs, previous) && slices.Contains([]string{"and", "but"}, words[i-2]) && isThirdPerson(lower):
			first := turnVerb(lower)
			if others || firstPersons[lower] == "" && meaning.Lemma(lower, meaning.Noun) != "" ||
				first == "" && !slices.Contains(verbAdverbs, lower) {
				return "", false
			}
			if first != "" {
				words[i] = first + tail
			}
			subject = false
		}
	}
	for i, w := range words {
		switch previous := words[max(i-1, 0)]; {
		case w == "says" && previous == "asked": // and when asked says that
			words[i] = "say"
		case w == "says" && subjectPronouns[previous] == nil && previous == strings.ToLower(previous):
			return "", false
		}
		if pronoun != "" && subjectPronouns[pronoun][strings.Trim(strings.ToLower(w), ".,;:!?")] != "" {
			return "", false
		}
	}
	return strings.Join(words, " "), true
}

// determinersAndNumbers are words that an object begins with.
var determinersAndNumbers = append(
	strings.Fields("a an one two three half all some no nothing it them him her"),
	determiners...)

// isThirdPerson reports whether a word may be a verb in the third person.
func isThirdPerson(w string) bool {
	base := meaning.Lemma(w, meaning.Verb)
	return firstPersons[w] != "" || strings.HasSuffix(w, "s") && base != "" && base != w
}

// isNounAhead reports whether a word may follow a possessive pronoun.
func isNounAhead(w string) bool {
	w = bareWord(w)
	return (meaning.Lemma(w, meaning.Noun) != "" || meaning.Lemma(w, meaning.Adjective) != "") && isContentWord(w)
}

// tellsOf reports whether a sentence has a pronoun for somebody.
var tellsOf = lazyregexp.New(`(?i)\b(?:he|she|him|his|her|hers|himself|herself)\b`)

// kept matches sentences that tell of somebody something that one does not tell of oneself.
var kept = lazyregexp.New(`(?i)\b(?:secret|hid(?:e|es|den)|conceal\w*|nobody knows|no one knows|never told|` +
	`not yet told|has not told|` +
	`not say|does not (?:admit|know)|pretend\w*|asham\w*|suspects?|forge\w*|in love|afraid|terrified|lie[sd]?|` +
	`lying|steals?|stole|stolen|thief|` +
	`taken the|to cry|inside (?:her|his)|really called|believes that|fool)\b`)

// sayOfOneself returns a sentence as somebody says it who may be told of in it. own tells that the sentence is from its
// own text. ok is false if the person does not say it.
func sayOfOneself(who world.Card, sentence string, own bool) (line string, ok bool) {
	if turned, ok := inFirstPerson(sentence, who.Title(), own); ok {
		return turned, !kept.MatchString(sentence)
	}
	names := nameForms(who.Title())
	at := slices.IndexFunc(names, func(n string) bool { return strings.Contains(sentence, n) })
	if first, _, _ := strings.Cut(strings.ToLower(sentence), " "); own && subjectPronouns[first] == nil &&
		isThirdPerson(first) && meaning.Lemma(first, meaning.Noun) == "" {
		return "", false // a sentence without a subject, which is the person
	}
	if at < 0 {
		return sentence, !own || !tellsOf.MatchString(sentence) && !kept.MatchString(sentence)
	}
	before, after, _ := strings.Cut(sentence, names[at])
	if last := strings.Fields(before); len(last) == 0 || !slices.Contains(meDemands, last[len(last)-1]) {
		return "", false
	}
	after, _, _ = strings.Cut(after, ", who ")
	line = before + "me" + strings.TrimRight(after, ".") + "."
	return line, !tellsOf.MatchString(line) && !kept.MatchString(sentence)
}

// meDemands are prepositions that "me" stands behind.
var meDemands = strings.Fields("by with to from for at of on behind before beside near than like")

// nameForms returns a name, and its parts that somebody is called by, the longest first.
func nameForms(title string) []string {
	out := []string{title}
	for _, w := range strings.Fields(title) {
		if len(w) > 2 && w[:1] != strings.ToLower(w[:1]) {
			out = append(out, w)
		}
	}
	return out
}

// firstPlurals are the words of several people for those of one.
var firstPlurals = []string{
	"I am",
	"we are",
	"I'm",
	"we're",
	"I was",
	"we were",
	"I",
	"we",
	"I've",
	"we've",
	"I'll",
	"we'll",
	"me",
	"us",
	"my",
	"our",
	"mine",
	"ours",
	"myself",
	"ourselves",
}

var firstSingular = lazyregexp.New(`\b(?:I (?:am|was)|I'(?:m|ve|ll)|I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)\b`)

// spokenBy returns a line as its speaker says it: several people say "we".
func spokenBy(t world.Card, line string) string {
	var f struct {
		Group bool `json:"group"`
	}
	if world.DecodeFields(t.Fields, &f); !f.Group {
		return line
	}
	return inPlural(line)
}

func inPlural(line string) string {
	var b strings.Builder
	from := 0
	for _, m := range firstSingular.FindAllStringIndex(line, -1) {
		word, before := line[m[0]:m[1]], strings.TrimRight(line[from:m[0]], " ")
		if i := slices.Index(firstPlurals, word); i >= 0 {
			word = firstPlurals[i+1]
		} else if i = slices.Index(firstPlurals, strings.ToLower(word)); i >= 0 {
			word = firstPlurals[i+1]
		}
		b.WriteString(line[from:m[0]])
		if m[0] == 0 || before != "" && strings.ContainsAny(before[len(before)-1:], ".!?") {
			word = capitalize(word)
		}
		b.WriteString(word)
		from = m[1]
	}
	return b.String() + line[from:]
}

// reasonWords are words of sentences that tell why.
var reasonWords = strings.Fields("because since for so lest as due reason therefore hence")

// asksWhy matches the question for a reason.
var asksWhy = lazyregexp.New(`(?i)^(?:[\w ]+, )?(?:and |but |so )?why\b`)

// tellsWhy reports whether a sentence may tell a reason.
func tellsWhy(sentence string) bool {
	return slices.ContainsFunc(strings.Fields(strings.ToLower(sentence)), func(w string) bool {
		return slices.Contains(reasonWords, strings.Trim(w, ",.;:"))
	})
}

// goingOn are words that begin a sentence about the thing of the one before.
var goingOn = strings.Fields("One It Its They Their This That These Those")

// goOn returns the sentence at a place, or the one after it if that has the question word of the question: whose, why.
// A sentence that goes on about the same thing, and has more of some stems, is added.
func goOn(list []string, at int, said string, stems []string) string {
	for _, w := range []string{"whose", "why"} {
		if at+1 < len(list) && slices.Contains(command.BareWords(said), w) &&
			slices.Contains(command.BareWords(list[at+1]), w) {
			return list[at+1]
		}
	}
	if at+1 < len(list) {
		first, _, _ := strings.Cut(list[at+1], " ")
		both := list[at] + " " + list[at+1]
		if slices.Contains(goingOn, first) && countStems(both, stems) > countStems(list[at], stems) {
			return both
		}
	}
	return list[at]
}

// inSecondPerson returns a statement about the one who is told it as it is said to somebody: "he looks like a fool". ok
// is false if words do not begin with such a pronoun and a verb, or have the pronoun of another person, too.
func inSecondPerson(said string) (direct string, ok bool) {
	words := strings.Fields(said)
	if len(words) < 2 || strings.HasSuffix(said, "?") {
		return "", false
	}
	pronoun := strings.ToLower(words[0])
	short := map[string]string{"he's": "You are", "she's": "You are", "they're": "You are"}[pronoun]
	if pronoun, _, _ = strings.Cut(pronoun, "'"); short == "" && subjectPronouns[pronoun] == nil && pronoun != "they" {
		return "", false
	}
	out := []string{short}
	if short == "" {
		verb := map[string]string{"is": "are", "was": "were", "are": "are", "were": "were"}[words[1]]
		if verb == "" && pronoun == "they" {
			verb = words[1]
		}
		if verb == "" {
			verb = turnVerb(words[1])
		}
		if verb == "" {
			return "", false
		}
		out, words = []string{"You", verb}, words[1:]
	}
	for _, w := range words[1:] {
		core := strings.TrimRight(w, ".,;!")
		lower := strings.ToLower(core)
		first := subjectPronouns[pronoun][lower]
		if tellsOf.MatchString(core) && first == "" ||
			pronoun == "they" && slices.Contains([]string{"they", "them", "their"}, lower) {
			return "", false
		}
		if second := map[string]string{"I": "you", "me": "you", "my": "your", "myself": "yourself"}[first]; second != "" {
			if lower == "her" {
				return "", false
			}
			core = second
		} else if first != "" {
			return "", false
		}
		out = append(out, core+w[len(strings.TrimRight(w, ".,;!")):])
	}
	direct = strings.Join(out, " ")
	if !strings.ContainsAny(direct[len(direct)-1:], ".!") {
		direct += "."
	}
	return direct, true
}
