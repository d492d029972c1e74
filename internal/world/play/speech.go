package play

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
	"loregate/internal/world/market"
)

// everyonePattern matches the names of all who are here, at the begin of words.
var everyonePattern = lazyregexp.New(`(?i)^(?:every(?:one|body)|both(?: of (?:them|you))?|them both|` +
	`the (?:two|three) of them|them all|all of (?:them|you)|all|the (?:others|` +
	`crowd|people|company|(?:whole |entire )?room|(?:whole|entire) (?:\w+))|anyone|anybody|people)(?: here| around| present)?\b[,:]? ?`)

// wishPattern matches the wish to have a thing.
var wishPattern = lazyregexp.New(`(?i)^(?:(?:please|just|maybe|perhaps) )?(?:i(?:'d| would| should) (?:like|` +
	`love|fancy)|i fancy|i buy|i'll buy|i'll have|i will have|i'd rather have|i'll take|i ` +
	`will take|i (?:really )?(?:want|need)|(?:could|can|may|might) (?:i|we) (?:please )?(?:have|get|buy|order|` +
	`trouble you for)|` +
	`i(?:'d| would)? like to (?:have|buy|order|get)|i want to (?:buy|order|have)|i order|order|buy|purchase|` +
	`(?:(?:can|could|would|will) you )?(?:please )?` +
	`(?:give|sell|bring|get|hand|pour|serve|fetch) (?:me|us)|(?:have you|do you have|you have|you got|got|` +
	`have) any)` +
	`(?: to buy| to have| to order)? (?:please )?(?:(?:a|an|some|the|another|one|one of|a bit of|a piece of|` +
	`a glass of|a pot of|a ` +
	`bunch of|a slice of|any|more|of|your|my|that|this) )*(.+?)(?:,? (?:then|now|too|as well|instead|again|today|` +
	`tonight))?(?:,? please\b.*|,? if .+| from .+)?[.!?]*$`)

// pleasePattern matches a thing that is asked for with no more words: a beer, please.
var pleasePattern = lazyregexp.New(`(?i)^(?:just )?(?:(?:a|an|one|two|three|some|another|` +
	`more) )?(.+?),? (?:please|of your (?:best|finest))[.! ]*$`)

// tellMePattern matches the request to be told something of the one who is spoken to.
var tellMePattern = lazyregexp.New(`(?i)^(?:please )?(?:(?:can|could|would|will) you (?:kindly |please )?|` +
	`i was wondering if you would be so (?:very )?kind as to |would you (?:be so kind as to|mind) )?(?:tell me|` +
	`telling me|let me know|` +
	`explain(?: to me)?|i (?:would|'d) (?:like|love) to know|i (?:wonder|ask myself|want to know|was wondering|` +
	`am wondering))(?: please)? ((?:if|whether|why|what|where|when|how|who|which)\b.*\b(?:you|your|yours)\b[^?.]*|` +
	`(?:if|whether)\b[^?.]*)[?.! ]*$`)

// replyPattern matches a yes or a no, perhaps with more words.
var replyPattern = lazyregexp.New(`(?i)^(?:yes|no|yes please|no thanks|no thank you|gladly|with pleasure|of ` +
	`course|i accept|i decline)(?:[,.!]|$)`)

// pardonPattern matches apologies with their reason.
var pardonPattern = lazyregexp.New(`(?i)^(?:i am|i'm|so|very) (?:very |so |really )?sorry\b|^(?:i ` +
	`)?apologi[sz]e for\b|^sorry (?:about|for|if|that|to)\b`)

// courtesyLead matches courtesies in front of a name.
var courtesyLead = lazyregexp.New(`(?i)^(?:see you(?: later| soon)?|goodbye|good bye|bye|farewell|thank you|` +
	`thanks|` +
	`good (?:morning|day|evening|night|afternoon)|goodnight|(?:morning|evening|afternoon) |hello|hi|hey(?: you|` +
	` there)?|oi|oy|ho|yo|psst|ahoy|ah|oh|well|now|` +
	`excuse me|pardon me|pardon|sorry|i am sorry) `)

// callsAnimal matches words that call an animal.
var callsAnimal = lazyregexp.New(`(?i)^(?:here|come|come here|psst?|pss pss|who's a good),? (?:kitty|puss|pussy|cat|boy|girl|` +
	`birdie|doggy|dog|chick|fishy|crabby)\b|^(?:kitty|puss|pss),? (?:kitty|puss|pss)\b`)

