package play

import (
	"regexp"
	"slices"
	"strings"

	"loregate/internal/markup"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// everyonePattern matches the names of all who are here, at the begin of words.
var everyonePattern = regexp.MustCompile(`(?i)^(?:every(?:one|body)|them all|all of (?:them|you)|all|the (?:others|` +
	`crowd|people|room|whole room)|anyone|anybody|people)(?: here| around| present)?\b[,:]? ?`)

// wishPattern matches the wish to have a thing.
var wishPattern = regexp.MustCompile(`(?i)^(?:please )?(?:i'd like|i would like|i'll have|i will have|i'll take|i ` +
	`will take|i want|i need|could i have|can i have|may i have|could i get|can i get|may i get|` +
	`can i buy|could i buy|may i buy|i'd like to have|i'd like to buy|i would like to have|i would like to buy|i ` +
	`want to buy|i'd like to order|i order|order|give me|sell me|bring me|get me|hand me)` +
	`(?: to buy)? (?:please )?(?:(?:a|an|some|the|another|one|one of|a bit of|a piece of|a glass of|a pot of|a ` +
	`bunch of|a slice of|any|more|of|your|my|that|this) )*(.+?)(?:,? please\b.*| from .+)?[.!?]*$`)

// tellMePattern matches the request to be told something of the one who is spoken to.
var tellMePattern = regexp.MustCompile(`(?i)^(?:please )?(?:(?:can|could|would|will) you )?(?:please )?(?:tell me|let me know|` +
	`explain(?: to me)?)(?: please)? ((?:if|whether|why|what|where|when|how|who|which)\b.*\b(?:you|your|yours)\b[^?.]*)[?.! ]*$`)

// courtesyPattern are words that need a partner to be said to.
var courtesyPattern = regexp.MustCompile(`(?i)^(?:(?:thank you|thanks|thank you very much|thanks a lot|many thanks|` +
	`cheers|hello|hi|hey|hello there|good (?:morning|day|evening|night|afternoon)|goodbye|good bye|bye|farewell|see ` +
	`you(?: later)?|` +
	`sorry|i am sorry|i'm sorry|i apologi[sz]e|excuse me|pardon(?: me)?|yes|no|maybe|yes please|no thanks|no thank ` +
	`you|of course|certainly|nice to meet you|well met|never mind|nevermind|help|help me|help me please|please ` +
	`help|please help me|huh|i understand|i see|really|please)[,.!]*(?: (?:sir|madam|friend|my friend|again|` +
	`then|all))?)[.!?]*$`)

// replyPattern matches a yes or a no, perhaps with more words.
var replyPattern = regexp.MustCompile(`(?i)^(?:yes|no|yes please|no thanks|no thank you|gladly|with pleasure|of ` +
	`course|i accept|i decline)(?:[,.!]|$)`)

// pardonPattern matches apologies with their reason.
var pardonPattern = regexp.MustCompile(`(?i)^(?:i am|i'm|so|very) (?:very |so |really )?sorry\b|^(?:i ` +
	`)?apologi[sz]e for\b`)

// statementPattern matches statements of the player about itself, which are no acts.
var statementPattern = regexp.MustCompile(`(?i)^(?:i(?: have|'ve|'m| am| was| had| did| know| think| believe| lied|` +
	` never| love| like| hate| heard| saw| found| lost)) `)

// courtesyLead matches courtesies in front of a name.
var courtesyLead = regexp.MustCompile(`(?i)^(?:see you(?: later| soon)?|goodbye|good bye|bye|farewell|thank you|` +
	`thanks|` +
	`good (?:morning|day|evening|night|afternoon)|hello|hi|hey(?: you| there)?|oi|oy|ho|yo|psst|ahoy|ah|oh|well|now|` +
	`excuse me|pardon me|pardon|sorry|i am sorry) `)

// speechIntent returns the act of words that are meant for somebody: a command to speak, a question to "you", a
// wish to have something of a seller, or a courtesy. ok is false if the grammar is to read the command.
func (r sentenceReader) speechIntent(text string) (i command.Intent, ok bool, err error) {
	text = strings.TrimSpace(markup.Clip(text, command.MaxLength))
	told := tellMePattern.FindStringSubmatch(text)
	if told != nil {
		text = told[1]
	}
	speech, speaks := command.ReadSpeech(text)
	wish := wishPattern.FindStringSubmatch(text)
	whole := strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "“")
	toYou := told != nil || command.AddressesYou(text)
	vocative := strings.Contains(text, ",")
	courteous := courtesyPattern.MatchString(text) || pardonPattern.MatchString(text) ||
		replyPattern.MatchString(text)
	greets := courtesyLead.FindString(text)
	remark := command.IsRemark(text)
	if !speaks && wish == nil && !whole && !toYou && !courteous && !vocative && !remark && greets == "" || !r.stands {
		return i, false, nil
	}
	people, err := r.listPeople()
	if err != nil {
		return i, false, err
	}
	if speaks {
		if i, ok, err = r.readSpeech(speech, people); ok || err != nil {
			return i, ok, err
		}
	}
	if greets != "" {
		if i, ok, err = r.readGreeting(greets, text[len(greets):], people); ok || err != nil {
			return i, ok, err
		}
	}
	if vocative {
		if i, ok, err = r.readVocative(text, people); ok || err != nil {
			return i, ok, err
		}
	}
	if wish != nil {
		if i, ok, err = r.readWish(wish[1], text); ok || err != nil {
			return i, ok, err
		}
	}
	if !whole && !toYou && !courteous && !remark {
		return i, false, nil
	}
	partner, met, err := r.findPartner()
	if err != nil || !met && !toYou && !remark {
		return i, false, err
	}
	if i = talkTo(partner, command.Unquote(text)); !met {
		i.DirectObject = ""
	}
	return i, true, nil
}

