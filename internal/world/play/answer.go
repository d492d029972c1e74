package play

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// answer answers a question of a kind with an answer of its own. "" is no answer.
func (a *answerer) answer() (string, error) {
	switch a.q.Kind {
	case command.AskedWhere:
		return a.tellWhere()
	case command.AskedTime:
		return "It is " + inTheDay(a.Tick) + ".", nil
	case command.AskedDay:
		return "It is " + inTheDay(a.Tick) + ", on day " + strconv.FormatInt(a.Tick/world.Day+1,
			10) + " of this world's clock.", nil
	case command.AskedWeather:
		return a.tellWeather()
	case command.AskedPeople:
		return a.tellPeople()
	case command.AskedMe:
		return a.tellMe()
	case command.AskedPast:
		return a.tellPast()
	case command.AskedQuest, command.AskedTakeUp:
		return a.tellQuest()
	case command.AskedDo:
		return a.tellOptions()
	case command.AskedMoney, command.AskedHave:
		return a.tellHaving()
	case command.AskedThings:
		return a.tellThings()
	case command.AskedExits, command.AskedLeads, command.AskedWay, command.AskedLocate:
		return a.answerWay()
	case command.AskedCost:
		text, err := a.tellFare(a.q.Subject)
		a.denied = text == ""
		return cmp.Or(text, "Nobody here sells any "+strconv.Quote(a.q.Subject)+"."), err
	case command.AskedPrices:
		text, err := a.tellFare("")
		return cmp.Or(text, "Nobody here has anything to sell."), err
	case command.AskedSense:
		return a.m.tellDetail(a.ctx, a.place, world.Action{Detail: "air"})
	case command.AskedAble:
		return a.tellAbility()
	}
	return a.answerAbout()
}

// inTheDay returns the time of day for use after "it is".
func inTheDay(tick int64) string {
	switch t := world.TimeOfDay(tick); t {
	case "morning", "afternoon":
		return "the " + t
	default:
		return t
	}
}

func (a *answerer) tellWhere() (string, error) {
	text, err := a.ReadText(a.ctx, a.place)
	first := ""
	if list := slices.Collect(meaning.Sentences(text)); len(list) > 0 {
		first = " " + list[0]
	}
	return "This is " + a.place.Title() + "." + first, err
}

// weatherWords are nouns of the weather that texts have.
var weatherWords = strings.Fields("rain wind fog mist snow storm sun cloud drizzle frost ice hail gale breeze heat " +
	"cold thunder")

func (a *answerer) tellWeather() (string, error) {
	all, err := passagesAt(a.ctx, a.AsOf, a.place)
	if err != nil {
		return "", err
	}
	for _, word := range slices.Concat(slicesx.Map(a.q.Words, stemOf), weatherWords) {
		if len(word) < 3 {
			continue
		}
		for _, p := range slices.Backward(all) {
			for s := range meaning.Sentences(p.text) {
				if slices.ContainsFunc(command.BareWords(s), func(w string) bool { return stemOf(w) == word }) &&
					slices.Contains(weatherWords, word) {
					return s, nil
				}
			}
		}
	}
	return "Nothing here tells you of the weather. It is " + inTheDay(a.Tick) + ".", nil
}

func (a *answerer) tellPeople() (string, error) {
	folk, err := a.listFolk()
	if len(folk) == 0 {
		return "Nobody is here but you.", err
	}
	return "Here: " + world.JoinNames(folk, "and") + ".", err
}

func (a *answerer) tellMe() (string, error) {
	var who struct {
		Wounds float64 `json:"wounds"`
	}
	world.DecodeFields(a.player.Fields, &who)
	text, err := a.ReadText(a.ctx, a.player)
	parts := []string{"You are " + a.player.Title() + "."}
	if text = markup.OneLine(text); text != "" {
		parts = append(parts, text)
	}
	state := "You are unhurt."
	if n := int64(who.Wounds); n == 1 {
		state = "You have a wound."
	} else if n > 1 {
		state = "You have " + strconv.FormatInt(n, 10) + " wounds."
	}
	return strings.Join(append(parts, state, "It is "+inTheDay(a.Tick)+"."), " "), err
}

// pastActs is the number of acts that the question what one has done is answered with.
const pastActs = 3

