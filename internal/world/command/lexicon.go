package command

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// class is a set of grammatical classes of a word.
type class uint64

const (
	articleClass     class = 1 << iota // the, my, some: words before a name that are ignored
	pronounClass                       // it, them: refer to a named thing
	subjectClass                       // I, we, you, he: subjects of a clause
	auxiliaryClass                     // will, could, have: verbs before the verb
	beClass                            // is, am, were
	fillerClass                        // just, well: words that change nothing before a verb
	courtesyClass                      // please, now: words that change nothing after it
	mannerClass                        // quietly: adverbs that become modifiers
	negationClass                      // not, don't, never
	quitClass                          // refuse, stop: the act after it is not done
	prepositionClass                   // to, with: introduce a target, an instrument or a topic
	particleClass                      // up, off: second parts of verbs
	subordinateClass                   // because, if: begin a clause that asks for nothing
	breakClass                         // because, instead: end a clause wherever they stand
	whClass                            // what, where: begin questions
	wayClass                           // door, path, stairs: lead somewhere
	nowhereClass                       // anywhere: name no place
	routeClass                         // straight, due: change nothing in a move
	jointClass                         // and, then, but: between clauses
	numberClass                        // two, dozen
	desireClass                        // want, need: a thing that is wanted is taken
	lightClass                         // look, rest: nouns that name the act of "take a"
	remarkClass                        // good, alas: name nobody
	titleClass                         // sir: address the referee
	tellingClass                       // tell, ask: introduce words that are said
	sayingClass                        // say, shout: their object is the words said
	partnerClass                       // talk, greet: need somebody spoken to
	greetingClass                      // hello, thanks: no act in front of another one
	goalClass                          // go, walk: need a direction or a place
	speltClass                         // no typos of verbs or directions
	nounClass                          // verbs that are more often nouns
	harmClass                          // cut, burn: attacks on a living being
	motionClass                        // squeeze, roll: moves in front of a way
	dativeClass                        // slip, throw: gives in front of somebody and a thing
	carrierClass                       // take, give: mean the act of a noun behind them
)

// classes maps the names of classes in wordList.
var classes = map[string]class{"article": articleClass, "pronoun": pronounClass, "subject": subjectClass,
	"auxiliary": auxiliaryClass, "be": beClass, "filler": fillerClass, "courtesy": courtesyClass, "manner": mannerClass,
	"negation": negationClass, "quit": quitClass, "preposition": prepositionClass, "particle": particleClass,
	"subordinate": subordinateClass, "break": breakClass, "wh": whClass, "way": wayClass, "nowhere": nowhereClass,
	"route": routeClass, "joint": jointClass, "number": numberClass, "desire": desireClass, "light": lightClass,
	"remark": remarkClass, "title": titleClass, "telling": tellingClass, "saying": sayingClass, "partner": partnerClass,
	"goal": goalClass, "greeting": greetingClass, "spelt": speltClass, "harm": harmClass, "motion": motionClass,
	"dative": dativeClass, "carrier": carrierClass}

// grammarClasses are the classes of words that are no verbs, also if the table of verbs has them.
const grammarClasses = articleClass | pronounClass | subjectClass | auxiliaryClass | beClass | fillerClass |
	negationClass | prepositionClass | particleClass | subordinateClass | whClass | jointClass | numberClass

// entry is a word that the parser knows.
type entry struct {
	text     string
	class    class
	toward   Direction // "north" of north and northern
	adjacent bool      // northern: a direction only before a name
	past     string    // the verb of which the word is an irregular past form
	verb     *usage
	phrases  map[string][]verbPhrase // phrases that begin with this word, by their second word, longest first
	idioms   *idiomNode              // idioms that begin with this word, or nil
}

// isGrammar reports whether a word is one of grammar and names nothing.
func (e *entry) isGrammar() bool { return e.class&grammarClasses&^numberClass != 0 }

// usage holds the acts of a verb, by the way in which it is used.
type usage struct {
	acts    [5]Verb // by the ways to use a verb
	sure    float64
	core    bool   // of an act's list, not of the table
	listed  bool   // of another list of wordList
	noun    bool   // more often a noun than a verb
	name    bool   // hardly ever a verb
	control bool   // takes another verb: try to, start going
	with    bool   // makes sense with a preposition and no object: fight with
	aside   bool   // the rest of the clause asks for nothing either
	lead    bool   // no act, but words before one: "be so kind as to"
	typo    string // the verb that a misspelt word was mended to
}

// The ways to use a verb.
const (
	alone = iota
	beforePreposition
	withObject
	withObjectAt
	withObjectTo
)

