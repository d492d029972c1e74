package world

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// narrateEvent narrates an event to the player who caused it: a template filled from the committed
// event and from the data that the reader may see now.
func (m *asOf) narrateEvent(ctx context.Context, e canon.StoredEvent) (string, error) {
	if EventType(e.Type) == ClockReconciled {
		return tellReconciliation(e.Payload), nil
	}
	var d action
	if err := json.Unmarshal(e.Payload, &d); err != nil {
		return "", fmt.Errorf("world: event %s: %w", e.ID, err)
	}
	switch EventType(e.Type) {
	case PlayerMove:
		return m.tellMove(ctx, d)
	case PlayerLook:
		return m.tellLook(ctx, d, e)
	case PlayerAct:
		return m.tellAct(ctx, d)
	}
	return "", nil
}

// tellReconciliation narrates to a player how it was set to the time of a place.
func tellReconciliation(payload json.RawMessage) string {
	var r reconciliation
	fieldsOf(payload, &r)
	switch r.Policy {
	case policyWait:
		return "You wait " + formatDuration(r.Clock-r.From) + "; it is " + TimeOfDay(r.Clock) + " now."
	case policyCompress:
		return "You are ahead of the hour here. The rest of the " + TimeOfDay(r.Anchor) +
			" passes before it has caught up with you."
	}
	return ""
}

func (m *asOf) tellMove(ctx context.Context, d action) (string, error) {
	head := "You go " + goingPhrase(d.Direction)
	if d.Verb == VerbFlee {
		head = "You run " + goingPhrase(d.Direction)
	}
	if d.To == nil {
		return head + ".", nil
	}
	t, ok, err := m.cardAt(ctx, *d.To)
	if err != nil || !ok {
		return head + ".", err
	}
	if d.CutMs >= longTravel {
		head += ". The way is long, and you are there sooner than you should be: the world has yet to catch up with you"
	}
	view, err := m.describePlace(ctx, t, d.PlayerID)
	return head + ". " + view, err
}

// goingPhrase returns a direction as used after "you go".
func goingPhrase(d Direction) string {
	if d == "in" || d == "out" {
		return string(d) + "side"
	}
	return string(d)
}

// describePlace describes a place to somebody who is there.
func (m *asOf) describePlace(ctx context.Context, t cardAt, player canon.CardID) (string, error) {
	text, err := m.readText(ctx, t)
	if err != nil {
		return "", err
	}
	if err := m.prefetchPlace(ctx, t.ID); err != nil {
		return "", err
	}
	around, err := m.realmsOf(ctx, t)
	if err != nil {
		return "", err
	}
	layers, err := m.findActiveLayers(ctx, t, around)
	if err != nil {
		return "", err
	}
	parts := []string{t.title() + "."}
	for _, more := range []string{text, layers[LayerDynamic].Text, layers[LayerAmbient].Text} {
		if more = markup.OneLine(more); more != "" {
			parts = append(parts, more)
		}
	}
	company, err := m.tellCompany(ctx, t, player)
	if err != nil {
		return "", err
	}
	exits, err := m.readExits(ctx, t)
	return strings.Join(append(append(parts, company...), tellExits(exits)), " "), err
}