// utterance is a command with the signs that it is said to somebody.
type utterance struct {
	text   string
	speech command.Speech
	speaks bool   // it begins with a verb of speech
	wish   string // a thing that it asks for
	greets string // a courtesy in front of a name
	called bool   // it may begin with the name of somebody, or have one before or behind a comma
	said   bool   // it is meant for somebody
	polite bool   // it is a courtesy or a short answer
	asks   bool   // it asks for an act, which may be meant for the partner of a talk
}

// readUtterance reads the signs that a command is said to somebody. ok is false if it has none.
func readUtterance(text string) (u utterance, ok bool) {
	text = strings.TrimSpace(markup.Clip(text, command.MaxLength))
	told, noun := tellMePattern.FindStringSubmatch(text), false
	if told != nil {
		text = told[1]
	}
	if rest := text[len(speechLead.FindString(text)):]; len(strings.Fields(rest)) > 1 {
		text = rest
	}
	if m := nounPattern.FindStringSubmatch(text); m != nil && !command.IsCourtesy(text) &&
		meaning.Lemma(strings.ToLower(m[1]), meaning.Noun) != "" {
		text, noun = "what about "+m[1]+"?", true
	}
	u.text, u.greets = text, courtesyLead.FindString(text)
	u.speech, u.speaks = command.ReadSpeech(text)
	for _, p := range []*lazyregexp.Regexp{wishPattern, pleasePattern, measurePattern} {
		if m := p.FindStringSubmatch(text); m != nil && u.wish == "" && (p != pleasePattern || !command.HasCommand(m[1])) {
			u.wish = m[1]
		}
	}
	u.called = strings.Contains(text, ",") || callPattern.MatchString(text)
	u.polite = command.IsCourtesy(text) || pardonPattern.MatchString(text) || replyPattern.MatchString(text) ||
		thanksPattern.MatchString(text)
	if rest := strings.TrimLeft(text[len(greetingLead.FindString(text)):], " ,"); rest != text &&
		len(strings.Fields(rest)) < 4 &&
		!command.HasCommand(rest) &&
		!strings.HasSuffix(rest, "?") {
		u.polite = true // good morning, fair ladies
	}
	_, plain := command.ReadQuestion(text)
	u.said = noun || u.polite || callsAnimal.MatchString(text) || told != nil || strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "“") ||
		command.AddressesYou(text) &&
			!plain || command.IsRemark(text) || command.IsStatement(text) || asksMe.MatchString(text) && !plain ||
		offersHelp.MatchString(text)
	u.asks = requestPattern.MatchString(text) && strings.HasSuffix(text, "?") && !plain
	return u, u.speaks || u.wish != "" || u.greets != "" || u.called || u.said || u.asks || payPattern.MatchString(text)
}

// nounPattern matches a noun that stands for a question: tide?
var nounPattern = lazyregexp.New(`(?i)^(?:(?:the|your|his|her|this|that) )?(\pL{3,})\?+$`)

// speechLead matches words that only go on with a talk.
var speechLead = lazyregexp.New(`(?i)^(?:(?:and|but|so|then|well|okay|now|oh|also|or)(?:,? then)?,? )+`)

// callPattern matches words that somebody's name may stand in front of, without a comma.
var callPattern = lazyregexp.New(`(?i)^([\pL'’-]+(?: [\pL'’-]+){0,2}?) (?:who|what|why|where|when|how|which|` +
	`are|is|do|does|did|have|has|can|` +
	`could|will|would|may|you|your|i|i'm|please|thanks|thank|hello)\b`)

// thanksPattern matches thanks with their reason.
var thanksPattern = lazyregexp.New(`(?i)^(?:many |my )?(?:thanks|thank you)\b`)

// payPattern matches the wish to pay somebody.
var payPattern = lazyregexp.New(`(?i)^(?:i )?(?:want to |would like to |'d like to )?(?:pay|` +
	`settle up with) (?:the )?(.+?)[.! ]*$`)

// greetingLead matches a greeting or a farewell at the begin of words.
var greetingLead = lazyregexp.New(`(?i)^(?:good (?:morning|day|evening|night|afternoon)|hello|hi|hey|` +
	`greetings|goodbye|good bye|bye|farewell|goodnight)\b`)