// readGreeting reads a greeting and the words behind it: all who are there, or somebody there, perhaps with a request.
func (s *turn) readGreeting(greeting, rest string, people []world.Card) (i command.Intent, ok bool, err error) {
	if everyonePattern.MatchString(rest) {
		i = talkTo(world.Card{}, greeting)
		i.DirectObject = ""
		return i, true, nil
	}
	who, left, named, err := s.cutPerson(rest, people)
	switch {
	case err != nil || !named:
		return i, false, err
	case left == "":
		return talkTo(who, greeting), true, nil
	case asksFor(left):
		return talkTo(who, left), true, nil
	}
	return i, false, nil
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
		i = talkTo(world.Card{},
			strings.TrimSpace(speech.Lead+" "+command.Unquote(strings.TrimPrefix(rest[len(all):], "that "))))
		i.DirectObject = ""
		return i, true, nil
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
		partner, met, err := s.findPartner()
		if linked := slices.Contains(indirectWords, strings.ToLower(strings.Fields(rest)[0])); err != nil ||
			!met || !linked || !speech.Asks {
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
			i = talkTo(world.Card{}, said)
			i.DirectObject = ""
			return i, true, nil
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
	i = talkTo(world.Card{}, command.Unquote(rest))
	i.DirectObject = ""
	return i, true, nil
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
		if len(strings.Fields(name)) > 4 {
			continue
		}
		who, after, ok, err := s.cutPerson(name, people)
		if err != nil {
			return command.Intent{}, false, err
		}
		_, asks := command.ReadQuestion(said + "?")
		if ok && after == "" && (marked || asks || courtesyPattern.MatchString(said) || command.AddressesYou(said) ||
			statementPattern.MatchString(said) || world.IsPromise(said)) {
			if marked && !strings.HasSuffix(said, "?") {
				said += "?"
			}
			return talkTo(who, said), true, nil
		}
	}
	return command.Intent{}, false, nil
}

// readWish reads the wish to have a thing: a ware here is bought, and for anything else the partner is asked.
func (s *turn) readWish(thing, text string) (i command.Intent, ok bool, err error) {
	wares, err := s.listWares()
	if err != nil {
		return i, false, err
	}
	for _, w := range wares {
		if rateFit(thing, w.Card) > command.FitNone {
			return command.Intent{Verb: command.Buy, DirectObject: thing, Confidence: 1}, true, nil
		}
	}
	if lower := strings.ToLower(text); strings.HasPrefix(strings.ToLower(thing), "to ") || strings.HasPrefix(lower,
		"i want ") ||
		strings.HasPrefix(lower, "i need ") {
		return i, false, nil // I want to go north, I need rest
	}
	around, err := s.listLookTargets()
	if err != nil || len(findMatches(thing, around)) > 0 {
		return i, false, err
	}
	partner, met, err := s.findPartner()
	if err != nil || !met {
		return i, false, err
	}
	return talkTo(partner, text), true, nil
}

// isIndirect reports whether words are a question as a part of a sentence: about Rentday, who she works for.
func isIndirect(words string) bool {
	first, _, _ := strings.Cut(words, " ")
	return (first == "for" || slices.Contains(indirectWords, first)) &&
		!strings.HasSuffix(words, "?")
}

// indirectWords begin a question as a part of a sentence.
var indirectWords = strings.Fields("about if whether why what where when how who which")
