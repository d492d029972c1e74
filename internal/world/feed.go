package world

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// The world feed tells a narrator what happens, as far as the view of its key opens. Of players it tells only of those
// that the key plays for: those that it created, those whose field narrators names its subject, and for game masters all.

// feedName is the name of the feed, and feedURI the URI of its resource.
const (
	feedName = "follow_world"
	feedURI  = "world://feed"
)

// Bounds of the feed.
const (
	feedBatch   = 100 // events that are read at once
	feedRecent  = 50  // events in the resource
	feedScanned = 500 // events that are looked through for them
)

// feedEvent is an event of the feed.
type feedEvent struct {
	Position    int             `json:"position,omitempty"` // counts the events that the reader was sent, from 1
	EventID     uuid.UUID       `json:"eventId"`
	Type        string          `json:"type"`
	OccurredUtc time.Time       `json:"occurredUtc"`
	Scope       string          `json:"scope"`
	ActorKind   string          `json:"actorKind"`
	PlayerID    *canon.CardID   `json:"playerId,omitempty"`
	Text        string          `json:"text,omitempty"`
	Payload     json.RawMessage `json:"payload,omitempty"`
}

// position is a place in the feed of one reader: the last commit that was looked at, and the number of events that the
// reader was sent. It is sealed, since the numbers of commits also count those that the reader does not see.
type position struct {
	Seq canon.Seq `json:"s"`
	N   int       `json:"n"`
}

func (w *World) worldFeed() *op.Feed {
	return &op.Feed{
		Name: feedName, Title: "Events of a world",
		Doc: "Follow the events of a world, for narrators. A player's events are told to game masters, to the key that created " +
			"the player, and to subjects that the field narrators of the player's card names. position counts the events of this " +
			"reader without a gap; the id of a message resumes the feed after it.",
		Surfaces: onWorld, MinRole: access.RoleUser, Route: "GET /api/world/feed",
		Kinds: []op.FeedKind{{Event: "event", Doc: "an event, with a text that describes it and its payload"}},
		Open:  w.openFeed,
	}
}

func (w *World) feedResource() *op.Resource {
	return &op.Resource{
		Template: feedURI, Name: "feed", Title: "Latest events",
		Doc:      "The latest events of the world, as follow_world sends them. A subscription tells of new ones.",
		MIME:     "application/json",
		Surfaces: onWorld, MinRole: access.RoleUser, Read: w.readFeed,
	}
}

func (w *World) openFeed(
	ctx context.Context,
	c *op.Call,
	_ map[string]string,
	after string,
) (iter.Seq2[op.Message, error], error) {
	at, err := w.refs.openPosition(c.Grant, after)
	if err != nil {
		return nil, err
	}
	if after == "" {
		err = w.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error { at.Seq = snap.Now(); return nil })
	}
	return func(yield func(op.Message, error) bool) { w.streamFeed(ctx, c.Grant, at, yield) }, err
}

func (w *World) streamFeed(ctx context.Context, g access.Grant, at position, yield func(op.Message, error) bool) {
	for {
		changed := w.canon.Changed()
		for full := true; full; {
			var messages []op.Message
			var err error
			if messages, full, err = w.readFeedBatch(ctx, g, &at); err != nil {
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
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// readFeedBatch reads the next events after a position, and moves it.
func (w *World) readFeedBatch(
	ctx context.Context,
	g access.Grant,
	at *position,
) (out []op.Message, full bool, err error) {
	err = w.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		events, _, err := snap.Events(ctx, canon.EventQuery{After: at.Seq, Oldest: true,
			Page: canon.Page{Limit: feedBatch, Uncounted: true}})
		if err != nil || len(events) == 0 {
			return err
		}
		seqs := map[uuid.UUID]canon.Seq{}
		for _, e := range events {
			seqs[e.ID] = e.Seq
		}
		list, err := w.Current(snap).feedEvents(ctx, events)
		if err != nil {
			return err
		}
		for _, e := range list {
			at.Seq, at.N = seqs[e.EventID], at.N+1
			e.Position = at.N
			b, err := op.Encode(e)
			if err != nil {
				return err
			}
			out = append(out, op.Message{ID: w.refs.sealPosition(g, *at), Event: "event", Data: b})
		}
		at.Seq, full = events[len(events)-1].Seq, len(events) == feedBatch
		return nil
	})
	return out, full, err
}

func (w *World) readFeed(ctx context.Context, c *op.Call, _ map[string]string) (content op.Content, err error) {
	out := struct {
		Events []feedEvent `json:"events"`
	}{[]feedEvent{}}
	err = w.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		events, _, err := snap.Events(ctx, canon.EventQuery{Page: canon.Page{Limit: feedScanned, Uncounted: true}})
		if err != nil {
			return err
		}
		slices.SortFunc(events, func(a, b canon.StoredEvent) int { return cmp.Compare(a.Seq, b.Seq) })
		list, err := w.Current(snap).feedEvents(ctx, events)
		out.Events = append(out.Events, list[max(0, len(list)-feedRecent):]...)
		return err
	})
	if err != nil {
		return content, err
	}
	b, err := op.Encode(out)
	content.Text = string(b)
	return content, err
}

