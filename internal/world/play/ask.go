package play

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// maxAsked bounds a plain question that is kept, in bytes.
const maxAsked = 200

// questionVerbs are the acts that answer a kind of plain question by themselves.
var questionVerbs = map[command.Asked]command.Verb{command.AskedBag: command.Inventory, command.AskedLook: command.Look,
	command.AskedQuests: command.Quests, command.AskedPrices: command.Price}

// askIntent returns the act of a plain question. ok is false if the text is none.
func (r sentenceReader) askIntent(text string) (i command.Intent, ok bool, err error) {
	q, ok := command.ReadQuestion(text)
	if !ok {
		return i, false, nil
	}
	i = command.Intent{Verb: cmp.Or(questionVerbs[q.Kind], command.Ask), Confidence: 1}
	if i.Verb == command.Ask {
		i.DirectObject = markup.Clip(markup.Clean(text), maxAsked)
	}
	if !r.stands {
		return i, true, nil
	}
	if i.Verb == command.Ask {
		if to, ok, err := r.findAnswerer(q, text); ok || err != nil {
			return talkTo(to, text), true, err
		}
	}
	if q.Kind != command.AskedCost && q.Kind != command.AskedPrices {
		return i, true, nil
	}
	wares, err := r.listWares()
	if err != nil || len(wares) == 0 {
		i.Verb, i.DirectObject = command.Ask, markup.Clip(markup.Clean(text), maxAsked)
		return i, true, err
	}
	for _, w := range wares {
		if q.Subject != "" && rateFit(q.Subject, w.Card) > command.FitNone {
			i.Verb, i.DirectObject = command.Price, q.Subject
		}
	}
	return i, true, nil
}

// findAnswerer returns the partner of the player for a question that has no plain answer here. ok is false if there is
// none, or the question has one.
func (r sentenceReader) findAnswerer(q command.Question, text string) (to world.Card, ok bool, err error) {
	to, ok, err = r.findPartner()
	if err == nil && !ok && (q.Kind == command.AskedCost || fareKind(q.Subject) != nil) {
		to, ok, err = r.findKeeper()
	}
	if err != nil || !ok || !answers(to) {
		return to, false, err
	}
	if _, knows := world.AnswerOf(to, text, 0); knows {
		return to, true, nil
	}
	s := *r.turn
	if s.place, _, err = s.CardByID(s.ctx, s.place.ID); err != nil {
		return to, false, err
	}
	if s.player, _, err = s.CardByID(s.ctx, s.player.ID); err != nil {
		return to, false, err
	}
	a := answerer{turn: &s, q: q, m: narrator{s.AsOf}}
	if slices.Contains(pronouns, strings.ToLower(q.Subject)) {
		return to, true, nil
	}
	if answer, err := a.answer(); err != nil || answer != "" && !a.denied {
		return to, false, err
	}
	if a.denied {
		return to, true, nil
	}
	_, full, err := a.findSentence(contentWords(strings.Join(q.Words, " ")))
	return to, !full, err
}

// planAsk answers a plain question from what the player sees. It changes nothing but the clock, and nobody else
// learns of it.
func (s *turn) planAsk() error {
	q, ok := command.ReadQuestion(s.intent.DirectObject)
	if !ok {
		return cannot("unknown", "You are not sure what you mean. Say it in other words.")
	}
	player, _, err := s.ByID(s.ctx, s.player.ID)
	if err != nil {
		return err
	}
	s.label = world.PrivateLabel(player).Meet(s.label)
	a := answerer{turn: s, q: q}
	about, known, err := a.findSubject()
	if err != nil {
		return err
	}
	if known {
		s.narrowLabel(about)
		s.action.Objects = []world.ObjectRef{world.NewObjectRef(about, 0)}
	}
	s.action.Detail = s.intent.DirectObject
	return s.finishTurn(world.PlayerLook)
}

// tellAnswer answers a plain question.
func (m narrator) tellAnswer(ctx context.Context, d world.Action, place canon.CardID) (string, error) {
	q, ok := command.ReadQuestion(d.Detail)
	t, here, err := m.CardByID(ctx, place)
	if err != nil || !ok || !here {
		return "Nothing here tells you that.", err
	}
	player, _, err := m.CardByID(ctx, d.PlayerID)
	if err != nil {
		return "", err
	}
	at, _, err := m.FindAtLink(ctx, d.PlayerID)
	if err != nil {
		return "", err
	}
	s := &turn{AsOf: m.AsOf, ctx: ctx, place: t, player: player, atLink: at, presence: world.PresenceOf(at)}
	a := answerer{turn: s, q: q, m: m}
	text, err := a.answer()
	if text == "" && err == nil {
		text, err = a.answerFreely()
	}
	return text, err
}

// answerer answers a plain question of the player of a turn.
type answerer struct {
	*turn
	q      command.Question
	m      narrator
	around []world.Card // that the player can look at; see listAround
	denied bool         // the answer is only that there is none
}

// listAround lists everything that the player can look at.
func (a *answerer) listAround() (list []world.Card, err error) {
	if a.around == nil {
		a.around, err = a.listLookTargets()
	}
	return a.around, err
}

// findSubject returns the card that the question is about: of those around, of the player's quests and those that are
// offered, or of the whole world by its full name.
func (a *answerer) findSubject() (t world.Card, ok bool, err error) {
	if a.q.Subject == "" || a.q.Kind == command.AskedAble || len(command.BareWords(a.q.Subject)) == 0 {
		return t, false, nil
	}
	name := a.q.Subject
	all, err := a.listAround()
	if err != nil {
		return t, false, err
	}
	if found := findMatches(name, all); len(found) > 0 {
		return found[0], len(found) == 1, nil
	}
	people := slicesx.Filter(all, world.IsAlive)
	if found, err := a.findCalled(name, slices.DeleteFunc(people,
		func(t world.Card) bool { return t.ID == a.player.ID })); err != nil || len(found) == 1 {
		if len(found) == 1 {
			t = found[0]
		}
		return t, len(found) == 1, err
	}
	quests, err := a.listKnownQuests()
	if err != nil {
		return t, false, err
	}
	if found := findMatches(name, quests); len(found) == 1 {
		return found[0], true, nil
	}
	t, ok, err = a.FindNamed(a.ctx, name)
	return t, ok && !t.IsType(world.TypePlayer), err
}

// listFolk returns the names of those who are here.
func (a *answerer) listFolk() ([]string, error) {
	people, err := a.listPeople()
	return slicesx.Map(people, world.Definite), err
}

// findPassage returns the first sentence of the texts that the player was shown here that has a name, those of the
// place
// first; "" if none has.
func (a *answerer) findPassage(name string) (string, error) {
	for _, read := range []func() ([]passage, error){a.textsOfPlace, a.textsShown} {
		all, err := read()
		if err != nil {
			return "", err
		}
		if r := findMention(all, name, command.SameWords); r.isMentioned() {
			return r.mention.Sentence, nil
		}
	}
	return "", nil
}
