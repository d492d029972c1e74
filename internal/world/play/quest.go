package play

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// The words of commands about quests, as they are typed.
var (
	questLists = lazyregexp.New(`^(?:(?:list|show|check|open|read|see|view|what are|whats|what's) )?` +
		`(?:me )?(?:my |the )*(?:quests?|tasks?|errands?|missions?|journal|score|progress)(?: log| list)?$|` +
		`^how am i doing(?: so far)?$|` +
		`^(?:do i have|have i got|are there|is there|what|which|any) (?:a |an |any |some |the )?` +
		`(?:quests?|tasks?|errands?|jobs?|missions?)` +
		`(?: now| here| open| left| to do| do i have| have i| are there(?: to do)?)*$`)
	acceptWords = []string{"take it on", "take the quest on", "take the job on", "accept", "take on", "agree to",
		"undertake", "take up", "start the quest", "start quest",
		"begin the quest", "begin quest", "take the quest", "take the job", "take the task", "take the errand",
		"do the quest",
		"do the job", "do the task", "do the errand", "sign up for", "volunteer for"}
	// promiseWords accept the only quest that is offered.
	promiseWords = []string{"i'll do it", "i will do it", "i'll do that", "i can do that", "i can do it",
		"i'll help", "i will help", "i'll take it on",
		"i accept", "i agree", "i'll go", "count me in", "i'm in", "yes i'll do it", "ok i'll do it",
		"yes, i'll do it", "ok, i'll do it", "i'll take it",
		"i'll take the job", "i'll take the quest", "i volunteer", "volunteer", "yes, i accept", "yes i accept",
		"deal", "it's a deal"}
	abandonWords = []string{"abandon", "give up on", "give up", "drop quest"}
	// anyQuest are the names of the only quest that can be meant.
	anyQuest = []string{"", "it", "quest", "task", "errand", "offer", "job", "mission"}
)

// questIntent returns the act of a command about quests. ok is false if it is no such command, or names
// no quest that the player has or is offered.
func (r sentenceReader) questIntent(text string) (i command.Intent, ok bool, err error) {
	words := strings.Trim(strings.Join(strings.Fields(strings.ToLower(text)), " "), ".!? ")
	if questLists.MatchString(words) {
		return command.Intent{Verb: command.Quests, Confidence: 1}, true, nil
	}
	if lead, rest, ok := strings.Cut(words, ", i "); ok && len(strings.Fields(lead)) <= 3 {
		words = "i " + rest // yes Gudrun, I accept the job
	}
	if plain := agreeing.ReplaceAllString(words, ""); !slices.Contains(promiseWords, words) && plain != "" {
		words = plain
	}
	verb, name := splitQuestWords(words)
	if verb == "" || !r.stands {
		return i, false, nil
	}
	if name, err = r.cutGiver(name); err != nil {
		return i, false, err
	}
	i = command.Intent{Verb: verb, DirectObject: name, Confidence: 1}
	if slices.Contains(promiseWords, words) || verb == command.Accept && slices.Contains(anyQuest, name) {
		offers, err := r.listOffers()
		if len(offers) > 1 && err == nil {
			i.DirectObject, err = r.findNamedOffer(offers)
		}
		return i, len(offers) > 0, err
	}
	known, err := r.listKnownQuests()
	if err != nil || len(findMatches(name, known)) == 1 || len(known) > 0 && slices.Contains(anyQuest, name) {
		return i, true, err
	}
	t, ok, err := r.FindNamed(r.ctx, name)
	return i, ok && t.IsType(world.TypeQuest), err
}

// agreeing matches the words of agreement before those that accept.
var agreeing = lazyregexp.New(`^(?:(?:ok(?:ay)?|yes|yeah|yep|sure|al(?:l )?right|fine|well|right|gladly|` +
	`of course|certainly|good|great|oh|then|so)[,!.]? +)+`)

// cutGiver returns the name of a quest without a possessive before it, and without somebody here who is addressed or
// named as its giver behind it: your errand Gil.
func (r sentenceReader) cutGiver(name string) (string, error) {
	words := strings.Fields(name)
	if len(words) > 1 && slices.Contains([]string{"your", "his", "her", "their", "that", "this"}, words[0]) {
		words = words[1:]
	}
	if len(words) < 2 || !slices.Contains(anyQuest, words[0]) {
		return strings.Join(words, " "), nil
	}
	people, err := r.listPeople()
	rest := strings.TrimPrefix(strings.Join(words[1:], " "), "from ")
	if err == nil && len(findMatches(rest, people)) > 0 {
		return words[0], nil
	}
	return strings.Join(words, " "), err
}

