package play

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// Every verb finds the person or thing that a phrase means by resolve. Everything is decided in the player's view: a
// card that the player does not see neither fits a phrase nor stands in the way of another one.

// A referent is the meaning of a phrase to a player. The zero referent means nothing that is there.
type referent struct {
	cards []world.Card // the card that is meant; several if they fit equally well, or if all are meant
	all   bool         // everyone, both, the others: all of cards are meant; there may be none
	self  bool         // the player itself
	way   *world.Exit  // the exit that the phrase names: it, or the place that it leads to

	// A noun of a text that the player was shown, if no card has it.
	text    passage
	mention command.Mention
	name    string // the words of the phrase that name it
}

// isFound reports whether the phrase means anything that is there.
func (r referent) isFound() bool {
	return len(r.cards) > 0 || r.all || r.self || r.way != nil || r.isMentioned()
}

// isMentioned reports whether the phrase means a noun of a text.
func (r referent) isMentioned() bool { return r.mention.Sentence != "" }

// isPerson reports whether a noun of a text is a person or an animal.
func (r referent) isPerson() bool { return r.isMentioned() && isAlive(r.noun()) }

// noun returns the base form of the noun of a text.
func (r referent) noun() string { return command.HeadOf(r.name) }

// card returns the only card that is meant. ok is false if there is none or several.
func (r referent) card() (t world.Card, ok bool) {
	if len(r.cards) != 1 || r.all {
		return t, false
	}
	return r.cards[0], true
}

// unclear returns the question which of several cards is meant, or nil.
func (r referent) unclear() error {
	if len(r.cards) < 2 || r.all {
		return nil
	}
	return whichOf(r.cards)
}

// areAlike reports whether cards are things of the same name, so that any of them is meant.
func areAlike(cards []world.Card) bool {
	return !slices.ContainsFunc(cards, func(t world.Card) bool {
		return world.IsAlive(t) || t.Title() != cards[0].Title() || t.Type != cards[0].Type
	})
}

func whichOf(cards []world.Card) error {
	return cannot("ambiguous", "Which do you mean: %s?", world.JoinNames(titlesOf(cards), "or"))
}

// resolve returns the referent of a phrase, among cards that it may mean. The order is: the cards by name; by role;
// the nouns of the texts of the place; the exits and the places they lead to; people by gender, for "man" and "woman";
// the nouns of the texts of the cards, and of the latest answers; cards and texts by words of like meaning; by words
// with a typing error; and last the living by the noun alone. No more is read than is needed.
func (s *turn) resolve(phrase string, among []world.Card) (r referent, err error) {
	if p := command.PronounOf(phrase); p != command.NoPronoun {
		return s.recall(p, among)
	}
	if len(command.BareWords(phrase)) == 0 {
		return r, nil
	}
	if r.cards, r.all = matchNames(phrase, among, command.FitForms); len(r.cards) > 0 {
		return r, nil
	}
	switch {
	case command.MeansSelf(phrase):
		r.self = true
		return r, nil
	case command.MeansAll(phrase):
		return s.everyone(among), nil
	}
	for _, step := range s.steps() {
		if err := step(phrase, among, &r); err != nil || r.isFound() {
			return r, err
		}
	}
	if command.MeansCrowd(phrase) {
		return s.everyone(among), nil
	}
	return r, nil
}

// everyone returns the referent of a word for all persons among cards.
func (s *turn) everyone(among []world.Card) referent {
	return referent{all: true, cards: slices.DeleteFunc(slices.Clone(among), func(t world.Card) bool {
		return !world.IsAlive(t) || t.ID == s.player.ID
	})}
}

// step finds the referent of a phrase in one way, and puts it into r.
type step func(phrase string, among []world.Card, r *referent) error

// steps returns the ways to find the referent of a phrase that are tried after the names of cards, in their order.
func (s *turn) steps() []step {
	return []step{s.findRole, s.findTextOfPlace, s.findWay, s.findGender, s.findText, s.findKindOfPlace,
		s.findAkin, s.findMisspelled, s.findLoosely}
}

