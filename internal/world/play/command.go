package play

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

type commandIn struct {
	ID   string `json:"id" maxlen:"100" jsonschema:"The player's id or codename."`
	Text string `json:"text" minlen:"1" maxlen:"500" jsonschema:"The player's text, such as: go north then look at the well."`
}

// stepResult is the result of one act of a command.
type stepResult struct {
	Order   int          `json:"order"`
	Verb    command.Verb `json:"verb"`
	Outcome string       `json:"outcome" enum:"done,impossible,skipped,limited"`
	Reason  string       `json:"reason,omitempty"`
	Text    string       `json:"text"`
	EventID *uuid.UUID   `json:"eventId,omitempty"`

	by string // who narrates it; "" if it was narrated before
}

type commandOut struct {
	Frames      []command.Intent    `json:"frames" jsonschema:"The acts that were read from the text."`
	Ambiguities []command.Ambiguity `json:"ambiguities"`
	Results     []stepResult        `json:"results" jsonschema:"The result of each act."`
	Narration   string              `json:"narration"`
	Events      []envelope          `json:"events" jsonschema:"The recorded events."`
	Clock       int64               `json:"clock" jsonschema:"The player's clock afterwards, in milliseconds of world time."`

	text string // the command, with names instead of pronouns
}

// sendCommand parses a text and carries out its acts one by one, each in its own commit. After an
// act that cannot be done it skips the remaining acts, unless canContinueAfter allows them. Of several sentences
// each is read after the one before it was carried out, and words to somebody and questions are never skipped.
func (h *Host) sendCommand(ctx context.Context, c *op.Call, in commandIn) (commandOut, error) {
	player, err := h.findOwnPlayer(ctx, c.Grant, in.ID)
	if err != nil {
		return commandOut{}, err
	}
	text := command.CutInterjections(command.Plain(in.Text))
	sentences := command.ReadSentences(text)
	if sentences == nil {
		sentences = []command.Sentence{{Text: text}}
	}
	out := commandOut{Frames: []command.Intent{}, Ambiguities: []command.Ambiguity{}, Results: []stepResult{},
		Events: []envelope{}}
	failed := false
	var asked []string
	for n, s := range sentences {
		if max(n, len(out.Results)) >= command.MaxIntents {
			out.Ambiguities = append(out.Ambiguities, command.Ambiguity{Kind: "overflow",
				Span: command.Span{Start: s.Start, End: len(text)}, Options: []string{}})
			asked = append(asked, "That is too much at once. You leave the rest for later.")
			break
		}
		part := commandOut{Results: []stepResult{}, Events: []envelope{}}
		if failed, err = h.sendSentence(ctx, c, player, sentence{s.Text, in.Text, len(out.Results), failed}, &part); err != nil {
			return out, err
		}
		for i := range part.Ambiguities {
			part.Ambiguities[i].Span.Start += s.Start
			part.Ambiguities[i].Span.End += s.Start
		}
		out.Frames, out.Ambiguities = append(out.Frames, part.Frames...), append(out.Ambiguities, part.Ambiguities...)
		out.Results, out.Events = append(out.Results, part.Results...), append(out.Events, part.Events...)
		if part.Narration != "" {
			asked = append(asked, part.Narration)
		}
	}
	h.tellResults(ctx, c, player, &out)
	texts := []string{}
	for _, r := range out.Results {
		if r.Text != "" {
			texts = append(texts, r.Text)
		}
	}
	out.Narration = strings.Join(append(texts, asked...), "\n\n")
	out.Clock, err = h.readPlayerClock(ctx, c.Grant, player)
	return out, err
}

// sentence is a sentence of a command.
type sentence struct {
	text   string
	whole  string // the command
	order  int    // of its first act
	failed bool   // an act before it could not be done
}