// questIntentAsTyped is questIntent for a sentence as it was typed, with "it" for a quest. "I'll take it" may mean a
// thing.
func (r sentenceReader) questIntentAsTyped(text string) (i command.Intent, ok bool, err error) {
	if strings.HasSuffix(strings.TrimRight(strings.ToLower(text), ".! "), "take it") {
		return i, false, nil
	}
	return r.questIntent(text)
}

// findNamedOffer returns the title of the quest that the partner of the player offered last; "" if it offered none.
func (s *turn) findNamedOffer(offers []world.Offered) (string, error) {
	partner, met, err := s.findPartner()
	if err != nil || !met {
		return "", err
	}
	last, err := answersOf(s.ctx, s.AsOf, partner.ID, s.player.ID)
	for _, line := range last {
		for _, o := range offers {
			if strings.Contains(line, "“"+o.Title()+"”") {
				return o.Title(), err
			}
		}
	}
	return "", err
}

// splitQuestWords splits a command into its act on a quest and the name of the quest.
func splitQuestWords(words string) (command.Verb, string) {
	if slices.Contains(promiseWords, words) {
		return command.Accept, ""
	}
	for _, lead := range []string{"i'll ", "i will ", "i want to ", "i'd like to ", "i would like to ", "i ",
		"let me ", "yes, ", "ok, ", "can i ", "may i ", "please "} {
		words = strings.TrimPrefix(words, lead)
	}
	words = strings.TrimSuffix(words, " please")
	for _, v := range []struct {
		verb  command.Verb
		words []string
	}{{command.Accept, acceptWords}, {command.Abandon, abandonWords}} {
		for _, w := range v.words {
			name, ok := strings.CutPrefix(words+" ", w+" ")
			if name = strings.TrimSpace(name); !ok {
				continue
			}
			name = strings.TrimPrefix(strings.TrimPrefix(name, "the "), "quest ")
			if !slices.Contains(anyQuest, name) {
				name = strings.TrimSuffix(name, " quest")
			}
			return v.verb, name
		}
	}
	return "", ""
}

// listKnownQuests returns the quests that the player has and those that it is offered.
func (s *turn) listKnownQuests() ([]world.Card, error) {
	own, err := s.PursuedQuests(s.ctx, s.player.ID)
	if err != nil {
		return nil, err
	}
	offers, err := s.OfferedQuests(s.ctx, s.place.ID, own, s.presence.Clock)
	known := slicesx.Map(own, func(p world.Pursued) world.Card { return p.Card })
	return append(known, slicesx.Map(offers, func(o world.Offered) world.Card { return o.Card })...), err
}

// listOffers returns the quests that the player is offered where it is.
func (s *turn) listOffers() ([]world.Offered, error) {
	own, err := s.PursuedQuests(s.ctx, s.player.ID)
	if err != nil {
		return nil, err
	}
	return s.OfferedQuests(s.ctx, s.place.ID, own, s.presence.Clock)
}

// pickQuest returns the card among quests that the command means.
func (s *turn) pickQuest(among []world.Card, missing string) (world.Card, error) {
	name := s.intent.DirectObject
	if slices.Contains(anyQuest, name) {
		if len(among) == 1 {
			return among[0], nil
		}
		if len(among) > 1 {
			return world.Card{}, cannot("ambiguous", "Which do you mean: %s?", world.JoinNames(titlesOf(among), "or"))
		}
		name = "quest"
	}
	return s.findOne(name, among, missing)
}

