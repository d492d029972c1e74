package world

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/markup"
	"loregate/internal/world/command"
)

// Bounds of the payloads in one answer, in bytes: of each one, and of all together.
const (
	maxPayload  = 2 << 10
	maxPayloads = 16 << 10
)

// mentioned holds the members of a payload that refer to cards.
type mentioned struct {
	Player  uuid.UUID   `json:"playerId"`
	NPC     uuid.UUID   `json:"npcId"`
	Place   uuid.UUID   `json:"locationId"`
	From    uuid.UUID   `json:"fromLocationId"`
	To      uuid.UUID   `json:"toLocationId"`
	Start   uuid.UUID   `json:"fromId"`
	End     uuid.UUID   `json:"toId"`
	Quest   uuid.UUID   `json:"questId"`
	Thing   uuid.UUID   `json:"thingId"`
	Target  ObjectRef   `json:"target"`
	Objects []ObjectRef `json:"objects"`
}

// cardsOf returns the cards that an event mentions.
func cardsOf(e canon.StoredEvent) (ids []canon.CardID) {
	var raw map[string]json.RawMessage
	var about mentioned
	DecodeFields(e.Payload, &raw)
	for name, to := range map[string]any{"playerId": &about.Player, "npcId": &about.NPC, "locationId": &about.Place,
		"fromLocationId": &about.From, "toLocationId": &about.To,
		"fromId": &about.Start, "toId": &about.End, "questId": &about.Quest, "thingId": &about.Thing, "target": &about.Target,
		"objects": &about.Objects} {
		DecodeFields(raw[name], to) // one by one: an event of another shape may have a member that is not an id
	}
	for _, id := range []uuid.UUID{about.Player, about.NPC, about.Place, about.From, about.To, about.Start, about.End,
		about.Quest, about.Thing, uuid.UUID(about.Target.ID)} {
		if id != uuid.Nil {
			ids = append(ids, canon.CardID(id))
		}
	}
	for _, o := range about.Objects {
		ids = append(ids, o.ID)
	}
	return ids
}

// recountEvents returns summaries of events with a text and their payloads. For an event that
// mentions a card that the reader does not see, it returns neither.
func (m *AsOf) recountEvents(ctx context.Context, events []canon.StoredEvent) ([]eventSummary, error) {
	out, err := m.summarizeEvents(ctx, events)
	if err != nil {
		return nil, err
	}
	names, err := m.titlesIn(ctx, events)
	if err != nil {
		return nil, err
	}
	room := maxPayloads
	for i, e := range events {
		if !names.hasAll(cardsOf(e)) {
			continue
		}
		if e, err = m.Perceive(ctx, e); err != nil {
			return nil, err
		}
		text, err := m.recountEvent(ctx, e, names)
		if err != nil {
			return nil, err
		}
		out[i].Text, _ = CutText(text, MaxText)
		switch n := len(e.Payload); {
		case n == 0:
		case n > maxPayload || n > room:
			out[i].PayloadTruncated = true
		default:
			out[i].Payload = m.withoutFigures(e)
			room -= n
		}
	}
	return out, nil
}

// withoutFigures returns the payload of an event. The figures of a trade are left out for readers below game
// master: a player learns prices only where it is.
func (m *AsOf) withoutFigures(e canon.StoredEvent) json.RawMessage {
	if event.Type(e.Type) != PlayerTrade || m.View().Level >= access.LevelGM {
		return e.Payload
	}
	var d Action
	DecodeFields(e.Payload, &d)
	d.Trade = nil
	b, _ := json.Marshal(d) // it was read from JSON
	return b
}

// cardTitles maps visible cards to their titles.
type cardTitles map[canon.CardID]string

func (n cardTitles) hasAll(ids []canon.CardID) bool {
	for _, id := range ids {
		if _, ok := n[id]; !ok {
			return false
		}
	}
	return true
}

func (m *AsOf) titlesIn(ctx context.Context, events []canon.StoredEvent) (cardTitles, error) {
	found, asked := cardTitles{}, map[canon.CardID]bool{}
	var ids []canon.CardID
	for _, e := range events {
		for _, id := range cardsOf(e) {
			if !asked[id] {
				asked[id] = true
				ids = append(ids, id)
			}
		}
	}
	things, err := m.CardsByID(ctx, ids)
	for _, t := range things {
		found[t.ID] = t.Title()
	}
	return found, err
}

