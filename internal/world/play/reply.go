package play

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// courtesy is a kind of words that everybody answers in kind.
type courtesy struct {
	said  *lazyregexp.Regexp
	shown string // what several people do together
	lines []string
}

// courtesies are in order: the first that fits counts.
var courtesies = []courtesy{
	{lazyregexp.New(`(?i)\b(?:goodbye|good bye|bye|farewell|see you|good ?night|so long|take care|` +
		`sleep well)\b`), "bid you farewell",
		[]string{"Go well.", "Until the next time.", "Mind how you go.", "Farewell, then.", "Safe ways.", "Good day."}},
	{lazyregexp.New(`(?i)\b(?:thank|thanks|thank you|grateful|cheers)\b`), "nod", []string{"You are welcome.",
		"Don't mention it.", "No need for thanks.", "Any time.", "It was nothing.", "Glad to."}},
	{lazyregexp.New(`(?i)\b(?:sorry|apolog|pardon|forgive|^i lied\b)`), "take it well",
		[]string{"No harm done.", "It is forgotten.", "Say no more of it.", "Well. All right.", "These things happen."}},
	{lazyregexp.New(`(?i)\bhow (?:are you(?: all| both| today| doing)*|do you do|is (?:business|life|trade)|` +
		`goes (?:it|business))[?.! ]*$|` +
		`\bhow's (?:business|life|trade|it going)\b|^are you (?:well|all right|` +
		`alright)\b`), "nod", []string{"Well enough, thank you.",
		"I cannot complain.", "Much as yesterday.", "Well, and you?", "No worse than the weather."}},
	{lazyregexp.New(`(?i)^(?:oh |and |well )?(?:hello|hi|hey|greetings|excuse me|good (?:morning|day|evening|` +
		`afternoon)|morning|evening|afternoon|well met|` +
		`nice to meet you|pleased to meet you)\b`), "greet you", greetingLines},
}

var greetingLines = []string{
	"Good day to you.",
	"And to you.",
	"Hello there.",
	"A good day, stranger.",
	"Yes? Good day.",
}

// shortAnswers are kinds of short answers, and the lines to them.
var shortAnswers = []courtesy{
	{lazyregexp.New(`(?i)^(?:not (?:now|yet|today)|(?:no|perhaps|maybe),? (?:not now|later|another time|` +
		`not yet|not today|tomorrow)|later|another time|` +
		`some other time|maybe|perhaps|` +
		`never ?mind)\b`), "nod", []string{"Another time, then.", "As you like.", "It will keep.", "There is no hurry."}},
	{lazyregexp.New(`(?i)^(?:no|not really|not at all|not for me|i decline|i refuse|i'd rather not)\b`), "nod",
		[]string{"As you like.", "No harm in asking.", "Well, then not.", "So be it."}},
	{lazyregexp.New(`(?i)^(?:really|no|is that (?:so|true)|truly|are you (?:sure|serious|certain))\?|` +
		`^(?:are you (?:sure|serious|certain)|really|wow|goodness|huh)\b`),
		"nod", []string{"As true as I stand here.", "So I said.", "You may believe it or not.", "I would not say it otherwise."}},
	{lazyregexp.New(`(?i)^(?:yes|sure|gladly|certainly|absolutely|indeed|of course|deal|agreed|with pleasure|` +
		`okay|fine|all ?right|right|true|very well|` +
		`i see|i understand|both|exactly|` +
		`please)\b`), "nod", []string{"Good.", "Well, then.", "So we are agreed.", "I am glad to hear it."}},
}