// looseSteps is the number of steps that compare words as they are. The last step needs two words.
const looseSteps = 6

// resolveHere is resolve among everything that the player can look at.
func (s *turn) resolveHere(phrase string) (referent, error) {
	all, err := s.listLookTargets()
	if err != nil {
		return referent{}, err
	}
	return s.resolve(phrase, all)
}

// resolvePerson is resolve among those who are at the place.
func (s *turn) resolvePerson(phrase string) (referent, error) {
	all, err := s.cardsAround()
	if err != nil {
		return referent{}, err
	}
	all = slices.DeleteFunc(all, func(t world.Card) bool { return !world.IsAlive(t) })
	r, err := s.resolve(phrase, all)
	if err != nil || r.isFound() {
		return r, err
	}
	words := strings.Fields(phrase)
	for n := len(words); n > 0; n-- { // tell Fenella a story
		first := strings.Join(words[:n], " ")
		if n == 1 && slices.Contains([]string{"me", "you"}, bareWord(first)) {
			to, ok, err := s.findPartner()
			if ok {
				r.cards = []world.Card{to}
			}
			return r, err
		}
		if r.cards, r.all = matchNames(first, all, command.FitForms); len(r.cards) > 0 {
			return r, nil
		}
		if command.MeansAll(first) || command.PronounOf(first) != command.NoPronoun {
			return s.resolve(first, all)
		}
	}
	return r, nil
}

// resolvePart returns the referent of the longest part of a sentence that names anything, and that part: "the clerk"
// of "wave to the clerk". Small words are no names.
func (s *turn) resolvePart(phrase string) (r referent, part string, err error) {
	all, err := s.listLookTargets()
	if err != nil {
		return r, "", err
	}
	words := strings.Fields(phrase)
	parts := partsOf(words)
	for _, part := range parts {
		if cards, every := matchNames(part, all, command.FitForms); len(cards) > 0 {
			return referent{cards: cards, all: every}, part, nil
		}
	}
	for _, w := range words {
		if w = bareWord(w); command.MeansAll(w) || command.MeansSelf(w) {
			r, err = s.resolve(w, all)
			return r, w, err
		}
	}
	steps := s.steps()
	for n, step := range steps {
		for _, part := range parts {
			if n >= looseSteps && n+1 < len(steps) && strings.Contains(part, " ") {
				continue // a part of a sentence is a name by chance too easily, and the steps are dear
			}
			if err := step(part, all, &r); err != nil || r.isFound() {
				return r, part, err
			}
		}
	}
	for _, w := range words {
		if p := command.PronounOf(bareWord(w)); p != command.NoPronoun {
			if r, err = s.recall(p, all); err != nil || r.isFound() {
				return r, w, err
			}
		}
	}
	return r, "", nil
}

// maxPart bounds the words of a name in a sentence.
const maxPart = 5

// partsOf returns the parts of a sentence that may be names, the longest first: they begin and end with content words.
func partsOf(words []string) (parts []string) {
	for n := min(len(words), maxPart); n > 0; n-- {
		for i := 0; i+n <= len(words); i++ {
			_, way := command.DirectionOf(words[i])
			if isContentWord(words[i]) && isContentWord(words[i+n-1]) && !(way && n == 1) {
				parts = append(parts, strings.TrimRight(strings.Join(words[i:i+n], " "), ".,;:!?"))
			}
		}
	}
	return parts
}

// nearnesses are the kinds of nearness of a phrase and a text, in the order in which they count.
var nearnesses = []command.Nearness{command.SameWords, command.Synonyms, command.Misspelled}

// findCards returns the cards among some that a phrase means: by name, by role, by words of like meaning, and by words
// with a typing error.
func (s *turn) findCards(phrase string, among []world.Card) ([]world.Card, error) {
	if p := command.PronounOf(phrase); p != command.NoPronoun {
		r, err := s.recall(p, among)
		return r.cards, err
	}
	if found, _ := matchNames(phrase, among, command.FitForms); len(found) > 0 {
		return found, nil
	}
	var r referent
	if err := s.findRole(phrase, among, &r); err != nil || len(r.cards) > 0 {
		return r.cards, err
	}
	if err := s.findTextOfPlace(phrase, among, &r); err != nil || r.isMentioned() {
		return nil, err // the hook of the text is no boathook
	}
	if s.findAkinCards(phrase, among, &r); len(r.cards) > 0 {
		return r.cards, nil
	}
	found, _ := matchNames(phrase, among, command.FitSlip)
	return found, nil
}

