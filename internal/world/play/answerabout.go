package play

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// answerAbout answers a question about a card, or about a thing that a text here names. "" is no answer.
func (a *answerer) answerAbout() (string, error) {
	if a.q.Subject == "" {
		return "", nil
	}
	if slices.Contains(pronouns, strings.ToLower(a.q.Subject)) {
		return a.tellUnnamed()
	}
	if a.q.Kind == command.AskedCount {
		if sentence, err := a.findPassage(a.q.Subject); err != nil || sentence != "" {
			return sentence, err
		}
	}
	t, known, err := a.findSubject()
	if err != nil {
		return "", err
	}
	if known {
		return a.answerAboutCard(t)
	}
	words := contentWords(a.q.Subject)
	if a.q.Kind == command.AskedUse && slices.Contains(a.q.Words, "used") {
		words = append(words, "use")
	}
	sentence, full, err := a.findSentence(words)
	if err != nil {
		return "", err
	}
	switch {
	case full && a.q.Kind == command.AskedName:
		return "", nil // the rest of the question counts, too
	case full, a.q.Kind == command.AskedUse && sentence != "":
		return sentence, nil
	case a.q.Kind == command.AskedThere || a.q.Kind == command.AskedCount:
		a.denied = true
		return "You see no " + a.q.Subject + " here.", nil
	}
	return "", nil
}

// pronouns are words that stand for somebody or something.
var pronouns = strings.Fields("he him his she her hers it its they them their theirs this that these those")

// tellUnnamed answers a question about somebody or something that nobody has named.
func (a *answerer) tellUnnamed() (string, error) {
	if strings.HasPrefix(a.q.Words[0], "who") {
		return a.tellPeople()
	}
	return "You have nobody and nothing in mind that “" + a.q.Subject + "” could mean. Say the name.", nil
}

// answerAboutCard answers a question about a card. "" is no answer.
func (a *answerer) answerAboutCard(t world.Card) (string, error) {
	all, err := a.listAround()
	if err != nil {
		return "", err
	}
	near := slices.ContainsFunc(all, func(o world.Card) bool { return o.ID == t.ID })
	switch a.q.Kind {
	case command.AskedSays:
		if world.IsAlive(t) {
			return a.tellSaid(t)
		}
	case command.AskedName:
		return "That is " + t.Title() + ".", nil
	case command.AskedThere, command.AskedCount:
		if near {
			return t.Title() + " is here.", nil
		}
		return a.locateElsewhere(t.Title())
	case command.AskedState, command.AskedUse:
		if sentence, err := a.findDoing(t); err != nil || sentence != "" {
			return sentence, err
		}
	case command.AskedInside:
		inside, err := a.HeldItems(a.ctx, t.ID)
		if err != nil || world.IsAlive(t) {
			return "", err
		}
		if len(inside) > 0 {
			return t.Title() + " holds " + world.JoinNames(slicesx.Map(inside, world.CountedName), "and") + ".", nil
		}
		if sentence, err := a.findDoing(t); err != nil || sentence != "" {
			return sentence, err
		}
		return "You find nothing there.", nil
	}
	if t.IsType(world.TypeQuest) {
		own, err := a.PursuedQuests(a.ctx, a.player.ID)
		if err != nil {
			return "", err
		}
		return a.describeQuest(t, own)
	}
	if near || t.IsType(world.TypeLocation) {
		return a.m.tellThing(a.ctx, world.NewObjectRef(t, 0))
	}
	text, err := a.ReadText(a.ctx, t)
	list := slices.Collect(meaning.Sentences(markup.OneLine(text)))
	return strings.Join(list[:min(len(list), 2)], " "), err
}

// tellSaid returns the latest words of somebody to the player, about the topic of the question if it has one.
func (a *answerer) tellSaid(t world.Card) (string, error) {
	_, r, err := a.RegardOf(a.ctx, t.ID, a.player.ID)
	if err != nil {
		return "", err
	}
	for _, h := range slices.Backward(r.Recent[max(0, len(r.Recent)-freshWindow):]) {
		x, ok, err := a.ReadExchange(a.ctx, h)
		if err != nil {
			return "", err
		}
		if ok && x.Answer != "" && (a.q.Topic == "" || command.Mentions(x.Answer+" "+x.Said, a.q.Topic)) {
			return t.Title() + " said: “" + x.Answer + "”", nil
		}
	}
	if a.q.Topic != "" {
		return t.Title() + " has told you nothing about " + a.q.Topic + ".", nil
	}
	return t.Title() + " has told you nothing yet.", nil
}

// findDoing returns the sentence of the place that has a card's name, or of the card's text that has the other words of
// the question; "" if there is none.
func (a *answerer) findDoing(t world.Card) (string, error) {
	more := slices.DeleteFunc(contentWords(strings.Join(a.q.Words, " ")), func(w string) bool {
		return slices.ContainsFunc(command.BareWords(t.Title()+" "+a.q.Subject),
			func(n string) bool { return stemOf(n) == w })
	})
	text, err := a.ReadText(a.ctx, t)
	if err != nil {
		return "", err
	}
	if hit, n := bestSentence([]string{text}, more); n > 0 {
		return hit, nil
	}
	for _, name := range namesOf(t) {
		if sentence, err := a.findPassage(name); err != nil || sentence != "" {
			return sentence, err
		}
	}
	return "", nil
}

