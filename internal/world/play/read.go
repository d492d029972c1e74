package play

import (
	"context"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/meaning"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// sentenceReader reads a sentence of a player. All that it looks up comes from one snapshot, and is read once.
type sentenceReader struct {
	*turn       // without a plan
	stands bool // the player is somewhere
}

// newSentenceReader returns the reader of a sentence of a player as of a snapshot. The place is read at once for a
// sentence that may have a name of several words.
func (h *Host) newSentenceReader(ctx context.Context, snap *canon.Snapshot, player canon.CardID,
	text string) (sentenceReader, error) {
	s := &turn{AsOf: h.world.Current(snap), ctx: ctx, player: world.Card{ID: player}}
	at, stands, err := s.FindAtLink(ctx, player)
	s.place, s.presence = world.Card{ID: at.To}, world.PresenceOf(at)
	if stands && err == nil && len(strings.Fields(text)) >= minNamed {
		err = s.PrefetchPlace(ctx, at.To)
	}
	return sentenceReader{s, stands}, err
}

// readSentence reads a sentence of a player. It sets the text of out: the sentence with names instead of pronouns.
func (h *Host) readSentence(ctx context.Context, g access.Grant, player canon.CardID, text string,
	out *commandOut) (p command.Parsed, err error) {
	byGrammar := false
	err = h.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		r, err := h.newSentenceReader(ctx, snap, player, text)
		if err != nil {
			return err
		}
		out.text = text
		i, ok, err := r.questIntentAsTyped(text)
		if ok || err != nil {
			p = soleIntent(text, i)
			return err
		}
		if out.text, err = r.nameReferents(text); err != nil {
			return err
		}
		p, byGrammar, err = r.read(out.text)
		return err
	})
	if err == nil && byGrammar {
		p = h.readCommand(ctx, g.World(), out.text, p)
		p.Intents = slicesx.Map(p.Intents, command.Intent.AsTrade)
	}
	return p, err
}

// read reads a sentence: about quests, about prices where somebody trades, words for somebody, a plain question, or an
// act by the grammar.
func (r sentenceReader) read(text string) (p command.Parsed, byGrammar bool, err error) {
	for _, intent := range []func(string) (command.Intent, bool, error){
		r.questIntent, r.tradeIntent, r.speechIntent, r.askIntent,
	} {
		if i, ok, err := intent(text); err != nil || ok {
			return soleIntent(text, i), false, err
		}
	}
	names, err := r.namesNear(text)
	return command.ParseIn(text, names), true, err
}

// soleIntent returns the reading of a text as one act.
func soleIntent(text string, i command.Intent) command.Parsed {
	return command.Parsed{RawText: text, Intents: []command.Intent{i}, Ambiguities: []command.Ambiguity{},
		ParseVersion: command.Version}
}

// namesNear returns the names of the cards that a player may mean in a text: those around it, its own, the places that
// exits lead to, and those in the text of the place. A text of one or two words needs none.
func (r sentenceReader) namesNear(text string) (names []string, err error) {
	if len(strings.Fields(text)) < minNamed || !r.stands {
		return nil, nil
	}
	near, err := r.listLookTargets()
	if err != nil {
		return nil, err
	}
	ways, err := r.waysOut()
	if err != nil {
		return nil, err
	}
	place, _, err := r.CardByID(r.ctx, r.place.ID)
	if err != nil {
		return nil, err
	}
	shown, err := r.ReadText(r.ctx, place)
	names = command.ReadProse(shown).ProperNames()
	for _, t := range append(near, ways...) {
		names = append(names, namesOf(t)...)
	}
	return names, err
}

// minNamed is the number of words from which on a command may have a name of several words.
const minNamed = 3

// patience is the time for which a command waits for its other reader, and by default for its narrator.
const patience = 2500 * time.Millisecond

// readCommand returns the reading of a command by rules, or that of the host's reader if the rules are unsure.
func (h *Host) readCommand(ctx context.Context, w access.WorldID, text string, rules command.Parsed) command.Parsed {
	if h.reader == nil || !rules.IsUnsure() || strings.TrimSpace(text) == "" {
		return rules
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if other, err := h.reader.ReadCommand(ctx, w, text); err == nil {
		return other
	}
	return rules
}

// sayInstead returns the act of saying a sentence without a verb that the grammar knows: to the partner of the player, or
// aloud. ok is false if the sentence may be an act.
func (r sentenceReader) sayInstead(text string, p command.Parsed) (i command.Intent, ok bool, err error) {
	words := strings.Fields(text)
	if len(p.Ambiguities) == 0 || p.Ambiguities[0].Kind != "verb" || len(words) < 2 ||
		slices.Contains(nounLeads, strings.ToLower(words[1])) {
		return i, false, nil // frobnicate the square
	}
	to, met, err := r.findPartner()
	switch {
	case met && answers(to):
		i, ok = talkTo(to, text), true
	case meaning.Lemma(strings.Trim(words[0], ",.!"), meaning.Verb) == "":
		i, ok = talkToAll(text), true
	}
	return i, ok, err
}