// findPersonHere returns the character, creature or player at the place that a name means. If it is somebody who stands
// in a text only, the error is a needsCard.
func (s *turn) findPersonHere(name string) (world.Card, error) {
	if !isName(name) {
		return world.Card{}, cannot("no_target", "Which person do you mean?")
	}
	r, err := s.resolvePerson(name)
	if err != nil {
		return world.Card{}, err
	}
	return s.personOf(r, name)
}

// personOf returns the person that a phrase means.
func (s *turn) personOf(r referent, phrase string) (world.Card, error) {
	to, ok := r.card()
	switch {
	case ok:
		s.narrowLabel(to)
		return to, nil
	case r.all && len(r.cards) == 1:
		s.narrowLabel(r.cards[0])
		return r.cards[0], nil
	case r.all && len(r.cards) > 1:
		return to, oneAtATime(r.cards)
	case r.self:
		return to, cannot(reasonSelf, "You think better of it: that would be you.")
	case r.isMentioned() && r.text.of.IsZero() && !r.mention.Denied && mayBePerson(r.noun()):
		return to, s.mustBePerson(r, phrase)
	}
	if err := r.unclear(); err != nil {
		return to, err
	}
	if command.PronounOf(phrase) != command.NoPronoun {
		return to, cannot("no_target", "Who is meant by %q?", markup.Clean(phrase))
	}
	return to, s.nobodyHere(phrase)
}

// mustBePerson returns the error of an act on somebody who stands in a text: the noun must become a card first, or
// cannot.
func (s *turn) mustBePerson(r referent, phrase string) error {
	if r.isPromotableAs(true) && !s.tried {
		return needsCard{phrase: phrase, person: true}
	}
	return tooBusy(r)
}

// isName reports whether words may name something.
func isName(words string) bool {
	return len(command.BareWords(words)) > 0 || command.PronounOf(words) != command.NoPronoun
}

// reasonSelf is the reason of an act on oneself that needs somebody else.
const reasonSelf = "self"

func oneAtATime(cards []world.Card) error {
	return cannot("ambiguous", "One at a time. Who comes first: %s?", world.JoinNames(titlesOf(cards), "or"))
}

// mustBeCard returns the error of an act on a noun of a text: the noun must become a card first, or cannot.
func (s *turn) mustBeCard(r referent, phrase string) error {
	if r.isPerson() && r.text.of.IsZero() {
		return s.mustBePerson(r, phrase)
	}
	if r.isPromotable() && !s.tried {
		return needsCard{phrase: phrase}
	}
	return s.notHere(phrase)
}

// orMentioned returns another reason for the error of an act on a card that is absent, if a text has a thing of that
// name: the thing must become a card first (needsCard), belongs to somebody, or does not exist.
func (s *turn) orMentioned(absent error, phrase string) error {
	r, err := s.resolveHere(phrase)
	if err != nil {
		return err
	}
	own, err := s.carriedCards()
	if err != nil {
		return err
	}
	t, ok := r.card()
	switch {
	case ok && slices.ContainsFunc(own, func(o world.Card) bool { return o.ID == t.ID }):
		return cannot("held", "You have %s already.", world.Definite(t))
	case !r.isMentioned():
		return s.notHere(phrase)
	case r.mention.Denied:
		return s.notHere(phrase)
	case r.isPromotable() && !s.tried:
		return needsCard{phrase: phrase}
	case r.isPromotable():
		return cannot("absent", "There is no %s left to take.", markup.Clean(r.name))
	case r.text.of.IsZero():
		return cannot("fixed", "That is not to be carried off: “%s”", r.mention.Sentence)
	}
	owner, ok, err := s.CardByID(s.ctx, r.text.of)
	if ok && world.IsAlive(owner) {
		return cannot("held", "%s would notice.", owner.Title())
	}
	return cmp.Or(err, absent)
}

