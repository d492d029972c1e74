package play

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// A handling is an act on a thing whose outcome depends on the thing: opening, lighting, tying. The grammar reads most
// of them as Use.
type handling struct {
	name string                 // in the table of texts
	over []command.Verb         // the readings of the grammar that it replaces; it always replaces a free act
	plan func(h *handled) error // decides the act
	// makes is set if the act needs cards of the things that it names, which may be made of nouns.
	makes bool
}

// handled is an act on a thing that is being decided.
type handled struct {
	*turn
	handling
	manner command.Manner
	object string // the thing that is handled, as typed
	by     string // the preposition of other: into, behind, to
	other  string // the second thing, as typed
	tool   string // the thing after with or using
	as     string // the verb of the handling that it is instead; see errAs
}

// A subject is a thing that a command names: a card, or a noun in the texts of the place.
type subject struct {
	card  world.Card // zero if it is only a noun
	name  string     // as told: the bucket
	nouns []string   // that tell its kind

	mentioned bool         // it is a noun of a text
	of        canon.CardID // the card whose text has it; zero for the texts of the place
}

func (t subject) hasCard() bool { return t.card.ID != canon.CardID{} }

// isKind reports whether a thing may be of one of some kinds: its noun is, or no noun of it is known.
func (t subject) isKind(kinds ...string) bool {
	known := false
	for _, n := range t.nouns {
		known = known || n != ""
		if n != "" && (isAnyOf(n, kinds) || slices.Contains(kinds, n)) {
			return true
		}
	}
	return !known
}

// toolWords introduce the thing that an act is done with.
var toolWords = []string{"with", "using"}

// newHandled returns the act on a thing that an intent asks for.
func newHandled(s *turn) (*handled, bool) {
	h := &handled{turn: s, manner: s.intent.Manner()}
	m := &h.manner
	if s.intent.Verb == command.Attempt {
		h.manner = command.ReadManner(s.intent.DirectObject)
	}
	if m.Verb == "" {
		return nil, false
	}
	var ok bool
	if h.handling, ok = handlingOf(m, s.intent.Verb); !ok {
		return nil, false
	}
	h.object = m.Object
	for _, p := range m.Parts {
		switch {
		case p.Name == "":
		case slices.Contains(toolWords, p.By):
			h.tool = toolOf(p.Name)
		case h.other == "" && !slices.Contains([]string{"for", "about", "like", "until", "till"}, p.By):
			h.by, h.other = p.By, p.Name
		}
	}
	h.object, _, _ = strings.Cut(h.object, " as ") // wear it as a scarf
	if slices.Contains(vague, h.object) && h.other != "" {
		h.object, h.by, h.other = h.other, "", "" // play something on the piano
	}
	if strings.Contains(" "+h.object+" ", " and ") && s.intent.DirectObject != "" && s.intent.Verb != command.Attempt {
		h.object = s.intent.DirectObject
	}
	return h, true
}

// toolOf returns the thing that the words after "with" name, or "" for parts of the body and ways to act.
func toolOf(name string) string {
	words := command.BareWords(name)
	if len(words) == 0 || slices.Contains(noTools, words[len(words)-1]) || isBodyPart(name) || isMadeByAct(name) {
		return ""
	}
	return name
}

// vague are objects that name nothing.
var vague = strings.Fields("something anything tune song melody music note")

var noTools = strings.Fields(
	"hand hands foot feet fist fists head teeth eye eyes finger fingers elbow elbows shoulder shoulders knee " +
		"knees nails nail arm arms mouth tongue palm toe toes boot heel thumb care caution force effort strength might luck patience " +
		"joy pleasure delight relief respect dignity ease speed haste love anger me you it them him her us myself yourself friend friends " +
		"one back weight body voice breath style skill",
)

// isHandling reports whether a free act is an act on a thing that is known.
func isHandling(i command.Intent) bool {
	_, ok := newHandled(&turn{intent: i})
	return ok
}

