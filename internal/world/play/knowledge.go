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
	"loregate/internal/world/market"
)

// goodsPattern matches words that ask somebody for goods: if she sells pie, do you have any rope, what do you sell.
var goodsPattern = lazyregexp.New(`(?i)\b(?:you|he|she|they|if|whether)(?: also| still)? (?:sells?|have|has|` +
	`got|` +
	`serves?|offers?)(?: got)?(?: for sale)?\b(?: (?:a|an|any|some|the|more|of|another) )*(.*)`)

// asksGoods matches the question for everything that somebody sells.
var asksGoods = lazyregexp.New(`(?i)\bwhat (?:else )?(?:do |does |have )?(?:you|he|she|` +
	`they) (?:also )?(?:sell|sells|serve|have|has|got)` +
	`(?: (?:got )?(?:for sale|to sell))?(?: here)?[?. ]*$|\b(?:what|anything|something|things?|` +
	`goods)\b.*\bfor sale\b|\byour (?:wares|goods|prices)\b`)

// asksFor reports whether words ask for something, and do not only keep up a conversation.
func asksFor(said string) bool {
	if slices.ContainsFunc([]*lazyregexp.Regexp{wishPattern, pleasePattern, measurePattern, asksMe, requestPattern},
		func(p *lazyregexp.Regexp) bool { return p.MatchString(said) }) {
		return true
	}
	if command.IsRemark(said) || command.IsStatement(said) {
		return false
	}
	if strings.HasSuffix(said, "?") || isIndirect(strings.ToLower(said)) || orders(said) {
		return true
	}
	_, asks := command.ReadQuestion(said)
	return asks || command.AsksYou(said)
}

// orders reports whether words order somebody to do something: to open the door, please write a letter.
func orders(said string) bool {
	words := strings.Fields(strings.ToLower(said))
	at := 0
	for at < len(words) && slices.Contains([]string{"please", "to", "kindly"}, words[at]) {
		at++
	}
	return at+1 < len(words) && meaning.Lemma(words[at], meaning.Verb) == words[at] &&
		!slices.Contains(
			talkVerbs,
			words[at],
		) && (at > 0 || meaning.Lemma(words[at], meaning.Noun) == "" && meaning.Lemma(words[at], meaning.Adjective) == "")
}

// answerFromView returns the line with which somebody answers a question that it has no line for: its wares, the
// sentence before the player that fits the words best, or that it does not know.
func (s *turn) answerFromView(b bond, said string) (string, error) {
	said = priceAsked.ReplaceAllString(said, "how much is $1?")
	thing, wish := thingWished(said)
	if thing != "" || asksGoods.MatchString(said) {
		if line, err := s.offerGoods(b.other, thing); err != nil || line != "" {
			return line, err
		}
	}
	if !wish && fareKind(said) != nil && !asksElse.MatchString(said) {
		thing = said
	} else if thing == "" && asksGoods.MatchString(said) {
		thing = "something"
	}
	wish = wish && thing != ""
	if bare, _, purpose := strings.Cut(thing, " for the "); wish && purpose {
		thing = bare // a room for the night
	}
	if wish && slices.Contains([]string{"one", "some", "another", "two", "more"}, strings.ToLower(thing)) {
		return "Of which? Say its name.", nil
	}
	if line, err := s.answerFare(b.other, thing, said); err != nil || line != "" {
		return line, err
	}
	if m := requestPattern.FindStringSubmatch(said); m != nil && !wish && !slices.Contains(talkVerbs, m[1]) ||
		orders(said) {
		return refusing.tell(s.action.Line, ""), nil
	}
	if m := asksOpinion.FindStringSubmatch(said); m != nil && !wish {
		subject := subjectOf("about " + m[1])
		if !isNameLike(subject) {
			subject = "that"
		}
		return opining.tell(s.action.Line, subject), nil
	}
	line, err := s.findKnown(b.other, said, wish)
	remedy := remedyPattern.FindStringSubmatch(said)
	if _, trouble, ok := strings.Cut(thing, " for my "); ok && wish {
		remedy = []string{"", trouble}
	}
	if line == "" && remedy != nil && err == nil {
		line, err = s.findKnown(b.other, remedy[1], false)
	}
	if err != nil || line != "" {
		return line, err
	}
	s.unsure = true
	subject := subjectOf(said)
	switch {
	case strings.Contains(said, "for sale"):
		return "Not that I know of.", nil
	case remedy != nil:
		return "I have nothing for " + remedy[1] + ".", nil
	case wish && isNameLike(thing) && len(strings.Fields(thing)) <= maxPart:
		return lacking.tell(s.action.Line, thing), nil
	case wish:
		return refusing.tell(s.action.Line, ""), nil
	case asksWhy.MatchString(said):
		return unsure.tell(s.action.Line, ""), nil
	case isPersonal(said):
		return withholding.tell(s.action.Line, ""), nil
	case !isTopic(subject, said):
		return ignorant.tell(s.action.Line, ""), nil
	}
	return unknowing.tell(s.action.Line, subject), nil
}