// sendSentence carries out the acts of a sentence. Its narration is the question that it raises. It reports whether the
// acts after it are skipped.
func (h *Host) sendSentence(
	ctx context.Context,
	c *op.Call,
	player canon.CardID,
	s sentence,
	out *commandOut,
) (failed bool,
	err error) {
	parsed, err := h.readSentence(ctx, c.Grant, player, s.text, out)
	if err != nil {
		return false, err
	}
	parsed = h.readFreely(parsed)
	for i := range parsed.Intents {
		parsed.Intents[i].Order += s.order
	}
	out.Frames, out.Ambiguities = parsed.Intents, parsed.Ambiguities
	if free, ok := h.freeActOf(parsed, out.text); ok && !s.failed {
		free.Order = s.order
		out.Frames = []command.Intent{free}
		if _, err := h.runIntent(ctx, c, player, free, s.whole, out); err != nil {
			return false, err
		}
		if isDenied(out.Results[0]) && out.Results[0].Reason != reasonUnknown {
			if _, err := h.runOtherwise(ctx, c, player, free, s.whole, out); err != nil {
				return false, err
			}
		}
		out.Frames = parsed.Intents
		unknown := out.Results[0].Reason == reasonUnknown && !knowsApproach(free.DirectObject)
		if parsed.NeedsClarification = unknown; unknown {
			out.Results = []stepResult{}
		} else {
			parsed.Intents, out.Frames, out.Ambiguities = nil, []command.Intent{free}, []command.Ambiguity{}
		}
	}
	if parsed.NeedsClarification {
		other, ok, err := h.readOtherwise(ctx, c.Grant, player,
			fruitless{text: out.text, parsed: parsed, alone: len(parsed.Intents) == 0})
		if !ok || err != nil {
			out.Narration = parsed.Question()
			return s.failed, err
		}
		other.Order = s.order
		parsed.Intents, out.Frames, out.Ambiguities = []command.Intent{other}, []command.Intent{other}, []command.Ambiguity{}
	}
	for _, i := range parsed.Intents {
		if failed || s.failed && i.Verb != command.Ask && !canContinueAfter(i.Verb) {
			out.Results = append(out.Results, stepResult{Order: i.Order, Verb: i.Verb, Outcome: "skipped"})
			continue
		}
		ok, err := h.runIntent(ctx, c, player, i, s.whole, out)
		if n := len(out.Results) - 1; err == nil && !ok && isDenied(out.Results[n]) {
			ok, err = h.runOtherwise(ctx, c, player, i, s.whole, out)
		}
		if err != nil {
			return false, err
		}
		failed = failed || !ok && !canContinueAfter(i.Verb) && out.Results[len(out.Results)-1].Reason != reasonAlready
	}
	return failed || s.failed, nil
}

// finalReasons are reasons of refusals for which no free act is tried in place of the one that was refused.
var finalReasons = []string{reasonBusy, reasonSelf, "no_way_back", "far"}

// runIntent carries out one act and adds its result to out. If the pace forbids the first act, that
// is an error; a later act that it forbids gets the outcome limited.
func (h *Host) runIntent(ctx context.Context, c *op.Call, player canon.CardID, i command.Intent, text string,
	out *commandOut) (bool, error) {
	result := stepResult{Order: i.Order, Verb: i.Verb, Outcome: "done"}
	input := sha256.Sum256(fmt.Appendf(nil, "command\x00%s\x00%d\x00%s", player, i.Order, text))
	part := func(suffix string) access.Grant { return c.Grant.Part(strconv.Itoa(i.Order)+suffix, input) }
	done, err := h.commitAct(ctx, part, player, i)
	receipt := done.Receipt
	var no *impossible
	if errors.As(err, &no) && no.hint == nil && !slices.Contains(finalReasons, no.reason) &&
		(slices.Contains(freeInstead, i.Verb) || isOwnBody(i.DirectObject, i.Clause())) &&
		(i.Direction == "" || i.DirectObject != "") {
		tried, terr := h.actFreely(ctx, part, player, clauseOf(i, out))
		var other *impossible
		switch errors.As(terr, &other); {
		case terr == nil:
			done, err, no, result.Verb = tried, nil, nil, command.Attempt
			receipt = done.Receipt
		case other == nil:
			return false, terr
		case other.reason != reasonUnknown || knowsApproach(text):
			no = other
		}
	}
	switch {
	case no != nil:
		result.Outcome, result.Reason, result.Text = "impossible", no.reason, no.text
		if no.hint != nil {
			if receipt, err = h.recordHint(ctx, part("-hint"), *no.hint); err != nil {
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
		for _, change := range []uuid.UUID{done.waited, receipt.Change, done.met, done.moved} {
			told, err := h.narrateChange(ctx, c.Grant, change, out)
			if err != nil {
				return false, err
			}
			if told != "" {
				texts = append(texts, told)
			}
			if n := len(out.Events); change == receipt.Change && i.Verb == command.Move && n > 0 &&
				out.Events[n-1].Type == string(world.PlayerAct) {
				result.Verb = command.Attempt // the motion led nowhere else
			}
		}
		if result.Outcome == "done" {
			result.Text = strings.Join(texts, " ")
		}
	}
	out.Results = append(out.Results, result)
	return result.Outcome == "done", nil
}

// narrateChange adds the event of a commit to out, and returns its narration as of that commit, so
// that a repeated command gets the same answer.
func (h *Host) narrateChange(ctx context.Context, g access.Grant, change uuid.UUID,
	out *commandOut) (text string, err error) {
	if change == uuid.Nil {
		return "", nil
	}
	err = h.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		events, _, err := snap.Events(ctx, canon.EventQuery{ID: change, Page: canon.Page{Limit: 1, Uncounted: true}})
		if err != nil || len(events) == 0 {
			return err
		}
		m := h.world.Current(snap)
		e, err := m.Perceive(ctx, events[0])
		if err != nil {
			return err
		}
		out.Events = append(out.Events, toEnvelope(e))
		var d world.Action
		world.DecodeFields(e.Payload, &d)
		if m.Tick = d.Tick(); e.Seq != snap.Now() { // the snapshot itself is cheaper to read
			m.Seq = e.Seq
		}
		text, err = narrator{m}.narrateEvent(ctx, e)
		return err
	})
	return text, err
}

