package play

import (
	"context"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/op"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// A sentence is read otherwise if its first reading came to nothing: because a name in it means nothing here, or
// because its verb is unknown. Then less is asked of its grammar: words with the name of somebody here are words to
// them, and of a name that runs on into the rest of the sentence only the part counts that means something here.

// isDenied reports whether an act was refused because something is not there or was not understood.
func isDenied(r stepResult) bool {
	return r.Outcome == "impossible" &&
		slices.Contains([]string{"absent", "lifeless", "no_target", "no_trade", "no_means", reasonUnknown}, r.Reason)
}

// fruitless is a sentence whose reading came to nothing.
type fruitless struct {
	text   string
	parsed command.Parsed
	failed *command.Intent // the act that was refused; nil if there was none
	alone  bool            // there was no other act
}

// readOtherwise reads a sentence whose reading came to nothing. ok is false if it does not mean anything else either.
func (h *Host) readOtherwise(ctx context.Context, g access.Grant, player canon.CardID, f fruitless) (i command.Intent,
	ok bool, err error) {
	err = h.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		r, err := h.newSentenceReader(ctx, snap, player, f.text)
		if err != nil || !r.stands {
			return err
		}
		if f.alone {
			if i, ok, err = r.readLooseSpeech(f.text, f.failed == nil || isGarbled(*f.failed)); ok || err != nil {
				return err
			}
		}
		if f.failed != nil {
			i, ok, err = r.retarget(*f.failed, f.text)
			return err
		}
		meant, part, err := r.resolvePart(f.text)
		if meant.isFound() && !meant.all && !meant.self || err != nil {
			i, ok = command.Intent{Verb: command.Examine, DirectObject: part, Confidence: attemptConfidence}, err == nil
			return err
		}
		i, ok, err = r.sayInstead(f.text, f.parsed)
		return err
	})
	if f.failed != nil {
		i.Order = f.failed.Order
	}
	return i, ok, err
}

// leadIns are words in front of the name of somebody who is spoken to.
var leadIns = strings.Fields(
	"hey hi hello hallo oi oy ho yo ok okay well so and but now oh ah thanks thank bye goodbye goodnight " +
		"goodmorning sorry pardon please mister mr mrs miss ms madam mistress sir lady lord dear good old please pls excuse me tell",
)

// isGarbled reports whether a name of an act is none.
func isGarbled(i command.Intent) bool {
	return slices.ContainsFunc(append([]string{i.DirectObject}, i.Targets...), func(name string) bool {
		return name != "" && !isNameLike(name)
	})
}

// readLooseSpeech reads words to somebody whose name stands at their begin, without a comma. If the names of the act
// that was read are garbled, it also reads words to somebody whose name stands at their end, and words to the partner
// that speak to "you" or ask.
func (r sentenceReader) readLooseSpeech(text string, garbled bool) (i command.Intent, ok bool, err error) {
	words := strings.Fields(markup.Clip(text, command.MaxLength))
	people, err := r.listPeople()
	if err != nil || len(words) < 2 {
		return i, false, err
	}
	for n := 0; n < len(words) && (n == 0 || slices.Contains(leadIns, bareWord(words[n-1]))); n++ {
		who, rest, named, err := r.cutPerson(strings.Join(words[n:], " "), people)
		if err != nil {
			return i, false, err
		}
		if named && (n > 0 || rest != "") {
			return talkTo(who, strings.TrimSpace(strings.Join(words[:n], " ")+" "+rest)), true, nil
		}
		if name, after, ok, err := r.cutPersonOfText(words[n:]); ok || err != nil {
			i = talkTo(world.Card{}, after)
			i.DirectObject = name
			return i, ok, err
		}
	}
	if !garbled || !isSpeechLike(words) {
		return i, false, nil
	}
	for n := max(len(words)-3, 1); n < len(words); n++ {
		name := strings.Trim(strings.Join(words[n:], " "), ".,;:!?")
		if found, _ := matchNames(name, people, command.FitForms); len(found) == 1 {
			return talkTo(found[0], strings.Join(words[:n], " ")+endOf(text)), true, nil
		}
	}
	partner, met, err := r.findPartner()
	if !met || err != nil {
		return i, false, err
	}
	return talkTo(partner, text), true, nil
}

// endOf returns the question mark at the end of a text, or "".
func endOf(text string) string {
	if strings.HasSuffix(text, "?") {
		return "?"
	}
	return ""
}