// nobodyHere returns the error of an act on somebody who is not there. It names those who are.
func (s *turn) nobodyHere(phrase string) error {
	here, err := s.cardsAround()
	if err != nil {
		return err
	}
	here = slices.DeleteFunc(here, func(t world.Card) bool { return !world.IsAlive(t) })
	r, err := s.resolveHere(phrase)
	if err != nil {
		return err
	}
	if t, ok := r.card(); ok && !world.IsAlive(t) || r.isMentioned() && !r.mention.Denied && !mayBePerson(r.noun()) &&
		command.HeadOf(phrase) == command.HeadOf(r.mention.Noun) {
		name := "The " + strings.ToLower(r.mention.Noun)
		if ok {
			name = t.Title()
		}
		return cannot("lifeless", "%s is no living being, and does not answer.", markup.Clean(name))
	}
	others := "You are alone here."
	if len(here) > 0 {
		others = "Here: " + world.JoinNames(slicesx.Map(here, world.Definite), "and") + "."
	}
	if isProperName(phrase) {
		return cannot("absent", "%s is not here. %s", capitalize(markup.Clean(phrase)), others)
	}
	return cannot("absent", "You see no %s here. %s", markup.Clean(phrase), others)
}

// isProperName reports whether a phrase is the name of somebody and no noun.
func isProperName(phrase string) bool {
	head := command.HeadOf(phrase)
	return strings.ToLower(phrase) != phrase ||
		meaning.Lemma(head, meaning.Noun) == "" && !strings.Contains(phrase, " ") && !isAlive(head) &&
			!strings.HasSuffix(head, "s")
}

// notHere returns the error of an act on a thing that is not there. It tells of a thing with the same noun.
func (s *turn) notHere(phrase string) error {
	text := "You see no " + withoutArticle(markup.Clean(phrase)) + " here."
	if r, err := s.resolveHere(phrase); err != nil {
		return err
	} else if r.mention.Denied {
		return cannot("absent", "There is no %s: “%s”", markup.Clean(r.name), r.mention.Sentence)
	}
	if head := command.HeadOf(phrase); head != "" && len(command.BareWords(phrase)) > 1 {
		r, err := s.resolveHere(head)
		if err != nil {
			return err
		}
		switch {
		case len(r.cards) > 0 && !r.all:
			text += " But there is " + world.JoinNames(slicesx.Map(r.cards, world.Definite), "and") + "."
		case r.isMentioned() && !r.mention.Denied:
			text += " But: “" + r.mention.Sentence + "”"
		}
	}
	return cannot("absent", "%s", text)
}

// withoutArticle returns a name without the article in front of it.
func withoutArticle(name string) string {
	first, rest, _ := strings.Cut(name, " ")
	if rest != "" && slices.Contains([]string{"a", "an", "the"}, strings.ToLower(first)) {
		return rest
	}
	return name
}

// matchNames returns the cards that a phrase names at least as well as a grade, in their order, and whether it means
// all of them.
func matchNames(phrase string, among []world.Card, least command.Fit) (found []world.Card, all bool) {
	for _, n := range command.Namings(phrase) {
		if found, all := pick(bestOf(n.Name, among, least), n); len(found) > 0 {
			return found, all
		}
	}
	return nil, false
}

// pick returns the cards of a name that a phrase means: the second one, all.
func pick(found []world.Card, n command.Naming) ([]world.Card, bool) {
	switch {
	case len(found) == 0:
		return nil, false
	case n.All && len(found) > 1:
		return found, true
	case n.Which > 0 && n.Which <= len(found):
		return found[n.Which-1 : n.Which], false
	case n.Which > 0 && len(found) == 1 && command.HasNumber(found[0].Title()):
		return nil, false // room nine is not the seventh room
	case n.Which < 0:
		return found[len(found)-1:], false
	case len(found) > 1 && areAlike(found):
		return found[:1], false
	}
	return found, false
}

