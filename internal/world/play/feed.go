package play

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/world"
)

// The kinds of messages of the stream around a player. An act of the player is a turn: it began, has a result, and is
// narrated bit by bit. All other events are single messages.
const (
	messageEvent  = "event"
	messageBegan  = "turn.began"
	messageResult = "result"
	messageDelta  = "narration.delta"
	messageDone   = "narration.done"
)

// playerFeed declares the feed of the events that happen to a player and around it.
func (h *Host) playerFeed() *op.Feed {
	return &op.Feed{
		Name: "follow_player", Title: "Events around a player",
		Doc: "Follow the turns of a player and the events of its place. Each event is as in the answer of " +
			"send_command; those that concern the player have a narration. After a message that was received, its id " +
			"resumes the stream with the next one.",
		Surfaces: onWorld, MinRole: access.RoleUser, Audience: audiencePlay, Route: "GET /api/players/{id}/stream",
		Kinds: []op.FeedKind{
			{Event: messageEvent, Doc: "an event that is no act of the player"},
			{Event: messageBegan, Doc: "an act of the player: turnId is the id of its event"},
			{Event: messageResult, Doc: "the event of the act, with its narration by the rules"},
			{Event: messageDelta, Doc: "the next part of the narration, which may be a model's"},
			{Event: messageDone, Doc: "the whole narration, and by: rules or the name of the model"},
		},
		Open: h.openStream,
	}
}

// streamBatch is the number of events that are read at once.
const streamBatch = 100