// handlingOf returns the handling of a clause that the grammar read as a verb. A particle of its verb becomes a part of
// the verb: blow the lamp out, put on the hat.
func handlingOf(m *command.Manner, read command.Verb) (handling, bool) {
	for i, p := range m.Parts {
		h, ok := handlings()[m.Verb+" "+p.By]
		if !ok || !h.replaces(read) || p.Name != "" && m.Object != "" {
			continue
		}
		if m.Object == "" {
			m.Object = p.Name
		}
		m.Verb += " " + p.By
		m.Parts = slices.Delete(slices.Clone(m.Parts), i, i+1)
		return h, true
	}
	h, ok := handlings()[m.Verb]
	if m.Verb == "have" && (read == command.Look || read == command.Examine) {
		return h, false // have a good look around
	}
	if ok && m.Verb == "open" && m.Object == "" && len(m.Parts) > 0 && m.Parts[0].By == "up" {
		m.Object, m.Parts = m.Parts[0].Name, slices.Delete(slices.Clone(m.Parts), 0, 1) // open up the piano
	}
	if ok && read == command.Move && m.Object != "" && (h.name == "turn" || h.name == "push") {
		return h, true // tilt the desk to the lamp
	}
	if read == command.Move && !(ok && h.replaces(read)) {
		return handlings()["go"], true
	}
	return h, ok && h.replaces(read)
}

func (h handling) replaces(read command.Verb) bool {
	return read == command.Attempt || slices.Contains(h.over, read)
}

// findThing returns the thing around the player that a name means. It is an *impossible error if nothing there has
// the name, and a needsCard if the act needs a card of a noun.
func (h *handled) findThing(name string) (t subject, err error) {
	if len(command.BareWords(name)) == 0 {
		return t, cannot("no_target", "Which thing do you mean?")
	}
	_, plain := command.SplitCount(name)
	r, err := h.resolveHere(plain)
	if err != nil {
		return t, err
	}
	if err := r.unclear(); err != nil {
		return t, err
	}
	card, isCard := r.card()
	if r.all && len(r.cards) > 0 &&
		slices.Contains([]string{"someone", "somebody", "anyone", "anybody"}, strings.ToLower(plain)) {
		card, isCard = r.cards[0], true
	}
	if part, _, ok := strings.Cut(plain, " of "); ok && isCard && isPortion(plain, card) {
		h.narrowLabel(card)
		return subject{name: "the " + markup.Clean(withoutArticle(plain)), nouns: nounsOf(part), mentioned: true}, nil
	}
	switch {
	case isCard:
		h.narrowLabel(card)
		return subject{card: card, name: definite(card), nouns: nounsOf(plain, card)}, nil
	case r.self:
		return subject{card: h.player, name: "you"}, nil
	case r.isMentioned() && !r.mention.Denied:
		return h.findNoun(r, plain)
	case isEverywhere(plain):
		return subject{name: "the " + plain, nouns: nounsOf(plain)}, nil
	}
	if ok, err := h.isAtShore(plain); err != nil || ok {
		return subject{name: "the " + plain, nouns: nounsOf(plain)}, err
	}
	reason := "absent"
	if h.intent.Verb == command.Attempt {
		reason = reasonUnknown
	}
	return t, cannot(reason, "You see no %s here.", markup.Clean(plain))
}

// isPortion reports whether a phrase names a part of a card that the card's own names do not have: the lid of the piano.
func isPortion(phrase string, t world.Card) bool {
	part, _, _ := strings.Cut(phrase, " of ")
	return isThing(command.HeadOf(part)) && rateFit(phrase, t) == command.FitNone && rateFit(part, t) == command.FitNone &&
		command.HeadOf(part) != command.HeadOf(t.Title())
}

// isCarried reports whether the player has a thing.
func (h *handled) isCarried(t subject) (bool, error) {
	own, err := h.carriedCards()
	return t.hasCard() && slices.ContainsFunc(own, func(c world.Card) bool { return c.ID == t.card.ID }), err
}

// findNoun returns a noun of a text as a thing.
func (h *handled) findNoun(r referent, phrase string) (t subject, err error) {
	if h.makes && r.isPromotable() && !h.tried {
		also := slices.DeleteFunc([]string{h.object, h.other}, func(name string) bool {
			_, name = command.SplitCount(name)
			return name == phrase || name == ""
		})
		return t, needsCard{phrase: phrase, also: also}
	}
	h.label = h.label.Meet(r.text.label)
	name := cmp.Or(command.NameIn(r.mention.Sentence, r.name), strings.ToLower(r.name))
	return subject{name: "the " + name, nouns: nounsOf(r.name), mentioned: true, of: r.text.of}, nil
}