// cutPersonOfText splits words after one or two at their begin that name somebody who stands in a text of the place.
func (r sentenceReader) cutPersonOfText(words []string) (name, rest string, ok bool, err error) {
	for n := min(2, len(words)-1); n > 0; n-- {
		name = strings.Trim(strings.Join(words[:n], " "), ".,;:!?")
		if !isContentWord(words[0]) || !mayBePerson(command.HeadOf(name)) ||
			meaning.Lemma(bareWord(words[0]), meaning.Verb) != "" {
			continue
		}
		var found referent
		if err := r.findTextOfPlace(name, nil, &found); err != nil {
			return "", "", false, err
		}
		if found.isPerson() && !found.mention.Denied {
			return name, strings.Join(words[n:], " "), true, nil
		}
	}
	return "", "", false, nil
}

// isSpeechLike reports whether words may be meant for somebody: they have "you", thank or greet, or are a question.
func isSpeechLike(words []string) bool {
	if strings.HasSuffix(words[len(words)-1], "?") {
		return true
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(speechWords, bareWord(w))
	}) || slices.Contains(askWords, bareWord(words[0])) || slices.Contains(leadIns, bareWord(words[0]))
}

// speechWords are words that one says to somebody.
var speechWords = strings.Fields("you your yours yourself u ur")

// retarget returns a refused act with other names: of one that runs on into the rest of the sentence, the part that means
// something here. What is no name at all is left out. ok is false if no name changes.
func (r sentenceReader) retarget(i command.Intent, text string) (out command.Intent, ok bool, err error) {
	switch free, isFree := freeAct(i.Clause()); {
	case i.Verb == command.Attempt:
		return r.shorten(i)
	case isFree && (command.MeansSelf(i.DirectObject) || slices.Contains(performing, i.Manner().Verb)):
		free.Order = i.Order // plop myself down, hum a tune
		return free, true, nil
	case i.Verb == command.Talk:
		return r.sayToPartner(i, text)
	}
	object, ok, err := r.partOf(i.DirectObject)
	if err != nil {
		return i, false, err
	}
	trades := slices.Contains([]command.Verb{command.Buy, command.Sell, command.Price, command.Haggle}, i.Verb)
	targets := make([]string, len(i.Targets))
	for n, name := range i.Targets {
		part, changed, err := r.partOf(name)
		if err != nil {
			return i, false, err
		}
		if !changed && (trades || !isNameLike(name)) {
			part, changed = "", true // for Rentday
		}
		targets[n], ok = part, ok || changed
	}
	if !ok && i.DirectObject != "" && !isNameLike(i.DirectObject) {
		switch {
		case len(targets) > 0: // really hard on the rings
			object, ok = targets[0], true
		case i.Verb == command.Look || i.Verb == command.Examine: // look who is here
			return command.Intent{Verb: command.Look, Order: i.Order, Confidence: i.Confidence}, true, nil
		}
	}
	return i.WithNames(object, targets), ok, nil
}

// performing are verbs of acts that make their object: a tune, a song.
var performing = strings.Fields("hum sing whistle recite chant yodel croon play")

// sayToPartner returns words to somebody who is not there as words to the partner, or to somebody named in the
// sentence: wish it a happy day.
func (r sentenceReader) sayToPartner(i command.Intent, text string) (command.Intent, bool, error) {
	partner, met, err := r.findPartner()
	said := i.Clause()
	if speech, ok := command.ReadSpeech(said); ok {
		if said = speech.Rest; command.PronounOf(strings.Fields(said + " .")[0]) != command.NoPronoun {
			_, said, _ = strings.Cut(said, " ")
		}
	}
	if err == nil && !met {
		partner, met, err = r.findNamedIn(text)
	}
	if !met || err != nil || isNameLike(i.DirectObject) && command.PronounOf(i.DirectObject) == command.NoPronoun {
		return i, false, err
	}
	out := talkTo(partner, said)
	out.Order = i.Order
	return out, true, nil
}

// findNamedIn returns the only one here whose name words have.
func (r sentenceReader) findNamedIn(words string) (t world.Card, ok bool, err error) {
	people, err := r.listPeople()
	for _, part := range partsOf(strings.Fields(words)) {
		if found, _ := matchNames(part, people, command.FitForms); err == nil && len(found) == 1 {
			return found[0], true, nil
		}
	}
	return t, false, err
}