// bestOf returns the cards whose names a typed name fits best, and at least as well as a grade, in their order.
func bestOf(typed string, among []world.Card, least command.Fit) (out []world.Card) {
	best := max(least, command.FitSlip)
	for _, t := range among {
		f := rateFit(typed, t)
		if f < best || slices.ContainsFunc(out, func(o world.Card) bool { return o.ID == t.ID }) {
			continue
		}
		if f > best {
			best, out = f, nil
		}
		out = append(out, t)
	}
	return out
}

// findWay finds the exit that leads to a place of that name, or whose description has the name.
func (s *turn) findWay(phrase string, _ []world.Card, r *referent) error {
	return s.findWayAs(phrase, command.FitForms, r)
}

func (s *turn) findWayAs(phrase string, least command.Fit, r *referent) error {
	exits, err := s.exitsHere()
	if err != nil {
		return err
	}
	places, err := s.waysOut()
	if err != nil {
		return err
	}
	found, _ := matchNames(phrase, places, least)
	if len(found) > 1 {
		r.cards = found
		return nil
	}
	for i, e := range exits {
		if len(found) == 1 && e.To != nil && *e.To == found[0].ID ||
			len(found) == 0 && e.Description != "" && command.Mentions(e.Description, phrase) {
			r.way = &exits[i]
			return nil
		}
	}
	return nil
}

// findTextOfPlace finds a text of the place that has a phrase.
func (s *turn) findTextOfPlace(phrase string, _ []world.Card, r *referent) error {
	all, err := s.textsOfPlace()
	if err != nil {
		return err
	}
	*r = findMention(all, phrase, command.SameWords)
	return nil
}

// findText finds a text that the player was shown and that has a phrase.
func (s *turn) findText(phrase string, _ []world.Card, r *referent) error {
	return s.findInTexts(phrase, command.SameWords, r)
}

func (s *turn) findInTexts(phrase string, near command.Nearness, r *referent) error {
	all, err := s.textsShown()
	if err != nil {
		return err
	}
	*r = findMention(all, phrase, near)
	return nil
}

// findMention finds the first of several texts that has a phrase.
func findMention(all []passage, phrase string, near command.Nearness) (r referent) {
	for _, n := range command.Namings(phrase) {
		for _, p := range all {
			if m, ok := p.prose.Find(n.Name, near); ok {
				name := n.Name
				if near != command.SameWords || strings.Contains(m.Noun, "-") && !strings.Contains(name, "-") {
					name = m.Noun
				}
				return referent{text: p, mention: m, name: name}
			}
		}
	}
	return r
}

// findLoosely finds the only living card that the noun of a phrase means, without regard to the qualities in the
// phrase: the sleeping crab.
func (s *turn) findLoosely(phrase string, among []world.Card, r *referent) error {
	words := command.BareWords(phrase)
	if len(words) < 2 || !command.IsQuality(words[0]) {
		return nil
	}
	among = slices.DeleteFunc(slices.Clone(among), func(t world.Card) bool { return !world.IsAlive(t) })
	var loose referent
	for _, find := range []step{s.findNamed, s.findRole, s.findGender} {
		if err := find(strings.Join(words[1:], " "), among, &loose); err != nil {
			return err
		}
		if len(loose.cards) == 1 {
			r.cards = loose.cards
			return nil
		}
	}
	return nil
}

// findNamed finds cards by name.
func (s *turn) findNamed(phrase string, among []world.Card, r *referent) error {
	r.cards, r.all = matchNames(phrase, among, command.FitForms)
	return nil
}

// findAkin finds cards, and else texts, by words of like meaning: "boat" for a ferry, "woman" for a fishwife.
func (s *turn) findAkin(phrase string, among []world.Card, r *referent) error {
	if s.findAkinCards(phrase, among, r); len(r.cards) > 0 {
		return nil
	}
	return s.findInTexts(phrase, command.Synonyms, r)
}