// feedEvents returns the events that the reader is told of, in their order.
func (m *AsOf) feedEvents(ctx context.Context, events []canon.StoredEvent) (out []feedEvent, err error) {
	told := map[canon.CardID]bool{}
	var kept []canon.StoredEvent
	for _, e := range events {
		if _, known := KindOf(event.Type(e.Type)); !known {
			continue
		}
		who := playerOf(e)
		if _, asked := told[who]; !asked {
			if told[who], err = m.narratesFor(ctx, who); err != nil {
				return nil, err
			}
		}
		if told[who] {
			kept = append(kept, e)
		}
	}
	list, err := m.recountEvents(ctx, kept)
	for i, s := range list {
		f := feedEvent{
			EventID:     s.ID,
			Type:        s.EventType,
			OccurredUtc: s.OccurredUtc,
			Scope:       kept[i].Scope,
			ActorKind:   s.ActorKind,
			Text:        s.Text,
			Payload:     s.Payload,
		}
		if who := playerOf(kept[i]); !who.IsZero() {
			f.PlayerID = &who
		}
		out = append(out, f)
	}
	return out, err
}

// playerOf returns the player that an event is about: the one who acts, or the one in whose scope it is. It returns the
// zero id for other events.
func playerOf(e canon.StoredEvent) canon.CardID {
	if scope, id, ok := ParseScope(e.Scope); ok && strings.HasPrefix(string(scope), "player:") {
		return id
	}
	if e.Actor.Kind == "player" {
		id, _ := idOf(e.Actor.ID)
		return id
	}
	return canon.CardID{}
}

// narratesFor reports whether the reader is told of a player's events. The zero id is no player.
func (m *AsOf) narratesFor(ctx context.Context, player canon.CardID) (bool, error) {
	caller := m.Grant().Caller()
	if player.IsZero() || m.Grant().Role() >= access.RoleGM && caller.Player == uuid.Nil {
		return true, nil
	}
	card, ok, err := m.ByID(ctx, player)
	if err != nil || !ok {
		return false, err
	}
	var f struct {
		Narrators []access.Subject `json:"narrators"`
	}
	DecodeFields(card.Fields, &f)
	return caller.Player == uuid.UUID(player) || caller.Player == uuid.Nil && caller.Subject != "" &&
		(card.CreatedBy == caller.Subject || slices.Contains(f.Narrators, caller.Subject)), nil
}

// sealPosition encrypts a position for its reader: base64url of nonce | AES-256-GCM(position as JSON and spaces). The
// nonce is a keyed hash of the position, so that the same position always has the same text.
func (s *refSealer) sealPosition(g access.Grant, p position) string {
	plain, _ := json.Marshal(p) // numbers always encode
	plain = append(plain, strings.Repeat(" ", max(0, 2*maxDigits-len(plain)))...)
	own := positionOf(g)
	mac := hmac.New(sha256.New, s.mac[:])
	mac.Write(own)
	mac.Write(plain)
	nonce := mac.Sum(nil)[:s.aead.NonceSize()]
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(slices.Clone(nonce), nonce, plain, own))
}

// openPosition opens a position; "" is the present.
func (s *refSealer) openPosition(g access.Grant, text string) (p position, err error) {
	if text == "" {
		return p, nil
	}
	bad := fault.BadField(
		"Last-Event-ID",
		"is not the id of a message of this feed for this key; leave it out to begin now",
	)
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(text) > maxRef || len(raw) < s.aead.NonceSize() {
		return p, bad
	}
	plain, err := s.aead.Open(nil, raw[:s.aead.NonceSize()], raw[s.aead.NonceSize():], positionOf(g))
	if err != nil || json.Unmarshal(plain, &p) != nil {
		return p, bad
	}
	return p, nil
}

// positionOf returns the additional data that binds a position to its world and reader.
func positionOf(g access.Grant) []byte {
	w := g.World()
	return append(append([]byte("position\x00"), w[:]...), g.Caller().Subject...)
}
