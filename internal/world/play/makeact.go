package play

import (
	"errors"
	"strings"

	"loregate/internal/meaning"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// planMakeAct makes a thing move: make the puppet dance. It is errOther if the last word is no verb.
func planMakeAct(h *handled) error {
	at := strings.LastIndexByte(h.object, ' ')
	if at < 0 {
		return errOther
	}
	name, verb := h.object[:at], h.object[at+1:]
	if meaning.Lemma(verb, meaning.Verb) != verb {
		return errOther
	}
	t, err := h.findThing(name)
	no, ok := errors.AsType[*impossible](err)
	switch {
	case ok && command.PronounOf(name) != command.NoPronoun:
		return cannot("no_target", "What do you mean by %q?", name)
	case ok && ifAbsent(no) != nil:
		return errOther // make a cloth coat
	case err != nil:
		return err
	}
	if t.hasCard() && t.card.ID == h.player.ID {
		return errOther
	}
	h.action.Handling = &world.Handling{Words: verb}
	isDoll := len(t.nouns) > 0 && t.isKind("doll", "puppet", "toy", "machine") // which a world may have as a person
	if t.hasCard() && world.IsAlive(t.card) && !isDoll {
		return h.done("alive", t)
	}
	return h.done("", t)
}