// verbPhrase is a phrase that means an act.
type verbPhrase struct {
	words []string
	usage *usage
}

// verbTable lists the verbs of WordNet by their acts; scripts/verbs.py made it.
//
//go:embed verbs.txt
var verbTable string

// wordList lists the verbs of the fourteen acts and the words of grammar.
//
//go:embed words.txt
var wordList string

// actLetters are the letters of acts in verbTable.
var actLetters = map[byte]Verb{'m': Move, 'l': Look, 'x': Examine, 't': Take, 'd': Drop, 'g': Give, 'u': Use, 'k': Talk,
	'a': Attack, 'f': Defend, 'h': Throw, 'e': Flee, 'r': Rest}

// lexicon returns the words that the parser knows, by their folded form.
var lexicon = sync.OnceValue(buildLexicon)

// buildLexicon reads wordList and verbTable.
func buildLexicon() map[string]*entry {
	all := make(map[string]*entry, 1<<14)
	for line := range strings.Lines(wordList) {
		if key, list, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); ok && line[0] != '#' {
			kind, name, _ := strings.Cut(key, " ")
			for text := range strings.SplitSeq(list, ", ") {
				addWord(all, kind, name, text)
			}
		}
	}
	if u := all["move"].verb; u != nil { // to move a thing is to use it
		u.acts[withObject], u.acts[withObjectAt], u.acts[withObjectTo] = Use, Use, Use
	}
	for line := range strings.Lines(verbTable) {
		if code, verbs, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ":"); ok && line[0] != '#' {
			if code == "spelt" {
				for text := range strings.SplitSeq(verbs, ",") {
					entryOf(all, text).class |= speltClass
				}
				continue
			}
			u := usageOf(code)
			for text := range strings.SplitSeq(verbs, ",") {
				if first, _, _ := strings.Cut(text, " "); isOverridden(all[first], text, u) {
					continue
				}
				addVerb(all, text, u)
			}
		}
	}
	limitWays(all)
	for _, e := range all {
		if e.class&nounClass != 0 && e.verb != nil {
			u := *e.verb
			u.noun = true
			e.verb = &u
		}
	}
	return all
}

// limitWays gives verbs the acts that wordList lists for some of their ways only.
func limitWays(all map[string]*entry) {
	for line := range strings.Lines(wordList) {
		key, list, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		kind, name, _ := strings.Cut(key, " ")
		var ways []int
		switch kind {
		case "alone":
			ways = []int{alone, beforePreposition}
		case "object":
			ways = []int{withObject, withObjectAt, withObjectTo}
		default:
			continue
		}
		for text := range strings.SplitSeq(list, ", ") {
			e := entryOf(all, text)
			u := usage{sure: idiomConfidence}
			if e.verb != nil {
				u = *e.verb
			}
			for _, way := range ways {
				u.acts[way] = Verb(name)
			}
			e.verb = &u
		}
	}
}

// addWord adds an entry of wordList.
func addWord(all map[string]*entry, kind, name, text string) {
	switch kind {
	case "verb":
		u := usageAs(Verb(name))
		u.sure, u.listed = idiomConfidence, true
		addVerb(all, text, u)
		if !strings.Contains(text, " ") {
			entryOf(all, text).class |= speltClass
		}
	case "act":
		u := usageAs(Verb(name))
		u.core = true
		if text == name || len(text) == 1 {
			u.sure = 1
		}
		addVerb(all, text, u)
	case "idiom":
		addIdiom(all, Verb(name), text)
	case "lead":
		addVerb(all, text, &usage{lead: true})
	case "aside":
		addVerb(all, text, &usage{lead: true, aside: true})
	case "noun":
		entryOf(all, text).class |= nounClass
	case "class":
		entryOf(all, text).class |= classes[name]
	case "direction", "adjective":
		e := entryOf(all, text)
		e.toward, e.adjacent = Direction(name), kind == "adjective"
	case "past":
		form, verb, _ := strings.Cut(text, " ")
		entryOf(all, form).past = verb
	}
}

// usageAs returns the usage of a verb that means one act in every way.
func usageAs(v Verb) *usage { return &usage{acts: [5]Verb{v, v, v, v, v}, sure: listedConfidence} }

// isOverridden reports whether the table has no say about a verb: a word of grammar is none, and
// "go" with a direction is a move.
func isOverridden(first *entry, text string, u *usage) bool {
	switch {
	case first == nil:
		return false
	case len(text) > 0 && !strings.Contains(text, " "):
		return first.class&grammarClasses != 0 || first.toward != ""
	case strings.HasSuffix(text, "ing"): // keep going
		return true
	case first.verb != nil && first.verb.core && first.verb.acts[alone] == Move:
		return u.acts[alone] != Flee
	}
	return false
}

