package play

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// maxSaid bounds the words that a player says at once, in bytes.
const maxSaid = 200

// planTalk speaks to somebody, or to nobody. Words to a character are between the two; words to nobody and to
// other players are heard by all who are there.
func (s *turn) planTalk() (err error) {
	if s.action.Line, err = s.freshNumber(); err != nil {
		return err
	}
	said := markup.Clip(strings.Join(s.intent.Modifiers, " "), maxSaid)
	if s.intent.DirectObject == "" {
		s.action.Detail = said
		return s.finishTurn(world.PlayerAct)
	}
	r, err := s.resolvePerson(s.intent.DirectObject)
	if err != nil {
		return err
	}
	if r.all || r.self {
		s.action.Detail = said
		return s.finishTurn(world.PlayerAct)
	}
	if s.intent.Manner().Verb == "order" && !r.isFound() {
		keeper, ok, err := sentenceReader{turn: s}.findKeeper()
		if err != nil {
			return err
		}
		if ok {
			said = "I would like a " + s.intent.DirectObject + ", please." // order a pint
			r = referent{cards: []world.Card{keeper}}
		}
	}
	to, err := s.personOf(r, s.intent.DirectObject)
	if err != nil {
		return err
	}
	s.aimAt(to)
	switch {
	case to.IsType(world.TypePlayer):
		s.action.Detail = said
		return s.finishTurn(world.PlayerAct)
	case world.IsDead(to):
		return cannot("dead", "%s is dead, and gives no answer.", to.Title())
	}
	b, err := s.bondWith(to)
	if err != nil {
		return err
	}
	x := world.Exchange{Verb: command.Talk, Said: said, Promise: world.IsPromise(said)}
	if x.Answer, err = s.answerTo(b, said); err != nil {
		return err
	}
	var done []world.Deed
	if b.Met == 0 || s.presence.Clock-b.Last >= world.Hour {
		done = append(done, world.DeedTalked)
	}
	if x.Promise {
		done = append(done, world.DeedPromised)
	}
	s.action.Private = true
	if err := s.remember(b, x, done...); err != nil {
		return err
	}
	return s.finishTurn(world.PlayerAct)
}

// answerTo returns the line with which somebody answers: the one that the card has for the words, else one of its
// lines in turn, and after a while a greeting. Somebody without lines comes back to earlier words. No line comes
// twice within freshWindow exchanges; "" is no line.
func (s *turn) answerTo(b bond, said string) (string, error) {
	heard, back, err := s.readTalk(b)
	if err != nil {
		return "", err
	}
	isFresh := func(line string) bool {
		return line != "" && !slices.ContainsFunc(heard, func(h string) bool { return strings.HasSuffix(h, line) })
	}
	firstFresh := func(lines []string) string {
		if i := slices.IndexFunc(lines, isFresh); i >= 0 {
			return lines[i]
		}
		return ""
	}
	if !b.other.IsType("Creature") {
		if line, err := s.answerClauses(b, said, heard); err != nil || line != "" {
			return line, err
		}
	} else if line, ofWords := world.AnswerOf(b.other, said, 0); ofWords {
		return sayAgain(line, heard), nil
	}
	var f struct {
		world.Speaker
		Minor bool `json:"minor"`
	}
	world.DecodeFields(b.other.Fields, &f)
	if b.other.IsType("Creature") {
		return firstFresh(inTurn(f.Says, s.presence.Clock)), nil
	}
	line := ""
	switch {
	case said != "":
		line = spokenBy(b.other, s.heed(said))
	case f.Minor:
		line = cmp.Or(firstFresh(greetingLines), firstFresh(f.Says))
	default:
		line = firstFresh(inTurn(f.Says, s.presence.Clock))
	}
	line = cmp.Or(line, back)
	if b.Met > 0 && s.presence.Clock-b.Last >= world.Hour {
		line = strings.TrimSpace(firstFresh(greetings(b.Regard)) + " " + line)
	}
	return line, nil
}

// answerClauses answers the clauses of some words: a courtesy in kind, and the first question that somebody can answer.
// "" is no answer.
func (s *turn) answerClauses(b bond, said string, heard []string) (string, error) {
	list := clausesOf(said)
	if len(list) < 2 {
		return s.answerClause(b, said, heard)
	}
	courtesy, main := "", ""
	for _, clause := range list {
		polite := command.IsCourtesy(clause) || greetingLead.MatchString(clause) || thanksPattern.MatchString(clause)
		if polite && courtesy != "" || !polite && (main != "" && !s.unsure || !asksFor(clause)) {
			continue
		}
		s.unsure = false
		line, err := s.answerClause(b, clause, heard)
		if err != nil {
			return "", err
		}
		if polite {
			courtesy = line
		} else if main == "" || !s.unsure {
			main = line
		}
	}
	if courtesy == "" && main == "" {
		return s.answerClause(b, said, heard)
	}
	return strings.TrimSpace(courtesy + " " + main), nil
}

// nextQuestion matches the beginning of a question behind other words.
var nextQuestion = lazyregexp.New(`(?i),? and ((?:what|how|why|where|when|who|is|are|can|could|may|do|does|` +
	`did|will|would|since when)\b)`)