// Patterns of what somebody is asked about itself.
var (
	asksName = lazyregexp.New(`(?i)\b(?:who (?:are|r) (?:you|u)(?:,? (?:sir|madam|then|exactly))?[?.! ]*$|` +
		`what(?:'s| is) your (?:name|job|trade|` +
		`work)|what are you called|what (?:do you|(?:is it|it is) that you|you) do(?: here| for a living|` +
		` all day)?(?: (?:on|at|in) .+)?[?.! ]*$|who (?:he|she) is|is your name|` +
		`(?:about )?(?:your|his|her)(?:self| name| job| trade)|what (?:he|she) does(?: here)?|` +
		`what are you doing(?: ` +
		`here)?[?.! ]*$|your names|about you)\b|\bwho (?:are|r) (?:you|u)\b`)
	asksAge   = lazyregexp.New(`(?i)\bhow old (?:are you|(?:he|she) is)|\byour age\b|\b(?:his|her) age\b`)
	asksAgain = lazyregexp.New(`(?i)^(?:(?:what|sorry, what|pardon, what) (?:did you|have you|do you|` +
		`was that you|were you) (?:just )?(?:say|said|saying|mean)\b|say (?:that|it) again|come again|` +
		`(?:can|could|would) you (?:please )?(?:repeat|say) (?:that|it)|pardon\?|what\?|what was that)`)
	directionsPattern = lazyregexp.New(`(?i)^for (?:directions|the way|the road) to (.+?)[.?! ]*$`)
	asksLeave         = lazyregexp.New(`(?i)^(?:can|could|may|might) (?:i|we) (?:please )?(?:ask|tell|bother|` +
		`trouble) you(?: (?:something|a (?:question|favou?r)|a thing|for a moment))?[?.! ]*$`)
	asksIfIs = lazyregexp.New(`(?i)^(?:so |and |but )?(?:are|aren't) you (?:really |by chance |` +
		`perhaps |not )*(?:an? |the )?([\pL' -]+?)\??$`)
	asksAdvice = lazyregexp.New(`(?i)\b(?:recommend|suggest|advi[sc]e|what (?:should|shall|would) (?:i|` +
		`you) (?:have|eat|drink|buy|do)|` +
		`what(?:'s| is) (?:good|the best|your best)|anything (?:nice|good|special|fresh|tasty))\b`)
	asksWork = lazyregexp.New(`(?i)\b(?:any work|some work|work for me|^for (?:some |any )?work|(?:a|any|` +
		`some) jobs?|quests?|tasks?|errands?|help you|needs? (?:any )?help|needs? (?:a|any) hand|` +
		`can help|my help|of (?:any )?(?:use|help|service)|what do you need|do anything for you|` +
		`can i do (?:something )?for you|` +
		`(?:anything|something) (?:that )?i (?:can|could) do|in need of (?:work|help)|for hire|work here)\b`)
	insults = lazyregexp.New(`(?i)\b(?:stupid|ugly|bad|awful|terrible|stinks?|smelly?|hate|boring|fools?|` +
		`liars?|thief|worst|dirty|too (?:expensive|dear|much|loud)|` +
		`lazy|rude|fat|idiots?|silly|cheats?|mad|nasty|horrible|disgusting|wrong|not much|dislike|cheap|useless|` +
		`poor)\b`)
	praise = lazyregexp.New(`(?i)\b(?:nice|lovely|good|kind|beautiful|best|fine|like|love|great|pretty|` +
		`wonderful|sweet|clever|brave|handsome|splendid|charming|` +
		`fair|admire|warm|delicious|famous|excellent|magnificent|gorgeous|impressive|amazing|fantastic|brilliant)\b`)
)

// owesNothing matches the question for a debt.
var owesNothing = lazyregexp.New(`(?i)\b(?:do )?i owe (?:you|him|her|them)(?: anything| something| for (?:it|that|this))?[?.! ]*$`)

// noWork are the lines of those who are asked for work and have none.
var noWork = []string{"I have no work for you.", "Nothing that needs doing, thank you.", "Not here. Ask about.",
	"If I hear of any, you will.",
	"I manage by myself, so far."}