// isTopic reports whether a subject is short enough to be named in an answer, and no verb: not the wants of "if she
// wants".
func isTopic(subject, said string) bool {
	words := strings.Fields(subject)
	if len(words) == 0 || !isNameLike(subject) || len(words) > 3 && !strings.HasPrefix(strings.ToLower(said), "about ") {
		return false
	}
	before, _, _ := strings.Cut(said, words[len(words)-1])
	list := strings.Fields(before)
	if len(list) == 0 {
		return true
	}
	last := strings.ToLower(list[len(list)-1])
	return slices.Contains(determiners, last) || meaning.Lemma(bareWord(words[len(words)-1]), meaning.Verb) == "" ||
		!slices.Contains(pronouns, last) && !slices.Contains(speechLinks, last) && last != "somebody" && last != "someone"
}

// asksOpinion matches the question for somebody's opinion of a thing, which is its part.
var asksOpinion = lazyregexp.New(`(?i)\b(?:what (?:do|does|did|would) (?:you|he|she|they) (?:think|make|say|` +
	`feel)s? (?:of|about)|(?:do|did|don't) you (?:like|love|hate|trust|enjoy|believe in)|` +
	`your opinion (?:of|on|about)|how do you (?:like|find|feel about)) ([^,?.]+)`)

// remedyPattern matches the question for something against a trouble.
var remedyPattern = lazyregexp.New(`(?i)\b(?:something|anything) (?:for|against) ([^?.!,]+)`)

// asksElse matches questions that have food or drink in them, and ask for neither.
var asksElse = lazyregexp.New(`(?i)^(?:who|whose|why|when|where|how|about)\b`)

// requestPattern matches requests to do something, which nobody does for words alone; the verb is the first part.
var requestPattern = lazyregexp.New(`(?i)^(?:please |then |so |but )*(?:(?:can|could|will|would|won't|` +
	`can't) you (?:please |kindly |perhaps |ever |` +
	`happen to |possibly )*(\w+)|(?:can|could|may|might|shall) (?:i|we) (?:please )?(\w+)|(?:teach|lend|sing|read|` +
	`write|draw|pay|help|buy|forgive|join|follow|kiss|` +
	`marry|guide|lead|let|play|sell|bring|cook|make|give) (?:me|us)|if (?:you|he|she|they)(?:'d|'ll| would| will|` +
	` could) \w+ (?:me|us))\b`)

// talkVerbs are verbs of requests that words fulfil.
var talkVerbs = strings.Fields(
	"tell explain say show know describe remember recommend suggest advise mean think call like prefer have be care name answer repeat",
)

// isPersonal reports whether words ask somebody about itself.
func isPersonal(said string) bool {
	return slices.ContainsFunc(command.BareWords(said), func(w string) bool {
		return slices.Contains([]string{"you", "your", "yourself", "you're", "you've", "yours"}, w)
	})
}