// tagQuestion matches questions that only ask for assent.
var tagQuestion = lazyregexp.New(`(?i)^(?:is|isn't|are|aren't|do|don't|does|doesn't|has|hasn't|was|wasn't|` +
	`did|didn't|won't|will) (?:it|he|she|they|you|there|that)(?: not| think)?\?*$|^(?:right|eh|no)\?$`)

// clausesOf splits words at their commas and sentences. A question mark belongs to all clauses that may be questions.
func clausesOf(said string) (list []string) {
	for sentence := range meaning.Sentences(said) {
		for clause := range strings.SplitSeq(nextQuestion.ReplaceAllString(sentence, ", $1"), ", ") {
			clause = strings.TrimSpace(speechLead.ReplaceAllString(strings.TrimSpace(clause), ""))
			if bare := strings.TrimRight(clause, ".!? "); bare == "" || bare == "please" || tagQuestion.MatchString(clause) {
				continue
			}
			if first, _, _ := strings.Cut(strings.ToLower(clause), " "); strings.HasSuffix(sentence, "?") &&
				!strings.HasSuffix(clause, "?") &&
				(slices.Contains(auxiliaries, first) || slices.Contains(askWords, first)) {
				clause += "?"
			}
			list = append(list, clause)
		}
	}
	return list
}

// answerClause answers a question or a courtesy. "" is no answer.
func (s *turn) answerClause(b bond, said string, heard []string) (string, error) {
	isFresh := func(line string) bool {
		return line != "" && !slices.ContainsFunc(heard, func(h string) bool { return strings.HasSuffix(h, line) })
	}
	asks := asksFor(said)
	if line, ofWords := world.AnswerOf(b.other, said, 0); ofWords && (isFresh(line) || asks) {
		return sayAgain(line, heard), nil
	}
	line, err := s.replyTo(b, said)
	if line = spokenBy(b.other, line); err != nil || isFresh(line) {
		return line, err
	}
	if line != "" {
		return sayAgain(line, heard), nil
	}
	if !asks {
		return "", nil
	}
	line, err = s.answerFromView(b, said)
	return sayAgain(spokenBy(b.other, line), heard), err
}

// inTurn returns lines from the one whose turn it is at a time.
func inTurn(lines []string, clock int64) []string {
	if len(lines) == 0 {
		return nil
	}
	at := int(clock/world.Minute) % len(lines)
	return slices.Concat(lines[at:], lines[:at])
}

// heed returns the line with which somebody takes up words that ask nothing.
func (s *turn) heed(said string) string {
	switch bad, good := insults.MatchString(said), praise.MatchString(said); {
	case world.IsPromise(said):
		return trusting.tell(s.action.Line, "")
	case bad:
		return blamed.tell(s.action.Line, "")
	case good:
		return praised.tell(s.action.Line, "")
	}
	return heeded.tell(s.action.Line, "")
}

// sayAgain returns a line, or with other words before it if it was heard; "" if they all were.
func sayAgain(line string, heard []string) string {
	if !slices.ContainsFunc(heard, func(h string) bool { return strings.HasSuffix(h, line) }) {
		return line
	}
	for _, again := range againWords {
		if whole := again + line; !slices.Contains(heard, whole) {
			return whole
		}
	}
	return ""
}

// againWords begin a line that was said before.
var againWords = []string{
	"As I said: ",
	"I told you: ",
	"Once more, then: ",
	"Again, and slowly: ",
	"You do ask often. ",
	"Write it down: ",
	"For the last time: ",
	"It is as I told you. ",
}

// readTalk returns the lines that somebody said to the player in the latest exchanges, and a line that comes back
// to the player's latest promise, or else to its latest words; "" if there are none.
func (s *turn) readTalk(b bond) (heard []string, back string, err error) {
	words := recallingPromise
	for _, list := range [][]canon.Hash{b.Promises, b.Recent[max(0, len(b.Recent)-freshWindow):]} {
		for _, h := range slices.Backward(list) {
			x, _, err := s.ReadExchange(s.ctx, h)
			if err != nil {
				return nil, "", err
			}
			heard = append(heard, x.Answer)
			if back == "" && x.Said != "" && x.Verb == command.Talk {
				back = words.tell(s.action.Line, strings.TrimRight(markup.Clean(x.Said), ". "))
			}
		}
		words = recallingWords
	}
	return heard, back, nil
}

// The words with which somebody meets a player again, by its attitude.
var (
	fearfulGreetings = []string{
		"Please, no trouble today.",
		"Stay where you are. I can hear you from there.",
		"I have done nothing.",
	}
	trustingGreetings = []string{
		"It is good to see you again.",
		"There you are. I was hoping for you.",
		"Sit down, friend.",
	}
	coldGreetings   = []string{"You again.", "I had hoped to be rid of you.", "Be quick."}
	humbleGreetings = []string{"You honour me.", "I am listening, as always.", "Your word counts here."}
	plainGreetings  = []string{"Back again.", "We have met.", "I know your face."}
)

// greetings returns greetings by an attitude, beginning with another one after each exchange.
func greetings(r world.Regard) []string {
	list := plainGreetings
	switch {
	case r.Fear >= warm:
		list = fearfulGreetings
	case r.Trust >= warm:
		list = trustingGreetings
	case r.Trust <= -warm:
		list = coldGreetings
	case r.Respect >= warm:
		list = humbleGreetings
	}
	at := r.Met % len(list)
	return append(slices.Clone(list[at:]), list[:at]...)
}