// committedAct is a committed act: its receipt, the changes that set the player to the time of
// the place before the act (waited) and after it (met), and the change that moved its quests.
type committedAct struct {
	canon.Receipt
	waited, met, moved uuid.UUID
}

// dueClocks names the clocks that must be set before an act. As an error of the act's plan it stops
// the commit.
type dueClocks struct{ clock, player bool }

func (dueClocks) Error() string { return "world: the clocks must be put right first" }

// commitAct plans and commits one act. An act that was already done under the same idempotency key
// is not done or counted again.
func (h *Host) commitAct(ctx context.Context,
	part func(suffix string) access.Grant, player canon.CardID, i command.Intent) (done committedAct, err error) {
	paced, met, tried := false, false, false
	act := func(timely bool) (err error) {
		done.Receipt, err = h.canon.Update(ctx, part(""), func(p *canon.Plan) error {
			if !paced {
				if err := h.spendPace(player, i.Verb); err != nil {
					return err
				}
				paced = true
			}
			s, err := newTurn(ctx, h.world, p, player, i)
			if err != nil {
				return err
			}
			s.settle, s.tried = h.settle, tried
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
	var noun needsCard
	if err = act(false); errors.As(err, &noun) {
		if err = h.makeNoun(ctx, part("-made"), player, i, noun); err != nil {
			return done, err
		}
		tried = true
		err = act(false)
	}
	if errors.As(err, &first) {
		if done.waited, err = h.setClocks(ctx, part, player, first); err != nil {
			return done, err
		}
		err = act(true)
	}
	switch {
	case err != nil || done.DryRun:
		return done, err
	case done.Replayed:
		if done.waited, err = h.findReconciliation(ctx, part("-wait")); err == nil {
			done.met, err = h.findReconciliation(ctx, part("-met"))
		}
	case met:
		var r canon.Receipt
		r, err = h.reconcilePlayer(ctx, part("-met"), player)
		done.met = r.Change
	}
	if err == nil {
		done.moved, err = h.followQuests(ctx, part("-quests"), player, done.Replayed)
	}
	return done, err
}

// setClocks sets the clocks that are due before an act. It returns the change that set the player's.
func (h *Host) setClocks(ctx context.Context, part func(suffix string) access.Grant, player canon.CardID,
	due dueClocks) (uuid.UUID, error) {
	if due.clock {
		if err := h.world.StepClockIfDue(ctx, part("-clock")); err != nil {
			return uuid.Nil, err
		}
	}
	if !due.player {
		return uuid.Nil, nil
	}
	r, err := h.reconcilePlayer(ctx, part("-wait"), player)
	return r.Change, err
}

// findDueClocks returns the clocks that must be set before the act. An act that not everybody may
// learn of does not move the world's clock.
func (s *turn) findDueClocks() dueClocks {
	everyones := s.event.Label.Equal(access.NewLabel(access.LevelUser))
	return dueClocks{clock: everyones && s.clock.DueStep(s.plan.Clock(), s.World().Settings) != "",
		player: s.waits}
}
