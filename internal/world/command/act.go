package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/markup"
	"loregate/internal/meaning"
)

// Act is an act that somebody else than the parser read from a command.
type Act struct {
	Verb      Verb      `json:"verb"`
	Direction Direction `json:"direction"` // "" for none
	Object    string    `json:"object"`    // "" for none
	Targets   []string  `json:"targets"`
}

// Unclear lists the kinds of ambiguity that a reader may report.
var Unclear = []string{"", "verb", "direction", "object", "target", "pronoun"}

// readConfidence is the confidence of acts that a reader read.
const readConfidence = 0.7

// ReadAs returns a reading of a command by somebody else. It is an error if a reading names acts or directions that do
// not exist, or things with words that the command does not contain: a reader may understand a command, but may not
// add to it. unclear is the kind of its critical ambiguity; "" if it has none. A command that asks for no act and is not
// unclear is read as by rules: its verb is asked for.
func ReadAs(text string, acts []Act, unclear, version string) (Parsed, error) {
	text = markup.Clip(text, MaxLength)
	out := Parsed{RawText: text, Intents: make([]Intent, 0, len(acts)), Ambiguities: []Ambiguity{}, ParseVersion: version}
	if len(acts) > MaxIntents || !slices.Contains(Unclear, unclear) {
		return out, fmt.Errorf("command: a reading has up to %d acts, and is unclear in none or one of %s", MaxIntents,
			strings.Join(Unclear[1:], ", "))
	}
	if len(acts) == 0 {
		unclear = cmp.Or(unclear, "verb")
	}
	for n, act := range acts {
		i := Intent{Verb: act.Verb, Direction: act.Direction, DirectObject: act.Object, Targets: act.Targets,
			Confidence: readConfidence, Order: n}
		if !slices.Contains(Verbs, act.Verb) || act.Direction != "" && !act.Direction.Valid() {
			return out, fmt.Errorf("command: acts[%d]: there is no such verb or direction", n)
		}
		for _, name := range append([]string{act.Object}, act.Targets...) {
			if len(BareWords(name)) > 0 && !Mentions(text, name) {
				return out, fmt.Errorf("command: acts[%d]: the command does not name that", n)
			}
		}
		out.Intents = append(out.Intents, i)
	}
	if unclear != "" {
		out.NeedsClarification = true
		options := []string{}
		if unclear == "verb" {
			options = verbNames
		}
		out.Ambiguities = append(out.Ambiguities, Ambiguity{unclear, Span{0, utf8.RuneCountInString(text)}, options, true})
	}
	return out, nil
}

// IsUnsure reports whether a reading by rules may well be wrong: it does not know a verb or has it from the table only,
// its acts are not certain, many or in many words, the command breaks off or has a pronoun behind several names, or a
// name in it looks like a part of a sentence. It is sure that something is missing if it knows the verb, of a word that it
// mended, of the answer to a question, and that a single word is no command.
func (p Parsed) IsUnsure() bool {
	words := len(strings.Fields(p.RawText))
	isVerb := func(a Ambiguity) bool { return a.Critical && a.Kind == "verb" }
	return words > 1 && slices.ContainsFunc(p.Ambiguities, isVerb) ||
		len(p.Intents) >= manyActs && len(p.Intents) < MaxIntents || words > sureCommand ||
		len(p.Ambiguities) == 0 && (breaksOff(p.RawText) || p.refersBack()) ||
		slices.ContainsFunc(p.Intents, func(i Intent) bool {
			weak := i.Confidence >= minConfidence && i.Confidence <= unsureBelow && i.Confidence != mendedConfidence &&
				i.Confidence != goalConfidence
			return weak || i.Confidence == tableConfidence || isDoubtful(i.DirectObject) ||
				slices.ContainsFunc(i.Targets, isDoubtful)
		})
}

// refersBack reports whether a command of several parts has a pronoun that may stand for more than one thing: several
// are named before the last act, or none.
func (p Parsed) refersBack() bool {
	words := lex(p.RawText)
	if len(words) < referring || !hasPronoun(words) {
		return false
	}
	var named []string
	for n, i := range p.Intents {
		named = append(named, i.DirectObject)
		if n+1 < len(p.Intents) {
			named = append(named, i.Targets...)
		}
	}
	slices.Sort(named)
	return len(slices.Compact(named)) != 1 || named[0] == ""
}

