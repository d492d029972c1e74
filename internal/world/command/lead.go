package command

import (
	"slices"
	"strings"
)

// head is the beginning of a clause: the words before its verb, and the verb.
type head struct {
	usage     *usage
	at, end   int // words of the verb
	ok        bool
	direction bool     // a direction in place of a verb
	negated   bool     // the act is not to be done
	remark    bool     // the clause tells something and asks for nothing
	form      form     // of the verb
	mods      []string // adverbs before the verb
	unclear   int      // the word that is in place of a verb
}

// leadReader passes over the words before a verb.
type leadReader struct {
	words   []word
	at      int
	head    head
	subject bool // a subject was read
	be      bool // a form of "be" was read after it
}

// readHead reads the words before the verb of a clause: courtesies, subjects, auxiliaries, verbs of
// intention ("decide to"), remarks before a subject ("I think we should"). It stops at a comma or
// joint. It passes over each word once or twice.
func readHead(words []word) head {
	r := leadReader{words: words}
	r.head.unclear = -1
	for r.at < len(words) {
		w := words[r.at]
		if w.kind != plainWord || w.is(jointClass) && r.at > 0 {
			break
		}
		if w.is(subordinateClass) && (r.at == 0 || !r.subject) || r.at == 0 && r.isAdjunct() {
			r.head.remark = true
			break
		}
		if n := r.leadWords(w); n > 0 {
			if r.at += n; r.head.remark {
				break
			}
			continue
		}
		if r.readVerb(w) {
			return r.head
		}
		if !r.restart() {
			break
		}
	}
	r.head.at, r.head.end = r.at, r.at
	if r.head.unclear < 0 && r.at < len(words) && words[r.at].kind == plainWord && !words[r.at].is(jointClass) {
		r.head.unclear = r.at
	}
	return r.head
}

// isAdjunct reports whether the words up to the first comma only tell how or why another act is done:
// in a flash, to be safe, feeling brave.
func (r *leadReader) isAdjunct() bool {
	end := 1
	for end < len(r.words) && r.words[end].kind == plainWord {
		end++
	}
	if end < 1 || end+1 >= len(r.words) || r.words[end].kind != comma {
		return false
	}
	first, second, next := r.words[0], r.words[1], r.words[end+1]
	if _, f := readVerbForm(first.fold, first.known); end == 1 && f != ingForm {
		return false
	}
	switch {
	case first.oneOf("in", "inside", "outside"):
		return second.kind == plainWord && second.toward() == "" && !second.oneOf("to", "then")
	case first.fold == "to":
		return startsBase(r.words[1:])
	case !next.is(subjectClass):
		return false
	}
	e, f := readVerbForm(first.fold, first.known)
	return e != nil && f == ingForm && e.verb != nil
}

// leadWords returns the number of words at the current place that only lead to the verb of an act.
func (r *leadReader) leadWords(w word) int {
	rest := r.words[r.at+1:]
	u, n := findUsage(r.words[r.at:])
	if u != nil && (n > 1 || u.lead) {
		last, next := r.words[r.at+n-1], r.words[r.at+n:]
		if last.is(sayingClass) && len(next) > 0 && next[0].kind == quoted {
			return min(n-1, 1) // I say "hello"
		}
		r.head.remark = r.head.remark || u.aside
		if u.lead {
			return n
		}
		return 0
	}
	switch {
	case w.is(negationClass):
		r.head.negated = true
	case w.is(quitClass):
		if len(rest) == 0 || idiomOf(r.words[r.at:]).end > 0 || startsArgument(rest) && !rest[0].oneOf("to", "of") &&
			!w.oneOf("skip", "ignore", "avoid", "forget") {
			return 0
		}
		r.head.negated = true
	case w.fold == "no" && len(rest) > 0 && (rest[0].oneOf("need", "more") || startsEvent(rest)):
		r.head.negated = true
	case w.is(mannerClass):
		r.head.mods = append(r.head.mods, w.fold)
	case w.is(subjectClass) && len(r.words) > 1:
		r.subject = true
		r.be = r.be || w.is(beClass)
	case w.is(beClass):
		r.be = true
	case r.be && w.oneOf("off", "on"):
	case w.known == unknown && isAdverb(w.fold):
		r.head.mods = append(r.head.mods, w.fold)
	case r.isWish(w) && startsArgument(rest) && rest[0].fold != "to", carriesDeed(r.words[r.at:]):
		return 0
	case w.is(fillerClass|auxiliaryClass) && (len(rest) > 0 || u == nil) && !(u != nil && u.core && startsArgument(rest)):
	case u != nil && len(rest) > 0:
		return r.controlWords(w, u, rest)
	default:
		return 0
	}
	return 1
}

