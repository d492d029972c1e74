package play

import (
	"context"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/world"
)

// The state in which an act leaves a thing is kept as a dynamic layer on the thing: "It is open. It is scorched."
// There is one such layer for each thing and label. It has the thing's own label, met with those of all that the act
// involved, so that it is as hidden as they are. A later state of the same aspect replaces the earlier one.

// aspects has the aspect of a thing that a state tells, by the state's first word.
var aspects = map[string]string{
	"open": "opening", "shut": "opening", "locked": "opening",
	"alight": "fire", "out": "fire", "scorched": "burn",
	"broken": "form", "torn": "form", "cut": "form", "mended": "form",
	"clean": "surface", "wet": "surface", "full": "filling", "empty": "filling",
	"worn": "wearer", "out-of-place": "place", "eaten": "rest", "written": "writing",
}

// onIt begins the sentence of written words.
const onIt = "It bears the words “"

// Bounds of a trace.
const (
	maxTrace   = 600 // bytes
	maxWritten = 80  // bytes of written words
)

// stateOf returns the sentence of a state: "It is broken."
func stateOf(thing, state string) string {
	subject := "It "
	if world.IsAre(thing) == "are" {
		subject = "They "
	}
	switch words, writing := strings.CutPrefix(state, "written "); {
	case writing:
		return onIt + words + "”."
	case state == "out-of-place":
		return subject + "no longer " + map[bool]string{true: "stand", false: "stands"}[subject == "They "] + " as before."
	case state == "out":
		return subject + world.IsAre(thing) + " out."
	case strings.HasPrefix(state, "eaten"):
		return "Some of it is eaten."
	}
	return subject + world.IsAre(thing) + " " + state + "."
}

// aspectOf returns the aspect that a sentence of a trace tells, or "".
func aspectOf(sentence string) string {
	switch {
	case strings.HasPrefix(sentence, onIt):
		return "writing"
	case strings.Contains(sentence, " no longer stand"):
		return "place"
	case sentence == "Some of it is eaten.":
		return "rest"
	}
	words := strings.Fields(strings.TrimRight(sentence, "."))
	if len(words) < 3 {
		return ""
	}
	return aspects[words[2]]
}

// readTrace returns the sentences of the dynamic layers of a thing, the latest layer first. Of an aspect the latest
// sentence counts.
func readTrace(ctx context.Context, m *world.AsOf, thing canon.CardID) (list []string, err error) {
	layers, err := m.Layers(ctx, canon.LayerQuery{Card: thing, Active: true, Tick: m.Tick, AsOf: m.Seq})
	told := map[string]bool{}
	for _, l := range layers {
		if l.Kind != world.LayerDynamic {
			continue
		}
		for _, sentence := range linesOf(l) {
			aspect := aspectOf(sentence)
			if !told[sentence] && (aspect == "" || !told[aspect]) {
				list = append(list, sentence)
			}
			told[sentence], told[aspect] = true, true
		}
	}
	return list, err
}

// linesOf returns the sentences of a layer, one a line.
func linesOf(l canon.Layer) (list []string) {
	for line := range strings.SplitSeq(l.Text, "\n") {
		if line = markup.Clean(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// stateAbout returns the sentence about an aspect of a thing, or "".
func (h *handled) stateAbout(t subject, aspect string) (string, error) {
	if !t.hasCard() {
		return "", nil
	}
	list, err := readTrace(h.ctx, h.AsOf, t.card.ID)
	for _, sentence := range list {
		if aspectOf(sentence) == aspect {
			return sentence, err
		}
	}
	return "", err
}

// hasState reports whether a thing is in a state.
func (h *handled) hasState(t subject, state string) (bool, error) {
	first, _, _ := strings.Cut(state, " ")
	about, err := h.stateAbout(t, aspects[first])
	return about != "" && about == stateOf(t.name, state), err
}

// leave plans the trace of a state on a thing. A noun without a card keeps none.
func (h *handled) leave(t subject, state string) error {
	if !t.hasCard() {
		return nil
	}
	first, _, _ := strings.Cut(state, " ")
	return h.keepTrace(t.card, aspects[first], stateOf(t.name, state))
}

// keepTrace replaces the sentence about an aspect in the traces of a thing; "" removes it. Each layer keeps its label.
func (s *turn) keepTrace(t world.Card, aspect, sentence string) error {
	layers, err := s.Layers(s.ctx, canon.LayerQuery{Card: t.ID, Active: true, Tick: s.Tick, AsOf: s.Seq})
	if err != nil {
		return err
	}
	label := s.label.Meet(t.Label)
	own := canon.Layer{ID: canon.LayerID(canon.LinkIDOf("trace", t.ID.String(), label.String())), Card: t.ID,
		Kind: world.LayerDynamic, Label: label, FromTick: s.presence.Clock - world.MaxLead}
	for _, l := range layers {
		if l.ID == own.ID {
			own.FromTick, own.Text = min(own.FromTick, l.FromTick), l.Text
			continue
		}
		if text := withoutAspect(l, aspect); l.Kind == world.LayerDynamic && len(text) != len(linesOf(l)) {
			l.Text = strings.Join(text, "\n")
			if _, err := s.plan.Layer(l); err != nil {
				return err
			}
		}
	}
	kept := withoutAspect(own, aspect)
	if sentence != "" {
		kept = append(kept, sentence)
	}
	for len(kept) > 1 && len(strings.Join(kept, "\n")) > maxTrace {
		kept = kept[1:]
	}
	if text := strings.Join(kept, "\n"); text != own.Text {
		own.Text = text
		_, err = s.plan.Layer(own)
	}
	return err
}

// withoutAspect returns the sentences of a layer that do not tell an aspect.
func withoutAspect(l canon.Layer, aspect string) []string {
	return slices.DeleteFunc(linesOf(l), func(line string) bool { return aspectOf(line) == aspect })
}