// planAccept takes on a quest that is offered where the player is.
func (s *turn) planAccept() error {
	own, err := s.PursuedQuests(s.ctx, s.player.ID)
	if err != nil {
		return err
	}
	offers, err := s.OfferedQuests(s.ctx, s.place.ID, own, s.presence.Clock)
	if err != nil {
		return err
	}
	cards := slicesx.Map(offers, func(o world.Offered) world.Card { return o.Card })
	other, known, err := s.FindNamed(s.ctx, s.intent.DirectObject)
	if err != nil {
		return err
	}
	if known && other.IsType(world.TypeQuest) {
		cards = append(slices.DeleteFunc(cards, func(t world.Card) bool { return t.ID == other.ID }), other)
	}
	t, err := s.pickQuest(cards, "There is no %q that you could take on here.")
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(offers, func(o world.Offered) bool { return o.Card.ID == t.ID }) {
		return cannot("elsewhere", "“%s” is not offered here. Look for the one who gives it.", t.Title())
	}
	quest, _ := world.QuestOf(t)
	gaps, err := s.QuestGaps(s.ctx, quest)
	if err != nil {
		return err
	}
	if len(gaps) > 0 {
		return cannot("unplayable", "Nobody could tell you how that is to be done: %s.", strings.Join(gaps, "; "))
	}
	l := canon.Link{ID: canon.LinkIDOf(world.LinkPursues, s.player.ID.String(), t.ID.String()), Kind: world.LinkPursues,
		From: s.player.ID, To: t.ID, Label: s.player.Label.Meet(t.Label)}
	p := world.Pursuit{State: world.QuestActive, Since: s.presence.Clock}
	if i := slices.IndexFunc(own, func(o world.Pursued) bool { return o.Card.ID == t.ID }); i >= 0 {
		l, p.Times = own[i].Link, own[i].Times
	}
	giver, known, err := s.giverOf(quest)
	if err != nil {
		return err
	}
	if known {
		x := world.Exchange{Verb: command.Accept, Things: t.Title(), Promise: true}
		if err := s.rememberDeed(giver, x); err != nil {
			return err
		}
	}
	return s.setPursuit(l, t, p)
}

// planAbandon gives up a quest.
func (s *turn) planAbandon() error {
	own, err := s.PursuedQuests(s.ctx, s.player.ID)
	if err != nil {
		return err
	}
	active := slicesx.Filter(own, func(p world.Pursued) bool { return p.State == world.QuestActive })
	t, err := s.pickQuest(slicesx.Map(active, func(p world.Pursued) world.Card { return p.Card }),
		"You have taken on no %q.")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(active, func(p world.Pursued) bool { return p.Card.ID == t.ID })
	p := active[i].Pursuit
	p.State, p.Until, p.Done = world.QuestAbandoned, s.presence.Clock, nil
	if err := s.changeGiver(t, active[i].Quest, world.DeedQuestLeft); err != nil {
		return err
	}
	return s.setPursuit(active[i].Link, t, p)
}

// setPursuit plans the state of a quest of the player as its act.
func (s *turn) setPursuit(l canon.Link, quest world.Card, p world.Pursuit) error {
	s.narrowLabel(quest)
	s.aimAt(quest)
	if err := s.linkPursuit(l, p); err != nil {
		return err
	}
	return s.finishTurn(world.PlayerAct)
}

func (s *turn) linkPursuit(l canon.Link, p world.Pursuit) (err error) {
	s.plan.DependOnLink(l)
	if l.Attrs, err = json.Marshal(p); err != nil {
		return err
	}
	_, err = s.plan.Link(l)
	return err
}

// tellQuests lists the quests that a player pursues and those that it is offered.
func (m narrator) tellQuests(ctx context.Context, d world.Action, place canon.CardID) (string, error) {
	own, err := m.PursuedQuests(ctx, d.PlayerID)
	if err != nil {
		return "", err
	}
	offers, err := m.OfferedQuests(ctx, place, own, d.Clock-d.DurationMs)
	var parts []string
	for _, p := range own {
		if p.State == world.QuestActive {
			parts = append(parts, p.Title()+": "+p.DescribeOpen())
		}
	}
	if len(offers) > 0 {
		names := slicesx.Map(offers, func(o world.Offered) string { return "“" + o.Title() + "”" })
		parts = append(parts, "You could take on "+world.JoinNames(names, "or")+".")
	}
	if len(parts) == 0 {
		return "Nothing asks to be done, here and now.", err
	}
	return strings.Join(parts, "\n"), err
}

// tellAccepted narrates that the player takes on a quest.
func (m narrator) tellAccepted(ctx context.Context, d world.Action) (string, error) {
	if d.Target == nil {
		return "", nil
	}
	t, ok, err := m.CardByID(ctx, d.Target.ID)
	if err != nil || !ok {
		return "You take it on.", err
	}
	quest, _ := world.QuestOf(t)
	steps := slicesx.Map(quest.OpenSteps(world.Pursuit{}), world.QuestStep.Describe)
	return "You take on “" + t.Title() + "”. " + strings.Join(steps, " "), nil
}