// answerFreely answers a question that has no answer of its own with the sentence that has most of its words, or tells
// that nothing here answers it.
func (a *answerer) answerFreely() (string, error) {
	words := contentWords(strings.Join(a.q.Words, " "))
	sentence, full, err := a.findSentence(words)
	switch {
	case err != nil:
		return "", err
	case full:
		return sentence, nil
	}
	who, named, err := a.findNamedIn(words, sentence)
	if err != nil {
		return "", err
	}
	told := "Nothing here tells you " + a.indirect() + "."
	if sentence != "" && !named && hasNounOf(sentence, words) && a.namesNoOther(words, sentence) {
		told = sentence + " Nothing here tells you more of that."
	}
	if who == "" {
		who, err = a.findExpert()
	}
	if err == nil && who != "" {
		told += " You could ask " + who + "."
	}
	return told, err
}

// namesNoOther reports whether a sentence has the name of the person that the question names, if it names one here.
func (a *answerer) namesNoOther(words []string, sentence string) bool {
	have := slicesx.Map(command.BareWords(sentence), stemOf)
	for _, t := range a.around {
		if !world.IsAlive(t) {
			continue
		}
		stems := slicesx.Map(command.BareWords(t.Title()), stemOf)
		isOf := func(w string) bool { return slices.Contains(stems, w) }
		if slices.ContainsFunc(words, isOf) && !slices.ContainsFunc(have, isOf) {
			return false
		}
	}
	return true
}

// findNamedIn reports whether a sentence has no more of the words of the question than a name of somebody or something
// around, and returns the name of somebody who could be asked about itself.
func (a *answerer) findNamedIn(words []string, sentence string) (who string, named bool, err error) {
	have := slicesx.Map(command.BareWords(sentence), stemOf)
	hits := slicesx.Filter(words, func(w string) bool { return slices.Contains(have, w) })
	all, err := a.listAround()
	for _, t := range all {
		stems := slicesx.Map(command.BareWords(t.Title()), stemOf)
		if len(hits) == 0 || slices.ContainsFunc(hits, func(w string) bool { return !slices.Contains(stems, w) }) {
			continue
		}
		named = true
		if world.IsAlive(t) && !world.IsDead(t) && !t.IsType("Creature") && !t.IsType(world.TypePlayer) {
			who = t.Title()
		}
	}
	return who, named, err
}

// indirectForms are questions of a kind as parts of a sentence; %s is the thing that they are about.
var indirectForms = map[command.Asked]string{command.AskedLocate: "where %s is", command.AskedUse: "the use of %s",
	command.AskedWho: "anything of %s", command.AskedName: "the name of %s",
	command.AskedState: "anything of the doings of %s",
	command.AskedSays:  "the words of %s", command.AskedInside: "anything more of %s", command.AskedWay: "the way to %s",
	command.AskedLeads: "where %s leads", command.AskedCount: "how many %s there are",
	command.AskedQuest: "anything of %s"}

// auxiliaries are the verbs that stand before the subject of a question.
var auxiliaries = strings.Fields("is are was were am do does did has have had can could may might shall should will " +
	"would must")

// indirect returns the question as a part of a sentence: why it is asleep.
func (a *answerer) indirect() string {
	if form := indirectForms[a.q.Kind]; form != "" && a.q.Subject != "" {
		name := a.q.Subject
		if first := name[:1]; first == strings.ToLower(first) && !slices.Contains(determiners,
			strings.Fields(name)[0]) &&
			!slices.Contains(pronouns, name) {
			name = "the " + name
		}
		return strings.Replace(form, "%s", name, 1)
	}
	words := slicesx.Map(a.q.Words, func(w string) string { return cmp.Or(otherPerson[w], w) })
	inverted := len(words) > 2 && slices.Contains(auxiliaries, words[1])
	switch {
	case inverted && slices.Contains([]string{"for", "up", "wrong", "in"}, words[2]):
		return strings.Join(words, " ")
	case inverted && strings.HasPrefix(words[1], "d"): // why does he
	case inverted && slices.Contains(subjectWords, words[2]):
		return strings.Join(slices.Concat(words[:1], words[2:3], words[1:2], words[3:]), " ")
	case inverted && len(words) > 3 && slices.Contains(determiners, words[2]):
		return strings.Join(slices.Concat(words[:1], words[2:4], words[1:2], words[4:]), " ")
	case len(words) > 1 && !inverted && slices.Contains(openWords, words[0]):
		return strings.Join(words, " ")
	}
	var nouns []string
	for _, w := range a.q.Words {
		if len(contentWords(w)) > 0 && meaning.Lemma(w, meaning.Noun) != "" {
			nouns = append(nouns, w)
		}
	}
	told := "that"
	if slices.Contains(auxiliaries, words[0]) {
		return "whether that is so"
	}
	if slices.Contains([]string{"why", "when", "how", "where"}, words[0]) {
		told = words[0]
	}
	if len(nouns) > 0 {
		told += ", or anything else of the " + nouns[len(nouns)-1]
	}
	return told
}