// offersHelp matches offers and requests for leave to speak.
var offersHelp = lazyregexp.New(`(?i)^let me (?:help|assist|carry|take|hold) (?:you|him|her|them)\b|^(?:can|` +
	`could|may|shall|might|should) (?:i|we) (?:perhaps |please )?(?:help|ask|join|tell|offer|pay|thank|show|` +
	`assist|serve|` +
	`bother|trouble|buy|kiss|hug|call) you\b`)

// asksMe matches requests to do something for the player: teach me the song, lend us a penny.
var asksMe = lazyregexp.New(`(?i)^(?:please )?(?:(?:can|could|would|will) you (?:please )?)?(?:teach|lend|` +
	`sing|read|write|draw|pay|help|buy|` +
	`explain|forgive|believe|trust|join|follow|kiss|marry|answer|guide|lead|call|let|play|tell|sell|bring|pour|` +
	`serve|cook|make|show) (?:me|us)\b`)

// speechIntent returns the act of words that are meant for somebody: a command to speak, a question to "you", a
// wish to have something of a seller, or a courtesy. ok is false if the grammar is to read the command.
func (r sentenceReader) speechIntent(text string) (i command.Intent, ok bool, err error) {
	u, ok := readUtterance(text)
	if !ok || !r.stands {
		return i, false, nil
	}
	if i, ok, err = r.hear(u); ok && err == nil {
		i, err = r.acceptOffer(i)
	}
	return i, ok, err
}

// hear returns the act of an utterance. ok is false if the grammar is to read it.
func (s *turn) hear(u utterance) (i command.Intent, ok bool, err error) {
	people, err := s.listPeople()
	if err != nil {
		return i, false, err
	}
	if u.called && strings.HasPrefix(strings.ToLower(u.speech.Rest), "me ") { // tell me a story, Wilkin
		if i, ok, err = s.readVocative(u.text, people); ok || err != nil {
			return i, ok, err
		}
	}
	if m := payPattern.FindStringSubmatch(u.text); m != nil {
		if who, left, named, err := s.cutPerson(m[1], people); named && left == "" || err != nil {
			return talkTo(who, "what do I owe you?"), true, err
		}
	}
	if u.speaks {
		if i, ok, err = s.readSpeech(u.speech, people); ok || err != nil {
			return i, ok, err
		}
	}
	if u.greets != "" && everyonePattern.MatchString(u.text[len(u.greets):]) {
		return talkToAll(u.greets), true, nil
	}
	if u.polite && toAll.MatchString(u.text) {
		return talkToAll(u.text), true, nil
	}
	if u.greets != "" {
		who, left, named, err := s.cutPerson(u.text[len(u.greets):], people)
		switch {
		case err != nil:
			return i, false, err
		case named && left == "":
			return talkTo(who, u.greets), true, nil
		case named && len(left) > 1:
			return talkTo(who, left), true, nil
		}
	}
	if u.called {
		if i, ok, err = s.readVocative(u.text, people); ok || err != nil {
			return i, ok, err
		}
	}
	if u.wish != "" {
		if i, ok, err = s.readWish(u.wish, u.text); ok || err != nil {
			return i, ok, err
		}
	}
	if u.asks && !u.said {
		if u.said, err = s.isTalking(); err != nil {
			return i, false, err
		}
	}
	if !u.said {
		return i, false, nil
	}
	if who, said, ok, err := s.cutCalled(u.text, people); ok || err != nil {
		return talkTo(who, said), ok, err
	}
	partner, met, err := s.findListener(u.text)
	if err != nil {
		return i, false, err
	}
	if !met {
		return talkToAll(command.Unquote(u.text)), true, nil
	}
	if u.polite && len(people) > 0 {
		if _, spoken, err := s.findPartner(); err != nil || !spoken {
			return talkToAll(u.text), true, err
		}
	}
	return talkTo(partner, command.Unquote(u.text)), true, nil
}

// cutCalled splits words before an ending that names somebody here: thank you very much Jory.
func (s *turn) cutCalled(text string, people []world.Card) (who world.Card, said string, ok bool, err error) {
	bare := strings.TrimRight(text, " .!?")
	words := strings.Fields(bare)
	for n := min(3, len(words)-2); n > 0; n-- {
		name := strings.Join(words[len(words)-n:], " ")
		found, _ := matchNames(name, people, command.FitForms)
		if before := strings.ToLower(words[len(words)-n-1]); len(found) == 1 && !slices.Contains(callDemands, before) {
			return found[0], strings.Join(words[:len(words)-n], " ") + text[len(bare):], true, nil
		}
	}
	return who, "", false, nil
}