func (a *answerer) tellPast() (string, error) {
	if a.q.Words[0] != "what" {
		return a.tellWayBack()
	}
	events, _, err := a.Events(a.ctx, canon.EventQuery{Actor: a.player.ID.String(),
		Page:  canon.Page{Limit: pastActs, Uncounted: true},
		Types: []string{string(world.PlayerMove), string(world.PlayerAct), string(world.PlayerTrade)}})
	var parts []string
	for _, e := range slices.Backward(events) {
		if e, err = a.Perceive(a.ctx, e); err != nil {
			return "", err
		}
		text, err := a.m.narrateEvent(a.ctx, e)
		if err != nil {
			return "", err
		}
		if list := slices.Collect(meaning.Sentences(text)); len(list) > 0 {
			parts = append(parts, list[0])
		}
	}
	if len(parts) == 0 {
		return "You have done nothing of note yet.", err
	}
	return "The last that you did: " + strings.Join(parts, " "), err
}

// tellQuest describes one quest with the player's progress, or the way to accept the quests that are offered.
func (a *answerer) tellQuest() (string, error) {
	own, err := a.PursuedQuests(a.ctx, a.player.ID)
	if err != nil {
		return "", err
	}
	offers, err := a.OfferedQuests(a.ctx, a.place.ID, own, a.presence.Clock)
	if err != nil {
		return "", err
	}
	known := append(slicesx.Map(own, func(p world.Pursued) world.Card { return p.Card }),
		slicesx.Map(offers, func(o world.Offered) world.Card { return o.Card })...)
	found := findMatches(a.q.Subject, known)
	if len(found) == 0 && (a.q.Subject == "" || slices.Contains(anyQuest, strings.ToLower(a.q.Subject))) {
		found = slicesx.Map(offers, func(o world.Offered) world.Card { return o.Card })
		if a.q.Kind == command.AskedQuest && len(known) > 0 {
			found = known
		}
	}
	if len(found) == 0 && a.q.Kind == command.AskedTakeUp {
		return "Nothing is offered to you here.", nil
	}
	if len(found) == 0 {
		return "", nil
	}
	return a.describeQuest(found[0], own)
}

// describeQuest describes a quest of the player, or one that is offered.
func (a *answerer) describeQuest(t world.Card, own []world.Pursued) (string, error) {
	text, err := a.ReadText(a.ctx, t)
	text, _ = world.CutText(markup.OneLine(text), world.MaxText)
	quest, _ := world.QuestOf(t)
	parts := []string{"“" + t.Title() + "”:", text}
	i := slices.IndexFunc(own, func(p world.Pursued) bool { return p.Card.ID == t.ID })
	switch {
	case i < 0:
		parts = append(parts, strings.Join(slicesx.Map(quest.OpenSteps(world.Pursuit{}), world.QuestStep.Describe),
			" "),
			"To take it on, say: accept "+t.Title()+".")
	case own[i].State == world.QuestActive:
		parts = append(parts,
			strconv.Itoa(len(own[i].Done))+" of "+strconv.Itoa(len(quest.Steps))+" done. Next: "+own[i].DescribeOpen())
	default:
		parts = append(parts, map[string]string{world.QuestDone: "You have done it.",
			world.QuestFailed:    "You have failed at it.",
			world.QuestAbandoned: "You have given it up."}[own[i].State])
	}
	if len(quest.Rewards) > 0 && (i < 0 || own[i].State == world.QuestActive) {
		parts = append(parts, "Reward: "+world.JoinNames(quest.Rewards, "and")+".")
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " "), err
}

// tellOptions lists the acts that are open to the player here.
func (a *answerer) tellOptions() (string, error) {
	folk, err := a.listFolk()
	if err != nil {
		return "", err
	}
	things, err := a.listThings()
	if err != nil {
		return "", err
	}
	exits, err := a.Exits(a.ctx, a.place)
	if err != nil {
		return "", err
	}
	var parts []string
	if len(folk) > 0 {
		parts = append(parts, "You could talk to "+world.JoinNames(folk, "or")+".")
	}
	if len(things) > 0 {
		parts = append(parts, "You could look at or take "+world.JoinNames(things, "or")+".")
	}
	quests, err := a.m.tellQuests(a.ctx, world.Action{PlayerID: a.player.ID, Clock: a.presence.Clock}, a.place.ID)
	if err != nil {
		return "", err
	}
	parts = append(parts, strings.ReplaceAll(quests, "\n", " "), tellExits(exits))
	return strings.Join(parts, " "), nil
}