func entryOf(all map[string]*entry, w string) *entry {
	e := all[w]
	if e == nil {
		e = &entry{text: w}
		all[w] = e
	}
	return e
}

// usageOf reads a code of verbTable: five letters of acts, then the letters of flags.
func usageOf(code string) *usage {
	u := &usage{sure: tableConfidence, noun: strings.ContainsAny(code[5:], "NM"), name: strings.Contains(code[5:], "M"),
		control: strings.Contains(code[5:], "C"),
		with:    strings.Contains(code[5:], "W")}
	for i := range u.acts {
		u.acts[i] = actLetters[code[i]]
	}
	return u
}

// addVerb adds a verb or a phrase. The first one added wins, but for the flags.
func addVerb(all map[string]*entry, text string, u *usage) {
	words := strings.Fields(text)
	e := entryOf(all, words[0])
	if len(words) == 1 {
		switch {
		case e.verb == nil:
			e.verb = u
		case (e.verb.core || e.verb.listed) && !u.core && !u.listed:
			e.verb.control = e.verb.control || u.control
			e.verb.with = u.with || u.acts[beforePreposition] == Use
		}
		return
	}
	at, list := 0, e.phrases[words[1]]
	for ; at < len(list) && len(list[at].words) >= len(words); at++ {
		if slices.Equal(list[at].words, words) {
			return
		}
	}
	if e.phrases == nil {
		e.phrases = map[string][]verbPhrase{}
	}
	e.phrases[words[1]] = slices.Insert(list, at, verbPhrase{words, u})
}

// act returns the act of a verb used in a way, or "" if it is none.
func (u *usage) act(way int) Verb {
	if u.acts[way] == "" && way != withObject {
		return u.acts[withObject]
	}
	return u.acts[way]
}

// isAct reports whether a verb is an act in any way.
func (u *usage) isAct() bool {
	return u.acts[alone] != "" || u.acts[beforePreposition] != "" || u.acts[withObject] != ""
}

// form is the form of a verb.
type form uint8

const (
	baseForm  form = iota
	thirdForm      // goes
	ingForm        // going
	pastForm       // went
)

// readVerbForm returns the verb that a word is a form of.
func readVerbForm(fold string, e *entry) (*entry, form) {
	if e != nil && (e.verb != nil || e.phrases != nil) {
		return e, baseForm
	}
	if e != nil && e.past != "" {
		return lexicon()[e.past], pastForm
	}
	if at := strings.LastIndexByte(fold, '-'); at > 0 { // karate-chop
		if tail := lexicon()[fold[at+1:]]; tail != nil && tail.verb != nil && !tail.verb.noun {
			return tail, baseForm
		}
	}
	for _, ending := range [...]struct {
		text string
		form form
	}{{"ing", ingForm}, {"ed", pastForm}, {"s", thirdForm}} {
		if stem, ok := strings.CutSuffix(fold, ending.text); ok && len(stem) > 1 {
			if found := readStem(stem, ending.form); found != nil {
				return found, ending.form
			}
		}
	}
	return nil, baseForm
}

// readStem returns the verb of a stem without its ending: tak(ing), dropp(ed), carrie(s).
func readStem(stem string, f form) *entry {
	words := lexicon()
	n := len(stem)
	isVerb := func(e *entry) bool { return e != nil && e.verb != nil }
	if e := words[stem]; isVerb(e) && !(f != thirdForm && words[stem+"e"] != nil && isVerb(words[stem+"e"])) {
		return e
	}
	if f == thirdForm {
		if s, ok := strings.CutSuffix(stem, "ie"); ok && isVerb(words[s+"y"]) {
			return words[s+"y"]
		}
		if s, ok := strings.CutSuffix(stem, "e"); ok && isVerb(words[s]) {
			return words[s]
		}
		return nil
	}
	if e := words[stem+"e"]; isVerb(e) {
		return e
	}
	if n > 2 && stem[n-1] == stem[n-2] && isVerb(words[stem[:n-1]]) {
		return words[stem[:n-1]]
	}
	if s, ok := strings.CutSuffix(stem, "i"); ok && isVerb(words[s+"y"]) {
		return words[s+"y"]
	}
	if s, ok := strings.CutSuffix(stem, "y"); ok && f == ingForm && isVerb(words[s+"ie"]) {
		return words[s+"ie"] // lying, tying
	}
	return nil
}
