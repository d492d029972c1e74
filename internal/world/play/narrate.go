package play

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// narrator narrates acts from the data that a reader may see.
type narrator struct{ *world.AsOf }

// narrateEvent narrates an event to the player who caused it: a template filled from the committed
// event and from the data that the reader may see now.
func (m narrator) narrateEvent(ctx context.Context, e canon.StoredEvent) (string, error) {
	switch event.Type(e.Type) {
	case world.ClockReconciled:
		return m.tellReconciliation(ctx, e)
	case world.QuestAdvanced:
		return m.tellProgress(ctx, e.Payload)
	}
	var d world.Action
	if err := json.Unmarshal(e.Payload, &d); err != nil {
		return "", fmt.Errorf("world: event %s: %w", e.ID, err)
	}
	switch event.Type(e.Type) {
	case world.PlayerMove:
		return m.tellMove(ctx, d)
	case world.PlayerLook:
		return m.tellLook(ctx, d, e)
	case world.PlayerAct, world.PlayerTrade:
		return m.tellAct(ctx, d)
	}
	return "", nil
}

// tellReconciliation narrates to a player how it was set to the time of a place, if that is another part of the day than
// its own. That the player is ahead of the hour is told once for each part of the day.
func (m narrator) tellReconciliation(ctx context.Context, e canon.StoredEvent) (string, error) {
	var r, earlier world.Reconciliation
	world.DecodeFields(e.Payload, &r)
	switch {
	case r.Policy == world.PolicyWait && world.TimeOfDay(r.From) != world.TimeOfDay(r.Clock):
		return "The time has gone by: it is " + world.TimeOfDay(r.Clock) + " now.", nil
	case r.Policy != world.PolicyCompress || world.TimeOfDay(r.From) == world.TimeOfDay(r.Anchor):
		return "", nil
	}
	events, _, err := m.Events(ctx, canon.EventQuery{Scopes: []string{e.Scope}, Types: []string{e.Type},
		Page: canon.Page{Limit: freshWindow, Uncounted: true}})
	for _, other := range events { // the latest first
		if other.Seq >= e.Seq {
			continue
		}
		if world.DecodeFields(other.Payload, &earlier); earlier.Policy == world.PolicyCompress &&
			world.TimeOfDay(earlier.Anchor) == world.TimeOfDay(r.Anchor) && r.From-earlier.From < world.Day/4 {
			return "", err
		}
		if earlier.Policy == world.PolicyCompress {
			break
		}
	}
	return "It is earlier than you thought: it is still " + world.TimeOfDay(r.Anchor) + " here.", err
}

func (m narrator) tellMove(ctx context.Context, d world.Action) (string, error) {
	head := "You go " + d.Direction.Going()
	if d.Verb == command.Flee {
		head = "You run " + d.Direction.Going()
	}
	if d.To == nil {
		return head + ".", nil
	}
	t, ok, err := m.CardByID(ctx, *d.To)
	if err != nil || !ok {
		return head + ".", err
	}
	if d.CutMs >= longTravel {
		head += ". The way is long, and yet you are there sooner than you had thought"
	}
	view, err := m.describePlace(ctx, t, d.PlayerID)
	return head + ". " + view, err
}

// describePlace describes a place to somebody who is there.
func (m narrator) describePlace(ctx context.Context, t world.Card, player canon.CardID) (string, error) {
	text, err := m.ReadText(ctx, t)
	if err != nil {
		return "", err
	}
	if err := m.PrefetchPlace(ctx, t.ID); err != nil {
		return "", err
	}
	layers, err := m.LayersAt(ctx, t)
	if err != nil {
		return "", err
	}
	parts := []string{t.Title() + "."}
	for _, more := range []string{text, layers[world.LayerDynamic].Text, layers[world.LayerAmbient].Text} {
		if more = markup.OneLine(more); more != "" {
			parts = append(parts, more)
		}
	}
	company, err := m.tellCompany(ctx, t, player, text)
	if err != nil {
		return "", err
	}
	exits, err := m.Exits(ctx, t)
	return strings.Join(append(append(parts, company...), tellExits(exits)), " "), err
}

