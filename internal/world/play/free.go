package play

import (
	"context"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// A free act is a clause for which the grammar has no act of its own. It is kept as it was typed, from its verb on.

// freeAct returns the intent of a free act for a command that the grammar does not understand: the
// phrase from its verb on. ok is false if the text is a question or empty.
func freeAct(text string) (i command.Intent, ok bool) {
	words := strings.Fields(markup.Clip(markup.Clean(text), maxAttempt))
	for len(words) > 1 && slices.Contains(leadWords, bareWord(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 || slices.Contains(askWords, bareWord(words[0])) || strings.HasSuffix(text, "?") ||
		meaning.Lemma(bareWord(words[0]), meaning.Verb) == "" || asksBehindComma.MatchString(text) {
		return i, false
	}
	for n, w := range words {
		if other, ok := otherPerson[bareWord(w)]; ok {
			words[n] = other
		}
	}
	words[0] = bareWord(words[0])
	phrase := strings.TrimRight(strings.Join(words, " "), ".!,; ")
	return command.Intent{Verb: command.Attempt, DirectObject: phrase, Confidence: attemptConfidence}, phrase != ""
}

// asksBehindComma matches the question behind a name: letter man, how much is it
var asksBehindComma = lazyregexp.New(
	`(?i),\s*(?:who|what|whose|where|when|why|how|which|is|are|do|does|did|have|has|can|will)\b`,
)

// reasonUnknown is the reason of a free act on nothing that is present.
const reasonUnknown = "unknown"

const (
	maxAttempt        = 120 // bytes of a phrase
	attemptConfidence = 0.5
	attemptMinutes    = 5
)

var (
	leadWords = strings.Fields(
		"i i'd we you try tries to attempt please now then let's lets let us will want would like " +
			"can could and again quickly slowly carefully quietly ok okay well so also very much gently wanna gonna just",
	)
	askWords    = strings.Fields("what who whom whose where when why how which is are am do does did should may")
	otherPerson = map[string]string{"me": "you", "my": "your", "mine": "yours", "myself": "yourself", "i": "you",
		"am": "are"}
)

func bareWord(w string) string { return strings.Trim(strings.ToLower(w), ".,;:!?\"'“”") }

// knowsApproach reports whether a phrase begins with the verb of an approach.
func knowsApproach(phrase string) bool {
	verb, _, _ := strings.Cut(phrase, " ")
	_, ok := approaches[strings.ToLower(verb)]
	return ok
}

// daydreams are verbs of acts in the player's mind, whatever the words behind them name.
var daydreams = strings.Fields("pretend imagine dream wonder")

// isDaydream reports whether a phrase is an act in the player's mind.
func isDaydream(phrase string) bool {
	verb, _, _ := strings.Cut(phrase, " ")
	return slices.Contains(daydreams, strings.ToLower(verb))
}

// isBareGesture reports whether an act that was read as talk is a gesture to nobody: smile.
func isBareGesture(i command.Intent) bool {
	return i.Verb == command.Talk && i.DirectObject == "" && len(i.Targets)+len(i.Modifiers) == 0 &&
		command.IsGesture(bareWord(i.Clause()))
}

// readFreely reads the clauses of a command that are gestures or acts in the player's mind, and, of a command of
// several clauses, those that the grammar finds unclear, as free acts.
func (h *Host) readFreely(p command.Parsed) command.Parsed {
	if h.settle == nil {
		return p
	}
	for n, i := range p.Intents {
		if free, ok := freeAct(i.Clause()); ok && (isDaydream(free.DirectObject) || isBareGesture(i)) {
			free.Order, p.NeedsClarification = i.Order, p.NeedsClarification && len(p.Intents) > 1
			p.Intents[n] = free
		}
	}
	more, ok := p.WithAttempts(func(clause string) bool {
		free, ok := freeAct(clause)
		verb, _, _ := strings.Cut(free.DirectObject, " ")
		return ok && meaning.Lemma(verb, meaning.Verb) != ""
	})
	if !ok {
		return p
	}
	for n, i := range more.Intents {
		if free, ok := freeAct(i.Clause()); ok && i.Verb == command.Attempt {
			free.Order = i.Order
			more.Intents[n] = free
		}
	}
	return more
}

// freeActOf returns the free act that a command is if the grammar knows no verb in it, or takes its
// verb for a simpler act than it is.
func (h *Host) freeActOf(p command.Parsed, text string) (command.Intent, bool) {
	if h.settle == nil {
		return command.Intent{}, false
	}
	i, ok := freeAct(text)
	verb, rest, _ := strings.Cut(i.DirectObject, " ")
	unknown := p.NeedsClarification && len(p.Ambiguities) > 0 &&
		(p.Ambiguities[0].Kind == "verb" || rest == "" && command.IsGesture(verb) ||
			rest != "" && (knowsApproach(verb) || isHandling(i) || slices.Contains(easyActs, verb)))
	return i, ok && (unknown || len(p.Intents) == 1 && p.Intents[0].Verb != command.Haggle && approaches[verb].overrides())
}

// freeInstead are the verbs of acts that may be free acts if the things that they need are absent.
var freeInstead = []command.Verb{command.Move, command.Use, command.Attack}

// clauseOf returns the text of the clause of an act: all of the sentence if it is its only act.
func clauseOf(i command.Intent, out *commandOut) string {
	if len(out.Frames) == 1 {
		return out.text
	}
	return i.Clause()
}

// actFreely commits a clause as a free act, in place of an act that needs a thing of its own.
func (h *Host) actFreely(ctx context.Context, part func(suffix string) access.Grant, player canon.CardID,
	clause string) (committedAct, error) {
	free, ok := freeAct(clause)
	if !ok || h.settle == nil {
		return committedAct{}, cannot(reasonUnknown, "")
	}
	return h.commitAct(ctx, func(suffix string) access.Grant { return part("-free" + suffix) }, player, free)
}

// missing returns the error of an act on a thing that is not there, which is the first one of the phrase.
func missing(phrase string) error {
	var name []string
	for _, w := range strings.Fields(phrase)[1:] {
		if isContentWord(w) {
			name = append(name, bareWord(w))
		} else if len(name) > 0 {
			break
		}
	}
	if len(name) == 0 {
		return cannot(reasonUnknown, "You see nothing here with which you could %s.", phrase)
	}
	if thing := strings.Join(name, " "); !isProperName(thing) {
		return cannot(reasonUnknown, "You see no %s here.", thing)
	}
	return cannot(reasonUnknown, "%s is not here.", capitalize(strings.Join(name, " ")))
}

// isContentWord reports whether a word may name something.
func isContentWord(w string) bool {
	w = bareWord(w)
	return len(w) > 2 && !slices.Contains(smallWords, w)
}

var smallWords = strings.Fields(
	"the with from into over under and for her him his off out down onto upon around behind past after before above " +
		"below beneath beside between inside outside near toward towards within without until till like once again " +
		"through across along against its your you all any some one two there here this that them who what very",
)

// isBodyPart reports whether a name is a part of the body: one does not carry it.
func isBodyPart(name string) bool {
	head := command.HeadOf(name) // WordNet has hands and feet among the extremities
	return slices.Contains([]string{"hand", "hands", "foot", "bum", "bottom", "behind", "arse", "tummy"}, head) || meaning.IsMainly(head, meaning.Noun, "body part")
}

// isOwnBody reports whether a name in a phrase is a part of the player's body. Some are things as well: a chest, a
// trunk.
func isOwnBody(name, phrase string) bool {
	words := " " + strings.ToLower(phrase) + " "
	return isBodyPart(name) &&
		(slices.Contains(noTools, command.HeadOf(name)) || strings.Contains(words, " my "+strings.ToLower(name)) ||
			strings.Contains(words, " your "+strings.ToLower(name)) || len(strings.Fields(phrase)) < 4 && !isThing(command.HeadOf(name)))
}

// planOwnAct decides a free act that needs nothing but the player: dance a little jig, wash my hands in the well, get
// up. All other things that it names must be there. ok is false if it is no such act.
func (s *turn) planOwnAct(phrase string) (ok bool, err error) {
	m := command.ReadManner(phrase)
	if slices.Contains(beyond, m.Verb) {
		return true, cannot("unfit", "That is more than you can do.")
	}
	if meaning.Lemma(m.Verb, meaning.Verb) == "" ||
		m.Object != "" && !isOwn(m.Object, phrase) && !isMadeBy(m.Verb, m.Object) {
		return false, nil
	}
	if isOwnBody(m.Object, phrase) && slices.Contains(harmful, m.Verb) {
		return true, cannot(reasonSelf, "You think better of it: that would be you.")
	}
	if way, ok, err := s.findWayOf(m); ok || err != nil {
		if err != nil {
			return true, err
		}
		return true, s.goBy(way)
	}
	if s.intent.Direction != "" ||
		slices.Contains([]string{"go", "head", "travel", "return", "leave", "enter", "exit", "follow"}, m.Verb) {
		return false, nil
	}
	for _, p := range m.Parts {
		if p.Name == "" || isOwn(p.Name, phrase) ||
			isMadeByAct(p.Name) && !slices.Contains(motions, m.Verb) {
			continue
		}
		r, err := s.resolveHere(p.Name)
		shore, bad := s.isAtShore(p.Name)
		if err = cmpErr(err, bad); err != nil || !shore && (!r.isFound() || r.mention.Denied) {
			return false, err
		}
		if knowsApproach(m.Verb) && !command.IsGesture(m.Verb) { // swing on the board: it may fail
			return false, nil
		}
	}
	s.action.Detail = phrase
	if s.action.Line, err = s.freshNumber(); err != nil {
		return true, err
	}
	return true, s.finishTurn(world.PlayerAct)
}

// harmful are verbs of acts that nobody does to its own body.
var harmful = strings.Fields("break smash cut burn eat bite tear rip crush stab chop sever")

// findWayOf returns the exit in the direction that a motion without a goal has: step out again, back up.
func (s *turn) findWayOf(m command.Manner) (way world.Exit, ok bool, err error) {
	if m.Object != "" ||
		!slices.Contains(motions, m.Verb) && !slices.Contains([]string{"back", "get", "come", "head"}, m.Verb) {
		return way, false, nil
	}
	exits, err := s.exitsHere()
	for _, p := range m.Parts {
		if d, isWay := command.DirectionOf(p.By); isWay && p.Name == "" && err == nil {
			way, ok = world.ExitToward(exits, d)
			return way, ok, nil
		}
	}
	return way, false, err
}

// goBy goes through an exit instead of a free act.
func (s *turn) goBy(way world.Exit) error {
	s.intent.Verb, s.action.Verb = command.Move, command.Move
	return s.goThrough(way)
}

// beyond are verbs of acts that nobody can do by wishing.
var beyond = strings.Fields("fly vanish disappear teleport levitate explode die melt grow shrink float soar win")

// isOwn reports whether a name in a phrase is a part of the player, its clothes, or anything that every place has.
func isOwn(name, phrase string) bool {
	head := command.HeadOf(name)
	_, isWay := command.DirectionOf(name)
	isAdverb := meaning.Lemma(name, meaning.Adverb) != "" && meaning.Lemma(name, meaning.Noun) == ""
	return isWay || isAdverb || isAnyOf(head, []string{"precipitation", "atmospheric phenomenon"}) ||
		isOwnBody(name, phrase) ||
		isEverywhere(head) ||
		isSelf(name) ||
		command.MeansHere(name) ||
		strings.Contains(" "+phrase+" ", " your "+name) && isAnyOf(head, []string{"clothing", "headdress", "footwear", "pocket", "hair", "body covering"})
}

// isMadeByAct reports whether a name is that of an act, a sound, a feeling or a time, and of no thing.
func isMadeByAct(name string) bool {
	head := command.HeadOf(name)
	isSolid := slices.Contains(thingWords, head) || slices.Contains(fixedWords, head) || isAlive(head) ||
		isMainly(head, "artifact") || isMainly(head, "natural object")
	return !isSolid &&
		slices.ContainsFunc([]string{"act", "event", "music", "sound", "feeling", "attribute", "time period",
			"message", "cognition", "shape", "communication", "state"}, func(kind string) bool { return isMainly(head, kind) })
}

// isMadeBy reports whether the object of a verb is made by the act itself: dance a jig, play a tune, draw a breath.
func isMadeBy(verb, object string) bool {
	return command.IsGesture(verb) && isMadeByAct(object) ||
		slices.Contains([]string{"do", "play", "take", "make", "give", "draw", "hold", "blow", "utter", "let"}, verb) &&
			isMadeByAct(object)
}

// planGesture does an act that needs nothing but the player, such as dancing, with all that the clause names.
func planGesture(h *handled) error {
	if h.intent.Verb == command.Attempt {
		return errOther
	}
	free, ok := freeAct(h.intent.Clause())
	if !ok {
		return errOther
	}
	h.intent.Verb, h.action.Verb = command.Attempt, command.Attempt
	if ok, err := h.planOwnAct(free.DirectObject); ok || err != nil {
		return err
	}
	return errOther
}