// isWish reports whether a word wishes for the thing behind it: want, I'd like.
func (r *leadReader) isWish(w word) bool {
	return w.is(desireClass) || w.oneOf("like", "fancy", "love") && r.at > 0 &&
		r.words[r.at-1].oneOf("would", "i'd", "we'd")
}

// carriesDeed reports whether words are a verb that means nothing by itself and the noun of an act: have a fight.
func carriesDeed(words []word) bool {
	if len(words) < 3 || !words[0].is(carrierClass) || !words[1].oneOf("a", "an", "some", "another") {
		return false
	}
	u, _ := lightVerb(words[:1], words[1:])
	return u != nil
}

// isAdverb reports whether a word that the parser does not know has the form of an adverb.
func isAdverb(w string) bool { return len(w) > 4 && strings.HasSuffix(w, "ly") }

// controlWords returns the number of words of a verb that only takes another one: "decide to" go,
// "start" going.
func (r *leadReader) controlWords(w word, u *usage, rest []word) int {
	i := skipAdverbs(rest)
	if i+2 < len(rest) && (rest[i].fold == "you" && rest[i+1].fold == "to" && startsBase(rest[i+2:]) ||
		rest[i].fold == "that" && rest[i+1].fold == "you") {
		return i + 3 // I ask you to go
	}
	if i == len(rest) || verbHas([]word{w}, tellingClass) {
		return 0
	}
	if rest[i].fold == "to" && startsBase(rest[i+1:]) && (u.acts[alone] != Move || rest[i+1].raw == rest[i+1].fold) {
		return i + 2
	}
	if u.control && (rest[i].known.class&grammarClasses == 0 || rest[i].fold == "going") {
		if e, f := readVerbForm(rest[i].fold, rest[i].known); e != nil && f == ingForm && e.verb.isAct() {
			return i + 1
		}
	}
	return 0
}

// readVerb reads the verb at the current word, if there is one that is an act.
func (r *leadReader) readVerb(w word) bool {
	words := r.words[r.at:]
	u, n := findUsage(words)
	isSelf := func(o word) bool { return o.oneOf("i", "we") }
	if w.is(prepositionClass) && len(words) > 1 && words[1].is(articleClass) && slices.ContainsFunc(words, isSelf) {
		return false // in a flash I run
	}
	if isCompass(w.toward()) && len(w.fold) < 3 && len(words) > 1 && words[1].is(articleClass) && !w.is(prepositionClass) {
		return false // "se the lamp" is no direction
	}
	if w.toward() != "" && n < 2 && u == nil || w.toward() != "" && n < 2 && len(words) == 1 {
		r.head.direction, r.head.at, r.head.end = true, r.at, r.at
		return true
	}
	f := baseForm
	if r.be && r.words[r.at-1].is(beClass) && w.known.verb != nil && !(r.at > 1 && r.words[r.at-2].fold == "do") {
		return false // it is best
	}
	if u == nil && w.known.class&(grammarClasses|mannerClass) == 0 {
		var e *entry
		if e, f = readVerbForm(w.fold, w.known); e != nil {
			if u, n = findPhrase(e, words); u != nil && u.noun && f == thirdForm && !r.subject {
				u = nil
			}
		}
	}
	if u == nil && r.isWish(w) && startsArgument(words[1:]) {
		u, n = lexicon()["take"].verb, 1
	}
	if (u == nil || !u.isAct()) && carriesDeed(words) {
		u, n = lexicon()["use"].verb, 1
	}
	if u == nil || !u.isAct() || n < len(words) && words[n].is(beClass) && !words[n].is(subjectClass) {
		return false // what I want is …
	}
	if rest := words[n:]; u.noun && n == 1 && !u.core && f == baseForm {
		if len(rest) > 0 && !startsArgument(rest) && !joinsThings(rest) && r.at == 0 &&
			(u.name || len(rest) > 1 && rest[1].known.class == 0) ||
			len(rest) == 0 && !slices.Contains([]Verb{Move, Rest, Flee, Look}, u.acts[alone]) {
			return false
		}
	}
	r.head.usage, r.head.at, r.head.end, r.head.ok, r.head.form = u, r.at, r.at+n, true, f
	return true
}