// callDemands are words that a name behind them belongs to: I like Jory.
var callDemands = append(
	strings.Fields(
		"is are was were like likes love hate know see saw met meet trust think called named of about with to from for by at than "+
			"and or not the a an help",
	),
	pronouns...)

// isTalking reports whether the latest act of the player was a talk.
func (s *turn) isTalking() (bool, error) {
	acts, err := s.latestActs()
	return len(acts) > 0 && acts[0].Verb == command.Talk && acts[0].Target != nil, err
}

// toAll matches courtesies to all who are there.
var toAll = lazyregexp.New(`(?i)\b(?:all|everyone|everybody|folks|friends|ladies|gentlemen|gents|` +
	`people)[.! ]*(?:,|$)`)

// talkToAll returns the act of saying words aloud.
func talkToAll(said string) command.Intent {
	i := talkTo(world.Card{}, said)
	i.DirectObject = ""
	return i
}

// findListener returns the person who takes up words that name nobody: the one here whose topics they are about, else
// the partner of the player, else the one whose text they are about, else anybody who answers. Where only the text of
// the place tells of people, they are meant.
func (s *turn) findListener(said string) (t world.Card, ok bool, err error) {
	people, err := s.listPeople()
	if err != nil {
		return t, false, err
	}
	people = slicesx.Filter(people, answers)
	partner, met, err := s.findPartner()
	if err != nil {
		return t, false, err
	}
	if met = met && (len(people) == 0 || !partner.IsType("Creature")); !met {
		partner = world.Card{}
	}
	_, knows := world.AnswerOf(partner, said, 0)
	if met && (knows || !answers(partner)) {
		return partner, true, nil
	}
	if i := slices.IndexFunc(people, func(p world.Card) bool { _, knows := world.AnswerOf(p, said, 0); return knows }); i >= 0 {
		return people[i], true, nil
	}
	if met {
		return partner, true, nil
	}
	if len(people) == 0 {
		return s.findCrowd()
	}
	best := -1
	for _, p := range people {
		text, err := s.ReadText(s.ctx, p)
		if err != nil {
			return t, false, err
		}
		if _, hits := bestSentence([]string{text}, contentWords(said)); hits > best {
			t, best = p, hits
		}
	}
	return t, true, nil
}

// findCrowd returns people that only the text of the place tells of, as doing something: women walk.
func (s *turn) findCrowd() (t world.Card, ok bool, err error) {
	all, err := s.textsOfPlace()
	for _, p := range all {
		words := command.BareWords(p.text)
		for i, w := range words[:max(0, len(words)-1)] {
			if noun := command.HeadOf(w); noun != w && isAlive(noun) && meaning.IsMainly(noun, meaning.Noun, "person") &&
				meaning.Lemma(words[i+1], meaning.Verb) == words[i+1] && !slices.Contains(auxiliaries, words[i+1]) {
				s.label = s.label.Meet(p.label)
				return world.Card{Name: "the " + w}, true, err
			}
		}
	}
	return t, false, err
}

// answers reports whether somebody answers words: the living who are no players and no animals.
func answers(t world.Card) bool {
	return world.IsAlive(t) && !world.IsDead(t) && !t.IsType(world.TypePlayer) && !t.IsType("Creature")
}

// talkTo returns the act of saying words to somebody.
func talkTo(who world.Card, said string) command.Intent {
	i := command.Intent{Verb: command.Talk, DirectObject: who.Title(), Confidence: 1}
	if said = strings.TrimSpace(said); said != "" {
		i.Modifiers = []string{said}
	}
	return i
}

