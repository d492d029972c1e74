package play

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
	"loregate/internal/world/market"
)

// goodsPattern matches words that ask somebody for goods: if she sells pie, do you have any rope, what do you sell.
var goodsPattern = regexp.MustCompile(`(?i)\b(?:you|he|she|they|if|whether)(?: also| still)? (?:sells?|have|has|got|` +
	`serves?|offers?)(?: got)?(?: for sale)?\b(?: (?:a|an|any|some|the|more|of|another) )*(.*)`)

// asksGoods matches the question for everything that somebody sells.
var asksGoods = regexp.MustCompile(`(?i)\bwhat (?:do |does |have )?(?:you|he|she|they) (?:sell|sells|have|has|got)` +
	`(?: (?:got )?(?:for sale|to sell))?(?: here)?[?. ]*$|\bfor sale\b|\byour (?:wares|goods|prices)\b`)

// asksFor reports whether words ask for something, and do not only keep up a conversation.
func asksFor(said string) bool {
	if command.IsRemark(said) {
		return false
	}
	if strings.HasSuffix(said, "?") || isIndirect(strings.ToLower(said)) || wishPattern.MatchString(said) {
		return true
	}
	_, asks := command.ReadQuestion(said)
	return asks || command.AsksYou(said)
}

// answerFromView returns the line with which somebody answers a question that it has no line for: its wares, the
// sentence before the player that fits the words best, or that it knows nothing of their subject. "" is no line.
func (s *turn) answerFromView(b bond, said string) (string, error) {
	if !asksFor(said) {
		return "", nil
	}
	thing, wish := thingWished(said)
	if thing != "" || asksGoods.MatchString(said) {
		if line, err := s.offerGoods(b.other, thing); err != nil || line != "" {
			return line, err
		}
	}
	wish = wish && thing != ""
	served := false
	if wish {
		var err error
		if served, err = s.isServed(thing); err != nil {
			return "", err
		}
	}
	if served {
		return capitalize(unsold.tell(s.action.Line, strings.Join(trimArticles(strings.Fields(thing)), " "))), nil
	}
	line, err := s.findKnown(b.other, said, wish)
	if err != nil || line != "" {
		return line, err
	}
	if wish {
		return lacking.tell(s.action.Line, thing), nil
	}
	subject := subjectOf(said)
	if subject == "" {
		if command.AddressesYou(said) {
			return "", nil // how do you do it?
		}
		subject = "that"
	}
	return unknowing.tell(s.action.Line, subject), nil
}

// priceWished matches the question for the price of a thing to somebody.
var priceWished = regexp.MustCompile(`(?i)\bhow much (?:do i owe you for|do you (?:want|ask|take|charge) for|would you (?:want|take) ` +
	`for|for|is|are|costs?) (?:(?:a|an|some|the|one|another|slice|piece|cup|mug|glass|bowl|pint|of|your) )*(.+)`)

// isServed reports whether the texts of the place tell of something to eat or to drink by a name.
func (s *turn) isServed(name string) (bool, error) {
	if head := command.HeadOf(name); head == "" || !isFare(head) {
		return false, nil
	}
	texts, err := s.textsOfPlace()
	if err != nil {
		return false, err
	}
	r := findMention(texts, name, command.SameWords)
	if r.isMentioned() {
		s.label = s.label.Meet(r.text.label)
	}
	return r.isMentioned(), nil
}

// isFare reports whether a noun is mainly something to eat or to drink.
func isFare(noun string) bool {
	return meaning.IsMainly(noun, meaning.Noun, "food") || meaning.IsMainly(noun, meaning.Noun, "beverage") ||
		meaning.IsMainly(noun, meaning.Noun, "dish")
}

// thingWished returns the thing that words ask somebody for, to have or to buy.
func thingWished(said string) (thing string, ok bool) {
	for n, p := range []*regexp.Regexp{wishPattern, goodsPattern, priceWished} {
		m := p.FindStringSubmatch(said)
		if m == nil {
			continue
		}
		thing = strings.TrimSpace(strings.TrimRight(m[1], " .!?"))
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
		return "", nil
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

// maxOffered bounds the wares that a seller names at once.
const maxOffered = 6

// findKnown returns the sentence of a text before the player that fits words best, as somebody says it: it has half of
// their content words at least, and a noun among them, apart from the names of the two. The noun that they are about
// counts twice. own leaves only the person's own text. "" is no sentence.
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
	sentence, hits := "", 0
	for _, p := range all {
		if own && p.of != who.ID {
			continue
		}
		if line, n := bestSentence([]string{markup.OneLine(p.text)}, words); n > hits {
			best, sentence, hits = p, line, n
		}
	}
	if 2*hits < len(words) || !hasNounOf(sentence, words) {
		return "", nil
	}
	s.label = s.label.Meet(best.label)
	sentence = goOn(best.text, sentence, said)
	if asksWhy.MatchString(said) && !tellsWhy(sentence) {
		return unsure.tell(s.action.Line, ""), nil
	}
	return s.sayOfOneself(who, sentence, best.of == who.ID), nil
}

func rankOf(p passage, who world.Card) int {
	if p.of == who.ID {
		return 0
	}
	return 1
}

// hasNounOf reports whether a sentence has a noun of some stems.
func hasNounOf(sentence string, stems []string) bool {
	have := slicesx.Map(command.BareWords(sentence), stemOf)
	return slices.ContainsFunc(stems, func(w string) bool {
		return slices.Contains(have, w) && isNoun(w)
	})
}

// isNoun reports whether a word may be a noun, as words are that no dictionary has.
func isNoun(w string) bool {
	return meaning.Lemma(w, meaning.Noun) != "" || stemOf(w) == w && meaning.Lemma(w, meaning.Adjective) == "" &&
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
	if name = strings.TrimRight(name, " .!?"); name == "" {
		name = nounOf(slicesx.Map(strings.Fields(said), bareWord))
	}
	words := strings.Fields(name)
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

// nounOf returns the first noun of words that a determiner stands before, or else the last noun; "" if they have none.
func nounOf(words []string) (noun string) {
	determined := false
	for i, w := range words {
		switch {
		case slices.Contains(determiners, w):
			determined = true
		case len(contentWords(w)) == 0 || meaning.Lemma(w, meaning.Noun) == "" ||
			i+1 < len(words) && meaning.Lemma(w, meaning.Adjective) != "" &&
				meaning.Lemma(words[i+1], meaning.Noun) != "": // the last lodger
		case determined:
			return w
		case meaning.Lemma(w, meaning.Adjective) == "": // if he is married
			noun = w
		}
	}
	return noun
}