// breaksOff reports whether a command ends before a name: tie the rope to the.
func breaksOff(text string) bool {
	words := lex(text)
	return len(words) > 0 && (words[len(words)-1].oneOf("to", "with", "a", "an", "the"))
}

// Bounds of a sure reading of a command.
const (
	manyActs    = 3
	referring   = 7 // words of a command in which a pronoun may stand for more than one thing
	sureCommand = 9 // words
)

// The confidences of acts by the rules that read them.
const (
	goalConfidence   = 0.7  // a goal without a verb
	mendedConfidence = 0.75 // a misspelt word
	answerConfidence = 0.84 // the answer to a question
	tableConfidence  = 0.85 // a verb of the table
	idiomConfidence  = 0.9

	fragmentConfidence = 0.5 // nouns and prepositions without a verb
)

// First returns the verb of the first act, the confidence in it, and whether another reader should be asked. The verb
// is "" if nothing is to be done. A short text that only tells or asks something is sure to be none, and so is a single word
// that is no verb. A verb is unsure if its rule is, if its object looks like no name or is a deed that is handed on
// like a thing, or if the text is long or has several parts: of cases that nobody had read, every third such reading
// was wrong, and every tenth other one. A misspelt verb and the answer to a question are sure.
func (p Parsed) First() (verb Verb, confidence float64, unsure bool) {
	words := len(strings.Fields(p.RawText))
	if len(p.Intents) == 0 {
		if p.told {
			return "", 0, words > sureRemark
		}
		if verb = verbOfFragment(p.RawText); verb != "" {
			confidence = fragmentConfidence
		}
		return verb, confidence, words > 1
	}
	i := p.Intents[0]
	if i.Confidence == goalConfidence && verbOfFragment(p.RawText) == Throw {
		i.Verb = Throw // over the side with the barrels
	}
	text := strings.TrimRight(p.RawText, " .,!?;:")
	return i.Verb, i.Confidence, i.Confidence < unsureBelow && i.Confidence != mendedConfidence ||
		i.Confidence == tableConfidence && words >= sureTable ||
		i.Confidence != idiomConfidence && (isDoubtful(i.DirectObject) || slices.ContainsFunc(i.Targets, isDoubtful)) ||
		strings.ContainsAny(text, ",;:.!?") || words > sureWords || i.handsOnDeed()
}

// handsOnDeed reports whether an act moves an object from hand to hand that is no thing but an act, an event or a
// state: lay a curse on him, give it a closer look.
func (i Intent) handsOnDeed() bool {
	words := trimArticles(lex(i.DirectObject))
	if !slices.Contains([]Verb{Take, Drop, Give, Throw}, i.Verb) || len(words) == 0 {
		return false
	}
	return isDeed(words[len(words)-1].fold)
}

// isDeed reports whether a noun is an act, an event or a state and no object.
func isDeed(noun string) bool {
	is := func(kind string) bool { return meaning.IsA(noun, meaning.Noun, kind) }
	return slices.ContainsFunc([]string{"act", "event", "state"}, is) && !is("object")
}

// sureWords is the number of words of a text up to which its first act is sure; that of a verb of the table is sure
// below sureTable.
const (
	sureWords  = 10
	sureRemark = 8 // words of a text that only tells something
	sureTable  = 6
)

// unsureBelow is the confidence up to which a reading by rules may well be wrong.
const unsureBelow = 0.8

// isDoubtful reports whether a name contains words that names seldom contain.
func isDoubtful(name string) bool {
	words := trimArticles(lex(name))
	return len(words) > 3 || slices.ContainsFunc(words, func(w word) bool {
		return w.kind != plainWord ||
			w.is(grammarClasses&^numberClass) && !w.oneOf("of", "and", "with", "all", "everything") ||
			len(words) > 1 && isOnlyVerb(w.fold)
	})
}

// isOnlyVerb reports whether a word is a verb and nothing else: a name with it is a part of a sentence.
func isOnlyVerb(word string) bool {
	return meaning.Lemma(word, meaning.Verb) != "" && meaning.Lemma(word, meaning.Noun) == "" &&
		meaning.Lemma(word, meaning.Adjective) == ""
}