// recountEvent describes an event in a sentence to somebody who was not part of it. It returns ""
// for events that have no description.
func (m *AsOf) recountEvent(ctx context.Context, e canon.StoredEvent, in cardTitles) (string, error) {
	switch event.Type(e.Type) {
	case PlayerMove, PlayerLook, PlayerAct, PlayerTrade:
		var d Action
		DecodeFields(e.Payload, &d)
		return m.recountAction(ctx, d, in)
	case NPCDialogue:
		var line struct {
			NPCID    canon.CardID `json:"npcId"`
			PlayerID canon.CardID `json:"playerId"`
			Text     string       `json:"text"`
		}
		if DecodeFields(e.Payload, &line); line.Text != "" && in[line.NPCID] != "" {
			return in[line.NPCID] + " says to " + in[line.PlayerID] + ": “" + markup.Clean(line.Text) + "”", nil
		}
	case AmbienceMade, LayerAdded:
		var laid struct {
			Text string `json:"text"`
		}
		DecodeFields(e.Payload, &laid)
		return markup.Clean(laid.Text), nil
	case ExitCreated:
		var x exitPayload
		if DecodeFields(e.Payload, &x); x.Direction.Valid() && x.ToID != "" {
			to, _ := idOf(x.ToID)
			return "A way leads " + x.Direction.Phrase() + " now, to " + in[to] + ".", nil
		}
	case PlayerNarrated:
		var n Narration
		DecodeFields(e.Payload, &n)
		return n.Text, nil
	case QuestAdvanced:
		var q QuestProgress
		DecodeFields(e.Payload, &q)
		return recountQuests(q, in), nil
	case ClockReconciled:
		var r Reconciliation
		if DecodeFields(e.Payload, &r); r.Policy == PolicyWait {
			return in[r.PlayerID] + " waits " + FormatDuration(r.Clock-r.From) + ".", nil
		}
	case ClockAdvanced:
		var s ClockStep
		if DecodeFields(e.Payload, &s); s.Tick > s.FromTick {
			return "Time passes: " + FormatDuration(s.Tick-s.FromTick) + ". It is " + TimeOfDay(s.Tick) + " now.", nil
		}
	}
	return "", nil
}

// recountAction describes an act of a player.
func (m *AsOf) recountAction(ctx context.Context, d Action, in cardTitles) (string, error) {
	who, what, to := in[d.PlayerID]+" ", d.ObjectNames(), ""
	if d.Target != nil {
		to = d.Target.Name
	}
	switch d.Verb {
	case command.Move, command.Flee:
		does := "goes "
		if d.Verb == command.Flee {
			does = "runs "
		}
		if d.To == nil {
			return who + does + d.Direction.Going() + ".", nil
		}
		return who + does + d.Direction.Going() + " to " + in[*d.To] + ".", nil
	case command.Look, command.Examine:
		switch {
		case what != "":
			return who + "looks at " + what + ".", nil
		case d.Detail != "":
			return who + "looks at the " + d.Detail + ".", nil
		case d.Direction != "":
			return who + "looks " + d.Direction.Phrase() + ".", nil
		}
		return who + "looks around.", nil
	case command.Inventory:
		return who + "looks through a bag.", nil
	case command.Ask:
		return who + "takes a moment to think.", nil
	case command.Quests:
		return who + "looks over the list of errands.", nil
	case command.Accept:
		return who + "agrees to “" + to + "”.", nil
	case command.Abandon:
		return who + "gives up “" + to + "”.", nil
	case command.Talk:
		return m.recountTalk(ctx, d, who)
	case command.Take:
		return who + "takes " + what + ".", nil
	case command.Buy:
		return who + "buys " + what + " from " + to + ".", nil
	case command.Sell:
		return who + "sells " + what + " to " + to + ".", nil
	case command.Haggle:
		return who + "haggles with " + to + ".", nil
	case command.Price:
		return who + "asks for prices.", nil
	case command.Give:
		return who + "gives " + what + " to " + to + ".", nil
	case command.Defend:
		return who + "stands ready.", nil
	case command.Rest:
		return who + "sleeps.", nil
	case command.Attempt:
		return recountAttempt(d, who), nil
	}
	return recountHandling(d, who, what, to), nil
}

// recountQuests describes the progress of a player's quests.
func recountQuests(q QuestProgress, in cardTitles) string {
	how := map[string]string{QuestDone: "completes", QuestFailed: "fails at"}
	var parts []string
	for _, m := range q.Quests {
		parts = append(parts, in[q.PlayerID]+" "+cmp.Or(how[m.State], "gets on with")+" “"+in[m.QuestID]+"”.")
	}
	return strings.Join(parts, " ")
}

// recountAttempt describes a free act.
func recountAttempt(d Action, who string) string {
	switch d.Effect {
	case "managed":
		return who + "tries to " + d.Detail + ", and manages it."
	case "failed":
		return who + "tries to " + d.Detail + ", and fails."
	}
	return who + "stops to " + d.Detail + "."
}

// recountHandling describes an act on things.
func recountHandling(d Action, who, what, to string) string {
	does := map[command.Verb]string{command.Drop: "puts down " + what, command.Use: "uses " + what,
		command.Throw:  "throws " + what,
		command.Attack: "strikes"}[d.Verb]
	switch {
	case does == "":
		return ""
	case d.Effect == "unlocked":
		return who + "opens the way " + d.Direction.Phrase() + " with " + what + "."
	case d.Verb == command.Attack && what != "":
		return who + "strikes " + to + " with " + what + "."
	case to != "":
		return who + does + map[command.Verb]string{command.Drop: " in ", command.Use: " on ", command.Throw: " at ",
			command.Attack: " "}[d.Verb] + to + "."
	}
	return who + does + "."
}

// recountTalk describes an utterance and the answer to it.
func (m *AsOf) recountTalk(ctx context.Context, d Action, who string) (string, error) {
	to := ""
	if d.Target != nil {
		to = " to " + d.Target.Name
	}
	text := who + "speaks" + to + "."
	if d.Detail != "" {
		text = who + "says" + to + ": “" + d.Detail + "”"
	}
	if d.Target == nil {
		return text, nil
	}
	answer, err := m.readAnswer(ctx, d)
	if err != nil || answer == "" {
		return text, err
	}
	return text + " " + Quote(d.Target.Name, answer), nil
}
