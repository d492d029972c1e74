package play

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// courtesy is a kind of words that everybody answers in kind.
type courtesy struct {
	said  *regexp.Regexp
	shown string // what several people do together
	lines []string
}

// courtesies are in order: the first that fits counts.
var courtesies = []courtesy{
	{regexp.MustCompile(`(?i)\b(?:thank|thanks|thank you|grateful)\b`), "nod", []string{"You are welcome.",
		"Don't mention it.", "No need for thanks.",
		"Any time.", "It was nothing.", "Glad to."}},
	{regexp.MustCompile(`(?i)\b(?:goodbye|good bye|bye|farewell|see you|good night)\b`), "bid you farewell",
		[]string{"Go well.",
			"Until the next time.", "Mind how you go.",
			"Farewell, then.", "Safe ways.", "Good day."}},
	{regexp.MustCompile(`(?i)\b(?:sorry|apolog|pardon|forgive|^i lied\b)`), "take it well",
		[]string{"No harm done.", "It is forgotten.",
			"Say no more of it.", "Well. All right.",
			"These things happen."}},
	{regexp.MustCompile(`(?i)^(?:hello|hi|hey|greetings|good (?:morning|day|evening|afternoon)|well met|how are you|` +
		`how do you do|nice to meet you)\b`), "greet you", []string{"Good day to you.",
		"And to you.", "Hello there.", "A good day, stranger.", "Yes? Good day."}},
}

// Patterns of what somebody is asked about itself.
var (
	asksName = regexp.MustCompile(`(?i)\b(?:who (?:are|r) (?:you|u)|what(?:'s| is) your (?:name|job|trade|` +
		`work)|what are you called|what do you do(?: here)?|who (?:he|she) is|` +
		`(?:about )?(?:your|his|her)(?:self| name| job| trade)|what (?:he|she) does(?: here)?|what are you doing(?: ` +
		`here)?|about you)\b`)
	asksWork = regexp.MustCompile(`(?i)\b(?:work|jobs?|quests?|tasks?|errands?|help you|need (?:any )?help|needs ` +
		`help|can help|my help)\b`)
)

// noWork are the lines of those who are asked for work and have none.
var noWork = []string{"I have no work for you.", "Nothing that needs doing, thank you.", "Not here. Ask about.",
	"If I hear of any, you will.",
	"I manage by myself, so far."}

// replyTo returns the line with which somebody answers courtesies, questions about itself and about work, and plain
// questions that the player could answer by looking. "" is no line.
func (s *turn) replyTo(b bond, said string) (string, error) {
	said = strings.TrimSpace(said)
	if asksName.MatchString(said) {
		return introduce(b.other), nil
	}
	if lines, err := s.settleOffer(b, said); err != nil {
		return "", err
	} else if lines != nil {
		return lines[(s.action.Line+b.Met)%len(lines)], nil
	}
	for _, c := range courtesies {
		if c.said.MatchString(said) {
			return c.lines[(s.action.Line+b.Met)%len(c.lines)], nil
		}
	}
	if asksWork.MatchString(said) {
		line, err := s.offerWork(b.other)
		return cmp.Or(line, noWork[(s.action.Line+b.Met)%len(noWork)]), err
	}
	q, ok := command.ReadQuestion(said)
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
var offerPattern = regexp.MustCompile(`(?i)\b(?:would you|will you|won't you|do you want|care for|have (?:a|some)|` +
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
	i := slices.IndexFunc(offers, func(o world.Offered) bool {
		return o.Giver == t.ID.String() || markup.KeyOf(o.Giver) == markup.KeyOf(t.Name) ||
			markup.KeyOf(o.Giver) == markup.KeyOf(t.Title())
	})
	if i < 0 {
		return "", nil
	}
	steps := offers[i].OpenSteps(world.Pursuit{})
	return "There is “" + offers[i].Title() + "”, if you will take it on. " + steps[0].Describe(), nil
}