// findAkinCards finds cards by words of like meaning.
func (s *turn) findAkinCards(phrase string, among []world.Card, r *referent) {
	for _, n := range command.Namings(phrase) {
		var found []world.Card
		for _, t := range among {
			if t.ID == s.player.ID || t.ID == s.place.ID {
				continue
			}
			if slices.ContainsFunc(namesOf(t), func(name string) bool {
				_, ok := command.ReadProse(name).Find(n.Name, command.Synonyms)
				return ok
			}) {
				found = append(found, t)
			}
		}
		if len(found) > 0 {
			r.cards, r.all = pick(found, n)
			return
		}
	}
}

// findMisspelled finds cards, and else texts, by words with a typing error.
func (s *turn) findMisspelled(phrase string, among []world.Card, r *referent) error {
	if r.cards, r.all = matchNames(phrase, among, command.FitSlip); len(r.cards) > 0 {
		return nil
	}
	for _, t := range among {
		var f struct {
			Role string `json:"role"`
		}
		if world.DecodeFields(t.Fields, &f); !world.IsAlive(t) || f.Role == "" {
			continue
		}
		if _, ok := command.ReadProse(f.Role).Find(phrase, command.Misspelled); ok {
			r.cards = append(r.cards, t)
		}
	}
	if len(r.cards) > 0 {
		return nil
	}
	if err := s.findWayAs(phrase, command.FitSlip, r); err != nil || r.isFound() {
		return err
	}
	return s.findInTexts(phrase, command.Misspelled, r)
}

// findRole finds those whose role, or the first sentence of whose text, says a phrase: the innkeeper, the copy boy.
func (s *turn) findRole(phrase string, among []world.Card, r *referent) error {
	return s.findSomebody(phrase, among, r, s.fitsRole)
}

// findGender finds people by a noun for people of any trade: the old woman.
func (s *turn) findGender(phrase string, among []world.Card, r *referent) error {
	if err := s.findSomebody(phrase, among, r, s.fitsGender); err != nil || len(r.cards) > 0 {
		return err
	}
	words := command.BareWords(phrase)
	if len(words) != 2 || !command.IsQuality(words[0]) { // the wrong quality is no reason to know nobody
		return nil
	}
	return s.findSomebody(words[1], among, r, s.fitsGender)
}

// findSomebody finds the characters that the words of a phrase fit.
func (s *turn) findSomebody(phrase string, among []world.Card, r *referent,
	fits func(words []string, t world.Card) (bool, error)) error {
	for at, n := range command.Namings(phrase) {
		words := command.BareWords(n.Name)
		if len(words) == 0 {
			continue
		}
		if at == 1 { // the ferryman's boy of the text is no other boy
			if stands, err := s.standsInText(phrase); err != nil || stands {
				return err
			}
		}
		var found []world.Card
		for _, t := range among {
			if !world.IsAlive(t) || t.ID == s.player.ID || t.IsType("Creature") {
				continue
			}
			ok, err := fits(words, t)
			if ok = ok || isTraveller(words, t); err != nil {
				return err
			}
			if ok {
				found = append(found, t)
			}
		}
		if len(found) > 0 {
			r.cards, r.all = pick(found, n)
			return nil
		}
	}
	return nil
}

// standsInText reports whether a phrase of several words means somebody in a text of the place.
func (s *turn) standsInText(phrase string) (bool, error) {
	if n := len(slices.DeleteFunc(strings.Fields(phrase), func(w string) bool { return !isContentWord(w) })); n < 2 ||
		!mayBePerson(command.HeadOf(phrase)) {
		return false, nil
	}
	all, err := s.textsOfPlace()
	return slices.ContainsFunc(all, func(p passage) bool {
		m, ok := p.prose.Find(phrase, command.SameWords)
		return ok && !m.Denied
	}), err
}

// isTraveller reports whether words describe a player's character.
func isTraveller(words []string, t world.Card) bool {
	return t.IsType(world.TypePlayer) && len(words) == 1 &&
		slices.Contains([]string{"traveller", "traveler", "player", "adventurer", "visitor"}, words[0])
}