var (
	openWords    = strings.Fields("who what which whose") // questions with them need no other order of words
	subjectWords = strings.Fields("you he she it they there this that everyone everybody somebody")
	determiners  = strings.Fields("the your his her its their this that these those")
)

// findExpert returns the name of somebody here who has words of its own for the question; else of somebody who is here
// and answers at all; "" if nobody does.
func (a *answerer) findExpert() (string, error) {
	all, err := a.cardsAround()
	other := ""
	for _, t := range all {
		if !world.IsAlive(t) || world.IsDead(t) || t.IsType(world.TypePlayer) || t.IsType("Creature") {
			continue
		}
		if _, knows := world.AnswerOf(t, strings.Join(a.q.Words, " "), 0); knows {
			return world.Definite(t), err
		}
		if other == "" {
			other = world.Definite(t)
		}
	}
	return other, err
}

// findSentence returns the sentence with most of the words, of the texts of the place and of the things around. full
// tells that it has all of them.
func (a *answerer) findSentence(words []string) (sentence string, full bool, err error) {
	if len(words) == 0 {
		return "", false, nil
	}
	passages, err := passagesAt(a.ctx, a.AsOf, a.place)
	if err != nil {
		return "", false, err
	}
	texts := slicesx.Map(passages, func(p passage) string { return p.text })
	sentence, n := bestSentence(texts, words)
	if n == len(words) {
		return sentence, true, nil
	}
	all, err := a.listAround()
	if err != nil {
		return "", false, err
	}
	texts = texts[:0]
	var titled []string
	hashes := []canon.Hash{}
	for _, t := range all[:min(len(all), maxRead)] {
		if !slices.Contains(hashes, t.Content) && t.ID != a.place.ID {
			text, err := a.ReadText(a.ctx, t)
			if err != nil {
				return "", false, err
			}
			hashes, texts, titled = append(hashes, t.Content), append(texts, text), append(titled, t.Title()+": "+text)
		}
	}
	if other, m := bestSentence(titled, words); m == len(words) {
		return other, true, nil
	}
	if other, m := bestSentence(texts, words); m > n { // a name alone is no answer
		return other, false, nil
	}
	return sentence, false, nil
}

// maxRead bounds the cards around whose texts are searched for an answer.
const maxRead = 16

// bestSentence returns the sentence that has most of some stems, and how many it has.
func bestSentence(texts []string, stems []string) (best string, n int) {
	for _, text := range texts {
		for s := range meaning.Sentences(text) {
			if hits := countStems(s, stems); hits > n {
				best, n = s, hits
			}
		}
	}
	return best, n
}

// countStems returns how many of some stems a sentence has.
func countStems(sentence string, stems []string) (n int) {
	have := stemsOf(sentence, stems)
	for _, w := range stems {
		if slices.Contains(have, w) {
			n++
		}
	}
	return n
}

// longName matches a name of several words. The first of them, if it is a common noun, does not have its own
// meaning there: a sentence on the Rent Stone is none on the rent.
var longName = lazyregexp.New(`\b\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)+`)

// stemsOf returns the stems of a sentence, without the common nouns that only begin a longer name, unless the other
// words of the name are among some stems.
func stemsOf(sentence string, stems []string) []string {
	sentence = longName.ReplaceAllStringFunc(sentence, func(name string) string {
		name = strings.TrimPrefix(name, "The ")
		words := slicesx.Map(command.BareWords(name), stemOf)
		last := len(words) - 1
		if last < 1 || slices.Contains(stems, words[last]) || meaning.Lemma(words[0], meaning.Noun) == "" {
			return name
		}
		_, rest, _ := strings.Cut(name, " ")
		return rest
	})
	return slicesx.Map(command.BareWords(sentence), stemOf)
}

// contentWords returns the stems of the words of a phrase that mean something by themselves.
func contentWords(phrase string) (out []string) {
	for _, w := range command.BareWords(phrase) {
		if w = strings.TrimSuffix(w, "'s"); len(w) > 2 && !slices.Contains(smallWords, w) &&
			!slices.Contains(questionWords, w) {
			if stem := stemOf(w); !slices.Contains(out, stem) {
				out = append(out, stem)
			}
		}
	}
	return out
}

// questionWords are words of questions that no answer needs to have.
var questionWords = strings.Fields("what who whom whose where when why how which are was were does did doing done " +
	"have has had " +
	"can could may might shall should will would must am be been being used use uses kind sort type much many more " +
	"most long often far " +
	"soon called call name names named happened happen happens place thing things everyone everybody anyone anybody " +
	"someone somebody " +
	"people man woman person here there about know known she him they them its not get got one ones mean means tell " +
	"told say said " +
	"happening old big large small deep high")

// stemOf returns the base form of a word.
func stemOf(w string) string {
	if noun := meaning.Lemma(w, meaning.Noun); noun != "" {
		return noun
	}
	if verb := meaning.Lemma(w, meaning.Verb); verb != "" {
		return verb
	}
	return w
}