// joinsThings reports whether words are a thing and another one that it is brought to, without an article: red plug
// into receiver. Only a verb stands in front of them.
func joinsThings(words []word) bool {
	at := slices.IndexFunc(words, func(w word) bool { return w.is(prepositionClass | articleClass) })
	return at > 0 && at+1 < len(words) && words[at].oneOf("into", "onto")
}

// findPhrase is findUsage for an inflected first word, whose base form is e.
func findPhrase(e *entry, words []word) (*usage, int) {
	if len(words) > 1 && len(e.phrases) > 0 && words[1].kind == plainWord {
		for _, h := range e.phrases[words[1].fold] {
			if hasPhrase(words, h.words) {
				return h.usage, len(h.words)
			}
		}
	}
	if e.verb != nil {
		return e.verb, 1
	}
	return nil, 0
}

// startsArgument reports whether words begin as the argument of a verb does: the, it, two, with.
func startsArgument(words []word) bool {
	return len(words) > 0 && (words[0].kind != plainWord ||
		words[0].is(articleClass|pronounClass|numberClass|prepositionClass|particleClass|mannerClass) ||
		words[0].toward() != "")
}

// startsBase reports whether words begin with the base form of a verb after adverbs.
func startsBase(words []word) bool {
	words = words[skipAdverbs(words):]
	if len(words) == 0 {
		return false
	}
	if words[0].is(articleClass) || words[0].toward() != "" {
		return false
	}
	u, n := findUsage(words)
	return words[0].fold == "be" ||
		u != nil && (u.isAct() || u.control) && (!u.noun || n > 1 || u.core || startsArgument(words[n:]))
}

func skipAdverbs(words []word) int {
	n := 0
	for n < len(words) && (words[n].is(mannerClass) || words[n].is(fillerClass) && !words[n].is(prepositionClass)) {
		n++
	}
	return n
}

// restart passes to a place further on where a clause may begin again: a subject ("I guess I
// will"), the verb after "is to" ("my plan is to leave"), or the verb of somebody ("the thief steals").
func (r *leadReader) restart() bool {
	if r.head.unclear < 0 {
		r.head.unclear = r.at
	}
	be, does := r.be, r.words[r.at].fold == "do"
	for i := r.at + 1; i < len(r.words); i++ {
		w, rest := r.words[i], r.words[i+1:]
		if w.kind != plainWord {
			return false
		}
		if w.is(jointClass) && i > r.at {
			return false
		}
		if w.is(beClass) {
			be = true
			if len(rest) > 0 && rest[0].fold == "about" {
				return false // my phone is about to die
			}
			if len(rest) > 1 && rest[0].fold == "off" {
				r.at, r.be = i+1, true
				return true
			}
			if does && startsBase(rest) {
				r.at = i + 1
				return true
			}
			continue
		}
		if w.oneOf("do", "thing", "move") {
			does = true
		}
		if w.is(subjectClass) && len(rest) == 1 && rest[0].known.verb != nil && rest[0].known.verb.acts[alone] == Move {
			return false // to the market I go
		}
		if w.is(subjectClass) && !w.is(pronounClass) && w.fold != "who" && len(rest) > 0 {
			r.at, r.subject = i, true
			return true
		}
		if w.fold == "to" && (be || r.subject || i <= 2) && startsBase(rest) {
			r.at = i + 1
			return true
		}
		if named := r.words[0].known == unknown && r.words[0].raw != r.words[0].fold && i == 1 &&
			len(rest) > 0; r.at == 0 && !be &&
			(named || i <= 2 && r.words[0].is(articleClass) && startsArgument(rest) && !isNobody(r.words[i-1])) {
			e, f := readVerbForm(w.fold, w.known)
			if e != nil && f == thirdForm && e.verb != nil && e.verb.isAct() &&
				(!named || !e.verb.noun || startsArgument(rest)) {
				r.at, r.subject = i, true
				return true
			}
		}
	}
	return false
}