// shorten returns a free act that ends with the first thing in it that means something here.
func (r sentenceReader) shorten(i command.Intent) (command.Intent, bool, error) {
	verb, rest, _ := strings.Cut(i.DirectObject, " ")
	_, part, err := r.resolvePart(rest)
	at := strings.Index(rest, part)
	if part == "" || at < 0 || err != nil {
		return i, false, err
	}
	short := verb + " " + rest[:at+len(part)]
	out := command.Intent{Verb: command.Attempt, DirectObject: short, Confidence: i.Confidence, Order: i.Order}
	return out, short != i.DirectObject, nil
}

// partOf returns the longest part of a name that means something here, if the name as it is means nothing, and the rest
// of it tells nothing of the thing: it has a word of a sentence, goes on with a verb, or praises.
func (r sentenceReader) partOf(name string) (part string, changed bool, err error) {
	if name == "" {
		return name, false, nil
	}
	whole, err := r.resolveHere(name)
	if whole.isFound() || err != nil {
		return name, false, err
	}
	meant, part, err := r.resolvePart(name)
	if !meant.isFound() || part == "" || strings.EqualFold(part, name) || err != nil {
		return name, false, err
	}
	before, after, _ := strings.Cut(name, part)
	next := strings.Fields(after)
	if !isNameLike(name) || len(next) > 0 && meaning.Lemma(bareWord(next[0]), meaning.Verb) != "" && isPraise(before) ||
		len(next) == 0 && isPraise(before) {
		return part, true, nil
	}
	return name, false, nil
}

// isPraise reports whether the words in front of a name tell nothing that could tell the thing from another one.
func isPraise(words string) bool {
	return !slices.ContainsFunc(strings.Fields(words), func(w string) bool {
		return !slices.Contains(praises, bareWord(w)) && !slices.Contains(nameLinks, bareWord(w))
	})
}

// praises are qualities that may be given to any thing.
var praises = strings.Fields(
	"little small big large tiny huge old dear good nice fine great lovely pretty beautiful ugly poor whole " +
		"famous funny strange odd silly stupid splendid wonderful best",
)

// isNameLike reports whether words may be the name of a thing or a person: they have no word of a sentence in them.
func isNameLike(name string) bool {
	words := strings.Fields(name)
	for _, w := range words {
		w, _, _ = strings.Cut(strings.ReplaceAll(bareWord(w), "’", "'"), "'")
		_, way := command.DirectionOf(w)
		if slices.Contains(nameLinks, w) {
			continue
		}
		if way || w == "u" || w == "pls" || meaning.IsFunctionWord(w) || isAdverb(strings.ToLower(w)) || isVerbForm(w) {
			return false
		}
	}
	return len(words) > 0 && len(words) <= maxPart+1
}

// nameLinks are small words that a name may have.
var nameLinks = strings.Fields(
	"a an the of one some any my your his her their its this that these those all each every",
)

func isAdverb(w string) bool {
	return strings.HasSuffix(w, "ly") && meaning.Lemma(w, meaning.Adjective) == "" && meaning.Lemma(w, meaning.Noun) == ""
}

// isVerbForm reports whether a word is only a verb.
func isVerbForm(w string) bool {
	return meaning.Lemma(w, meaning.Verb) != "" && meaning.Lemma(w, meaning.Noun) == "" && meaning.Lemma(w, meaning.Adjective) == "" &&
		!strings.HasSuffix(w, "ed") &&
		!strings.HasSuffix(w, "ing")
}

// runOtherwise carries out a sentence as it is read otherwise, in place of its last act, which was refused.
func (h *Host) runOtherwise(ctx context.Context, c *op.Call, player canon.CardID, i command.Intent, text string,
	out *commandOut) (bool, error) {
	other, ok, err := h.readOtherwise(ctx, c.Grant, player, fruitless{text: out.text, failed: &i, alone: len(out.Frames) == 1})
	if !ok || err != nil {
		return false, err
	}
	n := len(out.Results) - 1
	refused := out.Results[n]
	out.Results = out.Results[:n]
	done, err := h.runIntent(ctx, c, player, other, text, out)
	if err == nil && !done && isDenied(out.Results[n]) && other.Verb != i.Verb {
		out.Results[n] = refused
	}
	return done, err
}