// readSpeech reads a command to speak with the names of those who are here.
func (s *turn) readSpeech(speech command.Speech, people []world.Card) (i command.Intent, ok bool, err error) {
	rest := speech.Rest
	if all := everyonePattern.FindString(rest); all != "" && !speech.Said {
		said := strings.TrimSpace(speech.Lead + " " + command.Unquote(strings.TrimPrefix(rest[len(all):], "that ")))
		if speech.Asks && asksFor(said) {
			who, met, err := s.findListener(said)
			return talkTo(who, said), met, err
		}
		return talkToAll(cmp.Or(said, "hello")), true, nil
	}
	if speech.Said {
		return s.readSaying(rest, people)
	}
	if me, more, ok := strings.Cut(rest+" ", " "); ok && strings.EqualFold(me, "me") {
		partner, met, err := s.findPartner()
		if _, isQuestion := command.ReadQuestion("tell " + rest); err != nil || !met || isQuestion {
			return i, false, err
		}
		return talkTo(partner, strings.TrimSpace(strings.TrimSuffix(strings.TrimRight(more, " .!?"), " please"))),
			true, nil
	}
	who, said, ok, err := s.cutPerson(rest, people)
	if err != nil {
		return i, false, err
	}
	if !ok {
		partner, met, err := s.findListener(rest)
		if first := strings.ToLower(strings.Fields(rest)[0]); err != nil || !met || !speech.Asks ||
			first != "for" && !slices.Contains(indirectWords, first) {
			return i, false, err
		}
		return talkTo(partner, rest), true, nil
	}
	said = strings.TrimSuffix(strings.TrimRight(said, " "), ".")
	if !speech.Asks && !strings.ContainsAny(said, `"“`) && isManner(said) {
		said = "" // talk to Oda again
	}
	said = command.Unquote(strings.TrimPrefix(said, "that "))
	if direct, ok := inSecondPerson(said); ok && speech.Asks {
		said = direct
	}
	return talkTo(who, strings.TrimSpace(speech.Lead+" "+said)), true, nil
}

// isManner reports whether words tell only how or how often one speaks.
func isManner(words string) bool {
	return slices.Contains([]string{"again", "once more", "please", "politely", "quietly", "now", "some more",
		"more", "first", "softly", "loudly",
		"kindly", "slowly"}, strings.ToLower(words))
}

// readSaying reads words that are said, perhaps with the person at their end or at their begin.
func (s *turn) readSaying(rest string, people []world.Card) (i command.Intent, ok bool, err error) {
	lower := strings.ToLower(rest)
	if after, found := strings.CutPrefix(lower, "to "); found {
		if who, said, ok, err := s.cutPerson(rest[len(rest)-len(after):], people); ok || err != nil {
			return talkTo(who, command.Unquote(strings.TrimPrefix(said, "that "))), ok, err
		}
	}
	for at := len(rest); at > 0; {
		if at = strings.LastIndex(lower[:at], " to "); at < 0 {
			break
		}
		name := strings.TrimRight(rest[at+4:], " .!?")
		said := command.Unquote(rest[:at])
		if everyonePattern.FindString(name) != "" && len(strings.Fields(name)) < 4 {
			return talkToAll(said), true, nil
		}
		if who, left, ok, err := s.cutPerson(name, people); ok && left == "" || err != nil {
			return talkTo(who, said), ok, err
		}
	}
	if len(rest) == 0 {
		return i, false, nil
	}
	if who, left, named, err := s.cutPerson(rest, people); named && left == "" || err != nil {
		return talkTo(who, ""), named, err
	}
	if first := strings.ToLower(strings.Fields(rest)[0]); slices.Contains([]string{"at", "the", "to", "for", "out",
		"with"}, first) {
		return i, false, nil
	}
	return talkToAll(command.Unquote(rest)), true, nil
}

// readVocative reads a question, a courtesy or a statement about oneself with the name of somebody here before the
// first comma, behind it or after the last.
func (s *turn) readVocative(text string, people []world.Card) (command.Intent, bool, error) {
	marked := strings.HasSuffix(text, "?")
	parts := strings.Split(text, ",")
	for _, at := range slices.Compact([]int{0, len(parts) - 1, min(1, len(parts)-1)}) {
		name, more, _ := strings.Cut(strings.TrimSpace(parts[at]), ". ")
		name = strings.Trim(strings.TrimPrefix(name, courtesyLead.FindString(name)), " .!?")
		left := slices.Concat(parts[:at], parts[at+1:])
		if more != "" {
			left = slices.Insert(left, at, " "+more) // I'll take it on, Wilkin. Out to the stone
		}
		said := strings.TrimSpace(strings.Join(left, ","))
		if len(strings.Fields(name)) > 5 {
			continue
		}
		who, after, ok, err := s.cutPerson(name, people)
		if err != nil {
			return command.Intent{}, false, err
		}
		if !ok {
			if who, ok, err = s.findByText(name, people); err != nil {
				return command.Intent{}, false, err
			}
			after = ""
		}
		_, asks := command.ReadQuestion(said + "?")
		if ok && after == "" && (marked || asks || command.IsCourtesy(said) || command.AddressesYou(said) ||
			command.IsStatement(said) || world.IsPromise(said) || command.IsRemark(said) || pardonPattern.MatchString(said) ||
			greetingLead.MatchString(said) || thanksPattern.MatchString(said) || asksMe.MatchString(said) || wishPattern.MatchString(said) || pleasePattern.MatchString(said)) {
			if marked && !strings.HasSuffix(said, "?") {
				said += "?"
			}
			return talkTo(who, said), true, nil
		}
	}
	if !strings.Contains(text, ",") {
		if who, said, ok, err := s.cutPerson(text, people); err != nil || ok && said != "" {
			return talkTo(who, said), ok, err
		}
	}
	if m := callPattern.FindStringSubmatch(text); m != nil {
		who, ok, err := s.findByText(m[1], people)
		return talkTo(who, text[len(m[1]):]), ok, err
	}
	return command.Intent{}, false, nil
}