// openStream opens a stream that starts after a message that the reader has received. Without one, or if its event is
// not found, it starts with the next event.
func (h *Host) openStream(ctx context.Context, c *op.Call, vars map[string]string,
	after string) (iter.Seq2[op.Message, error], error) {
	player, err := h.findOwnPlayer(ctx, c.Grant, vars["id"])
	if err != nil {
		return nil, err
	}
	f := &follower{host: h, grant: c.Grant, player: player, closed: map[uuid.UUID]bool{}}
	err = h.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		f.from = snap.Now()
		if after == "" {
			return nil
		}
		id, _, _ := strings.Cut(after, ".")
		u, bad := uuid.Parse(id)
		if bad != nil {
			return unknownMessage()
		}
		events, _, err := snap.Events(ctx, canon.EventQuery{ID: u, Page: canon.Page{Limit: 1}})
		if err == nil && len(events) == 0 {
			err = unknownMessage()
		}
		if err == nil {
			f.from, f.had, f.hadOf = events[0].Seq-1, after, u
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return func(yield func(op.Message, error) bool) { f.stream(ctx, yield) }, nil
}

func unknownMessage() error {
	return fault.BadField("Last-Event-ID", "is not the id of a message of this stream; leave it out to begin now")
}

// follower makes the messages of one stream from the events around a player.
type follower struct {
	host   *Host
	grant  access.Grant
	player canon.CardID
	from   canon.Seq
	had    string    // id of the last message that the reader had before; "" for none
	hadOf  uuid.UUID // event of that message
	open   []openTurn
	closed map[uuid.UUID]bool // acts of turns that were closed without their narration
}

// openTurn is an act whose narration has not come yet.
type openTurn struct {
	act  uuid.UUID
	text string // the template
	late <-chan time.Time
}

// narrationSlack is the time beyond the narrator's patience after which a turn is closed without its narration, which
// happens if the process that narrates has stopped.
const narrationSlack = 2 * time.Second

// maxClosed bounds the closed turns that a follower remembers.
const maxClosed = 1000

func (f *follower) stream(ctx context.Context, yield func(op.Message, error) bool) {
	for {
		changed := f.host.canon.Changed()
		for {
			messages, full, err := f.readBatch(ctx)
			if err != nil {
				if ctx.Err() == nil {
					yield(op.Message{}, err)
				}
				return
			}
			for _, m := range messages {
				if !yield(m, nil) {
					return
				}
			}
			if !full {
				break
			}
		}
		var late <-chan time.Time
		if len(f.open) > 0 {
			late = f.open[0].late
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-late:
			t := f.open[0]
			if len(f.closed) >= maxClosed {
				clear(f.closed)
			}
			f.open, f.closed[t.act] = f.open[1:], true
			messages, err := narrationMessages(t.act, byRules(t.act, t.text))
			for _, m := range messages {
				if !yield(m, err) {
					return
				}
			}
		}
	}
}

// readBatch reads the next events and returns messages for those that are relevant to the player.
func (f *follower) readBatch(ctx context.Context) (out []op.Message, full bool, err error) {
	err = f.host.canon.Read(ctx, f.grant, func(snap *canon.Snapshot) error {
		events, _, err := snap.Events(
			ctx,
			canon.EventQuery{After: f.from, Oldest: true, Page: canon.Page{Limit: streamBatch}},
		)
		if err != nil || len(events) == 0 {
			return err
		}
		m := f.host.world.Current(snap)
		at, _, err := m.FindAtLink(ctx, f.player)
		if err != nil {
			return err
		}
		for _, e := range events {
			f.from = e.Seq
			if !isRelevant(e, f.player, at.To) {
				continue
			}
			messages, err := f.messagesOf(ctx, narrator{m}, e)
			if err != nil {
				return err
			}
			out = append(out, f.withoutHad(e, messages)...)
		}
		full = len(events) == streamBatch
		return nil
	})
	return out, full, err
}

// withoutHad leaves out the messages of an event that the reader had before.
func (f *follower) withoutHad(e canon.StoredEvent, messages []op.Message) []op.Message {
	if f.had == "" || e.ID != f.hadOf {
		return messages
	}
	last := slices.IndexFunc(messages, func(m op.Message) bool { return m.ID == f.had })
	if f.had = ""; last < 0 {
		return nil
	}
	return messages[last+1:]
}

// messagesOf returns the messages of an event.
func (f *follower) messagesOf(ctx context.Context, n narrator, e canon.StoredEvent) ([]op.Message, error) {
	if event.Type(e.Type) == world.PlayerNarrated {
		told, err := n.Perceive(ctx, e)
		if err != nil {
			return nil, err
		}
		return f.narrated(told)
	}
	shown, err := n.toStreamed(ctx, e, f.player)
	if err != nil {
		return nil, err
	}
	if !isAct(e, f.player) {
		m, err := newMessage(e.ID.String(), messageEvent, shown)
		return []op.Message{m}, err
	}
	began, err := newMessage("", messageBegan, turnRef{e.ID})
	if err != nil {
		return nil, err
	}
	result, err := newMessage(e.ID.String(), messageResult, shown)
	if err != nil {
		return nil, err
	}
	messages := []op.Message{began, result}
	if f.host.narrator != nil {
		f.open = append(f.open, openTurn{e.ID, shown.Narration, time.After(f.host.patience + narrationSlack)})
		return messages, nil
	}
	told, err := narrationMessages(e.ID, byRules(e.ID, shown.Narration))
	return append(messages, told...), err
}

// narrated returns the messages of a kept narration, unless its turn was closed before or needs none.
func (f *follower) narrated(e canon.StoredEvent) ([]op.Message, error) {
	act, n := actOf(e)
	f.open = slices.DeleteFunc(f.open, func(t openTurn) bool { return t.act == act })
	if f.host.narrator == nil || f.closed[act] {
		delete(f.closed, act)
		return nil, nil
	}
	return narrationMessages(e.ID, n)
}

// turnRef names a turn.
type turnRef struct {
	TurnID uuid.UUID `json:"turnId"`
}

// narrationPart is a part of a narration, or all of it.
type narrationPart struct {
	turnRef
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
	By   string `json:"by,omitempty"`
}

// narrationMessages returns the messages that tell a narration, with ids of the event that they come from.
func narrationMessages(of uuid.UUID, n world.Narration) (list []op.Message, err error) {
	add := func(suffix, kind string, part narrationPart) {
		m, bad := newMessage(of.String()+"."+suffix, kind, part)
		list, err = append(list, m), cmp.Or(err, bad)
	}
	for i, s := range sentencesOf(n.Text) {
		add(strconv.Itoa(i+1), messageDelta, narrationPart{turnRef: turnRef{n.EventID}, Text: s})
	}
	add("done", messageDone, narrationPart{turnRef{n.EventID}, n.Text, n.Hint, n.By})
	return list, err
}

func newMessage(id, kind string, data any) (op.Message, error) {
	b, err := op.Encode(data)
	return op.Message{ID: id, Event: kind, Data: json.RawMessage(b)}, err
}

// isAct reports whether an event is an act of a player.
func isAct(e canon.StoredEvent, player canon.CardID) bool {
	return e.Actor.ID == player.String() &&
		slices.Contains(world.ActTypes, event.Type(e.Type))
}

// isRelevant reports whether an event is about a player, the place where it is, or the world.
func isRelevant(e canon.StoredEvent, player, place canon.CardID) bool {
	if _, known := world.KindOf(event.Type(e.Type)); !known {
		return false
	}
	scope, about, ok := world.ParseScope(e.Scope)
	if !ok {
		return false
	}
	var d world.Action
	var step world.ClockStep
	switch event.Type(e.Type) {
	case world.PlayerMove:
		world.DecodeFields(e.Payload, &d)
	case world.ClockAdvanced:
		if world.DecodeFields(e.Payload, &step); step.Tick == step.FromTick {
			return false // the clock only runs on; no time was skipped
		}
	}
	return scope == world.GlobalScope || about == player || about == place || e.Actor.ID == player.String() ||
		d.From != nil && *d.From == place
}

// streamed is an event in a stream.
type streamed struct {
	envelope
	Narration string `json:"narration,omitempty"`
}

func (m narrator) toStreamed(ctx context.Context, e canon.StoredEvent, player canon.CardID) (t streamed, err error) {
	if e, err = m.Perceive(ctx, e); err != nil {
		return t, err
	}
	t.envelope = toEnvelope(e)
	if e.Actor.ID == player.String() ||
		slices.Contains([]event.Type{world.ClockReconciled, world.QuestAdvanced}, event.Type(e.Type)) &&
			e.Scope == string(world.PlayerScope(player)) {
		var d world.Action
		world.DecodeFields(e.Payload, &d)
		own := *m.AsOf
		if own.Tick = d.Tick(); e.Seq != m.Now() { // so that a stream that is resumed tells the same
			own.Seq = e.Seq
		}
		t.Narration, err = (narrator{&own}).narrateEvent(ctx, e)
	}
	return t, err
}

// envelope is an event with everything that its reader may know of it.
type envelope struct {
	EventID        uuid.UUID       `json:"eventId"`
	Type           string          `json:"type"`
	OccurredUtc    time.Time       `json:"occurredUtc"`
	Scope          string          `json:"scope"`
	Actor          eventActor      `json:"actor"`
	CorrelationID  string          `json:"correlationId"`
	CausationID    string          `json:"causationId,omitempty"`
	IdempotencyKey string          `json:"idempotencyKey,omitempty"`
	Version        int             `json:"version"`
	Payload        json.RawMessage `json:"payload"`
}

type eventActor struct {
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"`
}

func toEnvelope(e canon.StoredEvent) envelope {
	payload := e.Payload
	if payload == nil {
		payload = json.RawMessage("{}")
	}
	return envelope{EventID: e.ID, Type: e.Type, OccurredUtc: e.At, Scope: e.Scope,
		Actor:         eventActor{cmp.Or(e.Actor.Kind, "system"), e.Actor.ID},
		CorrelationID: e.Correlation, CausationID: e.Causation, IdempotencyKey: e.Key, Version: max(e.Version, 1),
		Payload: payload}
}