// tellCompany lists the persons and things at a place, in sentences.
func (m *asOf) tellCompany(ctx context.Context, t cardAt, player canon.CardID) ([]string, error) {
	here, err := m.cardsHere(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	lying, err := m.heldItems(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	var folk, things []string
	for _, h := range here {
		switch {
		case h.ID == player:
		case isAlive(h):
			folk = append(folk, h.title())
		default:
			things = append(things, h.title())
		}
	}
	for _, c := range lying {
		things = append(things, c.countedName())
	}
	var out []string
	if len(folk) > 0 {
		out = append(out, "Here: "+joinNames(folk, "and")+".")
	}
	if len(things) > 0 {
		out = append(out, "There lies: "+joinNames(things, "and")+".")
	}
	return out, nil
}

// countedName returns the name of a thing with its quantity: "Copper Coin (5)".
func (c carried) countedName() string {
	if c.Quantity == 1 {
		return c.card.title()
	}
	return fmt.Sprintf("%s (%d)", c.card.title(), c.Quantity)
}

func tellExits(exits []exit) string {
	var ways []string
	for _, e := range exits {
		if e.Availability == ExitHard {
			ways = append(ways, string(e.Direction))
		}
	}
	if len(ways) == 0 {
		return "There is no way out."
	}
	return "Ways out: " + strings.Join(ways, ", ") + "."
}

func (m *asOf) tellLook(ctx context.Context, d action, e canon.StoredEvent) (string, error) {
	_, place, _ := ParseScope(e.Scope)
	switch {
	case d.Verb == VerbInventory:
		own, err := m.heldItems(ctx, d.PlayerID)
		return tellInventory(own), err
	case len(d.Objects) > 0:
		return m.tellThing(ctx, d.Objects[0])
	}
	t, ok, err := m.cardAt(ctx, place)
	if err != nil || !ok {
		return "You look around.", err
	}
	switch {
	case d.Direction != "":
		exits, err := m.readExits(ctx, t)
		return tellExit(exits, d.Direction), err
	case d.Detail != "":
		text, err := m.readText(ctx, t)
		if s := sentenceAbout(text, d.Detail); s != "" {
			return s, err
		}
		return "You see nothing more than you saw before.", err
	}
	return m.describePlace(ctx, t, d.PlayerID)
}

func tellInventory(own []carried) string {
	if len(own) == 0 {
		return "You carry nothing."
	}
	names := make([]string, len(own))
	for i, c := range own {
		names[i] = c.countedName()
	}
	return "You carry " + joinNames(names, "and") + "."
}

func (m *asOf) tellThing(ctx context.Context, o objectRef) (string, error) {
	t, ok, err := m.cardAt(ctx, o.ID)
	if err != nil || !ok {
		return "You see nothing of note.", err
	}
	text, err := m.readText(ctx, t)
	if err != nil {
		return "", err
	}
	text, _ = shortenText(strings.Join(strings.Fields(text), " "), maxText)
	if t.isType(typePlayer) && text == "" {
		text = t.title() + " is a traveller like you."
	}
	if text == "" {
		text = "You see nothing special about " + t.title() + "."
	}
	inside, err := m.heldItems(ctx, t.ID)
	if err == nil && len(inside) > 0 && !isAlive(t) {
		names := make([]string, len(inside))
		for i, c := range inside {
			names[i] = c.countedName()
		}
		text += " It holds " + joinNames(names, "and") + "."
	}
	return text, err
}

func tellExit(exits []exit, d Direction) string {
	e, ok := exitToward(exits, d)
	switch {
	case !ok:
		return "You see nothing of note " + d.phrase() + "."
	case e.Description != "":
		return e.Description
	case e.Reason != "":
		return e.Reason
	}
	return "A way leads " + d.phrase() + "."
}

func (m *asOf) tellAct(ctx context.Context, d action) (string, error) {
	what := d.objectNames()
	switch d.Verb {
	case VerbTake:
		return "You take " + what + ".", nil
	case VerbDrop:
		if d.Target != nil {
			return "You put " + what + " into " + d.Target.Name + ".", nil
		}
		return "You put " + what + " down.", nil
	case VerbGive:
		return "You give " + what + " to " + d.Target.Name + ".", nil
	case VerbUse:
		return m.tellUse(ctx, d)
	case VerbTalk:
		return m.tellTalk(ctx, d)
	case VerbAttack, VerbThrow:
		return tellBlow(d), nil
	case VerbDefend:
		return "You brace yourself.", nil
	case VerbRest:
		return tellRest(d), nil
	}
	return "Time passes.", nil
}

// tellRest narrates a sleep, also one that ends early because the sleeper is as far ahead of the
// world as maxLead allows.
func tellRest(d action) string {
	switch {
	case d.CutMs == 0:
		return "You sleep, and wake " + inDayPart(d.Clock) + "."
	case d.DurationMs < minute:
		return "You lie down, and sleep does not come: hardly a moment has passed. Rest again when the world has caught up with you."
	}
	return "You sleep, and wake after " + formatDuration(d.DurationMs) + ", " + inDayPart(d.Clock) +
		". Time would pass no faster: the world has yet to catch up with you."
}

// longTravel is the cut of a travel from which on the narration mentions that it took less time
// than it should.
const longTravel = 10 * minute

// inDayPart returns the time of day as used after "you wake": "in the afternoon".
func inDayPart(tick int64) string {
	switch t := TimeOfDay(tick); t {
	case "dawn":
		return "in the grey of dawn"
	case "dusk":
		return "in the last of the light"
	default:
		return "in the " + t
	}
}

func (d action) objectNames() string {
	names := make([]string, len(d.Objects))
	for i, o := range d.Objects {
		names[i] = o.Name
		if o.Quantity > 1 {
			names[i] = fmt.Sprintf("%s (%d)", o.Name, o.Quantity)
		}
	}
	return joinNames(names, "and")
}

func (m *asOf) tellUse(ctx context.Context, d action) (string, error) {
	what := d.objectNames()
	if d.Effect == "unlocked" {
		return "You turn " + what + ", and the way " + d.Direction.phrase() + " is open.", nil
	}
	if len(d.Objects) > 0 {
		t, ok, err := m.cardAt(ctx, d.Objects[0].ID)
		if err != nil {
			return "", err
		}
		var f usable
		if fieldsOf(t.Fields, &f); ok && f.Use != "" {
			text, _ := shortenText(markup.Clean(f.Use), maxText)
			return text, nil
		}
	}
	if d.Target != nil {
		return "You try " + what + " on " + d.Target.Name + ". Nothing comes of it.", nil
	}
	return "You try " + what + ". Nothing comes of it.", nil
}

func (m *asOf) tellTalk(ctx context.Context, d action) (string, error) {
	if d.Target == nil {
		return "You say: “" + d.Detail + "” Nobody answers.", nil
	}
	t, ok, err := m.cardAt(ctx, d.Target.ID)
	switch {
	case err != nil:
		return "", err
	case ok && t.isType(typePlayer) && d.Detail == "": // a player answers for itself, or not
		return "You turn to " + d.Target.Name + ".", nil
	case ok && t.isType(typePlayer):
		return "You say to " + d.Target.Name + ": “" + d.Detail + "”", nil
	}
	if line := answerOf(t, d); line != "" {
		return quoteSpeech(d.Target.Name, line), nil
	}
	return d.Target.Name + " hears you out, and keeps an answer for another day.", nil
}

// readAnswer returns the line with which a character answered, or "" if it has none.
func (m *asOf) readAnswer(ctx context.Context, d action) (string, error) {
	t, ok, err := m.cardAt(ctx, d.Target.ID)
	if err != nil || !ok {
		return "", err
	}
	return answerOf(t, d), nil
}

// answerOf returns the line with which a character answers. It is "" for players: the people who
// play them answer.
func answerOf(t cardAt, d action) string {
	if t.isType(typePlayer) {
		return ""
	}
	var f speaker
	fieldsOf(t.Fields, &f)
	for topic, line := range sortedByKey(f.Topics) {
		if hasMention(d.Detail, topic) {
			return line
		}
	}
	if d.Line > 0 && d.Line <= len(f.Says) {
		return f.Says[d.Line-1]
	}
	return ""
}

func quoteSpeech(who, line string) string {
	line, _ = shortenText(markup.Clean(line), maxText)
	return who + " says: “" + line + "”"
}

func tellBlow(d action) string {
	with := ""
	if len(d.Objects) > 0 {
		with = " with " + d.objectNames()
	}
	switch {
	case d.Target == nil:
		return "You throw " + d.objectNames() + ". It comes down again."
	case d.Verb == VerbThrow && d.Effect == "":
		return "You throw " + d.objectNames() + " at " + d.Target.Name + ". It glances off."
	case d.Effect == "beaten" && d.Verb == VerbThrow:
		return "You throw " + d.objectNames() + " at " + d.Target.Name + ", who has had enough."
	case d.Verb == VerbThrow:
		return "You throw " + d.objectNames() + " at " + d.Target.Name + ", and it hits."
	case d.Effect == "beaten":
		return "You strike " + d.Target.Name + with + ", who has had enough."
	}
	return "You strike " + d.Target.Name + with + ", who gives ground."
}