// replyTo returns the line with which somebody answers courtesies, questions about itself and about work, and plain
// questions that the player could answer by looking. "" is no line.
func (s *turn) replyTo(b bond, said string) (string, error) {
	said = strings.TrimSpace(said)
	pick := func(lines []string) string { return lines[(s.action.Line+b.Met)%len(lines)] }
	if lines, err := s.settleOffer(b, said); err != nil || lines != nil {
		return pick(append(lines, "")[:max(1, len(lines))]), err
	}
	asks := strings.HasSuffix(said, "?")
	if asksAgain.MatchString(said) {
		last, err := answersOf(s.ctx, s.AsOf, b.other.ID, s.player.ID)
		if err != nil || len(last) > 0 {
			return "I said: ‘" + strings.Join(last[:min(1, len(last))], "") + "’", err
		}
	}
	for _, c := range courtesies {
		if c.said.MatchString(said) && (!asks || c.said == courtesies[3].said || len(strings.Fields(said)) < 3) {
			return pick(c.lines), nil
		}
	}
	for _, c := range shortAnswers {
		if c.said.MatchString(said) && (command.IsCourtesy(said) || replyPattern.MatchString(said) && !asks) {
			return pick(c.lines), nil
		}
	}
	switch m := asksIfIs.FindStringSubmatch(said); {
	case asksLeave.MatchString(said):
		return pick([]string{"Ask, then.", "I am listening.", "Speak up.", "What is it?"}), nil
	case owesNothing.MatchString(said):
		return "You owe me nothing that I know of.", nil
	case asksAge.MatchString(said):
		return tellAge(b.other), nil
	case asksWork.MatchString(said):
		line, err := s.offerWork(b.other)
		return cmp.Or(line, pick(noWork)), err
	case asksAdvice.MatchString(said):
		return s.recommend(b.other)
	case m != nil:
		if line, err := s.tellIfIs(b.other, m[1]); err != nil || line != "" {
			return line, err
		}
	case asksName.MatchString(said):
		return introduce(b.other), nil
	}
	q, ok := command.ReadQuestion(said)
	if m := directionsPattern.FindStringSubmatch(said); m != nil {
		q, ok = command.ReadQuestion("where is " + m[1] + "?")
	}
	if topic, about := strings.CutPrefix(strings.ToLower(said), "about "); about && !ok {
		q, ok = command.ReadQuestion("what about " + topic)
	}
	if !ok {
		return "", nil
	}
	a := answerer{turn: s, q: q, m: narrator{s.AsOf}}
	switch q.Kind {
	case command.AskedTime, command.AskedDay, command.AskedWeather, command.AskedWhere, command.AskedWay,
		command.AskedLocate:
		line, err := a.answer()
		return line, err
	case command.AskedWho:
		t, known, err := a.findSubject()
		if err != nil || !known || t.ID == b.other.ID || t.ID == s.player.ID {
			return "", err
		}
		s.narrowLabel(t)
		text, err := s.ReadText(s.ctx, t)
		if list := slices.Collect(meaning.Sentences(markup.OneLine(text))); err == nil && len(list) > 0 {
			return t.Title() + "? " + list[0], nil
		}
		return "", err
	}
	return "", nil
}

// offerPattern matches a line that offers something.
var offerPattern = lazyregexp.New(`(?i)\b(?:would you|will you|won't you|do you want|care for|have (?:a|some)|` +
	`take (?:a|some|one)|help yourself|want (?:a|some|one)|like (?:a|some|one)|if you (?:will|like|want)|you may ` +
	`have|can have|shall i|let me)\b|\bthere is “`)

// The lines to a yes and to a no to an offer.
var (
	takenLines   = []string{"Good. As you wish.", "Then that is settled.", "I hoped you would.", "So be it, and gladly."}
	refusedLines = []string{"As you like.", "Another time, then.", "No harm in asking.", "Well, it was meant kindly."}
)

// settleOffer returns the lines to choose from for a yes or a no to an offer in the last line of somebody.
func (s *turn) settleOffer(b bond, said string) ([]string, error) {
	if !replyPattern.MatchString(said) {
		return nil, nil
	}
	last, err := answersOf(s.ctx, s.AsOf, b.other.ID, s.player.ID)
	if err != nil || len(last) == 0 || !offerPattern.MatchString(last[0]) {
		return nil, err
	}
	if refusal := strings.ToLower(said); strings.HasPrefix(refusal, "no") || strings.HasPrefix(refusal, "i decline") {
		return refusedLines, nil
	}
	return takenLines, nil
}

// acceptOffer returns the act of accepting a quest for words with which the player accepts one of somebody: its
// name in a promise, or a yes to the offer of one. Other acts stay as they are.
func (s *turn) acceptOffer(i command.Intent) (command.Intent, error) {
	said := strings.ToLower(strings.Join(i.Modifiers, " "))
	if i.Verb != command.Talk || i.DirectObject == "" || said == "" || strings.HasSuffix(said, "?") ||
		!acceptsIn(said) && !takesJob.MatchString(said) && !world.IsPromise(said) {
		return i, nil
	}
	offers, err := s.listOffers()
	if err != nil || len(offers) == 0 {
		return i, err
	}
	people, err := s.listPeople()
	if err != nil {
		return i, err
	}
	found := findMatches(i.DirectObject, people)
	if len(found) != 1 {
		return i, nil
	}
	own := slicesx.Filter(offers, func(o world.Offered) bool { return isGivenBy(o, found[0]) })
	for _, o := range own {
		if command.Mentions(said, o.Title()) {
			return command.Intent{Verb: command.Accept, DirectObject: o.Title(), Confidence: 1}, nil
		}
	}
	last, err := answersOf(s.ctx, s.AsOf, found[0].ID, s.player.ID)
	offered := len(last) > 0 && strings.Contains(last[0], "“") && acceptsIn(said)
	if err != nil || !offered && !takesJob.MatchString(said) {
		return i, err
	}
	named, err := s.findNamedOffer(own)
	if named != "" {
		i = command.Intent{Verb: command.Accept, DirectObject: named, Confidence: 1}
	}
	return i, err
}