// hosts are the nouns for people who keep an inn.
var hosts = strings.Fields("innkeeper landlord landlady publican barkeeper barkeep bartender barman barmaid host " +
	"hostess tavernkeeper taverner innkeep alewife")

// fitsRole reports whether words are the role of somebody, or a noun for people and other words from the first sentence
// of its text.
func (s *turn) fitsRole(words []string, t world.Card) (bool, error) {
	var f struct {
		Role  string `json:"role"`
		Minor bool   `json:"minor"`
		Age   int    `json:"age"`
	}
	world.DecodeFields(t.Fields, &f)
	noun := meaning.Lemma(words[len(words)-1], meaning.Noun)
	role := command.ReadProse(f.Role)
	gender, isChild := genderOf(noun)
	if slices.Contains(hosts, noun) && slices.ContainsFunc(command.BareWords(f.Role), func(w string) bool {
		return slices.Contains(hosts, w)
	}) {
		return true, nil
	}
	if isChild && gender == anyone && 0 < f.Age && f.Age < grownUp {
		return true, nil
	}
	if gender == "" || f.Role != "" {
		if _, ok := role.Find(strings.Join(words, " "), command.SameWords); ok {
			return true, nil
		}
	}
	if f.Minor || noun == "" || gender != "" || !meaning.IsMainly(noun, meaning.Noun, "person") {
		return false, nil
	}
	text, err := s.ReadText(s.ctx, t)
	if err != nil {
		return false, err
	}
	told := strings.Join(namesOf(t), " ") + " " + f.Role
	for sentence := range meaning.Sentences(text) {
		told += " " + sentence
		break
	}
	_, ok := command.ReadProse(strings.ReplaceAll(told, ".", " ")).Find(strings.Join(words, " "), command.SameWords)
	return ok, nil
}

// fitsGender reports whether a noun for people of any trade describes somebody, and other words stand in its text.
func (s *turn) fitsGender(words []string, t world.Card) (bool, error) {
	gender, isChild := genderOf(meaning.Lemma(words[len(words)-1], meaning.Noun))
	if gender == "" || len(words) > 2 {
		return false, nil
	}
	var f struct {
		Age int `json:"age"`
	}
	if world.DecodeFields(t.Fields, &f); isChild != (0 < f.Age && f.Age < grownUp) {
		return false, nil
	}
	text, err := s.ReadText(s.ctx, t)
	if gender != anyone && gender != spokenGender(text) {
		return false, err
	}
	told := command.ReadProse(strings.Join(namesOf(t), " ") + "\n" + text)
	for _, w := range words[:len(words)-1] {
		if _, ok := told.Find(w, command.SameWords); !ok {
			return false, err
		}
	}
	return true, err
}

// grownUp is the age from which somebody is no child.
const grownUp = 16

// Genders of nouns for people.
const (
	male   = "he"
	female = "she"
	anyone = "they"
)

// genderOf returns the gender that a noun for people of any trade has, or "", and whether it is one for children.
func genderOf(noun string) (gender string, isChild bool) {
	switch noun {
	case "man", "fellow", "guy", "gentleman", "bloke", "chap":
		return male, false
	case "boy", "lad":
		return male, true
	case "woman", "lady":
		return female, false
	case "girl", "lass":
		return female, true
	case "child", "kid", "youngster":
		return anyone, true
	case "person", "stranger":
		return anyone, false
	}
	return "", false
}

// spokenGender returns the gender of the pronouns of which a text has the most, or "".
func spokenGender(text string) string {
	n := 0
	for w := range meaning.Words(text) {
		switch strings.ToLower(w) {
		case "he", "his", "him":
			n++
		case "she", "her", "hers":
			n--
		}
	}
	switch {
	case n > 0:
		return male
	case n < 0:
		return female
	}
	return ""
}