// tellCompany lists the persons and things at a place, in sentences. Things that the text of the place tells of
// already, as it was before somebody handled them, are left out.
func (m narrator) tellCompany(ctx context.Context, t world.Card, player canon.CardID, text string) ([]string, error) {
	here, err := m.CardsHere(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	lying, err := m.HeldItems(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	var folk, players, things []string
	for _, h := range here {
		switch {
		case h.ID == player:
		case h.IsType(world.TypePlayer):
			players = append(players, h.Title()+" (a traveller like you)")
		case world.IsAlive(h):
			folk = append(folk, world.Definite(h))
		default:
			things = append(things, world.Indefinite(h))
		}
	}
	var standing []string
	for _, c := range lying {
		switch {
		case strings.HasPrefix(c.Card.Name, t.Name+"+") && command.NameIn(text, c.Card.Title()) != "":
		case isPortable(c.Card):
			things = append(things, world.CountedName(c))
		default:
			standing = append(standing, world.CountedName(c))
		}
	}
	var out []string
	if folk = append(folk, players...); len(folk) > 0 {
		out = append(out, "Here: "+world.JoinNames(folk, "and")+".")
	}
	if len(things) > 0 {
		out = append(out, "There lies: "+world.JoinNames(things, "and")+".")
	}
	if len(standing) > 0 {
		out = append(out, "Here you see: "+world.JoinNames(standing, "and")+".")
	}
	return out, nil
}

func tellExits(exits []world.Exit) string {
	var ways []string
	for _, e := range exits {
		if e.Availability == world.ExitHard {
			ways = append(ways, string(e.Direction))
		}
	}
	if len(ways) == 0 {
		return "There is no way out."
	}
	return "Ways out: " + strings.Join(ways, ", ") + "."
}

func (m narrator) tellLook(ctx context.Context, d world.Action, e canon.StoredEvent) (string, error) {
	_, place, _ := world.ParseScope(e.Scope)
	switch {
	case d.Verb == command.Inventory:
		own, err := m.HeldItems(ctx, d.PlayerID)
		if err != nil {
			return "", err
		}
		return m.tellInventory(ctx, own)
	case d.Verb == command.Quests:
		return m.tellQuests(ctx, d, place)
	case d.Verb == command.Ask:
		return m.tellAnswer(ctx, d, place)
	case len(d.Objects) > 0 && d.Verb != command.Price:
		return m.tellThing(ctx, d.Objects[0])
	}
	t, ok, err := m.CardByID(ctx, place)
	if err != nil || !ok {
		return "You look around.", err
	}
	switch {
	case d.Verb == command.Price:
		return m.tellPrices(ctx, d, t)
	case d.Direction != "":
		exits, err := m.Exits(ctx, t)
		return tellExit(exits, d.Direction), err
	case d.Detail != "":
		return m.tellDetail(ctx, t, d)
	}
	return m.describePlace(ctx, t, d.PlayerID)
}

// tellDetail narrates a look at a thing that a text at the place, or of a card there, names. Of the air and its like
// the mood tells.
func (m narrator) tellDetail(ctx context.Context, t world.Card, d world.Action) (string, error) {
	of := t
	if d.Target != nil {
		card, ok, err := m.CardByID(ctx, d.Target.ID)
		if err != nil || !ok {
			return "You see nothing of note.", err
		}
		of = card
	}
	all, err := passagesAt(ctx, m.AsOf, of)
	if err != nil {
		return "", err
	}
	for _, near := range nearnesses {
		if r := findMention(all, d.Detail, near); r.mention.Denied {
			return "There is no " + r.name + ": “" + r.mention.Sentence + "”", nil
		} else if r.isMentioned() {
			return r.mention.Sentence, nil
		}
	}
	if d.Target != nil {
		lines, err := answersOf(ctx, m.AsOf, d.Target.ID, d.PlayerID)
		if err != nil {
			return "", err
		}
		for _, line := range lines {
			if r := findMention([]passage{newPassage(line, of.Label, of.ID)}, d.Detail, command.SameWords); r.isMentioned() {
				return "You know of it from " + world.Definite(of) + " only: “" + r.mention.Sentence + "”", nil
			}
		}
	}
	if isEverywhere(d.Detail) && len(all) > 1 {
		return all[len(all)-1].text, nil
	}
	return "You see nothing more than you saw before.", nil
}

func (m narrator) tellInventory(ctx context.Context, own []world.Held) (string, error) {
	if len(own) == 0 {
		return "You carry nothing.", nil
	}
	ids := slicesx.Map(own, func(c world.Held) canon.CardID { return c.ID })
	layers, err := m.Layers(ctx, canon.LayerQuery{Cards: ids, Active: true, Tick: m.Tick, AsOf: m.Seq})
	worn := map[canon.CardID]bool{}
	for _, l := range layers {
		if l.Kind == world.LayerDynamic &&
			slices.ContainsFunc(linesOf(l), func(s string) bool { return aspectOf(s) == "wearer" }) {
			worn[l.Card] = true
		}
	}
	names := slicesx.Map(own, func(c world.Held) string {
		if worn[c.ID] {
			return world.CountedName(c) + " (worn)"
		}
		return world.CountedName(c)
	})
	return "You carry " + world.JoinNames(names, "and") + ".", err
}

func (m narrator) tellThing(ctx context.Context, o world.ObjectRef) (string, error) {
	t, ok, err := m.CardByID(ctx, o.ID)
	if err != nil || !ok {
		return "You see nothing of note.", err
	}
	text, err := m.ReadText(ctx, t)
	if err != nil {
		return "", err
	}
	text, _ = world.CutText(strings.Join(strings.Fields(text), " "), world.MaxText)
	if t.IsType(world.TypePlayer) && text == "" {
		text = t.Title() + " is a traveller like you."
	}
	if text == "" {
		text = "You see nothing special about " + t.Title() + "."
	}
	traces, err := readTrace(ctx, m.AsOf, t.ID)
	if err != nil {
		return "", err
	}
	inside, err := m.tellContents(ctx, t, "")
	if inside != "" {
		traces = append(traces, inside)
	}
	return strings.Join(append([]string{text}, traces...), " "), err
}

// asSentence returns words with a capital and a full stop, if they have none.
func asSentence(words string) string {
	words = capitalize(words)
	if last, _ := utf8.DecodeLastRuneInString(words); unicode.IsLetter(last) {
		words += "."
	}
	return words
}

// whereIs tells where something is that lies in a direction: to the north, inside.
func whereIs(d command.Direction) string {
	if inOut := d.Going(); inOut != string(d) {
		return inOut
	}
	return d.Phrase()
}

func tellExit(exits []world.Exit, d command.Direction) string {
	e, ok := world.ExitToward(exits, d)
	switch {
	case !ok && (d == "up" || d == "down"):
		return "You look " + string(d) + ", and see nothing of note."
	case !ok:
		return "You see nothing of note " + whereIs(d) + "."
	case e.Description != "":
		return e.Description
	case e.Reason != "":
		return e.Reason
	}
	return "A way leads " + d.Phrase() + "."
}

func (m narrator) tellAct(ctx context.Context, d world.Action) (string, error) {
	if d.Handling != nil {
		return m.tellHandling(ctx, d)
	}
	what := d.ObjectNames()
	switch d.Verb {
	case command.Take:
		return "You take " + what + ".", nil
	case command.Drop:
		if d.Target != nil {
			return "You put " + what + " into " + world.DefiniteName(d.Target.Name) + ".", nil
		}
		return "You put " + what + " down.", nil
	case command.Give:
		return "You give " + what + " to " + world.DefiniteName(d.Target.Name) + ".", nil
	case command.Buy, command.Sell:
		return tellTrade(d), nil
	case command.Haggle:
		return tellHaggling(d), nil
	case command.Use:
		return m.tellUse(ctx, d)
	case command.Talk:
		return m.tellTalk(ctx, d)
	case command.Attack, command.Throw:
		return tellBlow(d), nil
	case command.Attempt:
		return m.tellAttempt(ctx, d)
	case command.Accept:
		return m.tellAccepted(ctx, d)
	case command.Abandon:
		return "You give up “" + d.Target.Name + "”.", nil
	case command.Defend:
		return "You brace yourself.", nil
	case command.Rest:
		return tellRest(d), nil
	}
	return "Time passes.", nil
}

// tellRest narrates a rest, asleep or waiting, also one that ends early because the player is as far ahead of the
// world as MaxLead allows.
func tellRest(d world.Action) string {
	switch {
	case d.CutMs == 0:
		return "You rest for " + world.FormatDuration(d.DurationMs) + ", and stir again " + inDayPart(d.Clock) + "."
	case d.DurationMs < world.Minute:
		return "You settle down, and no rest comes: hardly a moment has passed. " +
			"It is too soon to rest again."
	}
	return "You rest for " + world.FormatDuration(d.DurationMs) + ", and stir again before you meant to, " +
		inDayPart(d.Clock) + "."
}

// tooLong tells that a wait ended early because the player is as far ahead of the world as MaxLead allows.
const tooLong = "You have had enough of it before the time is up."

// longTravel is the cut of a travel from which on the narration mentions that it took less time
// than it should.
const longTravel = 10 * world.Minute

// inDayPart returns the time of day as used after "you stir again": "in the afternoon".
func inDayPart(tick int64) string {
	switch t := world.TimeOfDay(tick); t {
	case "dawn":
		return "in the grey of dawn"
	case "dusk":
		return "in the last of the light"
	default:
		return "in the " + t
	}
}

func (m narrator) tellUse(ctx context.Context, d world.Action) (string, error) {
	what := d.ObjectNames()
	if d.Effect == "unlocked" {
		return "You turn " + what + ", and the way " + d.Direction.Phrase() + " is open.", nil
	}
	if len(d.Objects) > 0 {
		t, ok, err := m.CardByID(ctx, d.Objects[0].ID)
		if err != nil {
			return "", err
		}
		var f usable
		if world.DecodeFields(t.Fields, &f); ok && f.Use != "" {
			text, _ := world.CutText(markup.Clean(f.Use), world.MaxText)
			return text, nil
		}
	}
	if d.Target != nil {
		return "You hold " + what + " to " + world.DefiniteName(
			d.Target.Name,
		) + ". The two have nothing to say to each other.", nil
	}
	return "You turn " + what + " this way and that. It does nothing that it did not do before.", nil
}

func (m narrator) tellTalk(ctx context.Context, d world.Action) (string, error) {
	if d.Target == nil {
		if told, err := m.tellCourtesy(ctx, d); err != nil || told != "" {
			return told, err
		}
	}
	switch {
	case d.Target == nil && d.Detail == "":
		return calling.tell(d.Line, ""), nil
	case d.Target == nil:
		return unheard.tell(d.Line, asSentence(d.Detail)), nil
	}
	t, ok, err := m.CardByID(ctx, d.Target.ID)
	switch {
	case err != nil:
		return "", err
	case ok && t.IsType(world.TypePlayer) && d.Detail == "": // a player answers for itself, or not
		return "You turn to " + d.Target.Name + ".", nil
	case ok && t.IsType(world.TypePlayer) && isIndirect(d.Detail):
		return "You ask " + d.Target.Name + " " + d.Detail + ".", nil
	case ok && t.IsType(world.TypePlayer):
		return "You say to " + d.Target.Name + ": “" + d.Detail + "”", nil
	}
	line := d.Answer
	if !d.Private {
		line, _ = world.AnswerOf(t, d.Detail, d.Line)
	}
	who := capitalize(world.DefiniteName(d.Target.Name))
	var f struct {
		Group bool `json:"group"`
	}
	if world.DecodeFields(t.Fields, &f); f.Group && line != "" {
		return strings.Replace(world.Quote(who, line), " says: ", " say: ", 1), nil
	}
	if line != "" {
		return world.Quote(who, line), nil
	}
	return listening.tell(d.Line, who), nil
}

// tellCourtesy narrates how those who are here answer a courtesy to all of them; "" if nobody does.
func (m narrator) tellCourtesy(ctx context.Context, d world.Action) (string, error) {
	i := slices.IndexFunc(courtesies, func(c courtesy) bool { return c.said.MatchString(d.Detail) })
	at, ok, err := m.FindAtLink(ctx, d.PlayerID)
	if i < 0 || err != nil || !ok {
		return "", err
	}
	here, err := m.CardsHere(ctx, at.To)
	var folk []string
	for _, t := range here {
		if world.IsAlive(t) && !world.IsDead(t) && !t.IsType(world.TypePlayer) && !t.IsType("Creature") {
			folk = append(folk, world.Definite(t))
		}
	}
	switch len(folk) {
	case 0:
		return "", err
	case 1:
		return world.Quote(capitalize(folk[0]), courtesies[i].lines[d.Line%len(courtesies[i].lines)]), err
	}
	return capitalize(world.JoinNames(folk, "and")) + " " + courtesies[i].shown + ".", err
}

func tellBlow(d world.Action) string {
	with, to := "", ""
	if d.Target != nil {
		to = world.DefiniteName(d.Target.Name)
	}
	if len(d.Objects) > 0 {
		with = " with " + d.ObjectNames()
	}
	switch {
	case d.Target == nil:
		return "You throw " + d.ObjectNames() + ". It comes down again."
	case d.Verb == command.Throw && d.Effect == "":
		return "You throw " + d.ObjectNames() + " at " + to + ". It glances off."
	case d.Effect == "beaten" && d.Verb == command.Throw:
		return "You throw " + d.ObjectNames() + " at " + to + ", who has had enough."
	case d.Verb == command.Throw:
		return "You throw " + d.ObjectNames() + " at " + to + ", and it hits."
	case d.Effect == "beaten":
		return "You strike " + to + with + ", who has had enough."
	}
	return "You strike " + to + with + ", who gives ground."
}