// priceWished matches the question for the price of a thing to somebody.
var priceWished = lazyregexp.New(`(?i)\bhow much (?:do i owe you for|do you (?:want|ask|take|charge) for|` +
	`would you (?:want|take) ` +
	`for|for|is|are|costs?|would|does|do) (?:(?:a|an|some|the|one|another|slice|piece|cup|mug|glass|bowl|pint|jar|` +
	`pot|of|your) )*(.+?)(?: costs?(?: me)?)?[?.! ]*$`)

// priceAsked matches the question for a price as a part of a sentence: how much a love letter costs.
var priceAsked = lazyregexp.New(`(?i)^how much (?:(?:an?|the|one|some) )(.+?) (?:costs?|is|are)[?.! ]*$`)

// thingWished returns the thing that words ask somebody for, to have or to buy.
func thingWished(said string) (thing string, ok bool) {
	for n, p := range []*lazyregexp.Regexp{wishPattern, goodsPattern, priceWished, pleasePattern, measurePattern} {
		m := p.FindStringSubmatch(said)
		if m == nil {
			continue
		}
		thing = strings.TrimSpace(strings.TrimSuffix(strings.TrimRight(m[1], " .!?"), "please"))
		thing = strings.TrimRight(thing, " ,")
		if _, bare, found := strings.Cut(thing, "something for "); found {
			return bare, false // a text may tell of a remedy that is no ware
		}
		first, _, _ := strings.Cut(strings.ToLower(thing), " ")
		return thing, !slices.Contains(pronouns, first) && first != "to" && first != "for" && (n != 1 || isGoods(thing))
	}
	if thing, ok = strings.CutPrefix(strings.ToLower(said), "for "); ok {
		return strings.Join(trimArticles(strings.Fields(strings.TrimRight(thing, " .!?"))), " "), true
	}
	return "", false
}

// measurePattern matches a measure of a thing, which is asked for with no more words: a pint of beer.
var measurePattern = lazyregexp.New(`(?i)^(?:(?:a|an|one|two|three|another) )((?:pint|glass|mug|cup|tankard|` +
	`jug|bottle|slice|piece|bowl|plate|pot|loaf)s? of .+?)[.! ]*$`)

// isGoods reports whether a name is that of a thing that may change hands, and not of a person or of a thought.
func isGoods(name string) bool {
	head := command.HeadOf(name)
	return head != "" && slices.ContainsFunc([]string{"artifact", "food", "substance", "plant", "animal", "drink"},
		func(kind string) bool { return meaning.IsA(head, meaning.Noun, kind) })
}

func trimArticles(words []string) []string {
	for len(words) > 1 && slices.Contains([]string{"a", "an", "the", "some", "any", "my", "your"}, words[0]) {
		words = words[1:]
	}
	return words
}

// offerGoods returns the words with which a seller offers the wares that a name means, or all of them for no name; ""
// if it has none.
func (s *turn) offerGoods(seller world.Card, name string) (string, error) {
	wares, err := s.listWares()
	if err != nil {
		return "", err
	}
	wares = slicesx.Filter(wares, func(w market.Ware) bool {
		return w.Seller.ID == seller.ID && w.Quantity > 0 && (name == "" || rateFit(name, w.Card) > command.FitNone)
	})
	if len(wares) == 0 {
		return s.offerOthers(name)
	}
	deal, _, err := s.readBargain(seller)
	if err != nil {
		return "", err
	}
	var offers []string
	for _, w := range wares[:min(len(wares), maxOffered)] {
		s.narrowLabel(w.Card, w.Seller, w.Money)
		unit := ""
		if w.Unit != "" {
			unit = " a " + w.Unit
		}
		offers = append(offers, w.Card.Title()+", for "+countMoney(w.Money.Title(), w.CostOf(1, deal.Percent))+unit)
	}
	return "I have " + strings.Join(offers, "; ") + ".", nil
}

