package play

import (
	"cmp"
	"slices"
	"strings"

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
		return s.preferText(r, phrase)
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
	if source := sourceOf(phrase); source != "" {
		return s.resolve(source, among)
	}
	return r, nil
}

// sensations are nouns of perceptions of a thing.
var sensations = strings.Fields(
	"sound noise smell scent stink reek aroma odour odor whiff ringing ring tone note music " +
		"song voice echo glow light gleam glimmer smoke trail",
)

// sourceOf returns the noun behind "of" if the one in front of it is only perceived, as the bell of the sound of the
// bell. It is "" if there is none.
func sourceOf(phrase string) string {
	sensed, source, ok := strings.Cut(phrase, " of ")
	if !ok || !slices.Contains(sensations, command.HeadOf(sensed)) {
		return ""
	}
	return source
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
		s.findWhole, s.findAkin, s.findMisspelled, s.findLoosely}
}

// preferText returns the noun of a text instead of the place whose name has it: the anchor of The Dry Anchor.
func (s *turn) preferText(r referent, phrase string) (referent, error) {
	t, ok := r.card()
	if !ok || t.ID != s.place.ID || strings.EqualFold(phrase, t.Title()) {
		return r, nil
	}
	var other referent
	if err := s.findText(phrase, nil, &other); err != nil || !other.isMentioned() || other.mention.Denied {
		return r, err
	}
	return other, nil
}

// findWhole finds the thing that a phrase names a part of: the piano of "the lid of the piano".
func (s *turn) findWhole(phrase string, among []world.Card, r *referent) error {
	part, whole, ok := strings.Cut(phrase, " of ")
	if !ok || len(command.BareWords(part)) == 0 ||
		!isThing(command.HeadOf(part)) && !slices.Contains(spots, command.HeadOf(part)) {
		return nil
	}
	for _, find := range []step{s.findNamed, s.findTextOfPlace, s.findText} {
		if err := find(whole, among, r); err != nil || r.isFound() {
			return err
		}
	}
	return nil
}

// spots are nouns of parts that everything has.
var spots = strings.Fields(
	"top bottom side edge end back front middle centre center corner rim surface inside outside underside tip half",
)

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
	if found, _ := matchNames(phrase, among, command.FitSlip); len(found) > 0 {
		return found, nil
	}
	err := s.findLoosely(phrase, among, &r)
	return r.cards, err
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
		return cannot(reasonAlready, "You have %s already.", world.Definite(t))
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
	if slices.Equal(command.BareWords(phrase), []string{"you"}) || !isNameLike(phrase) { // nobody was spoken to of late
		return cannot("no_target", "Whom do you mean? Name them.")
	}
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
		return cannot("lifeless", "%s will not answer.", markup.Clean(name))
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
		case r.isMentioned() && !r.mention.Denied && command.Mentions(r.mention.Sentence, phrase):
			text = "Of the " + withoutArticle(markup.Clean(phrase)) + " there is only this: “" + r.mention.Sentence + "”"
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