// listThings returns the names of the things that lie here.
func (a *answerer) listThings() ([]string, error) {
	all, err := a.cardsAround()
	return slicesx.Map(slicesx.Filter(all, isPortable), world.Indefinite), err
}

func (a *answerer) tellThings() (string, error) {
	things, err := a.listThings()
	if len(things) == 0 {
		return "Nothing lies here that you could take.", err
	}
	return "There lies: " + world.JoinNames(things, "and") + ".", err
}

// tellHaving names the things of the player that the question means, or its money.
func (a *answerer) tellHaving() (string, error) {
	own, err := a.HeldItems(a.ctx, a.player.ID)
	if err != nil {
		return "", err
	}
	named := findMatches(nameWithoutCount(a.q.Subject), slicesx.Map(own,
		func(h world.Held) world.Card { return h.Card }))
	found := slicesx.Filter(own, func(h world.Held) bool {
		if a.q.Kind == command.AskedMoney {
			return isMoney(h.Card)
		}
		return slices.ContainsFunc(named, func(t world.Card) bool { return t.ID == h.Card.ID })
	})
	switch {
	case len(found) > 0:
		return a.m.tellInventory(a.ctx, found)
	case a.q.Kind == command.AskedMoney:
		return "You have no money.", nil
	}
	return "You have no " + a.q.Subject + ".", nil
}

func nameWithoutCount(name string) string {
	_, name = command.SplitCount(name)
	return name
}

// isMoney reports whether a card is money, by its name.
func isMoney(t world.Card) bool {
	words := command.BareWords(t.Title())
	return slices.ContainsFunc(words, func(w string) bool {
		noun := meaning.Lemma(w, meaning.Noun)
		return noun != "" && (meaning.IsA(noun, meaning.Noun, "currency") || meaning.IsA(noun, meaning.Noun,
			"monetary unit") ||
			meaning.IsA(noun, meaning.Noun, "coin"))
	})
}

// tellAbility answers the question for an act: it may be tried if its object is there. Nothing is done.
func (a *answerer) tellAbility() (string, error) {
	phrase := strings.Join(
		slicesx.Map(strings.Fields(a.q.Subject), func(w string) string { return cmp.Or(otherPerson[w], w) }),
		" ",
	)
	if a.q.Words[0] == "should" || a.q.Words[0] == "must" || a.q.Words[0] == "shall" {
		return "That is for you to say: nobody here tells you whether to " + phrase + ".", nil
	}
	p := command.Parse(phrase)
	if len(p.Intents) > 0 && p.Intents[0].Verb == command.Move {
		exits, err := a.listExits()
		if way, ok := findNamedExit(exits, p.Intents[0]); ok || err != nil {
			return tellNamedExit(way), err
		}
	}
	if verb, where, _ := strings.Cut(phrase, " "); slices.Contains(easyActs, verb) &&
		(where == "" || where == "down" || command.MeansHere(strings.TrimPrefix(where, "down "))) {
		return "Yes, you can " + phrase + ".", nil
	}
	if len(p.Intents) == 0 || p.Intents[0].DirectObject == "" || p.Intents[0].Verb == command.Talk {
		return "You could try to " + phrase + ".", nil
	}
	i := p.Intents[0]
	name := nameWithoutCount(i.DirectObject)
	all, err := a.listAround()
	if err != nil {
		return "", err
	}
	found := findMatches(name, all)
	switch {
	case len(found) > 0 && i.Verb == command.Take && !isPortable(found[0]):
		return found[0].Title() + " stays where it is.", nil
	case len(found) > 0 || isEverywhere(name) || command.MeansHere(name):
		return "You could try to " + phrase + ".", nil
	}
	if sentence, err := a.findPassage(name); err != nil || sentence != "" {
		return "You could try to " + phrase + ".", err
	}
	return "You see no " + name + " here.", nil
}