// offerOthers returns the words with which somebody tells the price of a ware that others here sell; "" if nobody does.
func (s *turn) offerOthers(name string) (string, error) {
	wares, err := s.listWares()
	if err != nil || name == "" {
		return "", err
	}
	for _, w := range wares {
		if w.Quantity > 0 && rateFit(name, w.Card) > command.FitNone {
			s.narrowLabel(w.Card, w.Seller, w.Money)
			return w.Card.Title() + " is to be had here, for " + countMoney(
				w.Money.Title(),
				w.CostOf(1, 0),
			) + ", at " + w.Seller.Title() + ".", nil
		}
	}
	return "", nil
}

// maxOffered bounds the wares that a seller names at once.
const maxOffered = 6

// findKnown returns the sentence of a text before the player that fits words best, as somebody says it: it has half of
// their content words at least, and a noun among them, apart from the names of the two. The noun that they are about
// counts twice. own leaves only the person's own text. "" is no sentence, or none that the person would say.
func (s *turn) findKnown(who world.Card, said string, own bool) (string, error) {
	names := slicesx.Map(command.BareWords(who.Title()+" "+s.player.Title()), stemOf)
	words := slices.DeleteFunc(contentWords(said), func(w string) bool { return slices.Contains(names, w) })
	if len(words) == 0 {
		return "", nil
	}
	if head := stemOf(command.HeadOf(subjectOf(said))); slices.Contains(words, head) {
		words = append(words, head)
	}
	all, err := s.textsSeen()
	if err != nil {
		return "", err
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(p, q passage) int { // its own text first
		return cmp.Compare(rankOf(p, who), rankOf(q, who))
	})
	var best passage
	line, hits, personal := "", (len(words)+1)/2-1, isPersonal(said)
	for _, p := range all {
		if own && p.of != who.ID {
			continue
		}
		list := slices.Collect(meaning.Sentences(markup.OneLine(p.text)))
		for at, sentence := range list {
			n := countStems(sentence, words)
			if personal && p.of != who.ID && countStems(sentence, names) == 0 {
				continue // a sentence about somebody else
			}
			if n <= hits || !hasNounOf(sentence, words) {
				continue
			}
			sentence = goOn(list, at, said, words)
			if first, rest, _ := strings.Cut(sentence, " "); p.of != who.ID && p.of != (canon.CardID{}) &&
				(first == "He" || first == "She") {
				t, ok, err := s.CardByID(s.ctx, p.of)
				if err != nil || !ok {
					continue
				}
				sentence = t.Title() + " " + rest
			}
			if spoken, ok := sayOfOneself(who, sentence, p.of == who.ID); ok {
				best, line, hits = p, spoken, n
				switch {
				case !(asksWhy.MatchString(said) && !tellsWhy(sentence) ||
					asksMeasure.MatchString(said) && !measures.MatchString(sentence)):
				case p.of == who.ID:
					line = "I can only say this: " + spoken
				case asksWhy.MatchString(said):
					line = unsure.tell(s.action.Line, "")
				default:
					line = ignorant.tell(s.action.Line, "")
				}
			}
		}
	}
	if line != "" {
		s.label = s.label.Meet(best.label)
	}
	return line, nil
}

// asksMeasure matches the question for a number or a time, and measures a sentence that has one.
var (
	asksMeasure = lazyregexp.New(`(?i)\b(?:how (?:long|often|many|much|far|old|big|deep|heavy|tall|soon)|` +
		`since when|^when|what time|until when)\b`)
	measures = lazyregexp.New(`(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|` +
		`twenty|thirty|forty|fifty|hundred|thousand|dozen|half|once|` +
		`twice|years?|days?|hours?|minutes?|weeks?|months?|mornings?|evenings?|nights?|noon|always|never|since|every|` +
		`each|monday|tuesdays?|wednesday|thursday|friday|saturday|sundays?|` +
		`deep|high|tall|older)\b`)
)

