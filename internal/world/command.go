package world

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// sortedByKey yields the entries of a map in the order of its keys.
func sortedByKey[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

type commandIn struct {
	ID   string `json:"id" maxlen:"100" jsonschema:"The player's id or codename."`
	Text string `json:"text" minlen:"1" maxlen:"500" jsonschema:"What the player types, such as: go north then look at the well."`
}

// stepResult is the result of one act of a command.
type stepResult struct {
	Order   int        `json:"order"`
	Verb    Verb       `json:"verb"`
	Outcome string     `json:"outcome" enum:"done,impossible,skipped,limited"`
	Reason  string     `json:"reason,omitempty"`
	Text    string     `json:"text"`
	EventID *uuid.UUID `json:"eventId,omitempty"`
}

type commandOut struct {
	Frames      []Intent     `json:"frames" jsonschema:"How the text was read."`
	Ambiguities []Ambiguity  `json:"ambiguities"`
	Results     []stepResult `json:"results" jsonschema:"What came of each act."`
	Narration   string       `json:"narration"`
	Events      []envelope   `json:"events" jsonschema:"What was recorded."`
	Clock       int64        `json:"clock" jsonschema:"The player's clock afterwards, in milliseconds of world time."`
}

// sendCommand parses a text and carries out its acts one by one, each in its own commit. After an
// act that cannot be done it skips the remaining acts, unless canContinueAfter allows them.
func (w *World) sendCommand(ctx context.Context, c *op.Call, in commandIn) (commandOut, error) {
	player, err := w.findOwnPlayer(ctx, c.Grant, in.ID)
	if err != nil {
		return commandOut{}, err
	}
	parsed := Parse(in.Text)
	out := commandOut{Frames: parsed.Intents, Ambiguities: parsed.Ambiguities, Results: []stepResult{},
		Events: []envelope{}}
	if parsed.NeedsClarification {
		out.Narration = formatQuestion(parsed)
		out.Clock, err = w.readPlayerClock(ctx, c.Grant, player)
		return out, err
	}
	failed := false
	for _, i := range parsed.Intents {
		if failed {
			out.Results = append(out.Results, stepResult{Order: i.Order, Verb: i.Verb, Outcome: "skipped"})
			continue
		}
		ok, err := w.runIntent(ctx, c, player, i, in.Text, &out)
		if err != nil {
			return out, err
		}
		failed = !ok && !canContinueAfter(i.Verb)
	}
	texts := []string{}
	for _, r := range out.Results {
		if r.Text != "" {
			texts = append(texts, r.Text)
		}
	}
	out.Narration = strings.Join(texts, "\n\n")
	out.Clock, err = w.readPlayerClock(ctx, c.Grant, player)
	return out, err
}

// runIntent carries out one act and adds its result to out. If the pace forbids the first act, that
// is an error; a later act that it forbids gets the outcome limited.
func (w *World) runIntent(ctx context.Context, c *op.Call, player canon.CardID, i Intent, text string,
	out *commandOut) (bool, error) {
	result := stepResult{Order: i.Order, Verb: i.Verb, Outcome: "done"}
	input := sha256.Sum256(fmt.Appendf(nil, "command\x00%s\x00%d\x00%s", player, i.Order, text))
	part := func(suffix string) access.Grant { return c.Grant.Part(strconv.Itoa(i.Order)+suffix, input) }
	done, err := w.commitAct(ctx, part, player, i)
	receipt := done.Receipt
	var no *impossible
	switch {
	case errors.As(err, &no):
		result.Outcome, result.Reason, result.Text = "impossible", no.reason, no.text
		if no.hint != nil {
			if receipt, err = w.recordHint(ctx, part("-hint"), *no.hint); err != nil {
				return false, err
			}
		} else {
			receipt = canon.Receipt{}
		}
	case errors.Is(err, fault.RateLimited) && i.Order > 0:
		result.Outcome, result.Reason, result.Text = "limited", "rate_limited", "You have to catch your breath first."
	case err != nil:
		return false, err
	}
	c.Reply.Replayed = c.Reply.Replayed || receipt.Replayed
	if receipt.Change != uuid.Nil {
		result.EventID = &receipt.Change
		var texts []string
		for _, change := range []uuid.UUID{done.waited, receipt.Change, done.met} {
			told, err := w.narrateChange(ctx, c.Grant, change, out)
			if err != nil {
				return false, err
			}
			if told != "" {
				texts = append(texts, told)
			}
		}
		if result.Outcome == "done" {
			result.Text = strings.Join(texts, " ")
		}
	}
	out.Results = append(out.Results, result)
	return result.Outcome == "done", nil
}

// committedAct is a committed act: its receipt, and the changes that set the player to the time of
// the place before the act (waited) and after it (met).
type committedAct struct {
	canon.Receipt
	waited, met uuid.UUID
}

// dueClocks names the clocks that must be set before an act. As an error of the act's plan it stops
// the commit.
type dueClocks struct{ clock, player bool }

func (dueClocks) Error() string { return "world: the clocks must be put right first" }

// commitAct plans and commits one act. An act that was already done under the same idempotency key
// is not done or counted again.
func (w *World) commitAct(ctx context.Context,
	part func(suffix string) access.Grant, player canon.CardID, i Intent) (done committedAct, err error) {
	paced, met := false, false
	act := func(timely bool) (err error) {
		done.Receipt, err = w.canon.Update(ctx, part(""), func(p *canon.Plan) error {
			if !paced {
				if err := w.spendPace(player, i.Verb); err != nil {
					return err
				}
				paced = true
			}
			s, err := newTurn(ctx, w, p, player, i)
			if err != nil {
				return err
			}
			if err := s.planAction(); err != nil {
				return err
			}
			if first := s.findDueClocks(); !timely && first != (dueClocks{}) {
				return first
			}
			met = s.meets
			return p.Event(s.event)
		})
		return err
	}
	var first dueClocks
	if err = act(false); errors.As(err, &first) {
		if first.clock {
			if err := w.stepClockIfDue(ctx, part("-clock")); err != nil {
				return done, err
			}
		}
		if first.player {
			r, err := w.reconcilePlayer(ctx, part("-wait"), player)
			if err != nil {
				return done, err
			}
			done.waited = r.Change
		}
		err = act(true)
	}
	switch {
	case err != nil || done.DryRun:
		return done, err
	case done.Replayed:
		if done.waited, err = w.findReconciliation(ctx, part("-wait")); err == nil {
			done.met, err = w.findReconciliation(ctx, part("-met"))
		}
	case met:
		var r canon.Receipt
		r, err = w.reconcilePlayer(ctx, part("-met"), player)
		done.met = r.Change
	}
	return done, err
}

// findDueClocks returns the clocks that must be set before the act. An act that not everybody may
// learn of does not move the world's clock.
func (s *turn) findDueClocks() dueClocks {
	everyones := s.event.Label.Equal(access.NewLabel(access.LevelUser))
	return dueClocks{clock: everyones && s.clock.dueStep(s.plan.Clock(), rateOf(s.World().Settings)) != "",
		player: s.waits}
}

// narrateChange adds the event of a commit to out, and returns its narration as of that commit, so
// that a repeated command gets the same answer.
func (w *World) narrateChange(ctx context.Context, g access.Grant, change uuid.UUID,
	out *commandOut) (text string, err error) {
	if change == uuid.Nil {
		return "", nil
	}
	err = w.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		events, _, err := snap.Events(ctx, canon.EventQuery{ID: change, Page: canon.Page{Limit: 1, Uncounted: true}})
		if err != nil || len(events) == 0 {
			return err
		}
		out.Events = append(out.Events, toEnvelope(events[0]))
		var d action
		fieldsOf(events[0].Payload, &d)
		m := &asOf{Snapshot: snap, w: w, seq: events[0].Seq, tick: d.tick(), readAt: w.cfg.Now()}
		if m.seq == snap.Now() {
			m.seq = 0 // the snapshot shows that commit already, and is cheaper to read
		}
		text, err = m.narrateEvent(ctx, events[0])
		return err
	})
	return text, err
}