// findByText returns somebody here whose name is misspelled, or that only a text of the place tells of: the man
// with the turbot.
func (s *turn) findByText(name string, people []world.Card) (t world.Card, ok bool, err error) {
	if slips, _ := matchNames(name, people, command.FitSlip); len(slips) == 1 {
		return slips[0], true, nil
	}
	if words := command.BareWords(name); len(words) == 0 || len(words) > 4 || !mayBePerson(command.HeadOf(name)) ||
		slices.ContainsFunc(
			words,
			func(w string) bool { return slices.Contains(openWords, w) || slices.Contains(auxiliaries, w) },
		) {
		return t, false, nil
	}
	all, err := s.textsOfPlace()
	if err != nil {
		return t, false, err
	}
	for _, n := range command.Namings(name) {
		if r := findMention(all, n.Name, command.SameWords); r.isMentioned() {
			return world.Card{Name: n.Name}, !r.mention.Denied, nil
		}
	}
	return t, false, nil
}

// readWish reads the wish to have a thing: a ware here is bought, and for anything else the one who serves it or the
// partner is asked.
func (s *turn) readWish(thing, text string) (i command.Intent, ok bool, err error) {
	lower := strings.ToLower(text)
	if strings.HasPrefix(strings.ToLower(thing), "to ") {
		return i, false, nil // I want to go north
	}
	wares, err := s.listWares()
	if err != nil {
		return i, false, err
	}
	buys := strings.HasPrefix(lower, "buy ") || strings.HasPrefix(lower, "purchase ")
	counted, _, _ := strings.Cut(thing, " ")
	_, name := command.SplitCount(thing)
	for _, fits := range []func(string, world.Card) bool{
		func(name string, ware world.Card) bool { return rateFit(name, ware) > command.FitNone }, fitsWare,
	} {
		i := slices.IndexFunc(wares, func(w market.Ware) bool { return fits(name, w.Card) })
		if i < 0 {
			continue
		}
		title := wares[i].Card.Title()
		if name != thing {
			title = counted + " " + title
		}
		return command.Intent{Verb: command.Buy, DirectObject: title, Confidence: 1},
			!buys || rateFit(name, wares[i].Card) == command.FitNone, nil
	}
	served, err := s.findFare(thing)
	if err != nil {
		return i, false, err
	}
	if len(served) > 0 {
		if keeper, ok, err := s.findKeeper(); ok || err != nil {
			return talkTo(keeper, text), ok, err
		}
	}
	if buys || slices.ContainsFunc([]string{"i want ", "i need ", "i like ", "i love "},
		func(lead string) bool { return strings.HasPrefix(lower, lead) }) && command.HasCommand(text) {
		return i, false, nil // I need rest
	}
	around, err := s.listLookTargets()
	if err != nil || len(findMatches(thing, around)) > 0 {
		return i, false, err
	}
	partner, met, err := s.findListener(text)
	if err != nil || !met {
		return i, false, err
	}
	return talkTo(partner, text), true, nil
}

// fitsWare reports whether a name is that of a kind of food that a ware is: bread for a loaf.
func fitsWare(name string, ware world.Card) bool {
	kind, noun := command.HeadOf(name), command.HeadOf(ware.Title())
	return isFare(kind) && len(strings.Fields(name)) < 3 && kind != "food" && kind != "drink" &&
		meaning.IsA(noun, meaning.Noun, kind)
}

// isIndirect reports whether words are a question as a part of a sentence: about Rentday, who she works for.
func isIndirect(words string) bool {
	first, _, _ := strings.Cut(words, " ")
	return (first == "for" || slices.Contains(indirectWords, first)) &&
		!strings.HasSuffix(words, "?")
}

// indirectWords begin a question as a part of a sentence.
var indirectWords = strings.Fields("about if whether why what where when how who which")