// findTool returns the thing that an act is done with. It must be held, or lie within reach.
func (h *handled) findTool(name string) (t subject, err error) {
	if t, err = h.findThing(name); err != nil {
		if no, ok := err.(*impossible); ok && ifAbsent(no) != nil {
			return t, cannot("no_means", "You have no %s.", name)
		}
		return t, err
	}
	if !t.hasCard() || world.IsAlive(t.card) && t.card.ID != h.player.ID {
		return t, cannot("no_means", "You have no %s in your hands.", name)
	}
	return t, nil
}

// settleHandling decides an uncertain act on a thing, and records the check.
func (h *handled) settleHandling(skill, level string) (bool, error) {
	if h.settle == nil {
		return true, nil
	}
	return h.settleWith(approach{skill: skill, level: level}, nil, "")
}

// done finishes an act on things. effect is a key of handlingTexts after the name of the handling; "" is the plain
// success.
func (h *handled) done(effect string, things ...subject) error {
	told := world.Handling{Act: h.name, Effect: effect}
	for i, t := range things {
		if i == 0 {
			told.Thing = t.name
		} else {
			told.Other = t.name
		}
		switch {
		case !t.hasCard():
		case i == 0:
			h.action.Objects = []world.ObjectRef{world.NewObjectRef(t.card, 0)}
		default:
			h.aimAt(t.card)
		}
	}
	if h.action.Handling != nil {
		told.Words = h.action.Handling.Words
	}
	h.action.Handling, h.action.Verb = &told, command.Attempt
	if h.name == "put" {
		h.action.Verb = command.Drop
	}
	h.intent.Verb = command.Attempt
	if h.rests == 0 && h.action.Check == nil {
		h.rests = world.Minute
	}
	if h.action.Effect == "" {
		h.action.Effect = "managed"
	}
	h.action.Detail = phraseOf(h.manner)
	var err error
	if h.action.Line, err = h.freshNumber(); err != nil {
		return err
	}
	return h.finishTurn(world.PlayerAct)
}

// phraseOf returns a clause in its words, without articles: "tie rope to bollard" becomes "tie the rope to the
// bollard".
func phraseOf(m command.Manner) string {
	article := func(name string) string {
		if first, _, _ := strings.Cut(name, " "); name == "" || first != strings.ToLower(first) ||
			strings.HasSuffix(first, "'s") ||
			strings.HasSuffix(first, "self") || slices.Contains([]string{"all", "it", "him", "her", "them", "me", "you"},
			first) ||
			!isLetter(first) {
			return name
		}
		return "the " + name
	}
	words := []string{m.Verb, article(m.Object)}
	for _, p := range m.Parts {
		words = append(words, p.By, article(p.Name))
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

func isLetter(word string) bool { return word != "" && (word[0] < '0' || word[0] > '9') }

// definite returns the name of a card in a sentence: "the Quay Boathook", "the rope", but "Old Cod Wilkin".
func definite(t world.Card) string { return world.Definite(t) }

// shortName returns the shortest way to read a name: without owners, ordinals and the words behind the noun.
func shortName(name string) string {
	all := command.Namings(name)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1].Name
}

// nounsOf returns the nouns that tell the kind of a thing: the last word of the typed name, and of its names, each
// in front of "of".
func nounsOf(typed string, cards ...world.Card) (list []string) {
	names := []string{typed}
	for _, c := range cards {
		names = append(names, namesOf(c)...)
	}
	for _, name := range names {
		words := command.BareWords(shortName(name))
		if at := slices.Index(words, "of"); at > 0 {
			words = words[:at]
		}
		if len(words) == 0 {
			continue
		}
		if noun := meaning.Lemma(words[len(words)-1], meaning.Noun); noun != "" && !slices.Contains(list, noun) {
			list = append(list, noun)
		}
	}
	return list
}