// hintPause is the time for which a recorded hint suppresses others like it.
const hintPause = time.Minute

// recordHint records that a player wanted to go where an exit is pending, at most once a minute for
// each player, place and direction.
func (w *World) recordHint(ctx context.Context, g access.Grant, h hint) (canon.Receipt, error) {
	return w.canon.Update(ctx, g, func(p *canon.Plan) error {
		now := p.Clock()
		events, _, err := p.Events(ctx, canon.EventQuery{Scopes: []string{string(LocationScope(h.LocationID))},
			Types: []string{string(GenerationHint)},
			Actor: h.PlayerID.String(), Page: canon.Page{Limit: 12}})
		if err != nil {
			return err
		}
		for _, e := range events {
			var earlier hint
			fieldsOf(e.Payload, &earlier)
			if earlier.Direction == h.Direction && now.Sub(e.At) < hintPause {
				return nil
			}
		}
		place, ok, err := p.ByID(ctx, h.LocationID)
		if err != nil || !ok {
			return err
		}
		payload, err := json.Marshal(h)
		if err != nil {
			return err
		}
		_, _, err = p.EventOnce(canon.Event{Type: string(GenerationHint), Scope: string(LocationScope(h.LocationID)),
			Payload: payload, Label: place.Label, Version: 1,
			Actor: canon.EventActor{Kind: "player", ID: h.PlayerID.String()},
			Key: fmt.Sprintf("hint:%s:%s:%s:%d", h.PlayerID, h.LocationID, h.Direction,
				now.Unix()/int64(hintPause/time.Second))})
		return err
	})
}

// formatQuestion returns the question to the player about the first critical ambiguity of a
// command.
func formatQuestion(p Parsed) string {
	for _, a := range p.Ambiguities {
		if !a.Critical {
			continue
		}
		runes := []rune(p.RawText)
		said := string(runes[a.Span.Start:a.Span.End])
		switch a.Kind {
		case "verb":
			return fmt.Sprintf("You are not sure how to %q. Try going somewhere, looking at something, taking it or talking to somebody.", said)
		case "direction":
			return "Where do you want to go?"
		case "object":
			return "What do you mean to do that with?"
		case "target":
			return "Whom, or what, do you mean?"
		case "pronoun":
			return fmt.Sprintf("What do you mean by %q?", said)
		}
	}
	return "You are not sure what you mean. Say it in other words."
}

// readPlayerClock returns a player's clock.
func (w *World) readPlayerClock(ctx context.Context, g access.Grant, player canon.CardID) (tick int64, err error) {
	err = w.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		at, ok, err := (&asOf{Snapshot: snap, w: w}).findAtLink(ctx, player)
		if ok {
			tick = presenceOf(at).Clock
		}
		return err
	})
	return tick, err
}