// findKindOfPlace finds the exit to a place whose text begins with a phrase: "An inn built round an anchor" for the
// inn.
func (s *turn) findKindOfPlace(phrase string, _ []world.Card, r *referent) error {
	places, err := s.waysOut()
	if err != nil {
		return err
	}
	for _, t := range places {
		text, err := s.ReadText(s.ctx, t)
		if err != nil {
			return err
		}
		words := strings.Fields(text)
		begin := strings.Join(words[:min(len(words), kindWords)], " ")
		if _, ok := command.ReadProse(begin).Find(phrase, command.SameWords); !ok {
			continue
		}
		for i, e := range s.exits {
			if e.To != nil && *e.To == t.ID {
				r.way = &s.exits[i]
				return nil
			}
		}
	}
	return nil
}

// kindWords is the number of words at the beginning of the text of a place that tell its kind.
const kindWords = 4

// waysOut returns the places that the exits lead to.
func (s *turn) waysOut() ([]world.Card, error) {
	exits, err := s.exitsHere()
	var ids []canon.CardID
	for _, e := range exits {
		if e.To != nil {
			ids = append(ids, *e.To)
		}
	}
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return s.CardsByID(s.ctx, ids)
}

// exitsHere returns the exits of the place, which are read once for a turn.
func (s *turn) exitsHere() (_ []world.Exit, err error) {
	if !s.exitsRead {
		s.exits, err = s.Exits(s.ctx, s.place)
		s.exitsRead = err == nil
	}
	return s.exits, err
}

// textsShown returns the texts that the player was shown at the place: its own, the moods over it, those of the cards
// at it, and the latest answers. They are read once for a turn.
func (s *turn) textsShown() (_ []passage, err error) {
	if s.texts != nil {
		return s.texts, nil
	}
	all, err := s.textsSeen()
	if err != nil {
		return nil, err
	}
	heard, err := s.textsHeard()
	s.texts = append(all, heard...)
	return s.texts, err
}

// textsSeen returns the texts before the player: of the place, the moods over it, and those of the cards at it.
func (s *turn) textsSeen() ([]passage, error) {
	all, err := s.textsOfPlace()
	if err != nil {
		return nil, err
	}
	all = slices.Clone(all)
	near, err := s.listLookTargets()
	if err != nil {
		return nil, err
	}
	for _, t := range near {
		if t.ID == s.place.ID || t.ID == s.player.ID || t.IsType(world.TypePlayer) {
			continue
		}
		text, err := s.ReadText(s.ctx, t)
		if err != nil {
			return nil, err
		}
		if text != "" {
			all = append(all, newPassage(text, t.Label.Meet(s.place.Label), t.ID))
		}
	}
	return all, nil
}

// textsOfPlace returns the texts of the place, which are read once for a turn.
func (s *turn) textsOfPlace() (_ []passage, err error) {
	if s.placeTexts != nil {
		return s.placeTexts, nil
	}
	place := s.place
	if place.Type == "" { // the turn has the id only
		if place, _, err = s.CardByID(s.ctx, place.ID); err != nil {
			return nil, err
		}
	}
	s.placeTexts, err = passagesAt(s.ctx, s.AsOf, place)
	return s.placeTexts, err
}

// passage is a text that a player was shown, with its label.
type passage struct {
	text  string
	prose command.Prose
	label access.Label
	of    canon.CardID // the card whose text it is; zero for the text of a place and the moods over it
}

func newPassage(text string, label access.Label, of canon.CardID) passage {
	return passage{text, command.ReadProse(text).Indexed(), label, of}
}

// passagesAt returns the texts at a place: its own, and the moods over it.
func passagesAt(ctx context.Context, m *world.AsOf, place world.Card) ([]passage, error) {
	text, err := m.ReadText(ctx, place)
	if err != nil {
		return nil, err
	}
	layers, err := m.LayersAt(ctx, place)
	if err != nil {
		return nil, err
	}
	all := []passage{newPassage(text, place.Label, canon.CardID{})}
	for _, kind := range []string{world.LayerDynamic, world.LayerAmbient} {
		if text := markup.Clean(layers[kind].Text); text != "" {
			all = append(all, newPassage(text, place.Label.Meet(layers[kind].Label), canon.CardID{}))
		}
	}
	return all, nil
}