// rankOf puts a person's own text before others.
func rankOf(p passage, who world.Card) int {
	if p.of == who.ID {
		return 0
	}
	return 1
}

// hasNounOf reports whether a sentence has a noun of some stems.
func hasNounOf(sentence string, stems []string) bool {
	have := stemsOf(sentence, stems)
	return slices.ContainsFunc(stems, func(w string) bool {
		return slices.Contains(have, w) && isNoun(w)
	})
}

// isNoun reports whether a word may be a noun, as words are that no dictionary has.
func isNoun(w string) bool {
	if meaning.Lemma(w, meaning.Noun) != "" {
		return !slices.Contains(vagueNouns, w)
	}
	return stemOf(w) == w && meaning.Lemma(w, meaning.Adjective) == "" &&
		meaning.Lemma(w, meaning.Verb) == ""
}

// subjectOf returns the thing that a question is about, with its article, as typed; "" if it names none.
func subjectOf(said string) string {
	q, ok := command.ReadQuestion(said)
	name := q.Subject
	if about, found := strings.CutPrefix(strings.ToLower(said), "about "); found {
		name = said[len(said)-len(about):]
	} else if !ok || len(strings.Fields(name)) > 4 || q.Kind == command.AskedAble {
		name = ""
	}
	if m := whoseNoun.FindStringSubmatch(said); m != nil {
		name = m[1]
	}
	if name = strings.TrimRight(name, " .!?"); name == "" {
		name = nounOf(slicesx.Map(strings.Fields(said), bareWord))
	}
	words := strings.Fields(name)
	if n := len(words); n > 0 &&
		(slices.Contains(vagueNouns, strings.ToLower(words[0])) || slices.Contains(vagueNouns, strings.ToLower(words[n-1]))) {
		return ""
	}
	if len(words) == 0 || slices.Contains(pronouns, strings.ToLower(name)) {
		return ""
	}
	for i, w := range words {
		if words[i] = cmp.Or(otherPerson[strings.ToLower(w)], w); strings.EqualFold(w, "your") {
			words[i] = "my"
		}
	}
	if first := words[0]; first == strings.ToLower(first) && !slices.Contains(determiners, first) &&
		!slices.Contains([]string{"a", "an", "my", "some", "any", "no"}, first) {
		words = append([]string{"the"}, words...)
	}
	return strings.Join(words, " ")
}

// whoseNoun matches the noun that a question word belongs to.
var whoseNoun = lazyregexp.New(`(?i)^(?:whose|which|what) (\w+) (?:is|are|do|does|did|have|has|was|were|can|` +
	`will|would)\b`)

// vagueNouns are nouns that a question is hardly about.
var vagueNouns = strings.Fields(
	"today tonight tomorrow yesterday nobody everybody day night morning evening true best worst make lot bit north south east west way " +
		"help need pay change keep smell smells look good wrong hundred question wait put set cut run go come take give get let show hold" +
		" kind coming going",
)

// nounOf returns the first noun of words that a determiner stands before, or else the last noun; "" if they have none.
func nounOf(words []string) (noun string) {
	determined := false
	for i, w := range words {
		switch {
		case i > 0 && slices.Contains(pronouns, words[i-1]) && !slices.Contains(determiners, words[i-1]):
			continue // what he wants
		case slices.Contains(determiners, w):
			determined = true
		case len(contentWords(w)) == 0 || slices.Contains(vagueNouns, w) || meaning.Lemma(w, meaning.Noun) == "" ||
			i+1 < len(words) && meaning.Lemma(w, meaning.Adjective) != "" &&
				meaning.Lemma(words[i+1], meaning.Noun) != "": // the last lodger
		case determined:
			return w
		case meaning.Lemma(w, meaning.Adjective) == "" && (meaning.Lemma(w, meaning.Verb) == "" || meaning.Lemma(w, meaning.Noun) != w || strings.HasSuffix(w, "s")):
			noun = w // not if he is married, and not the need
		}
	}
	return noun
}