// takesJob matches words that take on work without its name.
var takesJob = lazyregexp.New(`(?i)\b(?:accept|take|take on|do)\b.*\b(?:job|work|task|quest|errand|offer|commission)\b`)

// acceptPattern matches the acceptance of an offer.
var acceptPattern = lazyregexp.New(`(?i)^(?:well,? |oh,? |and |then |so )*(?:yes|sure|gladly|certainly|` +
	`absolutely|of course|with pleasure|okay|deal|agreed|fine|` +
	`all ?right|very well|why not|i accept|i agree|i'm in|count me in|(?:yes,? |ok(?:ay)?,? )?i(?:'ll| will| can|` +
	`'d love to| would love to|'d be glad to) (?:do|take|accept|help|go|try|gladly|bring|fetch|see to)|` +
	`i(?:'ll| will)[.! ]*$|you can count on me|leave it to me|consider it done|it's a deal|i take it)\b`)

// acceptsIn reports whether a clause of some words accepts an offer: about that errand, yes, I'll do it.
func acceptsIn(said string) bool {
	return acceptPattern.MatchString(said) || slices.ContainsFunc(clausesOf(said), acceptPattern.MatchString)
}

// tellIfIs answers whether somebody is of a name or a trade; "" if the words are neither.
func (s *turn) tellIfIs(t world.Card, name string) (string, error) {
	found, err := s.findCalled(name, []world.Card{t})
	if err != nil || len(found) > 0 {
		return "Yes. " + introduce(t), err
	}
	first := name[:1]
	if head := command.HeadOf(name); first != strings.ToLower(first) || meaning.IsMainly(head, meaning.Noun, "worker") ||
		meaning.IsMainly(head, meaning.Noun, "leader") {
		return "No. " + introduce(t), nil
	}
	return "", nil
}

// tellAge returns the words with which somebody tells its age.
func tellAge(t world.Card) string {
	var f struct {
		Age int `json:"age"`
	}
	if world.DecodeFields(t.Fields, &f); f.Age > 0 {
		return "I am " + strconv.Itoa(f.Age) + "."
	}
	return "Old enough, and I do not count the years."
}

// recommend returns the words with which somebody gives advice: its wares, the fare of the house, its work, or none.
func (s *turn) recommend(t world.Card) (string, error) {
	if line, err := s.offerGoods(t, ""); err != nil || line != "" {
		return line, err
	}
	if keeper, kept, err := s.findKeeper(); err != nil || kept && keeper.ID == t.ID {
		found, err := s.findFare("something")
		if len(found) > 0 || err != nil {
			return "I serve " + world.JoinNames(found, "and") + ". Ask, and you shall have it.", err
		}
	}
	line, err := s.offerWork(t)
	return cmp.Or(line, "That I leave to you. I would not know what suits a stranger."), err
}

// introduce returns the words with which somebody tells who it is.
func introduce(t world.Card) string {
	var f struct {
		Role string `json:"role"`
	}
	world.DecodeFields(t.Fields, &f)
	if role := markup.Clean(f.Role); role != "" {
		return "I am " + t.Title() + ", the " + role + "."
	}
	return "I am " + world.DefiniteName(t.Title()) + "."
}

// offerWork returns the words with which somebody offers a quest of its own; "" if it has none to offer.
func (s *turn) offerWork(t world.Card) (string, error) {
	offers, err := s.listOffers()
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(offers, func(o world.Offered) bool { return isGivenBy(o, t) })
	if i < 0 {
		return "", nil
	}
	steps := offers[i].OpenSteps(world.Pursuit{})
	return "There is “" + offers[i].Title() + "”, if you will take it on. " + steps[0].Describe(), nil
}

// isGivenBy reports whether somebody gives a quest.
func isGivenBy(o world.Offered, t world.Card) bool {
	return o.Giver == t.ID.String() || markup.KeyOf(o.Giver) == markup.KeyOf(t.Name) ||
		markup.KeyOf(o.Giver) == markup.KeyOf(t.Title())
}
